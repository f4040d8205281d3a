"""What the add-on does, without a panel."""

from typing import TYPE_CHECKING

from ..engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        baking,
        beside,
        build,
        callbacks,
        candidates,
        characters,
        comparing,
        content,
        controller_presets,
        databases,
        direct,
        features,
        findings,
        frame_numbers,
        handlers,
        insight,
        inspector,
        items,
        labels,
        learning_curves,
        library,
        live,
        loaded_settings,
        postures,
        preferences,
        recordings,
        requested_tags,
        retargeting,
        rig_status,
        runtime,
        search_times,
        settings,
        source_check,
        source_files,
        source_preview,
        sources,
        spare_motion,
        standing,
        status,
        steps,
        stored,
        tag_colors,
        takes,
        training,
        typed,
        variants,
        warnings,
    )
else:
    __getattr__ = load_on_use(__name__)

"""Databases: features, sources, tags, and the build that turns clips into arrays."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        assembly,
        auto_tags,
        bearing,
        bone_features,
        build,
        database,
        fade_features,
        features,
        frame_names,
        idles,
        limits,
        motion_table,
        parts,
        postures,
        published_build,
        retagging,
        sources,
        stances,
        statistics,
        tags,
        thresholds,
    )
else:
    __getattr__ = load_on_use(__name__)

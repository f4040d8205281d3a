"""The Motion panel: sources, builds, the simulation bone."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        ground_paths,
        operators,
        operators_import,
        operators_mapping,
        operators_sources,
        panel,
        panel_mapping,
        preview_drawing,
        properties,
    )
else:
    __getattr__ = load_on_use(__name__)

"""What the data holds and what the search sees: coverage, maps, the frame inspector, pictures."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import (
        coverage,
        feature_strokes,
        field_map,
        frame_inspector,
        inspection,
        pictures,
        plots,
        pose_map,
        raster,
        strands,
        take_sheet,
        watching,
    )
else:
    __getattr__ = load_on_use(__name__)

"""What the data of a character holds, and what the search sees."""

from typing import TYPE_CHECKING

from ...engine.lazy import load_on_use

if TYPE_CHECKING:
    from . import data_insight, inspected_frames, inspector, postures, spare_motion
else:
    __getattr__ = load_on_use(__name__)

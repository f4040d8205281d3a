"""Tags of frames: named, proposed from motion, and the thresholds that propose them."""

from typing import TYPE_CHECKING

from ...lazy import load_on_use

if TYPE_CHECKING:
    from . import auto_tags, tags, thresholds
else:
    __getattr__ = load_on_use(__name__)

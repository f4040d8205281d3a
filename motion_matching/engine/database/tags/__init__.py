"""Define tags of frames, propose them from motion, and set the thresholds for that."""

from typing import TYPE_CHECKING

from ...lazy import load_on_use

if TYPE_CHECKING:
    from . import auto_tags, tags, thresholds
else:
    __getattr__ = load_on_use(__name__)

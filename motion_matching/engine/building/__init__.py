"""Build databases, tag them again, and report what they lack."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import build, demo_clips, missing_motion, published_build, reading, retagging, unmended
else:
    __getattr__ = load_on_use(__name__)

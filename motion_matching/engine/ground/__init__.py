"""Ground below a character: heights, obstacles, footholds, and the rise ahead."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import footholds, ground, ground_ahead, rays
else:
    __getattr__ = load_on_use(__name__)

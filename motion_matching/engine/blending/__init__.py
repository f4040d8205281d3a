"""Jumps from frame to frame: their cost, and the fading of their offsets."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import inertialization, jump, jump_fade, jump_price, leap_easing, transition_cost
else:
    __getattr__ = load_on_use(__name__)

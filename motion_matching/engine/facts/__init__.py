"""Derive from a database what players need: the character, idles, stances, postures and limits."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import avoided_postures, bearing, character, idles, motion_limits, postures, stances
else:
    __getattr__ = load_on_use(__name__)

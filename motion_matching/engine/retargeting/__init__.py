"""Bring motion of one body onto another."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import bodies, frames, loose_hips, pairs, result, settings
else:
    __getattr__ = load_on_use(__name__)

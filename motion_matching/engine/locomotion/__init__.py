"""The built-in motion: locomotion clips generated from a seed."""

from typing import TYPE_CHECKING

from ..lazy import load_on_use

if TYPE_CHECKING:
    from . import climbs, feet, footprints, gait, ground, humanoid, locomotion, pelvis
else:
    __getattr__ = load_on_use(__name__)

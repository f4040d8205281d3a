"""What a jump costs that puts a standing foot elsewhere than where it is shown.

A body that enters a frame stands on the feet of that frame. One that is elsewhere has to be dragged
there, or the foot gives way: most of what feet slide begins with such a jump.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..control.legs import LegGeometry
from ..settings import tune

# columns of toes as `PlayedToes` has them
_PLACE, _STAYS, _UNTIL = slice(0, 2), 4, 5


@dataclass(frozen=True)
class SupportRules:
    """How far from its place a foot may be for nothing."""

    stands: float = tune(
        0.05, "m", "a foot that stands moves by as much before it is seen to slide"
    )
    reaches: float = tune(
        3.0, "m/s", "that a swing makes up before it lands; 1 to 6 on eight sets slide alike"
    )


RULES = SupportRules()


class SupportPrice:
    """Prices frames by their feet: squares of what these are farther away than they may be.

    `toes` (N, L, 8) are those of all frames, as in `PlayedToes`. A foot that stands may be hardly
    away, one in the air the farther the later it lands.
    """

    def __init__(self, toes: np.ndarray, legs: tuple[LegGeometry, ...]) -> None:
        self._toes = toes
        self._size, slowness = (legs[0].size, legs[0].slowness) if legs else (1.0, 1.0)
        self._free = RULES.stands * self._size
        self._speed = RULES.reaches * self._size / slowness

    def measure(self, frames: np.ndarray, feet: np.ndarray) -> np.ndarray:
        """Return the prices (K,) of frames in square metres, for people; never negative.

        `feet` (L, 2) are where toes are shown, as the character sees them. All count as two do:
        bodies of many legs are dragged no farther than people.
        """
        toes = self._toes[frames]
        x, y = np.moveaxis(toes[..., _PLACE] - feet, -1, 0)
        until = np.where(toes[..., _STAYS] > 0.0, 0.0, toes[..., _UNTIL])
        beyond = np.sqrt(x * x + y * y) - self._free - self._speed * until
        return 2.0 * np.square(np.maximum(beyond, 0.0) / self._size).mean(axis=-1)

    def get_places(self, frame: int) -> np.ndarray:
        """Return where the toes (L, 2) of a frame are, as the character sees them."""
        return self._toes[frame, :, _PLACE]

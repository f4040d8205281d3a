"""Where a search has to bring parts of the body: how far frames, places and headings miss it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..maths import planar
from .footage import Footage

_AWAY = 2.0  # metre-seconds that a part costs, times the square of the metres that it is away
_AHEAD = 1.0  # seconds before a mark from which on it counts where playing on leads
_MOST = 0.5  # metre-seconds that it costs then at most


class PartAim(NamedTuple):
    """A part that is to be at a place (2,) at a tick; it is at `offsets` (N, 2) in the frames."""

    tick: int
    place: tuple[float, float]
    offsets: np.ndarray


class PartAims:
    """What states of a search cost for where they have parts, by steps of some ticks."""

    def __init__(self, footage: Footage, aims: Sequence[PartAim], stride: int) -> None:
        self._footage, self._stride = footage, stride
        self._ahead = round(_AHEAD * footage.fps)
        frames = np.arange(footage.frame_count)
        self._aims = [
            PartAim(
                aim.tick // stride,
                aim.place,
                self._look(frames, aim.tick % stride, aim.offsets),
            )
            for aim in aims
        ]

    def _look(self, frames: np.ndarray, ticks: int, offsets: np.ndarray) -> np.ndarray:
        """Return where a part is so many ticks after frames (S,), seen from these (S, 2)."""
        if not ticks:
            return np.asarray(offsets[frames])
        ahead = self._footage.get_ahead(ticks)[frames]
        later = frames + np.minimum(ticks, self._footage.left[frames])
        return np.asarray(ahead[:, :2] + planar.rotate(offsets[later], ahead[:, 2]))

    def measure(
        self, step: int, frames: np.ndarray, places: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> np.ndarray | float:
        """Return what frames (S,) at a step cost, at x, y and yaw (S,) each."""
        result: np.ndarray | float = 0.0
        for aim in self._aims:
            if aim.tick == step:
                result = result + _price(aim, aim.offsets[frames], places)
        return result

    def look_ahead(
        self, step: int, frames: np.ndarray, places: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> np.ndarray | float:
        """Return what it costs (S,) that playing on from a step brings parts elsewhere."""
        result: np.ndarray | float = 0.0
        for aim in self._aims:
            ticks = (aim.tick - step) * self._stride
            if 0 < ticks < self._ahead:
                offsets = self._look(frames, ticks, aim.offsets)
                price = np.minimum(_price(aim, offsets, places), _MOST)
                result = result + price * (1.0 - ticks / self._ahead)
        return result


def _price(
    aim: PartAim, offsets: np.ndarray, places: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> np.ndarray:
    x, y, yaw = places
    away = planar.rotate(offsets, yaw)
    dx, dy = x + away[:, 0] - aim.place[0], y + away[:, 1] - aim.place[1]
    return np.asarray(_AWAY * (dx * dx + dy * dy))

"""Where a search has to lead for poses: what frames cost at their steps, and which are near."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from .footage import Footage

_AHEAD = 1.0  # seconds before a pose from which on it counts
_MOMENTS = 12  # of the data, the nearest to a pose, to which a search tries to jump


class PoseAims:
    """Poses by steps of some ticks: `costs` (N,) of frames that are shown `then`, by tick."""

    def __init__(self, footage: Footage, then: Mapping[int, np.ndarray], stride: int) -> None:
        self._left, self._stride = footage.left, stride
        self._ahead = round(_AHEAD * footage.fps)
        self.costs: dict[int, np.ndarray] = {}
        for tick, costs in then.items():
            step, rest = divmod(tick, stride)
            later = np.arange(footage.frame_count) + np.minimum(rest, footage.left)
            self.costs[step] = costs[later]
        self.near = list(self._find_near(footage.candidates))

    def _find_near(self, candidates: np.ndarray) -> Iterator[tuple[int, int]]:
        """Yield for each pose its step with frames that are nearest to it, of several moments."""
        apart = max(self._ahead, 1)
        for step, costs in self.costs.items():
            order = np.argsort(np.where(candidates, costs, np.inf), kind="stable")
            order = order[: _MOMENTS * apart]
            first = np.sort(np.unique(order // apart, return_index=True)[1])
            yield from ((step, int(frame)) for frame in order[first[:_MOMENTS]])

    def look_ahead(self, step: int, frames: np.ndarray) -> np.ndarray | float:
        """Return what it costs (S,) that playing on from frames (S,) at a step leads elsewhere."""
        result: np.ndarray | float = 0.0
        for at, costs in self.costs.items():
            ticks = (at - step) * self._stride
            if 0 < ticks < self._ahead:
                later = frames + np.minimum(ticks, self._left[frames])
                result = result + costs[later] * (1.0 - ticks / self._ahead)
        return result

"""How fast joints accelerate in the data around a frame: what a jump there may do as well."""

from __future__ import annotations

import numpy as np

from ..control.joints import Joints
from ..database.database import Database

_BLOCK = 1.0  # seconds that share a peak
_AROUND = 0.5  # seconds before and after them that count too


class LocalPeaks:
    """The largest accelerations of joints within a second or so, measured where they are needed."""

    def __init__(self, database: Database) -> None:
        self._poses, self._ranges = np.asarray(database.poses), database.range_of_frame
        self._starts, self._stops = np.asarray(database.starts), np.asarray(database.stops)
        self._fps, self._joints = database.fps, Joints(database.skeleton.parents)
        self._block, self._around = (round(s * database.fps) for s in (_BLOCK, _AROUND))
        self._known: dict[tuple[int, int], float] = {}

    def get(self, frame: int) -> float:
        """Return the largest acceleration of a joint in the world around a frame, in m/s²."""
        which = self._ranges.item(frame)
        start, stop = self._starts.item(which), self._stops.item(which)
        block = (frame - start) // self._block
        if (which, block) not in self._known:
            first = max(start + block * self._block - self._around, start)
            last = min(start + (block + 1) * self._block + self._around, stop)
            poses = self._poses[first:last]
            self._known[which, block] = self._joints.measure_acceleration(poses, self._fps)
        return self._known[which, block]

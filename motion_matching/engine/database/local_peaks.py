"""How fast joints accelerate in the data around a frame: what is shown there may do as well."""

from __future__ import annotations

import math

import numpy as np

from ..control.joints import Joints
from .database import Database

_BLOCK = 1.0  # seconds that share a peak
_AROUND = 0.5  # seconds before and after them that count too


class LocalPeaks:
    """The largest accelerations of joints within a second or so, measured where they are needed."""

    def __init__(self, database: Database) -> None:
        self._poses, self._ranges = np.asarray(database.poses), database.range_of_frame
        self._starts, self._stops = np.asarray(database.starts), np.asarray(database.stops)
        self._fps, self._joints = database.fps, Joints(database.skeleton.parents)
        self._block, self._around = (round(s * database.fps) for s in (_BLOCK, _AROUND))
        self._known = np.full(database.frame_count, np.nan)  # until they are measured

    def get(self, frame: int) -> float:
        """Return the largest acceleration of a joint in the world around a frame, in m/s²."""
        known = self._known.item(frame)
        if not math.isnan(known):
            return known
        which = self._ranges.item(frame)
        start, stop = self._starts.item(which), self._stops.item(which)
        first = start + (frame - start) // self._block * self._block
        last = min(first + self._block, stop)
        poses = self._poses[max(first - self._around, start) : min(last + self._around, stop)]
        peak = self._joints.measure_acceleration(poses, self._fps)
        self._known[first:last] = peak
        return peak

"""Strands: where motion leads within a second, all from one point and facing one way, each with its speed.

Those of the data beside those of a simulation object show whether there is a chance of good matches ("Code vs Data Driven
Displacement", section "Simulation Bone").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .database import Database

Array = np.ndarray
SECONDS = 1.0  # that a strand lasts
FASTEST = 5.0  # m/s, of the colours
_POINTS = 11
_VIRIDIS = (
    np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)
    / 255.0
)


class Strands(NamedTuple):
    """`ways` (n, P, 2) to the left and ahead in metres, from zero on, and the mean `speeds` (n,) along them."""

    ways: Array
    speeds: Array

    @property
    def width(self) -> float:
        """How far in metres the farthest leads to a side."""
        return float(np.abs(self.ways[..., 0]).max(initial=0.0))

    @property
    def reach(self) -> float:
        """How far in metres the farthest leads along either axis."""
        return float(np.abs(self.ways).max(initial=0.0))


def of_database(database: Database, most: int) -> Strands:
    """Strands of all frames that may be played and that a second follows, or of `most` of them, evenly spread."""
    last = database.stops[database.range_of_frame]
    frames = np.flatnonzero(
        database.used & (np.arange(database.frame_count) + _length(database.fps) < last)
    )
    return _strands(database.track, frames[:: max(-(-len(frames) // most), 1)], database.fps)


def of_tracks(tracks: Sequence[Array], fps: float, most: int) -> Strands:
    """Strands of tracks (F, 3) of x, y and yaw, at most so many as for a database; of those longer than a second."""
    lengths = [len(track) for track in tracks]
    ends = np.repeat(np.cumsum(lengths), lengths)
    frames = np.flatnonzero(np.arange(len(ends)) + _length(fps) < ends)
    joined = np.concatenate([np.zeros((0, 3)), *tracks])
    return _strands(joined, frames[:: max(-(-len(frames) // most), 1)], fps)


def _length(fps: float) -> int:
    return round(SECONDS * fps)


def _strands(track: Array, frames: Array, fps: float) -> Strands:
    length = _length(fps)
    steps = np.unique(np.linspace(0, length, _POINTS).round().astype(int))
    followed = track[frames[:, None] + steps]
    way, yaw = followed[..., :2] - followed[:, :1, :2], followed[:, :1, 2]
    c, s = np.cos(yaw), np.sin(yaw)
    left, ahead = c * way[..., 0] + s * way[..., 1], s * way[..., 0] - c * way[..., 1]
    speeds = np.linalg.norm(np.diff(way, axis=1), axis=-1).sum(axis=1) * fps / length
    return Strands(np.stack([left, ahead], axis=-1), speeds)


def colours(speeds: Array) -> Array:
    """Colours (n, 3), 0 to 1, of speeds (n,) from standing, dark, to `FASTEST`, light."""
    place = np.clip(np.asarray(speeds) / FASTEST, 0.0, 1.0) * (len(_VIRIDIS) - 1)
    return np.stack(
        [np.interp(place, np.arange(len(_VIRIDIS)), channel) for channel in _VIRIDIS.T], axis=-1
    )

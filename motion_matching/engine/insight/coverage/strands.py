"""Compute strands: paths of a second from one point and facing, with their speeds.

Comparing strands of the data and of a simulation object shows the chance of good matches ("Code vs
Data Driven Displacement", section "Simulation Bone").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...database.database import Database
from ...maths import planar
from ..numbers import NUMBERS

Array = np.ndarray
SECONDS = NUMBERS.strand_seconds
MAX_SPEED = NUMBERS.strand_speed
_COLOURS = [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)]  # viridis


class Strands(NamedTuple):
    """Paths (n, P, 2) to the left and ahead in metres, from zero, and their mean speeds (n,)."""

    paths: Array
    speeds: Array

    @property
    def width(self) -> float:
        """Largest sideways distance of a strand in metres."""
        return float(np.abs(self.paths[..., 0]).max(initial=0.0))

    @property
    def reach(self) -> float:
        """Largest distance of a strand along either axis in metres."""
        return float(np.abs(self.paths).max(initial=0.0))


def from_database(database: Database, most: int) -> Strands:
    """Return strands of playable frames that a second follows, at most `most`, evenly spread."""
    ends = np.arange(database.frame_count) + _count_frames(database.fps)
    frames = np.flatnonzero(database.playable & (ends < database.stops[database.range_of_frame]))
    return _trace_strands(database.track, sample_evenly(frames, most), database.fps)


def from_tracks(tracks: Sequence[Array], fps: float, most: int) -> Strands:
    """Return strands of tracks (F, 3) of x, y and yaw, at most `most`; shorter tracks have none."""
    lengths = [len(track) for track in tracks]
    ends = np.repeat(np.cumsum(lengths), lengths)
    frames = np.flatnonzero(np.arange(len(ends)) + _count_frames(fps) < ends)
    joined = np.concatenate([np.zeros((0, 3)), *tracks])
    return _trace_strands(joined, sample_evenly(frames, most), fps)


def sample_evenly(frames: Array, most: int) -> Array:
    """Return every n-th of frames (n,), so that at most `most` are left."""
    return frames[:: max(-(-len(frames) // most), 1)]


def select_evenly(count: int, most: int) -> Array:
    """Return up to `most` of `count` frames, evenly spread, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(np.intp))


def _count_frames(fps: float) -> int:
    return round(SECONDS * fps)


def _trace_strands(track: Array, frames: Array, fps: float) -> Strands:
    length = _count_frames(fps)
    steps = np.unique(np.linspace(0, length, NUMBERS.strand_points).round().astype(int))
    followed = track[frames[:, None] + steps]
    offset = followed[..., :2] - followed[:, :1, :2]
    speeds = np.linalg.norm(np.diff(offset, axis=1), axis=-1).sum(axis=1) * fps / length
    return Strands(planar.rotate(offset, -followed[:, :1, 2]) * (1.0, -1.0), speeds)


def compute_colours(speeds: Array) -> Array:
    """Return colours (n, 3), 0 to 1, of speeds (n,), from dark (standing) to light (MAX_SPEED)."""
    stops = np.arange(len(_COLOURS))
    channels = np.array(_COLOURS).T / 255.0
    position = np.clip(np.asarray(speeds) / MAX_SPEED, 0.0, 1.0) * stops[-1]
    return np.stack([np.interp(position, stops, channel) for channel in channels], axis=-1)

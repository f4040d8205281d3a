"""Detect paths with side steps that the data lacks."""

from __future__ import annotations

import numpy as np

from ...maths import planar
from ...motion.rest import AT_REST
from ..footage.footage import Footage
from ..numbers import NUMBERS
from ..shot.shot import TimedPath
from .guide import sample_path


def is_short_of_side_steps(path: TimedPath, footage: Footage) -> bool:
    """Return whether a path goes sideways faster than most side steps of the data."""
    times = np.arange(path.times[0], path.times[-1] + 1e-9, NUMBERS.side_sample)
    if path.yaws is None or len(times) < 3:
        return False
    way = sample_path(path, times)
    local = planar.rotate(np.gradient(way[:, :2], NUMBERS.side_sample, axis=0), -way[:, 2])
    local = footage.scale.to_body(local, "m/s")
    aside = _find_sideways(local)
    if aside.mean() < NUMBERS.side_share:
        return False
    wanted = float(np.median(local[aside, 0]))
    steps = footage.root[footage.candidates, :2]
    fits = _find_sideways(steps) & (
        steps[:, 0] * np.sign(wanted) > NUMBERS.side_speed * abs(wanted)
    )
    return bool(fits.sum() < NUMBERS.side_seconds * footage.fps)


def _find_sideways(velocities: np.ndarray) -> np.ndarray:
    """Return which velocities (T, 2), seen from the character, lead to a side."""
    across, along = np.abs(velocities).T
    return np.asarray((across > along) & (across > AT_REST.moving))

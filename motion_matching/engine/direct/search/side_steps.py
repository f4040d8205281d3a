"""Whether a path asks for side steps that the data does not have."""

from __future__ import annotations

import numpy as np

from ...maths import planar
from ...motion.rest import AT_REST
from ..footage.footage import Footage
from ..shot.shot import TimedPath
from .guide import sample_path

_STEP = 0.1  # seconds
_SHARE = 0.3  # of a path that goes sideways, from which on it depends on side steps
_SECONDS = 3.0  # of side steps to one side with which a search has some choice
_ALMOST = 0.8  # share of the path's speed that they have at least


def is_short_of_side_steps(path: TimedPath, footage: Footage) -> bool:
    """Return whether a path goes sideways faster than most side steps of the data."""
    times = np.arange(path.times[0], path.times[-1] + 1e-9, _STEP)
    if path.yaws is None or len(times) < 3:
        return False
    way = sample_path(path, times)
    local = planar.rotate(np.gradient(way[:, :2], _STEP, axis=0), -way[:, 2])
    local *= footage.pace / footage.size
    aside = _find_sideways(local)
    if aside.mean() < _SHARE:
        return False
    wanted = float(np.median(local[aside, 0]))
    steps = footage.root[footage.candidates, :2]
    fits = _find_sideways(steps) & (steps[:, 0] * np.sign(wanted) > _ALMOST * abs(wanted))
    return bool(fits.sum() < _SECONDS * footage.fps)


def _find_sideways(velocities: np.ndarray) -> np.ndarray:
    """Return which velocities (T, 2), seen from the character, lead to a side."""
    across, along = np.abs(velocities).T
    return np.asarray((across > along) & (across > AT_REST.moving))

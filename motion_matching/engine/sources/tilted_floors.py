"""Level tilted floors, such as those of a badly calibrated capture.

Over a few metres a degree lifts a foot as much as a step does, so that feet would count as
airborne.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..maths.rotations import quat
from ..motion.clip import Clip
from .numbers import NUMBERS
from .uneven_feet import STAIRS

STEEPEST = NUMBERS.steepest_tilt
_UP = np.array([0.0, 0.0, 1.0])


def find_tilt(feet: np.ndarray, leg: float) -> np.ndarray | None:
    """Return the up (3,) of the tilted floor on which feet (N, 3) stand in all directions they go.

    `leg` is the length of the legs in metres. None if the floor is level, or is not flat.
    """
    centred = feet - feet.mean(axis=0)
    uneven = _measure_spread(centred[:, 2])
    if uneven <= NUMBERS.level_feet * leg:
        return None
    _, scales, ways = np.linalg.svd(centred[:, :2], full_matrices=False)
    known = scales > NUMBERS.tilt_reach * leg * np.sqrt(len(feet))
    if not known.any():
        return None
    ways = ways[known]
    along = centred[:, :2] @ ways.T
    slopes = centred[:, 2] @ along / scales[known] ** 2
    left = _measure_spread(centred[:, 2] - along @ slopes)
    if left > NUMBERS.tilt_rest * uneven or left > STAIRS * leg:
        return None
    return quat.normalize_vectors(np.append(-slopes @ ways, 1.0))


def _measure_spread(heights: np.ndarray) -> float:
    """Return the spread of the heights (N,) of feet, without a few extremes."""
    low, high = np.percentile(heights, (5, 95))
    return float(high - low)


def measure_steepness(up: np.ndarray) -> float:
    """Return the angle in radians between a floor with an `up` (3,) and a level one."""
    return float(np.arccos(np.clip(up @ _UP, -1.0, 1.0)))


def level(clip: Clip, up: np.ndarray, centre: np.ndarray) -> Clip:
    """Return a clip turned about a point (3,), so that a floor with an `up` (3,) is level."""
    turn, roots = quat.between(up, _UP), clip.skeleton.parents < 0
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, roots] = level_points(positions[:, roots], up, centre)
    rotations[:, roots] = quat.mul(turn, rotations[:, roots].astype(np.float64))
    return replace(clip, positions=positions, rotations=rotations)


def level_points(points: np.ndarray, up: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return points (..., 3) turned as `level` turns a clip."""
    return centre + quat.mul_vec(quat.between(up, _UP), points - centre)

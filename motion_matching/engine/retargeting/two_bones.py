"""Two-bone inverse kinematics in closed form, for legs and arms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..maths import quat
from .frame_axes import get_axis

REACH = 0.9995  # of a limb's length: the side of a straight knee is not defined
_CLEAR = 0.05  # sine of the bend above which a limb shows where it bends


def solve_two_bones(
    root: np.ndarray, goal: np.ndarray, lengths: tuple[float, float], pole: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ways (F, 3) along two segments from `root` to `goal` (F, 3), as far as they reach.

    The joint between them is on the side that `pole` (F, 3) points to, even of a straight limb.
    """
    upper, lower = lengths
    total = upper + lower
    way = goal - root
    least = abs(upper - lower) + 1e-4 * total
    far = np.clip(np.linalg.norm(way, axis=-1), least, REACH * total)[:, None]
    way = quat.normalize_vectors(way)
    side = quat.normalize_vectors(np.cross(way, pole))
    pole = np.cross(side, way)
    along = (upper**2 - lower**2 + far**2) / (2.0 * far)
    across = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    first = along * way + across * pole
    return first, far * way - first


def find_pole(
    frames: Sequence[np.ndarray], lengths: Sequence[float], way: np.ndarray
) -> np.ndarray:
    """Return to which side (F, 3) a limb bends if it leads along a `way` (F, 3).

    `frames` are those (F, 4) of its two segments by now: it bends to the same side, carried along
    the shortest turn of its end. Z of the upper frame decides for a straight limb, and against one
    that is bent too far.
    """
    first, side = get_axis(frames[0], 1), get_axis(frames[0], 2)
    present = quat.normalize_vectors(lengths[0] * first + lengths[1] * get_axis(frames[1], 1))
    bend = first - np.sum(first * present, axis=-1, keepdims=True) * present
    bend -= np.minimum(np.sum(bend * side, axis=-1, keepdims=True), 0.0) * side
    return quat.mul_vec(quat.between(present, way), bend + _CLEAR * side)

"""Two-bone inverse kinematics in closed form, for legs and arms."""

from __future__ import annotations

import numpy as np

from ..maths import quat
from .frame_axes import make_frames

REACH = 0.9995  # of a limb's length: the side of a straight knee is not defined


def solve_two_bones(
    root: np.ndarray, goal: np.ndarray, lengths: tuple[float, float], pole: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the frames (F, 4) of two segments from `root` to `goal` (F, 3), as far as they reach.

    Y is along the segment and Z to the side of the joint between them: the one that `pole` (F, 3)
    points to, so that a straight limb does not flip.
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
    second = far * way - first
    return make_frames(first, np.cross(side, first)), make_frames(second, np.cross(side, second))

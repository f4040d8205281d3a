"""Draw the results of a motion field's neighbours as skeletons over the character."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..legs.joints import Joints
from ..maths.rotations import quat
from .numbers import NUMBERS


def build_segments(
    poses: np.ndarray, parents: np.ndarray, place: tuple[float, float, float, float]
) -> np.ndarray:
    """Return lines (Q, L, 2, 3) in the world between the joints of poses (Q, 7, B).

    `place` is where bone 0 is: x, y, z in metres and yaw. No line starts at bone 0, which lies on
    the ground.
    """
    joints = compute_joints(poses, parents, place)
    bones = np.flatnonzero(parents > 0)
    return np.stack([joints[:, parents[bones]], joints[:, bones]], axis=2)


def compute_joints(
    poses: np.ndarray,
    parents: np.ndarray,
    place: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
) -> np.ndarray:
    """Return the joints (Q, B, 3) of poses (Q, 7, B) whose bone 0 is in a place: x, y, z, yaw."""
    *at, yaw = place
    placed = poses.copy()
    placed[:, :, 0] = [*at, *quat.from_yaw(np.array(yaw))]
    return _get_joints(tuple(parents.tolist())).compute_places(placed)


def measure_height(pose: np.ndarray, parents: np.ndarray) -> float:
    """Return how high the joints of a pose (7, B) reach above the lowest one, in metres."""
    return float(np.ptp(compute_joints(pose[None], parents)[0, 1:, 2]))


def lay_out_rows(weights: np.ndarray, yaw: float, height: float) -> np.ndarray:
    """Return offsets (Q, 3) in metres that put bodies in rows of five, in descending weight.

    The first row starts next to a character with a heading in radians, and goes to its right; the
    next ones are behind it. Bodies of a `height` in metres are half of it apart, and rows more than
    it, so that they do not hide each other. Equal weights keep their order.
    """
    rank = np.empty(len(weights), np.intp)
    rank[np.argsort(-weights, kind="stable")] = np.arange(len(weights))
    row, place = np.divmod(rank, NUMBERS.ghosts_in_a_row)
    cosine = math.cos(yaw)
    sine = math.sin(yaw)
    right = np.array([-cosine, -sine, 0.0])
    back = np.array([-sine, cosine, 0.0])
    offsets = NUMBERS.ghosts_apart * (place[:, None] + 1) * right
    offsets += NUMBERS.ghosts_behind * row[:, None] * back
    return (height * offsets).astype(np.float32)


@lru_cache(maxsize=4)
def _get_joints(parents: tuple[int, ...]) -> Joints:
    return Joints(np.array(parents))

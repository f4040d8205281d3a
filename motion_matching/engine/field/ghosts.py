"""Draw the results of a motion field's neighbours as skeletons over the character."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..maths.rotations import quat
from .numbers import NUMBERS


def build_segments(
    poses: np.ndarray, parents: np.ndarray, place: tuple[float, float, float, float]
) -> np.ndarray:
    """Return lines (Q, L, 2, 3) in the world between the joints of poses (Q, 7, B).

    `place` is where bone 0 is: x, y, z in metres and yaw. No line starts at bone 0, which lies on
    the ground.
    """
    x, y, z, yaw = place
    world = np.zeros((len(parents), len(poses), 4, 4), np.float32)
    world[..., :3, :3] = quat.to_matrix(poses[:, 3:].transpose(2, 0, 1))
    world[..., :3, 3] = poses[:, :3].transpose(2, 0, 1)
    world[..., 3, 3] = 1
    c, s = math.cos(yaw), math.sin(yaw)
    world[0] = [(c, -s, 0.0, x), (s, c, 0.0, y), (0.0, 0.0, 1.0, z), (0.0, 0.0, 0.0, 1.0)]
    for bones, above in group_by_depth(tuple(parents.tolist())):
        world[bones] = world[above] @ world[bones]
    joints, bones = world[..., :3, 3], np.flatnonzero(parents > 0)
    return np.stack([joints[parents[bones]], joints[bones]], axis=1).transpose(2, 0, 1, 3)


def measure_height(pose: np.ndarray, parents: np.ndarray) -> float:
    """Return how high the joints of a pose (7, B) reach above the lowest one, in metres."""
    [body] = build_segments(pose[None], parents, (0.0, 0.0, 0.0, 0.0))
    return float(np.ptp(body[..., 2]))


def lay_out_rows(weights: np.ndarray, yaw: float, height: float) -> np.ndarray:
    """Return offsets (Q, 3) in metres that put bodies in rows of five, in descending weight.

    The first row starts next to a character with a heading in radians, and goes to its right; the
    next ones are behind it. Bodies of a `height` in metres are half of it apart, and rows more than
    it, so that they do not hide each other. Equal weights keep their order.
    """
    rank = np.empty(len(weights), np.intp)
    rank[np.argsort(-weights, kind="stable")] = np.arange(len(weights))
    row, place = np.divmod(rank, NUMBERS.ghosts_in_a_row)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    right, back = np.array([-cosine, -sine, 0.0]), np.array([-sine, cosine, 0.0])
    offsets = NUMBERS.ghosts_apart * (place[:, None] + 1) * right
    offsets += NUMBERS.ghosts_behind * row[:, None] * back
    return (height * offsets).astype(np.float32)


@lru_cache(maxsize=4)
def group_by_depth(parents: tuple[int, ...]) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return the bones of each depth below the root, and their parents: bone by bone is slow."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    generations = (np.flatnonzero(np.array(depths) == depth) for depth in range(1, max(depths) + 1))
    return tuple((bones, np.array(parents)[bones]) for bones in generations)

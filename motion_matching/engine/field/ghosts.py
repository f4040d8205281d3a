"""Draw where the neighbours of a motion field would lead, as skeletons over the character."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..maths import quat

_APART = 0.5  # of the height of a body, between neighbours in a row


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


def lay_out_row(weights: np.ndarray, yaw: float, height: float) -> np.ndarray:
    """Return offsets (Q, 3) in metres that put bodies in a row, that of the most weight first.

    The row starts beside a character with a heading in radians, and goes to its right; bodies of a
    `height` in metres stand half of it apart. Equal weights keep their order.
    """
    place = np.empty(len(weights), np.intp)
    place[np.argsort(-weights, kind="stable")] = np.arange(1, len(weights) + 1)
    right = np.array([-math.cos(yaw), -math.sin(yaw), 0.0])
    return (_APART * height * place[:, None] * right).astype(np.float32)


@lru_cache(maxsize=4)
def group_by_depth(parents: tuple[int, ...]) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return the bones of each depth below the root, and their parents: bone by bone is slow."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    generations = (np.flatnonzero(np.array(depths) == depth) for depth in range(1, max(depths) + 1))
    return tuple((bones, np.array(parents)[bones]) for bones in generations)

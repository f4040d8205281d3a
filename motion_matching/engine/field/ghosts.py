"""Where the neighbours of a motion field would lead, as skeletons to be drawn over the character."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..maths import quat


def segments(
    poses: np.ndarray, parents: np.ndarray, place: tuple[float, float, float, float]
) -> np.ndarray:
    """Lines (Q, L, 2, 3) from joint to joint of poses (Q, 7, B) whose bone 0 is at a place: x, y, z and yaw, in the world.

    The bones that hang on bone 0 itself begin no line: it lies on the ground.
    """
    joints = _joints(poses, tuple(parents.tolist()), place)
    bones = np.flatnonzero(parents > 0)
    return np.stack([joints[parents[bones]], joints[bones]], axis=1).transpose(2, 0, 1, 3)


def _joints(
    poses: np.ndarray, parents: tuple[int, ...], place: tuple[float, float, float, float]
) -> np.ndarray:
    """Where the joints (B, Q, 3) are; all poses at once, a generation of bones after the other."""
    x, y, z, yaw = place
    world = np.zeros((len(parents), len(poses), 4, 4), np.float32)
    world[..., :3, :3] = quat.to_matrix(poses[:, 3:].transpose(2, 0, 1))
    world[..., :3, 3] = poses[:, :3].transpose(2, 0, 1)
    world[..., 3, 3] = 1
    c, s = math.cos(yaw), math.sin(yaw)
    world[0] = np.array(
        [(c, -s, 0.0, x), (s, c, 0.0, y), (0.0, 0.0, 1.0, z), (0.0, 0.0, 0.0, 1.0)], np.float32
    )
    for bones, above in _generations(parents):
        world[bones] = world[above] @ world[bones]
    return world[..., :3, 3]


@lru_cache(maxsize=2)
def _generations(parents: tuple[int, ...]) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Bones with as many others above them and their parents, from those below the root on."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    generations = (np.flatnonzero(np.array(depths) == depth) for depth in range(1, max(depths) + 1))
    return tuple((bones, np.array(parents)[bones]) for bones in generations)

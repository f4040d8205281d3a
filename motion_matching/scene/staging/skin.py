"""Pose and draw a body as plain numbers, without any data-block in the file."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...engine.maths.rotations import quat
from ...engine.skeleton.skeleton import Skeleton
from ..rig.armature import find_ground_bones
from .body import build_pieces


class Skin(NamedTuple):
    """Triangles (T, 3) of points that each follow a bone.

    `points` (metres) and `normals` (V, 3) are at rest, and `bones` (V,) are the bones they follow.
    `rest` (B, 3, 4) is the inverse of the bones at rest.
    """

    points: np.ndarray
    normals: np.ndarray
    bones: np.ndarray
    rest: np.ndarray
    triangles: np.ndarray

    def pose(self, rotations: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return points and normals (V, 3) for bones (B, 4) and (B, 3) in the world."""
        moved = quat.to_matrix(rotations) @ self.rest
        moved[..., 3] += positions
        matrices = moved.astype(np.float32)[self.bones]
        points = np.einsum("vij,vj->vi", matrices[..., :3], self.points) + matrices[..., 3]
        return points, np.einsum("vij,vj->vi", matrices[..., :3], self.normals)


def build_skin(skeleton: Skeleton, hips: int = 0) -> Skin:
    """Return a body of one rounded piece for each bone that hangs from the hips of a skeleton."""
    below = {hips, *skeleton.get_descendants(hips)} - find_ground_bones(skeleton)
    bones = sorted(below) or list(range(skeleton.bone_count))
    points, faces = build_pieces(skeleton, bones)
    triangles = np.array(
        [(face[0], face[k], face[k + 1]) for face in faces for k in range(1, len(face) - 1)],
        np.int32,
    )
    rotations, positions = skeleton.compute_rest_world()
    turns = quat.to_matrix(quat.inv(rotations))
    return Skin(
        points.astype(np.float32),
        _compute_normals(points, triangles).astype(np.float32),
        np.repeat(bones, len(points) // len(bones)),
        np.concatenate([turns, -(turns @ positions[..., None])], axis=-1),
        triangles,
    )


def _compute_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the normals (V, 3) of points: the mean of adjacent triangles, weighted by area."""
    a, b, c = (points[corner] for corner in triangles.T)
    across = np.cross(b - a, c - a)
    sums = np.zeros((len(points), 3))
    for corner in triangles.T:
        np.add.at(sums, corner, across)
    return quat.normalize_vectors(sums)

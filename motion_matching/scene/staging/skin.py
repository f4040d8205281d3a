"""A body as numbers, which can be posed and drawn without any data-block: nothing is in the file.

A skeleton that rests as the demo's does gets its mannequin; any other one a piece for each bone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...engine.locomotion.humanoid import build_humanoid_skeleton
from ...engine.maths import quat
from ...engine.motion.skeleton import Skeleton
from ..rig.armature import find_ground_bones
from .body import build_pieces
from .mannequin import is_demo_skeleton, load_mannequin, measure_size


class Skin(NamedTuple):
    """Triangles (T, 3) of points that follow bones.

    `offsets` and `normals` (V, K, 3) are those of a point at rest in each of its K bones `bones`
    (V, K), with `weights` (V, K) that sum up to 1. Lengths are in metres.
    """

    offsets: np.ndarray
    normals: np.ndarray
    bones: np.ndarray
    weights: np.ndarray
    triangles: np.ndarray

    def pose(self, rotations: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return points and normals (V, 3) for bones (B, 4) and (B, 3) in the world."""
        turns = rotations[self.bones]
        moved = quat.mul_vec(turns, self.offsets) + positions[self.bones]
        weights = self.weights[..., None]
        points = np.sum(weights * moved, axis=1)
        normals = quat.normalize_vectors(
            np.sum(weights * quat.mul_vec(turns, self.normals), axis=1)
        )
        return points.astype(np.float32), normals.astype(np.float32)


def build_skin(skeleton: Skeleton, hips: int = 0) -> Skin:
    """Return the body of what hangs from the hips of a skeleton."""
    if is_demo_skeleton(skeleton):
        return _build_mannequin_skin(skeleton)
    below = {hips, *skeleton.get_descendants(hips)} - find_ground_bones(skeleton)
    bones = sorted(below) or list(range(skeleton.bone_count))
    points, faces = build_pieces(skeleton, bones)
    followed = np.repeat(bones, len(points) // len(bones))[:, None]
    return _bind(skeleton, points, faces, followed, np.ones(followed.shape))


def _build_mannequin_skin(skeleton: Skeleton) -> Skin:
    demo, mannequin = build_humanoid_skeleton(), load_mannequin()
    count = int((mannequin.weights > 0.0).sum(axis=1).max())
    heaviest = np.argsort(-mannequin.weights, axis=1, kind="stable")[:, :count]
    weights = np.take_along_axis(mannequin.weights, heaviest, axis=1)
    bones = np.array([skeleton.index(name) for name in demo.names])[heaviest]
    points = measure_size(skeleton, demo) * mannequin.points
    return _bind(skeleton, points, mannequin.faces, bones, weights)


def _bind(
    skeleton: Skeleton,
    points: np.ndarray,
    faces: Sequence[Sequence[int]],
    bones: np.ndarray,
    weights: np.ndarray,
) -> Skin:
    """Return a skin of points (V, 3) about a skeleton at rest, and faces of 3 or 4 corners."""
    rotations, positions = skeleton.compute_rest_world()
    triangles = np.array(
        [(face[0], face[k], face[k + 1]) for face in faces for k in range(1, len(face) - 1)],
        np.int32,
    )
    turns = rotations[bones]
    offsets = quat.inv_mul_vec(turns, points[:, None] - positions[bones])
    normals = quat.inv_mul_vec(turns, _compute_normals(points, triangles)[:, None])
    weights = weights / weights.sum(axis=1, keepdims=True)
    return Skin(offsets, normals, bones, weights, triangles)


def _compute_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the normals (V, 3) of points: those of the triangles around, by their areas."""
    a, b, c = (points[corner] for corner in triangles.T)
    across = np.cross(b - a, c - a)
    sums = np.zeros((len(points), 3))
    for corner in triangles.T:
        np.add.at(sums, corner, across)
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)

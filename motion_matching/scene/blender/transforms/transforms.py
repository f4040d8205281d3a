"""Transforms: the properties that hold them, rigid ones as arrays, and Blender's matrices."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from ....engine.errors import RigError
from ....engine.maths.rotations import quat

# each property of an object or pose bone, and its value at rest
REST = MappingProxyType(
    {
        "location": (0.0,) * 3,
        "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
        "rotation_euler": (0.0,) * 3,
        "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
        "scale": (1.0,) * 3,
    }
)
_EVEN = 2e-3  # how much axes may differ, as a part of the squared scale
ROTATIONS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")

UNSCALED = np.ones(3)
Y_AXIS = np.array([0.0, 1.0, 0.0])  # along a bone
Transform = tuple[np.ndarray, np.ndarray]  # rotations (..., 4) and positions (..., 3), float64


def read_property(owners: Any, name: str) -> np.ndarray:
    """Read a property of all pose bones of a collection, (B, C) in float32."""
    values = np.empty(len(REST[name]) * len(owners), dtype=np.float32)
    owners.foreach_get(name, values)
    return values.reshape(-1, len(REST[name]))


def compose(a: Transform, b: Transform) -> Transform:
    """Return the transform that does b first, then a."""
    return quat.mul(a[0], b[0]), a[1] + quat.mul_vec(a[0], b[1])


def invert(a: Transform) -> Transform:
    """Return the transform that undoes a."""
    return quat.inv(a[0]), -quat.inv_mul_vec(a[0], a[1])


def see_from(frame: Transform, a: Transform) -> Transform:
    """Return a transform of the world as it is seen from a frame."""
    return compose(invert(frame), compose(a, frame))


def place_on_ground(place: tuple[float, float, float]) -> Transform:
    """Return the transform from the origin to a place (x, y, yaw) on the ground."""
    x, y, yaw = place
    return quat.from_yaw(np.array(yaw)), np.array([x, y, 0.0])


def to_frames(transform: Transform) -> Transform:
    """Return one transform as that of a single frame, (1, 4) and (1, 3)."""
    return transform[0][None], transform[1][None]


def decompose_similarity(
    matrices: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rotations (..., 4), positions (..., 3) and scales (...) of world matrices (..., 4, 4).

    Raises RigError if one of them stretches, shears, mirrors or flattens.
    """
    axes = matrices[..., :3, :3]
    squares = np.swapaxes(axes, -1, -2) @ axes
    square = np.trace(squares, axis1=-2, axis2=-1) / 3.0
    uneven = np.abs(squares - square[..., None, None] * np.eye(3)) > _EVEN * square[..., None, None]
    if uneven.any() or np.any(np.linalg.det(axes) <= 0.0):
        raise RigError(
            f"armature '{name}' is scaled unevenly, sheared or mirrored, by itself or by its "
            "parents; apply the scale (Object > Apply > Scale)."
        )
    scales = np.sqrt(square)
    return quat.from_matrix(axes / scales[..., None, None]), matrices[..., :3, 3], scales


def compute_local_poses(matrices: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (F, B, 4) and positions (F, B, 3), local to the parents, of matrices.

    The matrices (F, B, 4, 4) are in one space. Of scaled axes, Y keeps its direction and X its
    side.
    """
    y = quat.normalize_vectors(matrices[..., :3, 1])
    x = matrices[..., :3, 0]
    x = quat.normalize_vectors(x - np.sum(x * y, axis=-1, keepdims=True) * y)
    rotations = quat.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))
    return quat.ik(rotations, matrices[..., :3, 3], parents)


def compose_matrices(
    rotations: np.ndarray, positions: np.ndarray, scales: np.ndarray = UNSCALED
) -> np.ndarray:
    """Return matrices (..., 4, 4) that scale (..., 3), then rotate (..., 4), then move (..., 3)."""
    shape = np.broadcast_shapes(rotations.shape[:-1], positions.shape[:-1], scales.shape[:-1])
    result = np.zeros((*shape, 4, 4))
    result[..., :3, :3] = quat.to_matrix(rotations.astype(np.float64)) * scales[..., None, :]
    result[..., :3, 3] = positions
    result[..., 3, 3] = 1.0
    return result

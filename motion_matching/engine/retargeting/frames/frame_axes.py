"""Make rotations of anatomical frames from two directions, take them apart, interpolate them."""

from __future__ import annotations

import numpy as np

from ...maths.rotations import quat
from ..numbers import NUMBERS


def make_frames(along: np.ndarray, toward: np.ndarray) -> np.ndarray:
    """Return rotations (..., 4) with Y along vectors (..., 3), and Z as near others as may be."""
    y = quat.normalize_vectors(along)
    z = quat.normalize_vectors(toward - np.sum(toward * y, axis=-1, keepdims=True) * y)
    return quat.from_matrix(np.stack([np.cross(y, z), y, z], axis=-1))


def rotate(q: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Rotate one vector (3,) by rotations (..., 4)."""
    return quat.mul_vec(q, np.broadcast_to(vector, (*q.shape[:-1], 3)))


def get_axis(q: np.ndarray, axis: int) -> np.ndarray:
    """Return an axis (..., 3) of frames (..., 4): 0 for X, 1 for Y, 2 for Z."""
    second = (axis + 1) % 3
    third = (axis + 2) % 3
    w = q[..., 0]
    a = q[..., 1 + axis]
    b = q[..., 1 + second]
    c = q[..., 1 + third]
    result = np.empty((*q.shape[:-1], 3), q.dtype)
    result[..., axis] = 1.0 - 2.0 * (b * b + c * c)
    result[..., second] = 2.0 * (a * b + w * c)
    result[..., third] = 2.0 * (a * c - w * b)
    return result


def average(q: np.ndarray) -> np.ndarray:
    """Return the mean (4,) of rotations (F, 4): the first eigenvector of their outer products."""
    return np.linalg.eigh(np.einsum("fi,fj->ij", q, q))[1][:, -1]


def slerp(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """Return rotations (F, 4) at a share of the shorter way from `a` to `b`."""
    if share <= 0.0:
        return a
    if share >= 1.0:
        return b
    step = quat.to_scaled_angle_axis(quat.positive(quat.inv_mul(a, b)))
    return quat.mul(a, quat.from_scaled_angle_axis(share * step))


def lies_along_axis(way: np.ndarray) -> bool:
    """Return whether a `way` (3,) along a bone is one of the axes of its frame."""
    return bool(np.abs(quat.normalize_vectors(way)).max() > NUMBERS.drawn_along)


def draw_hinge(hinge: np.ndarray, way: np.ndarray, sureness: float) -> np.ndarray:
    """Return a hinge (3,) across a `way` (3,), nearer to its bone's axis the less sure it is.

    Both are in the frame of the bone. Bones are drawn so that joints bend about their axes, unless
    none is near the hinge.
    """
    hinge, axis = _find_nearest_axis(hinge, way)
    hinge = quat.normalize_vectors(hinge)
    if hinge @ axis <= NUMBERS.drawn_hinge:
        return hinge
    return sureness * hinge + (1.0 - sureness) * axis


def draw_ankle(hinge: np.ndarray, way: np.ndarray, sureness: float) -> np.ndarray:
    """Return the axis (3,) across a foot that leads along a `way` (3,), given that of its soles.

    It is the bone's own axis if they are close: steps of a short clip are as far off.
    """
    across, axis = _find_nearest_axis(hinge, way)
    if lies_along_axis(way) and quat.normalize_vectors(across) @ axis > NUMBERS.same_axis:
        return axis
    return draw_hinge(hinge, way, sureness)


def draw_limb_hinge(hinge: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Return the axis (3,) of its bone that a knee or an elbow bends about.

    `way` (3,) leads along the bone, and `hinge` (3,) is the mean that motion shows, as long as the
    sine of the bend. Motion depends on what the limb does, so it only selects an axis. It is the
    result itself if the bone lies along none of its axes, or if it is far from all.
    """
    across, axis = _find_nearest_axis(hinge, way)
    aside = float(np.linalg.norm(across - (across @ axis) * axis))
    return axis if lies_along_axis(way) and aside < NUMBERS.carrying else hinge


def _find_nearest_axis(hinge: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of a hinge (3,) across a `way` (3,), and the nearest axis (3,)."""
    along = quat.normalize_vectors(way)
    hinge = hinge - (hinge @ along) * along
    nearest = int(np.argmax(np.abs(hinge)))
    axis = np.sign(hinge[nearest]) * np.eye(3)[nearest]
    return hinge, quat.normalize_vectors(axis - (axis @ along) * along)

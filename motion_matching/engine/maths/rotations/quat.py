"""Unit quaternions as arrays `(..., 4)`, components w x y z.

Products follow the matrix convention: `mul(a, b)` rotates by `b` first, then by `a`. An angular
velocity is a scaled angle-axis per second in the parent's frame, `to_scaled_angle_axis(mul_inv(q[t
+ 1], q[t])) / dt`. `component_quat` is for a few dozen bones, `scalar_quat` for single ones.
"""

from __future__ import annotations

import numpy as np

from ..numeric import arctan2
from . import euler

Array = np.ndarray

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
_TINY = 1e-30
_AT_ONCE = 1024  # frames whose world is computed at a time, for many to stay within caches


def mul(a: Array, b: Array) -> Array:
    """Return the product `a * b` of `(..., 4)` and `(..., 4)`."""
    aw = a[..., 0]
    ax = a[..., 1]
    ay = a[..., 2]
    az = a[..., 3]
    bw = b[..., 0]
    bx = b[..., 1]
    by = b[..., 2]
    bz = b[..., 3]
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def inv(q: Array) -> Array:
    """Return the inverse of unit quaternions `(..., 4)`."""
    return q * np.array([1, -1, -1, -1], dtype=q.dtype)


def mul_inv(a: Array, b: Array) -> Array:
    """Return `a * inv(b)`: the rotation from `b` to `a`, in the parent's frame."""
    return mul(a, inv(b))


def inv_mul(a: Array, b: Array) -> Array:
    """Return `inv(a) * b`: `b` seen from the frame of `a`."""
    return mul(inv(a), b)


def mul_vec(q: Array, v: Array) -> Array:
    """Rotate vectors `(..., 3)` by `(..., 4)`."""
    axes = q[..., 1:]
    t = 2.0 * _cross(axes, v)
    return v + q[..., :1] * t + _cross(axes, t)


def _cross(a: Array, b: Array) -> Array:
    """Return the cross product of `(..., 3)` and `(..., 3)`: numpy's own is slow for a few."""
    result = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[..., j], b[..., k], out=result[..., i])
        result[..., i] -= a[..., k] * b[..., j]
    return result


def inv_mul_vec(q: Array, v: Array) -> Array:
    """Rotate vectors `(..., 3)` by the inverse of `(..., 4)`."""
    return mul_vec(inv(q), v)


def normalize(q: Array) -> Array:
    """Scale `(..., 4)` to unit length; a zero quaternion becomes the identity."""
    length = np.sqrt(np.sum(q * q, axis=-1, keepdims=True))
    return np.where(length > _TINY, q / np.maximum(length, _TINY), IDENTITY.astype(q.dtype))


def normalize_vectors(v: Array) -> Array:
    """Scale vectors `(..., D)` to unit length; zero vectors stay zero."""
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), _TINY)


def positive(q: Array) -> Array:
    """Return the same rotations with w >= 0: the shorter way round."""
    return np.where(q[..., :1] < 0, -q, q)


def unroll(q: Array, before: Array | None = None) -> Array:
    """Flip signs along the first axis `(F, ..., 4)` so that neighbours lie on one hemisphere.

    The first lies on that of the rotations `before` `(..., 4)`, if these are given.
    """
    if before is not None:
        return unroll(np.concatenate([before[None], q]))[1:]
    if len(q) < 2:
        return q
    dots = np.sum(q[1:] * q[:-1], axis=-1)
    signs = np.cumprod(np.where(dots < 0, -1, 1), axis=0).astype(q.dtype)
    result = q.copy()
    result[1:] *= signs[..., None]
    return result


def from_scaled_angle_axis(v: Array) -> Array:
    """Return quaternions `(..., 4)` of axes times angles in radians, `(..., 3)`."""
    v = 0.5 * v
    half = np.sqrt(np.sum(v * v, axis=-1, keepdims=True))
    return np.concatenate([np.cos(half), np.sinc(half / np.pi) * v], axis=-1)


def to_scaled_angle_axis(q: Array) -> Array:
    """Return axis times angle `(..., 3)` in radians; pass `positive(q)` for the shorter way."""
    w = q[..., :1]
    vector = q[..., 1:]
    length = np.sqrt(np.sum(vector**2, axis=-1, keepdims=True))
    ratio = arctan2(length, w) / np.maximum(length, 1e-8)
    # near the identity, the ratio of angle and length tends to 1 / w
    return 2.0 * (np.where(length > 1e-8, ratio, np.sign(w) + (w == 0)) * vector)


def from_angle_axis(angle: Array, axis: Array) -> Array:
    """Return quaternions `(..., 4)` of angles `(...)` in radians about unit axes `(..., 3)`."""
    half = 0.5 * np.asarray(angle)[..., None]
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)


def from_yaw(angle: Array) -> Array:
    """Return rotations `(..., 4)` by `(...)` radians about the vertical Z axis."""
    half = 0.5 * np.asarray(angle)
    zero = np.zeros_like(half)
    return np.stack([np.cos(half), zero, zero, np.sin(half)], axis=-1)


def from_euler(angles: Array, order: str) -> Array:
    """Return quaternions of intrinsic rotations `(..., 3)` in radians in an order ('zyx')."""
    return np.stack(euler.compose(np.moveaxis(angles, -1, 0), order), axis=-1)


def from_matrix(m: Array) -> Array:
    """Return quaternions `(..., 4)` of rotation matrices `(..., 3, 3)`, accurate at every angle."""
    m00 = m[..., 0, 0]
    m11 = m[..., 1, 1]
    m22 = m[..., 2, 2]
    transposed = np.swapaxes(m, -1, -2)
    difference = m - transposed
    total = m + transposed
    wx = difference[..., 2, 1]
    wy = difference[..., 0, 2]
    wz = difference[..., 1, 0]
    xy = total[..., 1, 0]
    xz = total[..., 0, 2]
    yz = total[..., 2, 1]
    # each row is the quaternion scaled by one of its components; the longest is the most accurate
    rows = [
        [1 + m00 + m11 + m22, wx, wy, wz],
        [wx, 1 + m00 - m11 - m22, xy, xz],
        [wy, xy, 1 - m00 + m11 - m22, yz],
        [wz, xz, yz, 1 - m00 - m11 + m22],
    ]
    candidates = np.stack([np.stack(row, -1) for row in rows], axis=-2)
    best = np.argmax(np.sum(candidates**2, axis=-1), axis=-1)
    return normalize(np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :])


def to_matrix(q: Array) -> Array:
    """Return rotation matrices `(..., 3, 3)`."""
    w = q[..., 0]
    x = q[..., 1]
    y = q[..., 2]
    z = q[..., 3]
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, -1) for row in rows], axis=-2)


def between(a: Array, b: Array) -> Array:
    """Return the shortest rotation `(..., 4)` from direction `a` to `b`, `(..., 3)`."""
    a, b = normalize_vectors(a), normalize_vectors(b)
    w = 1.0 + np.sum(a * b, axis=-1, keepdims=True)
    helper = np.where(np.abs(a[..., :1]) < 0.9, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    axis = np.where(w > 1e-6, np.cross(a, b), np.cross(a, helper))
    return normalize(np.concatenate([np.where(w > 1e-6, w, 0.0), axis], axis=-1))


def angle_between(a: Array, b: Array) -> Array:
    """Return the angle in radians `(...)` between two rotations."""
    return np.linalg.norm(to_scaled_angle_axis(positive(mul_inv(a, b))), axis=-1)


def fk(rotations: Array, positions: Array, parents: Array) -> tuple[Array, Array]:
    """Return world rotations `(..., B, 4)` and positions of local ones; parents before children."""
    world_rotations = np.empty_like(rotations)
    world_positions = np.empty_like(positions)
    for bone, parent in enumerate(parents):
        if parent < 0:
            world_rotations[..., bone, :] = rotations[..., bone, :]
            world_positions[..., bone, :] = positions[..., bone, :]
            continue
        above = world_rotations[..., parent, :]
        world_rotations[..., bone, :] = mul(above, rotations[..., bone, :])
        offset = mul_vec(above, positions[..., bone, :])
        world_positions[..., bone, :] = offset + world_positions[..., parent, :]
    return world_rotations, world_positions


def compute_world(poses: Array, parents: Array) -> tuple[Array, Array]:
    """Return world rotations `(F, B, 4)` and positions `(F, B, 3)` of poses `(F, 7, B)`.

    Of many frames, some are computed at a time: all at once would fill the memory.
    """
    if poses.ndim == 3 and len(poses) > _AT_ONCE:
        count, _, bones = poses.shape
        rotations = np.empty((count, bones, 4))
        positions = np.empty((count, bones, 3))
        for first in range(0, count, _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            rotations[part], positions[part] = compute_world(poses[part], parents)
        return rotations, positions
    local = poses.transpose(0, 2, 1).astype(np.float64)
    return fk(local[..., 3:], local[..., :3], parents)


def ik(world_rotations: Array, world_positions: Array, parents: Array) -> tuple[Array, Array]:
    """Return local rotations and positions of world ones: the inverse of `fk`."""
    parents = np.asarray(parents)
    above_rotations = world_rotations[..., parents, :]
    rotations = inv_mul(above_rotations, world_rotations)
    positions = inv_mul_vec(above_rotations, world_positions - world_positions[..., parents, :])
    roots = parents < 0
    rotations[..., roots, :] = world_rotations[..., roots, :]
    positions[..., roots, :] = world_positions[..., roots, :]
    return rotations, positions

"""The algebra of poses and velocities, component first `(..., 7, B)`: sum, difference, blend and interpolation.

A velocity is what leads from one pose to the next within one tick, in the layout of a pose: of bone 0, the simulation
bone, the way it goes in its own axes and the turn; of every other bone the change of its place in the parent's frame and
its rotation x⁻¹x' (notebook 003, Motion states and notation). `add` and `subtract` are each other's inverse.
"""

from __future__ import annotations

import numpy as np

from ..maths import quat

# r_i = sum_j a_j * b[_ORDER[j, i]] * _SIGN[j, i]: the quaternion product as take, sign, multiply, sum
_ORDER = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
_SIGN = np.array([[1, 1, 1, 1], [-1, 1, -1, 1], [-1, 1, 1, -1], [-1, -1, 1, 1]], np.float32)[:, :, None]
_CONJUGATE = np.array([1, -1, -1, -1], np.float32)[:, None]
_ALIKE = np.float32(0.9999)  # cosine of half the angle between rotations from which a straight line is as good as an arc


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternion product of component-first arrays (..., 4, B), whose leading dimensions are broadcast."""
    terms = b.take(_ORDER, axis=-2)
    terms *= _SIGN
    return np.add.reduce(terms * a[..., :, None, :], axis=-3)


def normalize(q: np.ndarray) -> np.ndarray:
    """Scale quaternions (..., 4, B) to unit length in place."""
    square = np.einsum("...ij,...ij->...j", q, q)
    q /= np.sqrt(square, out=square)[..., None, :]
    return q


def add_joints(pose: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """`add` for a pose whose bone 0 rests at the origin, or whose bone 0 does not matter."""
    shape = np.broadcast_shapes(pose.shape, velocity.shape)
    result = np.empty(shape, np.result_type(pose, velocity))
    np.add(pose[..., :3, :], velocity[..., :3, :], out=result[..., :3, :])
    result[..., 3:, :] = normalize(product(pose[..., 3:, :], velocity[..., 3:, :]))
    return result


def add(pose: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """The pose x ⊕ v (..., 7, B) to which a velocity leads."""
    result = add_joints(pose, velocity)
    result[..., :3, 0] = pose[..., :3, 0] + quat.mul_vec(pose[..., 3:, 0], velocity[..., :3, 0])
    return result


def subtract_joints(later: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """`subtract` for a pose whose bone 0 rests at the origin, or whose bone 0 does not matter."""
    shape = np.broadcast_shapes(pose.shape, later.shape)
    result = np.empty(shape, np.result_type(pose, later))
    np.subtract(later[..., :3, :], pose[..., :3, :], out=result[..., :3, :])
    turns = normalize(product(pose[..., 3:, :] * _CONJUGATE, later[..., 3:, :]))
    # the shorter way round, so that turns can be blended
    result[..., 3:, :] = np.where(turns[..., :1, :] < 0, -turns, turns)
    return result


def subtract(later: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """The velocity x' ⊖ x (..., 7, B) that leads from a pose to a later one."""
    result = subtract_joints(later, pose)
    result[..., :3, 0] = quat.inv_mul_vec(pose[..., 3:, 0], later[..., :3, 0] - pose[..., :3, 0])
    return result


def blend(parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A weighted means (..., A, *rest, 7, B) of poses or velocities (..., K, *rest, 7, B); weights (..., A, K) sum to one.

    Rotations have to lie on one hemisphere, as those of velocities do and those of alike poses of one clip.
    """
    *lead, actions, count = weights.shape
    rest = parts.shape[len(lead) + 1:]
    result = np.matmul(weights, parts.reshape(*lead, count, -1)).reshape(*lead, actions, *rest)
    normalize(result[..., 3:, :])
    return result


def interpolate(a: np.ndarray, b: np.ndarray, part: float) -> np.ndarray:
    """The pose or velocity (..., 7, B) that lies a part of the way from a to b: places in a line, rotations on an arc."""
    result = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))
    np.multiply(a[..., :3, :], 1.0 - part, out=result[..., :3, :])
    result[..., :3, :] += b[..., :3, :] * part
    p, q = a[..., 3:, :], b[..., 3:, :]
    cosine = np.einsum("...ij,...ij->...j", p, q)
    side = np.where(cosine < 0, -part, part)
    of_a, of_b = np.full_like(side, 1.0 - part), side
    cosine = np.abs(cosine)
    far = cosine < _ALIKE
    if far.any():
        angle = np.arccos(cosine[far])
        of_a[far] = np.sin((1.0 - part) * angle) / np.sin(angle)
        of_b[far] = np.copysign(np.sin(part * angle) / np.sin(angle), side[far])
    result[..., 3:, :] = normalize(p * of_a[..., None, :] + q * of_b[..., None, :])
    return result

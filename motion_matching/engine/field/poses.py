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
_SIGN = np.array([[1, 1, 1, 1], [-1, 1, -1, 1], [-1, 1, 1, -1], [-1, -1, 1, 1]], np.float32)[
    :, :, None
]
_SIGN_OF_INVERSE = _SIGN * np.array([1, -1, -1, -1], np.float32)[:, None, None]
_ALIKE = np.float32(
    0.9999
)  # cosine of half the angle between rotations from which a straight line is as good as an arc


def product(a: np.ndarray, b: np.ndarray, sign: np.ndarray = _SIGN) -> np.ndarray:
    """Quaternion product of component-first arrays (..., 4, B), whose leading dimensions are broadcast."""
    terms = b.take(_ORDER, axis=-2)
    terms *= sign
    return np.add.reduce(terms * a[..., :, None, :], axis=-3)


def normalize(q: np.ndarray) -> np.ndarray:
    """Scale quaternions (..., 4, B) to unit length in place."""
    square = np.einsum("...ij,...ij->...j", q, q)
    q /= np.sqrt(square, out=square)[..., None, :]
    return q


def add_joints(pose: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """`add` for a pose whose bone 0 rests at the origin, or whose bone 0 does not matter."""
    return _joined(
        pose[..., :3, :] + velocity[..., :3, :],
        normalize(product(pose[..., 3:, :], velocity[..., 3:, :])),
    )


def add(pose: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """The pose x ⊕ v (..., 7, B) to which a velocity leads."""
    result = add_joints(pose, velocity)
    result[..., :3, 0] = pose[..., :3, 0] + quat.mul_vec(pose[..., 3:, 0], velocity[..., :3, 0])
    return result


def subtract_joints(later: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """`subtract` for a pose whose bone 0 rests at the origin, or whose bone 0 does not matter."""
    turns = product(pose[..., 3:, :], later[..., 3:, :], _SIGN_OF_INVERSE)
    square = np.einsum("...ij,...ij->...j", turns, turns)
    # the shorter way round, so that turns can be blended
    turns /= np.copysign(np.sqrt(square, out=square), turns[..., 0, :])[..., None, :]
    return _joined(later[..., :3, :] - pose[..., :3, :], turns)


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
    rest = parts.shape[len(lead) + 1 :]
    result = np.matmul(weights, parts.reshape(*lead, count, -1)).reshape(*lead, actions, *rest)
    normalize(result[..., 3:, :])
    return result


def interpolate(a: np.ndarray, b: np.ndarray, part: float) -> np.ndarray:
    """The pose or velocity (..., 7, B) that lies a part of the way from a to b: places in a line, rotations on an arc."""
    p, q = a[..., 3:, :], b[..., 3:, :]
    cosine = np.einsum("...ij,...ij->...j", p, q)
    angle = np.arccos(np.minimum(np.abs(cosine), _ALIKE))
    of_a, of_b = np.sin((1.0 - part) * angle), np.copysign(np.sin(part * angle), cosine)
    turns = p * of_a[..., None, :] + q * of_b[..., None, :]
    return _joined(a[..., :3, :] * (1.0 - part) + b[..., :3, :] * part, normalize(turns))


def _joined(places: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Places (..., 3, B) and rotations (..., 4, B) as one (..., 7, B)."""
    return np.concatenate([places, turns], axis=-2)

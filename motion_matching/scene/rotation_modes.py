"""Rotations as the properties that Blender's rotation modes keep them in: quaternions, Euler angles, axis and angle.

Arrays are component first, `(C, F)`, as curves are. Every frame's rotation is exact; the freedom that a mode leaves
(signs, the second Euler triple, whole turns) is used to stay near the frame before, so that curves do not flip.
"""

from __future__ import annotations

import numpy as np

from ..engine.maths import quat

PROPERTIES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}  # Euler angles otherwise
_GIMBAL_LOCK = 1e-5  # cosine of the middle angle below which the outer two are one turn, however it is shared


def property_of(mode: str) -> str:
    """Name of the property that a rotation mode reads, such as 'rotation_euler' for 'XYZ'."""
    return PROPERTIES.get(mode, "rotation_euler")


def to_mode(rotations: np.ndarray, mode: str) -> np.ndarray:
    """Curves `(C, F)` of unit quaternions `(4, F)` in a rotation mode."""
    if mode == "QUATERNION":
        return _unrolled(rotations)
    if mode == "AXIS_ANGLE":
        return _axis_angle(rotations.astype(np.float64)).astype(rotations.dtype)
    return _euler(rotations.astype(np.float64), mode).astype(rotations.dtype)


def from_mode(values: np.ndarray, mode: str) -> np.ndarray:
    """Quaternions `(F, 4)` of curves `(C, F)`: what Blender makes of them."""
    if mode == "QUATERNION":
        return quat.normalize(values.T)
    if mode == "AXIS_ANGLE":
        length = np.linalg.norm(values[1:], axis=0)
        return quat.from_angle_axis(values[0], (values[1:] / np.maximum(length, 1e-30)).T)
    # 'XYZ' turns about X first: in the frame that turns along, that is Z, then Y, then X
    order = mode[::-1].lower()
    return quat.from_euler(values[["xyz".index(axis) for axis in order]].T, order)


def _unrolled(rotations: np.ndarray) -> np.ndarray:
    """Quaternions (4, F) with neighbours on one hemisphere."""
    dots = np.einsum("cf,cf->f", rotations[:, 1:], rotations[:, :-1])
    if not np.any(dots < 0):
        return rotations
    result = rotations.copy()
    result[:, 1:] *= np.cumprod(np.where(dots < 0, -1, 1)).astype(rotations.dtype)
    return result


def _euler(rotations: np.ndarray, mode: str) -> np.ndarray:
    """Angles (3, F) about X, Y and Z, unwrapped, by the order of a mode such as 'XYZ'."""
    i, j, k = ("XYZ".index(axis) for axis in mode)  # turned about in this order
    odd = (j - i) % 3 != 1
    sign = -1.0 if odd else 1.0
    m = np.moveaxis(quat.to_matrix(rotations.T), 0, -1)  # (3, 3, F)
    cosine = np.hypot(m[i, i], m[j, i])
    result = np.empty((3, rotations.shape[1]))
    result[i] = sign * np.arctan2(m[k, j], m[k, k])
    result[j] = sign * np.arctan2(-m[k, i], cosine)
    result[k] = sign * np.arctan2(m[j, i], m[i, i])
    free = cosine > _GIMBAL_LOCK
    result[:, free] = _nearest_triples(result[:, free], j)
    if not free.all():
        _share_locked(result, m, (i, j, k), sign, free)
    return np.unwrap(result, axis=-1)


def _nearest_triples(angles: np.ndarray, middle: int) -> np.ndarray:
    """Of each frame's two triples that mean the same rotation, the one nearer to the triple of the frame before.

    The other triple adds half a turn to the outer angles and mirrors the middle one. Choosing is a matter of pairs:
    the distance between two triples is that between their other ones, so a frame either keeps the choice of the one
    before or changes it, and running parities of the changes are the choices.
    """
    if angles.shape[1] == 0:
        return angles
    other = angles + np.pi
    other[middle] = np.pi - angles[middle]
    change = _apart(other[:, 1:], angles[:, :-1]) < _apart(angles[:, 1:], angles[:, :-1])
    chosen = np.concatenate([[False], np.cumsum(change) % 2 == 1])
    return np.where(chosen, other, angles)


def _apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared distance (F,) between angles (3, F), whole turns aside."""
    return np.sum(((a - b + np.pi) % (2 * np.pi) - np.pi) ** 2, axis=0)


def _share_locked(
    angles: np.ndarray, m: np.ndarray, axes: tuple[int, int, int], sign: float, free: np.ndarray
) -> None:
    """Where the gimbal is locked, lead the first angle on from the frames around and give the last one the rest."""
    i, j, k = axes
    place = np.arange(len(free))
    if free.any():
        angles[i, ~free] = np.interp(place[~free], place[free], np.unwrap(angles[i, free]))
    else:
        angles[i] = 0.0
    # with s = 1 or -1, the sine of the middle angle, only last - s * first is determined
    s = sign * np.sign(angles[j, ~free])
    angles[k, ~free] = sign * np.arctan2(-m[i, j, ~free], m[j, j, ~free]) + s * angles[i, ~free]


def _axis_angle(rotations: np.ndarray) -> np.ndarray:
    """Angle and unit axis (4, F); the axis stays on one hemisphere along time and the angle is unwrapped."""
    rotations = _unrolled(rotations)
    length = np.linalg.norm(rotations[1:], axis=0)
    defined = length > 1e-7
    if not defined.any():
        return np.array([0.0, 0.0, 1.0, 0.0])[:, None] * np.ones_like(length)
    # where there is no turn, the axis is that of the last frame that has one, or of the first
    last = np.maximum.accumulate(np.where(defined, np.arange(len(length)), np.argmax(defined)))
    axis = rotations[1:, last] / length[last]
    flips = np.where(np.einsum("cf,cf->f", axis[:, 1:], axis[:, :-1]) < 0, -1.0, 1.0)
    signs = np.concatenate([[1.0], np.cumprod(flips)])
    angle = 2.0 * np.arctan2(np.where(defined, length, 0.0) * signs, rotations[0])
    return np.concatenate([np.unwrap(angle)[None], axis * signs])

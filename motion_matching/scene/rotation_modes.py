"""Rotations as the properties that Blender's rotation modes keep them in: quaternions, Euler angles, axis and angle.

Arrays are component first, `(C, F)`, as curves are. Every frame's rotation is exact; the freedom that a mode leaves
(signs, the second Euler triple, whole turns) is used to stay near the frame before, so that curves do not flip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..engine.maths import quat

PROPERTIES = {
    "QUATERNION": "rotation_quaternion",
    "AXIS_ANGLE": "rotation_axis_angle",
}  # Euler angles otherwise
_GIMBAL_LOCK = (
    1e-5  # cosine of the middle angle below which the outer two are one turn, however it is shared
)


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


# ---------------------------------------------------------------- one instant, many rotations


def to_mode_near(rotations: np.ndarray, mode: str, before: np.ndarray) -> np.ndarray:
    """Values `(C, B)` of quaternions `(4, B)` in a rotation mode, each as near as can be to the values `(C, B)` before.

    What `to_mode` does along time, for many rotations that come tick by tick. They need not be of unit length.
    """
    if mode == "QUATERNION":
        return np.where(np.einsum("cb,cb->b", rotations, before) < 0.0, -rotations, rotations)
    if mode == "AXIS_ANGLE":
        return _axis_angle_near(rotations, before)
    if rotations.shape[1] == 1:
        return np.array([_one_euler_near(rotations[:, 0].tolist(), mode, before[:, 0].tolist())]).T
    return _euler_near(rotations, mode, before)


def _euler_near(rotations: np.ndarray, mode: str, before: np.ndarray) -> np.ndarray:
    """Angles (3, B) from half sums and differences of the outer two, which stay exact at the gimbal lock.

    Source: Bernardes and Viollet, Quaternion to Euler angles conversion, PLoS ONE 17 (2022).
    """
    i, j, k = ("XYZ".index(axis) for axis in mode)  # turned about in this order
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    w, first, middle, last = (
        rotations[0],
        rotations[1 + i],
        rotations[1 + j],
        sign * rotations[1 + k],
    )
    a, b, c, d = w - middle, first + last, middle + w, last - first
    low, high = np.hypot(a, b), np.hypot(c, d)
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    result = np.empty((3, rotations.shape[1]))
    result[i] = half_sum - half_difference
    result[j] = 2.0 * np.arctan2(high, low) - 0.5 * np.pi
    result[k] = sign * (half_sum + half_difference)
    other = result + np.pi
    other[j] = np.pi - result[j]
    chosen = np.where(_apart(other, before) < _apart(result, before), other, result)
    # at the gimbal lock one of the two means nothing, and the first angle may stay what it was
    locked = np.minimum(low, high) < _GIMBAL_LOCK * np.maximum(low, high)
    if locked.any():
        rest = np.where(low > high, 2.0 * half_sum - before[i], 2.0 * half_difference + before[i])
        for axis, value in ((i, before[i]), (j, result[j]), (k, sign * rest)):
            chosen[axis] = np.where(locked, value, chosen[axis])
    return chosen + 2.0 * np.pi * np.round((before - chosen) / (2.0 * np.pi))


def _one_euler_near(rotation: Sequence[float], mode: str, before: Sequence[float]) -> list[float]:
    """The same for one rotation, such as that of the object, in plain floats, which is several times as fast."""
    i, j, k = ("XYZ".index(axis) for axis in mode)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    w, first, middle, last = rotation[0], rotation[1 + i], rotation[1 + j], sign * rotation[1 + k]
    low, high = math.hypot(w - middle, first + last), math.hypot(middle + w, last - first)
    half_sum, half_difference = (
        math.atan2(first + last, w - middle),
        math.atan2(last - first, middle + w),
    )
    between, near = 2.0 * math.atan2(high, low) - 0.5 * math.pi, [before[i], before[j], before[k]]
    if min(low, high) < _GIMBAL_LOCK * max(low, high):
        rest = 2.0 * half_sum - near[0] if low > high else 2.0 * half_difference + near[0]
        chosen = _wound((near[0], between, sign * rest), near)
    else:
        outer, inner = half_sum - half_difference, sign * (half_sum + half_difference)
        triples = (outer, between, inner), (outer + math.pi, math.pi - between, inner + math.pi)
        chosen = min(
            (_wound(triple, near) for triple in triples), key=lambda triple: math.dist(triple, near)
        )
    result = [0.0, 0.0, 0.0]
    result[i], result[j], result[k] = chosen
    return result


def _wound(angles: Sequence[float], before: Sequence[float]) -> list[float]:
    """Angles by whole turns as near as can be to those before."""
    return [
        angle + math.tau * round((near - angle) / math.tau)
        for angle, near in zip(angles, before, strict=True)
    ]


def _axis_angle_near(rotations: np.ndarray, before: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rotations[1:], axis=0)
    turns = length > 1e-7 * np.abs(rotations[0])
    axes = np.where(turns, rotations[1:] / np.maximum(length, 1e-30), before[1:])
    axes = np.where(
        np.abs(axes).max(axis=0) > 0.0, axes, np.array([[0.0], [1.0], [0.0]])
    )  # as Blender rests
    flip = np.where(np.einsum("cb,cb->b", axes, before[1:]) < 0.0, -1.0, 1.0)
    angle = 2.0 * np.arctan2(np.where(turns, flip * length, 0.0), rotations[0])
    angle += 2.0 * np.pi * np.round((before[0] - angle) / (2.0 * np.pi))
    return np.concatenate([angle[None], axes * flip])

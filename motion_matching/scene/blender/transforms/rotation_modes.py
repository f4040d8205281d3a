"""Rotations in Blender's rotation modes: quaternions, Euler angles, axis and angle.

Arrays are component first, `(C, F)`, as curves are. The freedom that a mode leaves (signs, the
second Euler triple, whole turns) is used to stay near the frame before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.maths.rotations import component_quat, euler, quat

# Euler angles otherwise
PROPERTIES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
# half the cosine of the middle angle below which only the sum of the outer two counts
_GIMBAL_LOCK = 1e-5


def get_rotation_property(mode: str) -> str:
    """Return the property that a rotation mode reads, such as 'rotation_euler' for 'XYZ'."""
    return PROPERTIES.get(mode, "rotation_euler")


def to_mode(rotations: np.ndarray, mode: str) -> np.ndarray:
    """Return curves `(C, F)`, in a rotation mode, of unit quaternions `(4, F)`."""
    if mode == "QUATERNION":
        return component_quat.unroll(rotations)
    if mode == "AXIS_ANGLE":
        return _to_axis_angle(rotations.astype(np.float64)).astype(rotations.dtype)
    return _to_euler(rotations.astype(np.float64), mode).astype(rotations.dtype)


def from_mode(values: np.ndarray, mode: str) -> np.ndarray:
    """Return the quaternions `(F, 4)` that Blender makes of curves `(C, F)`."""
    if mode == "QUATERNION":
        return quat.normalize(values.T)
    if mode == "AXIS_ANGLE":
        length = np.linalg.norm(values[1:], axis=0)
        return quat.from_angle_axis(values[0], (values[1:] / np.maximum(length, 1e-30)).T)
    # 'XYZ' turns about X first: in the frame that turns along, that is Z, then Y, then X
    order = mode[::-1].lower()
    return quat.from_euler(values[["xyz".index(axis) for axis in order]].T, order)


def read_rotation(owner: Any) -> np.ndarray:
    """Return the own rotation (1, 4) of an object or pose bone, in float64."""
    mode = owner.rotation_mode
    values = np.array(getattr(owner, get_rotation_property(mode)), np.float64)
    return from_mode(values[:, None], mode)


def _split(rotations: np.ndarray, mode: str) -> tuple[euler.HalfAngles, list[int]]:
    """Return the half angles of quaternions (4, F) in the reverse order of a mode, and the axes."""
    order = mode[::-1]
    return euler.split(rotations[0], rotations[1:], order), ["XYZ".index(axis) for axis in order]


def _to_euler(rotations: np.ndarray, mode: str) -> np.ndarray:
    """Return angles (3, F) about X, Y and Z, unwrapped, by the order of a mode such as 'XYZ'."""
    halves, axes = _split(rotations, mode)
    angles = halves.compute_angles()
    locked = halves.find_locked(_GIMBAL_LOCK)
    angles[:, ~locked] = _choose_nearest_triples(angles[:, ~locked])
    if locked.any():
        # the axis that turns first is interpolated between the frames around, and the last one gets
        # the rest
        frames = np.arange(len(locked))
        free = ~locked
        angles[2, locked] = 0.0
        if free.any():
            around = np.unwrap(angles[2, free])
            angles[2, locked] = np.interp(frames[locked], frames[free], around)
        angles[0, locked] = halves.compute_first(angles[2])[locked]
    result = np.empty_like(angles)
    result[axes] = angles - 2.0 * np.pi * np.round(angles[:, :1] / (2.0 * np.pi))
    return np.unwrap(result, axis=-1)


def _choose_nearest_triples(angles: np.ndarray) -> np.ndarray:
    """Choose, of each frame's two equivalent triples, the one nearer to the frame before.

    The distance between two triples is that between their other ones, so a frame either keeps the
    choice of the one before or changes it: running parities of the changes are the choices. All of
    them are changed if the others are nearer to zero: rigs read the angles of a control one by one,
    and animators too.
    """
    if angles.shape[1] == 0:
        return angles
    other = _get_other_triples(angles)
    before = angles[:, :-1]
    change = _measure_distance(other[:, 1:], before) < _measure_distance(angles[:, 1:], before)
    chosen = np.concatenate([[False], np.cumsum(change) % 2 == 1])
    near, far = np.where(chosen, other, angles), np.where(chosen, angles, other)
    return near if _measure_distance(near, 0.0).sum() <= _measure_distance(far, 0.0).sum() else far


def _get_other_triples(angles: np.ndarray) -> np.ndarray:
    """Return the other angles (3, F) that mean the same rotations; row 1 is the middle angle."""
    return np.stack([angles[0] + np.pi, np.pi - angles[1], angles[2] + np.pi])


def _measure_distance(a: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    """Return the squared distance (F,) between angles (3, F), whole turns aside."""
    return np.sum(((a - b + np.pi) % (2 * np.pi) - np.pi) ** 2, axis=0)


def _to_axis_angle(rotations: np.ndarray) -> np.ndarray:
    """Return angle and unit axis (4, F), the axis on one hemisphere and the angle unwrapped."""
    rotations = component_quat.unroll(rotations)
    length = np.linalg.norm(rotations[1:], axis=0)
    defined = length > 1e-7
    if not defined.any():
        return np.array([0.0, 0.0, 1.0, 0.0])[:, None] * np.ones_like(length)
    # without a turn, the axis is that of the last frame that has one, or of the first
    last = np.maximum.accumulate(np.where(defined, np.arange(len(length)), np.argmax(defined)))
    axis = rotations[1:, last] / length[last]
    flips = np.where(np.einsum("cf,cf->f", axis[:, 1:], axis[:, :-1]) < 0, -1.0, 1.0)
    signs = np.concatenate([[1.0], np.cumprod(flips)])
    angle = 2.0 * np.arctan2(np.where(defined, length, 0.0) * signs, rotations[0])
    return np.concatenate([np.unwrap(angle)[None], axis * signs])


def to_mode_near(rotations: np.ndarray, mode: str, before: np.ndarray) -> np.ndarray:
    """Return values `(C, B)` of quaternions `(4, B)`, of any length, near the values before."""
    if mode == "QUATERNION":
        return np.where(np.einsum("cb,cb->b", rotations, before) < 0.0, -rotations, rotations)
    if mode == "AXIS_ANGLE":
        return _to_axis_angle_near(rotations, before)
    if rotations.shape[1] == 1:
        only = _to_single_euler_near(rotations[:, 0].tolist(), mode, before[:, 0].tolist())
        return np.array([only]).T
    return _to_euler_near(rotations, mode, before)


def _to_euler_near(rotations: np.ndarray, mode: str, before: np.ndarray) -> np.ndarray:
    """Return angles (3, B) of quaternions (4, B), as near as possible to angles (3, B) before."""
    halves, axes = _split(rotations, mode)
    angles = halves.compute_angles()
    before = before[axes]
    other = _get_other_triples(angles)
    nearer = _measure_distance(other, before) < _measure_distance(angles, before)
    chosen = np.where(nearer, other, angles)
    # at a gimbal lock the angle that turns first may stay what it was
    locked = halves.find_locked(_GIMBAL_LOCK)
    if locked.any():
        held = np.stack([halves.compute_first(before[2]), angles[1], before[2]])
        chosen = np.where(locked, held, chosen)
    result = np.empty_like(chosen)
    result[axes] = chosen + 2.0 * np.pi * np.round((before - chosen) / (2.0 * np.pi))
    return result


def _to_single_euler_near(
    rotation: Sequence[float], mode: str, before: Sequence[float]
) -> list[float]:
    """Compute the same for one rotation in plain floats, which is several times as fast."""
    i, j, k = ("XYZ".index(axis) for axis in mode)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    w = rotation[0]
    first = rotation[1 + i]
    middle = rotation[1 + j]
    last = sign * rotation[1 + k]
    low, high = math.hypot(w - middle, first + last), math.hypot(middle + w, last - first)
    half_sum = math.atan2(first + last, w - middle)
    half_difference = math.atan2(last - first, middle + w)
    between = 2.0 * math.atan2(high, low) - 0.5 * math.pi
    near = [before[i], before[j], before[k]]
    if min(low, high) < _GIMBAL_LOCK * max(low, high):
        rest = 2.0 * half_sum - near[0] if low > high else 2.0 * half_difference + near[0]
        chosen = _wind_near((near[0], between, sign * rest), near)
    else:
        outer = half_sum - half_difference
        inner = sign * (half_sum + half_difference)
        triples = (outer, between, inner), (outer + math.pi, math.pi - between, inner + math.pi)
        wound = [_wind_near(triple, near) for triple in triples]
        chosen = min(wound, key=lambda triple: math.dist(triple, near))
    result = [0.0, 0.0, 0.0]
    result[i], result[j], result[k] = chosen
    return result


def _wind_near(angles: Sequence[float], before: Sequence[float]) -> list[float]:
    """Return angles, changed by whole turns, as near as possible to those before."""
    return [
        angle + math.tau * round((near - angle) / math.tau)
        for angle, near in zip(angles, before, strict=True)
    ]


def _to_axis_angle_near(rotations: np.ndarray, before: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rotations[1:], axis=0)
    turns = length > 1e-7 * np.abs(rotations[0])
    axes = np.where(turns, rotations[1:] / np.maximum(length, 1e-30), before[1:])
    at_rest = np.array([[0.0], [1.0], [0.0]])  # as Blender has it
    axes = np.where(np.abs(axes).max(axis=0) > 0.0, axes, at_rest)
    flip = np.where(np.einsum("cb,cb->b", axes, before[1:]) < 0.0, -1.0, 1.0)
    angle = 2.0 * np.arctan2(np.where(turns, flip * length, 0.0), rotations[0])
    angle += 2.0 * np.pi * np.round((before[0] - angle) / (2.0 * np.pi))
    return np.concatenate([angle[None], axes * flip])

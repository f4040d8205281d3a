"""Spring inertialization of a whole pose: jumps leave an offset that fades, so that nothing ever pops.

Source: notebook 000, Player (spring inertializer); offsets of all bones and of the root's velocity are decayed by one
2x2 matrix product. Rotation offsets are kept as scaled angle-axis in the parent's frame; they may be large, so that
angular velocities are carried across a jump with the derivative of the exponential map, not by plain differences.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ..maths.springs import LN2, decay_matrix, halflife_to_damping

# r_i = sum_j a_j * b[_ORDER[j, i]] * _SIGN[j, i]: the quaternion product as take, sign, multiply, sum
_EACH = np.array([[0] * 4, [1] * 4, [2] * 4, [3] * 4])
_ORDER = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
_SIGN = np.array([[1, 1, 1, 1], [-1, 1, -1, 1], [-1, 1, 1, -1], [-1, -1, 1, 1]], np.float32)[
    :, :, None
]
_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])
_SMALL = np.float32(
    0.05**2
)  # rad²: below, what a rotation vector adds to its velocity hardly counts
_TINY = 1e-12
_SLOWEST = 3.0  # times its halflife that a jump may take to fade
_PULL = np.float32(0.95)  # of what a bone bears: the motion that is entered needs some too
_LEAST_LIMITS = np.array(
    [[1.0], [10.0]], np.float32
)  # m/s², rad/s²: for bones that hardly move in the data
_CONJUGATE = np.array([1, -1, -1, -1], np.float32)[:, None]


@cache
def _signs(bone_count: int) -> np.ndarray:
    """The signs (4, 4, B) of a product's terms: arrays of the same shape are multiplied faster than broadcast ones."""
    return np.repeat(_SIGN, bone_count, axis=2)


@cache
def _filled(value: float, bone_count: int) -> np.ndarray:
    return np.full(bone_count, value, np.float32)


def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Quaternion product of component-first arrays (4, B)."""
    terms = b.take(_ORDER, 0)
    terms *= _signs(b.shape[1])
    terms *= a.take(_EACH, 0)
    return np.add.reduce(terms, 0, None, out)


def exponential(v: np.ndarray) -> np.ndarray:
    """Quaternions (4, B) of scaled angle-axis (3, B)."""
    bone_count = v.shape[1]
    square, y, z = v * v
    square += y
    square += z
    square += _filled(_TINY * _TINY, bone_count)
    angle = np.sqrt(square, square)
    half = angle * _filled(0.5, bone_count)
    q = np.empty((4, bone_count), np.float32)
    np.cos(half, q[0])
    np.sin(half, half)
    half /= angle
    np.multiply(v, half, q[1:])
    return q


def logarithm(q: np.ndarray) -> np.ndarray:
    """Scaled angle-axis (3, B) of quaternions (4, B), the shorter way round."""
    sign = np.where(q[0] < 0, np.float32(-1), np.float32(1))
    length = np.sqrt(np.einsum("ij,ij->j", q[1:], q[1:]))
    angle = np.arctan2(length, q[0] * sign)
    angle *= 2 * sign
    angle /= length + _TINY
    return q[1:] * angle


def _lengths(v: np.ndarray) -> np.ndarray:
    """Lengths (2, B) of linear and angular vectors (6, B)."""
    squares = v * v
    return np.sqrt(np.add.reduce(squares.reshape(2, 3, -1), axis=1))


def _turning(offset: np.ndarray, speed: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Angular velocities (3, B) of bones that turn with `velocity` under offsets that change at a speed, all (3, B).

    The offsets turn the velocity along; their own changes go through the left Jacobian of the rotation vector.
    """
    square, sine, versine = _coefficients(offset)
    along, own = _cross(offset, velocity), _cross(offset, speed)
    led = velocity + sine * along + versine * _cross(offset, along)
    return led + speed + versine * own + (1 - sine) / square * _cross(offset, own)


def _speed_of(offset: np.ndarray, turning: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """How fast offsets change under which bones turn as told, the inverse of `_turning`; all (3, B)."""
    square, sine, versine = _coefficients(offset)
    along = _cross(offset, velocity)
    left = turning - velocity - sine * along - versine * _cross(offset, along)
    own = _cross(offset, left)
    return left - 0.5 * own + (1 - 0.5 * sine / versine) / square * _cross(offset, own)


def _coefficients(offset: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Squared angles (B,) of rotation vectors, sin(a) / a and (1 - cos(a)) / a²; small angles count as a larger one."""
    square = np.maximum(np.einsum("ij,ij->j", offset, offset), _SMALL)
    angle = np.sqrt(square)
    return square, np.sin(angle) / angle, (1 - np.cos(angle)) / square


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.take(_NEXT, 0) * b.take(_AFTER, 0) - a.take(_AFTER, 0) * b.take(_NEXT, 0)


class Inertializer:
    """Offsets of B bones (positions, rotations) and of the root's velocity (3), and how fast they change.

    They fade with `halflife` seconds, or as much slower, up to three times, as it takes to pull no bone harder than
    its `limits` (2, B), the largest linear and angular accelerations that it has in the data. All bones fade alike:
    feet stay where hips and knees together put them. What the velocities at a jump add is slowed down for itself: as
    slow as a large offset it would carry a bone far past both poses.
    """

    def __init__(self, limits: np.ndarray, halflife: float, dt: float) -> None:
        bone_count = limits.shape[1]
        self.halflife = halflife
        self._dt = dt
        self._limits = _PULL * np.maximum(limits, _LEAST_LIMITS)
        # offsets of bones (6 B) and of the root (3), above how fast they change: as the last jump left them, and now
        self._left = np.zeros((2, 6 * bone_count + 3), np.float32)
        self._state = np.zeros_like(self._left)
        self._offset = self._state[0, :-3].reshape(6, bone_count)
        self._speed = self._state[1, :-3].reshape(6, bone_count)
        self._root = self._state[0, -3:]
        self.reset()

    def turn_rate(self, bone: int) -> float:
        """How fast the offset of a bone turns about its parent's Z, radians per second."""
        x, y, _ = self._offset[3:, bone].tolist()
        vx, vy, vz = self._speed[3:, bone].tolist()
        # of the exponential map's derivative, the terms of up to second order
        return float(vz + 0.5 * (x * vy - y * vx))

    def reset(self) -> None:
        self._left[:] = self._state[:] = 0
        self._age = 0.0  # seconds since the last jump
        self.fading = self._calming = (
            self.halflife
        )  # halflives of the offsets and of their velocities

    def transition(
        self,
        left: np.ndarray,
        left_velocity: np.ndarray,
        left_root: np.ndarray,
        entered: np.ndarray,
        entered_velocity: np.ndarray,
        entered_root: np.ndarray,
    ) -> None:
        """Take up the difference of a jump between two poses (7, B) of the same instant.

        Velocities are (6, B), linear above angular; roots (3,) are the velocities of the simulation bone.
        """
        offset, speed = self._offset, self._speed
        offset[:3] += left[:3] - entered[:3]
        speed[:3] += left_velocity[:3] - entered_velocity[:3]
        shown = multiply(exponential(offset[3:]), left[3:])
        turning = _turning(offset[3:], speed[3:], left_velocity[3:])
        offset[3:] = logarithm(multiply(shown, entered[3:] * _CONJUGATE))
        speed[3:] = _speed_of(offset[3:], turning, entered_velocity[3:])
        # bone 0 lies in the world and is placed by the root's velocity alone
        offset[:, 0] = speed[:, 0] = 0
        self._root += left_root - entered_root
        self._left[:] = self._state
        self._age = 0.0
        self.fading, self._calming = self._bearable_halflives()

    def _bearable_halflives(self) -> tuple[float, float]:
        """Halflives of the offsets and of their velocities, whose first pull y² x + 2 z v with y, z = 2 ln 2 / halflife is
        within the limits; the velocities' part within half of them."""
        x, v = _lengths(self._offset), _lengths(self._speed)
        slowest = _SLOWEST * self.halflife
        calming = max(self.halflife, min(8.0 * LN2 * float((v / self._limits).max()), slowest))
        left = np.maximum(self._limits - halflife_to_damping(calming) * v, _TINY)
        fading = max(self.halflife, min(2.0 * LN2 * math.sqrt(float((x / left).max())), slowest))
        return fading, calming

    def update(self, pose: np.ndarray) -> tuple[np.ndarray, list[float]]:
        """One tick on: the pose (7, B) with its offsets, newly allocated, and the offset of the root's velocity."""
        self._age += self._dt
        decay = decay_matrix(self.fading, self._age, self._calming)
        np.dot(decay.astype(np.float32), self._left, out=self._state)
        result = np.empty_like(pose)
        np.add(pose[:3], self._offset[:3], out=result[:3])
        multiply(exponential(self._offset[3:]), pose[3:], out=result[3:])
        return result, self._root.tolist()

"""Spring inertialization of a whole pose: jumps leave an offset that fades, so that nothing ever pops.

Source: notebook 000, Player (spring inertializer); offsets of all bones and of the root's velocity are decayed by one
2x2 matrix product. Rotation offsets are kept as scaled angle-axis in the parent's frame.
"""

from __future__ import annotations

import numpy as np

from ..maths.springs import LN2, decay_matrix

# r_i = sum_j a_j * b[_ORDER[j, i]] * _SIGN[j, i]: the quaternion product as take, sign, multiply, sum
_ORDER = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
_SIGN = np.array([[1, 1, 1, 1], [-1, 1, -1, 1], [-1, 1, 1, -1], [-1, -1, 1, 1]], np.float32)[:, :, None]
_TINY = np.float32(1e-12)
_SLOWEST = 3.0  # times its halflife that a jump may take to fade
_LEAST_LIMITS = np.array([[1.0], [10.0]], np.float32)  # m/s², rad/s²: for bones that hardly move in the data
_CONJUGATE = np.array([1, -1, -1, -1], np.float32)[:, None]


def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Quaternion product of component-first arrays (4, B)."""
    terms = b.take(_ORDER, 0)
    terms *= _SIGN
    return np.einsum("jib,jb->ib", terms, a, out=out)


def exponential(v: np.ndarray) -> np.ndarray:
    """Quaternions (4, B) of scaled angle-axis (3, B)."""
    angle = np.sqrt(np.einsum("ij,ij->j", v, v))
    half = angle * np.float32(0.5)
    q = np.empty((4, v.shape[1]), np.float32)
    np.cos(half, out=q[0])
    np.sin(half, out=half)
    angle += _TINY
    half /= angle
    np.multiply(v, half, out=q[1:])
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


class Inertializer:
    """Offsets of B bones (positions, rotations) and of the root's velocity (3), and how fast they change.

    They fade with `halflife` seconds, or as much slower, up to three times, as it takes to pull no bone harder than
    its `limits` (2, B), the largest linear and angular accelerations that it has in the data. All bones fade alike:
    feet stay where hips and knees together put them.
    """

    def __init__(self, limits: np.ndarray, halflife: float, dt: float) -> None:
        bone_count = limits.shape[1]
        self.halflife = halflife
        self._dt = dt
        self._limits = np.maximum(limits, _LEAST_LIMITS)
        self._state = np.zeros((2, 6 * bone_count + 3), np.float32)
        self._next = np.empty_like(self._state)
        # views of the state: offsets of bones (6, B) and of the root (3,), and how fast the bones' ones change
        self._offset = self._state[0, :-3].reshape(6, bone_count)
        self._speed = self._state[1, :-3].reshape(6, bone_count)
        self._root = self._state[0, -3:]
        self._decay = decay_matrix(halflife, dt).astype(np.float32)

    def reset(self) -> None:
        self._state[:] = 0

    def transition(
        self, left: np.ndarray, left_velocity: np.ndarray, left_root: np.ndarray,
        entered: np.ndarray, entered_velocity: np.ndarray, entered_root: np.ndarray,
    ) -> None:
        """Take up the difference of a jump between two poses (7, B) of the same instant.

        Velocities are (6, B), linear above angular; roots (3,) are the velocities of the simulation bone.
        """
        offset, speed = self._offset, self._speed
        offset[:3] += left[:3] - entered[:3]
        shown = multiply(exponential(offset[3:]), left[3:])
        offset[3:] = logarithm(multiply(shown, entered[3:] * _CONJUGATE))
        speed += left_velocity - entered_velocity
        # bone 0 lies in the world and is placed by the root's velocity alone
        offset[:, 0] = speed[:, 0] = 0
        self._root += left_root - entered_root
        self._decay = decay_matrix(self._bearable_halflife(), self._dt).astype(np.float32)

    def _bearable_halflife(self) -> float:
        """The halflife whose first pull on the offsets, y² x + 2 y v with y = 2 ln 2 / halflife, is within the limits."""
        x = _lengths(self._offset)
        v = _lengths(self._speed)
        y = self._limits / (v + np.sqrt(v * v + x * self._limits) + _TINY)
        return max(self.halflife, min(2.0 * LN2 / float(y.min()), _SLOWEST * self.halflife))

    def update(self, pose: np.ndarray) -> tuple[np.ndarray, list[float]]:
        """One tick on: the pose (7, B) with its offsets, newly allocated, and the offset of the root's velocity."""
        np.dot(self._decay, self._state, out=self._next)
        self._state[:] = self._next
        result = np.empty_like(pose)
        np.add(pose[:3], self._offset[:3], out=result[:3])
        multiply(exponential(self._offset[3:]), pose[3:], out=result[3:])
        return result, self._root.tolist()

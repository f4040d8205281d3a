"""Euler angles (3, ...) in the order of their rotations, and quaternions (4, ...).

Rotations are intrinsic: each turns about an axis that the ones before have turned, as BVH channels
do. Blender's modes are the reverse: its mode 'XYZ' is the order 'ZYX' here.

Source: Bernardes and Viollet, Quaternion to Euler angles conversion, PLoS ONE 17 (2022).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

Array = np.ndarray


def compose(angles: Iterable[Array], order: str) -> list[Array]:
    """Return the product of rotations by angles in radians about the axes of `order` ('zyx')."""
    q: list[Array] = []
    for angle, axis in zip(angles, order.lower(), strict=True):
        first = "xyz".index(axis)
        half = 0.5 * angle
        cosine = np.cos(half)
        sine = np.sin(half)
        a = 1 + first
        b = 1 + (first + 1) % 3
        c = 1 + (first + 2) % 3
        result = [np.zeros_like(half)] * 4
        if not q:
            result[0] = cosine
            result[a] = sine
        else:
            result[0] = cosine * q[0] - sine * q[a]
            result[a] = cosine * q[a] + sine * q[0]
            result[b] = cosine * q[b] + sine * q[c]
            result[c] = cosine * q[c] - sine * q[b]
        q = result
    return q


class HalfAngles(NamedTuple):
    """Half sum and half difference of the outer angles, and two lengths (...) for the middle one.

    At a gimbal lock `low` vanishes and leaves the difference undefined, or `high` the sum.
    """

    half_sum: Array
    half_difference: Array
    low: Array
    high: Array
    handed: int  # 1 where the axes follow one another as X, Y and Z do, -1 otherwise

    def compute_angles(self) -> Array:
        """Return angles (3, ...) with the middle one within a quarter turn."""
        middle = 2 * np.arctan2(self.high, self.low) - np.pi / 2
        first = self.half_sum + self.half_difference
        third = self.handed * (self.half_sum - self.half_difference)
        return np.stack([first, middle, third])

    def find_locked(self, tolerance: float) -> Array:
        """Return where (...) the gimbal is locked: one length is below `tolerance` of the other."""
        return np.minimum(self.low, self.high) < tolerance * np.maximum(self.low, self.high)

    def compute_first(self, third: Array) -> Array:
        """Return the first angle (...) for a chosen third one where the gimbal is locked."""
        third = self.handed * third
        by_low = 2.0 * self.half_difference + third
        by_high = 2.0 * self.half_sum - third
        return np.where(self.low > self.high, by_low, by_high)


def split(w: Array, vector: Array, order: str) -> HalfAngles:
    """Split quaternions of any length, real parts (...) and vectors (3, ...), into half angles.

    Sum and difference of the outer two angles are the arguments of two complex numbers; the ratio
    of their lengths gives the middle one.
    """
    first, second, third = ("xyz".index(axis) for axis in order.lower())
    handed = 1 if (second - first) % 3 == 1 else -1
    x, y, z = vector[first], vector[second], handed * vector[third]
    a = w + y
    b = x + z
    c = w - y
    d = x - z
    return HalfAngles(np.arctan2(b, a), np.arctan2(d, c), np.hypot(c, d), np.hypot(a, b), handed)

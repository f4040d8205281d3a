"""Vectors and headings on the ground plane, as arrays and as plain floats.

A yaw is an angle in radians about Z. Yaw 0 faces -Y: forward is (sin yaw, -cos yaw) and left is
(cos yaw, sin yaw). To see a world vector from a character that faces `yaw`, rotate it by `-yaw`.
`rotate_xy` exists because numpy takes about 25 times as long for a single vector.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from .numeric import as_run

Array = np.ndarray
Angle = TypeVar("Angle", float, np.ndarray)


def rotate(v: Array, yaw: Array | float) -> Array:
    """Rotate ground vectors `(..., 2)` by `(...)` radians."""
    yaw = as_run(np.asarray(yaw))
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = v[..., 0], v[..., 1]
    return np.stack([c * x - s * y, s * x + c * y], axis=-1)


def rotate_xy(x: float, y: float, yaw: float) -> tuple[float, float]:
    """Rotate one ground vector by `yaw` radians, in plain floats."""
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x - s * y, s * x + c * y


def yaw_to_forward(yaw: Array) -> Array:
    """Return the directions `(..., 2)` that headings `(...)` face."""
    return np.stack([np.sin(yaw), -np.cos(yaw)], axis=-1)


def yaw_to_left(yaw: Array) -> Array:
    """Return the directions `(..., 2)` to the left of headings `(...)`."""
    return np.stack([np.cos(yaw), np.sin(yaw)], axis=-1)


def wrap(angle: Angle) -> Angle:
    """Return the same angle, or angles, from -pi to pi."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi

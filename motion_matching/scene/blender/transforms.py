"""The properties that hold the transform of an object or a pose bone, and rigid transforms."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from ...engine.maths import quat

# each property of an object or pose bone, and its value at rest
REST = MappingProxyType(
    {
        "location": (0.0,) * 3,
        "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
        "rotation_euler": (0.0,) * 3,
        "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
        "scale": (1.0,) * 3,
    }
)
ROTATIONS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")

Transform = tuple[np.ndarray, np.ndarray]  # rotations (..., 4) and positions (..., 3), float64


def read_property(owners: Any, name: str) -> np.ndarray:
    """Read a property of all pose bones of a collection, (B, C) in float32."""
    values = np.empty(len(REST[name]) * len(owners), dtype=np.float32)
    owners.foreach_get(name, values)
    return values.reshape(-1, len(REST[name]))


def compose(a: Transform, b: Transform) -> Transform:
    """Return the transform that does b first, then a."""
    return quat.mul(a[0], b[0]), a[1] + quat.mul_vec(a[0], b[1])


def invert(a: Transform) -> Transform:
    """Return the transform that undoes a."""
    return quat.inv(a[0]), -quat.inv_mul_vec(a[0], a[1])

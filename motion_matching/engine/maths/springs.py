"""Critically damped springs.

A spring of halflife h (seconds) has the damping 4 ln 2 / h. At rest 59.7 % of a position offset
remains after one halflife. A halflife of zero arrives at once. Source: Holden, Spring-It-On: The
Game Developer's Spring-Roll-Call, as used by the notebook "Motion Matching For Character
Animation".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Value = Any  # a float, which stays one, or an array
LN2 = math.log(2.0)
_SHORTEST = 1e-5


def halflife_to_damping(halflife: float) -> float:
    """Return the damping of a critically damped spring, 4 ln 2 / halflife (per second)."""
    return 4.0 * LN2 / (halflife + _SHORTEST)


def compute_decay_matrix(
    halflife: float, dt: float, velocity_halflife: float | None = None
) -> np.ndarray:
    """Return the exact 2x2 matrix that advances (offset, velocity) of a spring at goal zero by `dt`
    seconds.

    What the velocity adds may fade with a halflife of its own.
    """
    y = halflife_to_damping(halflife) / 2.0
    z = y if velocity_halflife is None else halflife_to_damping(velocity_halflife) / 2.0
    e, f = math.exp(-y * dt), math.exp(-z * dt)
    return np.array([[e * (1 + y * dt), f * dt], [-e * y * y * dt, f * (1 - z * dt)]])


def spring(x: Value, v: Value, goal: Value, halflife: float, dt: Value) -> tuple[Any, Any]:
    """Return position and velocity (per second) of a spring toward a resting `goal`, `dt` seconds
    later.
    """
    y = halflife_to_damping(halflife) / 2.0
    j0 = x - goal
    j1 = v + j0 * y
    e = np.exp(-y * dt) if isinstance(dt, np.ndarray) else math.exp(-y * dt)
    return e * (j0 + j1 * dt) + goal, e * (v - j1 * y * dt)

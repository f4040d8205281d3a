"""Critically damped springs.

A spring of halflife h (seconds) has the damping 4 ln 2 / h. At rest 59.7 % of a position offset
remains after one halflife. A halflife of zero arrives at once.

Source: Holden, Spring-It-On: The Game Developer's Spring-Roll-Call.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

Value = Any  # a float, which stays one, or an array
LN2 = math.log(2.0)
_SHORTEST = 1e-5


def halflife_to_damping(halflife: float) -> float:
    """Return the damping of a critically damped spring, 4 ln 2 / halflife (per second)."""
    return 4.0 * LN2 / (halflife + _SHORTEST)


def halflife_to_rate(halflife: float) -> float:
    """Return half the damping, 2 ln 2 / halflife: the exponent's rate (per second)."""
    return halflife_to_damping(halflife) / 2.0


@lru_cache(maxsize=256)
def compute_decay(halflife: float, dt: float) -> tuple[float, float]:
    """Return half the damping of a spring (per second), and the share left after `dt` seconds.

    Results are cached, because ticks need the same few all the time.
    """
    rate = halflife_to_rate(halflife)
    return rate, math.exp(-rate * dt)


def compute_remainder(halflife: float, dt: float) -> float:
    """Return the share of a difference that plain exponential damping leaves after `dt` seconds."""
    return math.exp(-LN2 * dt / (halflife + _SHORTEST))


def compute_decay_matrix(halflife: float, dt: float, velocity_halflife: float) -> np.ndarray:
    """Return the exact matrix (2, 2) that advances a spring's (offset, velocity) toward zero.

    The velocity's part fades with a separate halflife.
    """
    y, z = halflife_to_rate(halflife), halflife_to_rate(velocity_halflife)
    e = math.exp(-y * dt)
    f = math.exp(-z * dt)
    return np.array([[e * (1 + y * dt), f * dt], [-e * y * y * dt, f * (1 - z * dt)]])


def spring(x: Value, v: Value, goal: Value, halflife: float, dt: Value) -> tuple[Any, Any]:
    """Return position and velocity of a spring toward a resting `goal`, `dt` seconds later."""
    e: Any
    if isinstance(dt, np.ndarray):
        y = halflife_to_rate(halflife)
        e = np.exp(-y * dt)
    else:
        y, e = compute_decay(halflife, dt)
    j0 = x - goal
    j1 = v + j0 * y
    return e * (j0 + j1 * dt) + goal, e * (v - j1 * y * dt)

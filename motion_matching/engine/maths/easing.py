"""Ease from 0 to 1 over 0 <= x <= 1, vectorised, and keep values within a limit."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def smoothstep(x: Array | float) -> Array:
    """Step by a cubic with zero slope at both ends."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def smootherstep(x: Array | float) -> Array:
    """Step by a quintic with zero slope and curvature at both ends. Source: Perlin 2002."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (x * (6.0 * x - 15.0) + 10.0)


def clamp(value: float, limit: float) -> float:
    """Clamp a value to -limit..limit."""
    return limit if value > limit else -limit if value < -limit else value

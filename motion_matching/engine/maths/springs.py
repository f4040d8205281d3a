"""Critically damped springs and dampers, vectorised over leading dimensions.

Source: Holden's spring roll call as used by the notebook "Motion Matching For Character Animation" (first part) and
the article "Code vs Data Driven Displacement" (Adjustment). A spring of halflife h has damping 4 ln 2 / h; at rest
59.7 % of a position offset remains after one halflife, while a damper leaves exactly one half.
Halflives are in seconds; a halflife of zero arrives at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import quat

Array = np.ndarray
Value = Any  # a float, which stays one, or an array
LN2 = math.log(2.0)
_SHORTEST = 1e-5


def halflife_to_damping(halflife: float) -> float:
    """Damping of a critically damped spring, 4 ln 2 / halflife (per second)."""
    return 4.0 * LN2 / (halflife + _SHORTEST)


def exact_negexp(x: Array | float) -> Array | float:
    """exp(-x)."""
    return np.exp(-np.asarray(x)) if isinstance(x, np.ndarray) else math.exp(-x)


def fast_negexp(x: Array | float) -> Array | float:
    """Rational approximation of exp(-x) for x >= 0 (at most 0.2 % off below x = 1, notebook's `fast_negexp`)."""
    return 1.0 / (1.0 + x + 0.48 * x * x + 0.235 * x * x * x)


# an exponential of floats or of arrays
NegExp = Callable[..., Any]


def decay_matrix(halflife: float, dt: float, velocity_halflife: float | None = None) -> Array:
    """The 2x2 matrix that takes (offset, velocity) of a spring at goal zero `dt` seconds on; exact.

    What the velocity adds may fade with a halflife of its own.
    """
    y = halflife_to_damping(halflife) / 2.0
    z = y if velocity_halflife is None else halflife_to_damping(velocity_halflife) / 2.0
    e, f = math.exp(-y * dt), math.exp(-z * dt)
    return np.array([[e * (1 + y * dt), f * dt], [-e * y * y * dt, f * (1 - z * dt)]])


def damper(
    x: Array, goal: Array, halflife: float, dt: float, negexp: NegExp = exact_negexp
) -> Array:
    """Move `x` toward `goal` so that half of the difference is left after one halflife."""
    return goal + (x - goal) * negexp(LN2 * dt / (halflife + _SHORTEST))


def damp_adjustment(
    difference: Array, halflife: float, dt: float, negexp: NegExp = exact_negexp
) -> Array:
    """The part of a difference (vector or scaled angle-axis) to be made good within `dt`.

    The damper starts anew from zero at every call, because its result is applied to what it is measured from
    (article 002, Adjustment).
    """
    return difference * (1.0 - negexp(LN2 * dt / (halflife + _SHORTEST)))


def damp_adjustment_rotation(
    difference: Array, halflife: float, dt: float, negexp: NegExp = exact_negexp
) -> Array:
    """`damp_adjustment` for a rotation `(..., 4)`: the shorter way round."""
    step = quat.to_scaled_angle_axis(quat.positive(difference))
    return quat.from_scaled_angle_axis(damp_adjustment(step, halflife, dt, negexp))


def spring(
    x: Value, v: Value, goal: Value, halflife: float, dt: Value, negexp: NegExp = exact_negexp
) -> tuple[Any, Any]:
    """Critically damped spring of position `x` and velocity `v` (per second) toward a resting `goal`."""
    y = halflife_to_damping(halflife) / 2.0
    j0 = x - goal
    j1 = v + j0 * y
    e = negexp(y * dt)
    return e * (j0 + j1 * dt) + goal, e * (v - j1 * y * dt)


def spring_rotation(
    q: Array,
    angular_velocity: Array,
    goal: Array,
    halflife: float,
    dt: float,
    negexp: NegExp = exact_negexp,
) -> tuple[Array, Array]:
    """The same spring for rotations `(..., 4)` and angular velocities `(..., 3)`, by the shorter way round."""
    offset = quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(q, goal)))
    offset, angular_velocity = spring(offset, angular_velocity, np.zeros(3), halflife, dt, negexp)
    return quat.mul(quat.from_scaled_angle_axis(offset), goal), angular_velocity


def character_spring(
    x: Array,
    v: Array,
    a: Array,
    v_goal: Array,
    halflife: float,
    dt: float,
    negexp: NegExp = exact_negexp,
) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of a body whose velocity is sprung toward `v_goal`.

    Source: notebook 000, `spring_character_update`: the spring acts on the velocity and the position is its integral.
    """
    y = halflife_to_damping(halflife) / 2.0
    j0 = v - v_goal
    j1 = a + j0 * y
    e = negexp(y * dt)
    x_next = e * (-j1 / (y * y) + (-j0 - j1 * dt) / y) + j1 / (y * y) + j0 / y + v_goal * dt + x
    return x_next, e * (j0 + j1 * dt) + v_goal, e * (a - j1 * y * dt)

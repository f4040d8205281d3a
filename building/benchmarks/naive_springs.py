"""A damper and the spring of a character's velocity as in the notebook: for the naive tick, and to
test against.

Source: notebook 000, `spring_character_update`; article 002, Adjustment.
"""

from __future__ import annotations

import numpy as np

from motion_matching.engine.maths.springs import LN2, halflife_to_damping


def damp(x, goal, halflife, dt):
    """Move `x` toward `goal` so that half of the difference is left after one halflife."""
    return goal + (x - goal) * np.exp(-LN2 * dt / (halflife + 1e-5))


def damp_adjustment(difference, halflife, dt):
    """Return the part of a difference to remove within `dt`, by a damper that starts anew at every
    call.
    """
    return difference - damp(difference, 0.0, halflife, dt)


def advance_character_spring(x, v, a, v_goal, halflife, dt):
    """Return position, velocity and acceleration of a body whose velocity springs toward `v_goal`."""
    y = halflife_to_damping(halflife) / 2.0
    j0 = v - v_goal
    j1 = a + j0 * y
    e = np.exp(-y * dt)
    x_next = e * (-j1 / (y * y) + (-j0 - j1 * dt) / y) + j1 / (y * y) + j0 / y + v_goal * dt + x
    return x_next, e * (j0 + j1 * dt) + v_goal, e * (a - j1 * y * dt)

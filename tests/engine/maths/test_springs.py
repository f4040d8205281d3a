"""Springs against their differential equation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from motion_matching.engine.maths import springs

HALFLIVES = [0.05, 0.27, 1.0]


@pytest.mark.parametrize("halflife", HALFLIVES)
def test_spring_keeps_597_permille_of_an_offset_after_one_halflife(halflife):
    x, _ = springs.spring(np.array([1.0]), np.array([0.0]), np.array([0.0]), halflife, halflife)
    # (1 + 2 ln 2) / 4
    np.testing.assert_allclose(x, (1 + 2 * math.log(2)) / 4, rtol=1e-3)


@pytest.mark.parametrize("halflife", HALFLIVES)
def test_spring_solves_its_differential_equation(halflife):
    d = springs.halflife_to_damping(halflife)
    solution = solve_ivp(
        lambda t, s: [s[1], -d * s[1] - d * d / 4 * (s[0] - 1.5)],
        (0, 0.4),
        [0.2, -3.0],
        rtol=1e-10,
        atol=1e-12,
    )
    x, v = springs.spring(0.2, -3.0, 1.5, halflife, 0.4)
    np.testing.assert_allclose([x, v], solution.y[:, -1], rtol=1e-6, atol=1e-8)


def test_springs_do_not_depend_on_the_time_step():
    whole = springs.spring(np.array([1.0, -2]), np.array([3.0, 0]), np.array([0.0, 1]), 0.2, 0.5)
    x, v = np.array([1.0, -2]), np.array([3.0, 0])
    for _ in range(50):
        x, v = springs.spring(x, v, np.array([0.0, 1]), 0.2, 0.01)
    np.testing.assert_allclose((x, v), whole, rtol=1e-9)


def test_the_decay_matrix_matches_a_spring_toward_zero():
    x, v = springs.spring(0.7, -2.0, 0.0, 0.1, 1 / 30)
    decay = springs.compute_decay_matrix(0.1, 1 / 30, 0.1)
    np.testing.assert_allclose(decay @ [0.7, -2.0], [x, v], rtol=1e-12)

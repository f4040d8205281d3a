"""Springs and dampers against their differential equations and their promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from motion_matching.engine.maths import quat, springs

HALFLIVES = [0.05, 0.27, 1.0]


@pytest.mark.parametrize("halflife", HALFLIVES)
def test_damper_halves_a_difference_in_one_halflife(halflife):
    x = springs.damper(np.array([4.0]), np.array([2.0]), halflife, halflife)
    np.testing.assert_allclose(x, 3.0, rtol=1e-3)


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


@pytest.mark.parametrize("halflife", HALFLIVES)
def test_character_spring_solves_its_differential_equation(halflife):
    d = springs.halflife_to_damping(halflife)
    solution = solve_ivp(
        lambda t, s: [s[1], s[2], -d * s[2] - d * d / 4 * (s[1] - 2.0)],
        (0, 0.7),
        [1.0, -1.0, 3.0],
        rtol=1e-10,
        atol=1e-12,
    )
    result = springs.character_spring(1.0, -1.0, 3.0, 2.0, halflife, 0.7)
    np.testing.assert_allclose(result, solution.y[:, -1], rtol=1e-6, atol=1e-8)


def test_springs_do_not_depend_on_the_time_step():
    whole = springs.spring(np.array([1.0, -2]), np.array([3.0, 0]), np.array([0.0, 1]), 0.2, 0.5)
    x, v = np.array([1.0, -2]), np.array([3.0, 0])
    for _ in range(50):
        x, v = springs.spring(x, v, np.array([0.0, 1]), 0.2, 0.01)
    np.testing.assert_allclose((x, v), whole, rtol=1e-9)


def test_decay_matrix_is_the_spring_at_goal_zero():
    x, v = springs.spring(0.7, -2.0, 0.0, 0.1, 1 / 30)
    np.testing.assert_allclose(springs.decay_matrix(0.1, 1 / 30) @ [0.7, -2.0], [x, v], rtol=1e-12)


def test_rotation_spring_about_one_axis_is_the_scalar_spring():
    goal, start = quat.from_yaw(np.array(0.4)), quat.from_yaw(np.array(-0.9))
    q, w = springs.spring_rotation(start, np.array([0, 0, 1.5]), goal, 0.3, 0.1)
    angle, rate = springs.spring(-0.9, 1.5, 0.4, 0.3, 0.1)
    np.testing.assert_allclose(quat.to_scaled_angle_axis(q)[2], angle, atol=1e-9)
    np.testing.assert_allclose(w, [0, 0, rate], atol=1e-9)


def test_rotation_spring_takes_the_shorter_way():
    q, _ = springs.spring_rotation(
        quat.from_yaw(np.array(3.0)), np.zeros(3), quat.from_yaw(np.array(-3.0)), 0.2, 0.05
    )
    assert abs(quat.to_scaled_angle_axis(quat.positive(q))[2]) > 3.0


def test_adjustment_makes_good_half_of_a_difference_in_one_halflife():
    np.testing.assert_allclose(
        springs.damp_adjustment(np.array([1.0, -2.0]), 0.2, 0.2), [0.5, -1.0], rtol=1e-3
    )
    step = springs.damp_adjustment_rotation(quat.from_yaw(np.array(0.8)), 0.2, 0.2)
    np.testing.assert_allclose(quat.to_scaled_angle_axis(step)[2], 0.4, rtol=1e-3)


def test_rational_exponential_stays_close_and_never_rises():
    x = np.linspace(0, 1, 101)
    np.testing.assert_allclose(springs.fast_negexp(x), np.exp(-x), atol=2e-3)
    assert np.all(np.diff(springs.fast_negexp(np.linspace(0, 50, 1000))) < 0)

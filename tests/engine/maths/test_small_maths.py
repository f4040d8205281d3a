"""Plane rotations, runs and smooth steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import savgol_filter

from motion_matching.engine.maths import easing, planar
from motion_matching.engine.maths.along_time import apply_savitzky_golay, find_parts, find_runs
from motion_matching.engine.maths.rotations import quat
from tests.strategies import make_generators, make_vectors

YAWS = st.floats(-9.0, 9.0)


@given(make_vectors(4), YAWS)
def test_vectors_rotate_in_the_plane(v, yaw):
    v = v[:, :2]
    expected = quat.mul_vec(quat.from_yaw(np.full(4, yaw)), np.c_[v, np.zeros(4)])[:, :2]
    np.testing.assert_allclose(planar.rotate(v, np.full(4, yaw)), expected, atol=1e-12)
    one = [planar.rotate_xy(x, y, yaw) for x, y in v.tolist()]
    np.testing.assert_allclose(one, expected, atol=1e-12)
    np.testing.assert_allclose(planar.rotate(expected, np.full(4, -yaw)), v, atol=1e-12)


@given(YAWS)
def test_forward_is_minus_y_and_left_a_quarter_turn_from_it(yaw):
    forward = planar.yaw_to_forward(np.array(yaw))
    np.testing.assert_allclose(planar.yaw_to_forward(np.array(0.0)), [0.0, -1.0], atol=1e-15)
    np.testing.assert_allclose(forward, planar.rotate(np.array([0.0, -1.0]), yaw), atol=1e-12)
    left = planar.rotate(forward, np.pi / 2)
    np.testing.assert_allclose(planar.yaw_to_left(np.array(yaw)), left, atol=1e-12)


@given(st.floats(-1e4, 1e4))
def test_angles_are_wrapped_within_half_a_turn(angle):
    wrapped = planar.wrap(angle)
    assert abs(wrapped) <= np.pi + 1e-9
    turns = (angle - wrapped) / (2 * np.pi)
    assert turns == pytest.approx(round(turns), abs=1e-9)
    np.testing.assert_array_equal(planar.wrap(np.array([angle])), [wrapped])


@given(st.lists(st.booleans(), max_size=12))
def test_runs_of_true_values_are_found(mask):
    runs = find_runs(np.array(mask, bool))
    again = np.zeros(len(mask), bool)
    for start, stop in runs.tolist():
        again[start:stop] = True
        assert start < stop
    assert again.tolist() == mask
    assert (runs[1:, 0] > runs[:-1, 1]).all()


def test_runs_are_cut_where_another_part_begins():
    mask = np.array([1, 1, 1, 0, 1, 1, 0, 1], bool)
    begins = np.array([0, 0, 1, 1, 0, 1, 0, 0], bool)
    assert find_parts(mask, begins).tolist() == [[0, 2], [2, 3], [4, 5], [5, 6], [7, 8]]
    nothing = np.zeros(0, bool)
    assert find_parts(nothing, nothing).shape == (0, 2)
    np.testing.assert_array_equal(find_parts(mask, np.zeros(8, bool)), find_runs(mask))


@pytest.mark.parametrize("step", [easing.smoothstep, easing.smootherstep])
def test_smooth_steps_rise_from_zero_to_one(step):
    x = np.linspace(-0.5, 1.5, 2001)
    y = step(x)
    assert (y[x <= 0] == 0).all()
    assert (y[x >= 1] == 1).all()
    assert (np.diff(y) >= 0).all()
    np.testing.assert_allclose(y + step(1.0 - x), 1.0, atol=1e-12)
    assert np.abs(np.diff(y, 2)).max() < 1e-5


@given(make_generators(), st.integers(0, 60), st.integers(1, 3), st.integers(1, 200))
def test_smoothing_is_that_of_scipy_to_the_byte(random, half, order, count):
    """Tracks of databases stay the same without the half of scipy that its own filter loads."""
    values = random.normal(size=(count, 2))
    window = 2 * half + 1
    smooth = apply_savitzky_golay(values, window, order)
    if window > order + 1:
        values = savgol_filter(values, window, order, axis=0, mode="nearest")
    np.testing.assert_array_equal(smooth, values)

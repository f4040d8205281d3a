"""Plane rotations, runs, smooth steps and Euler angles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from motion_matching.engine.maths import component_quat, easing, euler, planar, quat, scalar_quat
from motion_matching.engine.maths.runs import find_parts, find_runs

ORDERS = ["".join(order) for order in itertools.permutations("xyz")]


def make_random_quaternions(rng, *shape):
    return quat.normalize(rng.normal(size=(*shape, 4)))


def test_vectors_rotate_in_the_plane(rng):
    v, yaw = rng.normal(size=(50, 2)), rng.uniform(-9.0, 9.0, 50)
    expected = quat.mul_vec(quat.from_yaw(yaw), np.c_[v, np.zeros(50)])[:, :2]
    np.testing.assert_allclose(planar.rotate(v, yaw), expected, atol=1e-12)
    np.testing.assert_allclose(
        [planar.rotate_xy(x, y, a) for (x, y), a in zip(v, yaw, strict=True)], expected, atol=1e-12
    )
    np.testing.assert_allclose(planar.rotate(planar.rotate(v, yaw), -yaw), v, atol=1e-12)


def test_forward_is_minus_y_and_left_a_quarter_turn_from_it(rng):
    yaw = rng.uniform(-9.0, 9.0, 50)
    np.testing.assert_allclose(planar.yaw_to_forward(np.array(0.0)), [0.0, -1.0], atol=1e-15)
    np.testing.assert_allclose(
        planar.yaw_to_forward(yaw), planar.rotate(np.tile([0.0, -1.0], (50, 1)), yaw), atol=1e-12
    )
    np.testing.assert_allclose(
        planar.yaw_to_left(yaw), planar.rotate(planar.yaw_to_forward(yaw), np.pi / 2), atol=1e-12
    )


def test_angles_are_wrapped_within_half_a_turn():
    assert planar.wrap(3.5 * np.pi) == pytest.approx(-0.5 * np.pi)
    np.testing.assert_allclose(
        planar.wrap(np.array([0.1, 2 * np.pi + 0.1, -2 * np.pi - 0.1])),
        [0.1, 0.1, -0.1],
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("mask", "runs"),
    [
        ([], []),
        ([0, 0], []),
        ([1], [[0, 1]]),
        ([1, 1, 0, 1, 0, 0, 1], [[0, 2], [3, 4], [6, 7]]),
    ],
)
def test_runs_of_true_values_are_found(mask, runs):
    assert find_runs(np.array(mask, bool)).tolist() == runs


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


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_survive_splitting_and_composing(order, rng):
    q = make_random_quaternions(rng, 200)
    angles = euler.split(q[:, 0], q[:, 1:].T, order).compute_angles()
    expected = Rotation.from_quat(q[:, [1, 2, 3, 0]]).as_euler(order.upper())
    np.testing.assert_allclose(angles[1], expected[:, 1], atol=1e-9)
    composed = np.stack(euler.compose(angles, order), axis=-1)
    np.testing.assert_allclose(np.abs(np.sum(composed * q, axis=-1)), 1.0, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("middle", [-0.5 * np.pi, 0.5 * np.pi])
def test_the_third_angle_is_free_at_a_gimbal_lock(order, middle, rng):
    outer = rng.uniform(-3.0, 3.0, (2, 40))
    q = np.stack(euler.compose([outer[0], np.full(40, middle), outer[1]], order))
    halves = euler.split(q[0], q[1:], order)
    assert halves.find_locked(1e-5).all()
    third = rng.uniform(-3.0, 3.0, 40)
    again = np.stack(
        euler.compose([halves.compute_first(third), halves.compute_angles()[1], third], order)
    )
    np.testing.assert_allclose(np.abs(np.sum(again * q, axis=0)), 1.0, atol=1e-9)


def test_component_first_quaternions_match_quat(rng):
    a, b = (make_random_quaternions(rng, 3, 20).astype(np.float32) for _ in range(2))
    first, second = (np.ascontiguousarray(np.swapaxes(q, -1, -2)) for q in (a, b))
    for ours, theirs in ((component_quat.mul, quat.mul), (component_quat.inv_mul, quat.inv_mul)):
        np.testing.assert_allclose(
            np.swapaxes(ours(first, second), -1, -2), theirs(a, b), atol=1e-6
        )
    relative = component_quat.inv_mul(first, second)
    np.testing.assert_array_equal(component_quat.mul(component_quat.inv(first), second), relative)
    np.testing.assert_allclose(component_quat.normalize(3.0 * first), first, atol=1e-6)
    row = first[0]
    np.testing.assert_array_equal(component_quat.unroll(row).T, quat.unroll(row.T))
    vectors = component_quat.to_scaled_angle_axis(row)
    np.testing.assert_allclose(
        vectors.T, quat.to_scaled_angle_axis(quat.positive(row.T)), atol=1e-5
    )
    same = np.sum(component_quat.from_scaled_angle_axis(vectors) * row, axis=0)
    np.testing.assert_allclose(np.abs(same), 1.0, atol=1e-6)


def test_scalar_quaternions_match_quat(rng):
    a, b, v, w = (
        make_random_quaternions(rng),
        make_random_quaternions(rng),
        *rng.normal(size=(2, 3)),
    )
    p, q = tuple(a.tolist()), tuple(b.tolist())
    np.testing.assert_allclose(scalar_quat.mul(p, q), quat.mul(a, b), atol=1e-12)
    np.testing.assert_allclose(scalar_quat.inv_mul(p, q), quat.inv_mul(a, b), atol=1e-12)
    np.testing.assert_allclose(
        scalar_quat.mul_vec(p, tuple(v.tolist())), quat.mul_vec(a, v), atol=1e-12
    )
    np.testing.assert_allclose(
        scalar_quat.between(*v.tolist(), *w.tolist()), quat.between(v, w), atol=1e-12
    )


@pytest.fixture
def rng():
    return np.random.default_rng(7)

"""Quaternion algebra against scipy's rotations and the laws of groups, in each of its forms."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from motion_matching.engine.maths.rotations import component_quat, euler, quat, scalar_quat
from tests.engine.rigs import measure_heading
from tests.strategies import make_quaternions, make_vectors

QUATS, VECTORS = make_quaternions(6), make_vectors(6)
QUAT, VECTOR = make_quaternions(1), make_vectors(1)
ORDERS = st.sampled_from(["".join(order) for order in itertools.permutations("xyz")])
ANGLES = st.floats(-9.0, 9.0)


def as_scipy(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(q[..., [1, 2, 3, 0]].reshape(-1, 4))


def assert_same(a: np.ndarray, b: np.ndarray | Rotation, tolerance: float = 1e-9) -> None:
    """Check that quaternions turn alike; q and -q do."""
    other = b.as_quat()[:, [3, 0, 1, 2]] if isinstance(b, Rotation) else b
    np.testing.assert_allclose(np.abs(np.sum(a * other, axis=-1)), 1.0, atol=tolerance)


@given(QUATS, QUATS, QUATS, VECTORS)
def test_quaternions_are_a_group_that_turns_vectors_as_scipy_does(a, b, c, v):
    np.testing.assert_allclose(quat.mul(quat.mul(a, b), c), quat.mul(a, quat.mul(b, c)), atol=1e-12)
    np.testing.assert_allclose(quat.mul(a, quat.inv(a)), np.tile(quat.IDENTITY, (6, 1)), atol=1e-12)
    np.testing.assert_allclose(quat.inv_mul(a, b), quat.mul(quat.inv(a), b), atol=1e-12)
    np.testing.assert_allclose(quat.mul_inv(a, b), quat.mul(a, quat.inv(b)), atol=1e-12)
    assert_same(quat.mul(a, b), as_scipy(a) * as_scipy(b))
    np.testing.assert_allclose(quat.mul_vec(a, v), as_scipy(a).apply(v), atol=1e-12)
    np.testing.assert_allclose(quat.inv_mul_vec(a, quat.mul_vec(a, v)), v, atol=1e-12)


@given(VECTOR, st.sampled_from([0.0, 1e-12, 1e-6, 1e-3, np.pi - 1e-6]) | st.floats(0.0, 3.1))
def test_exponential_and_logarithm_are_inverse_at_every_angle(axis, size):
    v = size * axis / max(np.linalg.norm(axis), 1e-9)
    np.testing.assert_allclose(
        quat.to_scaled_angle_axis(quat.from_scaled_angle_axis(v)), v, atol=1e-9
    )
    assert_same(quat.from_scaled_angle_axis(v), Rotation.from_rotvec(v))


@given(QUATS)
def test_matrices_are_those_of_scipy_and_read_again_even_half_turns(q):
    q = np.concatenate([q, np.eye(4)])
    matrices = quat.to_matrix(q)
    np.testing.assert_allclose(matrices, as_scipy(q).as_matrix(), atol=1e-12)
    assert_same(quat.from_matrix(matrices), q)


@given(QUATS, st.tuples(ANGLES, ANGLES, ANGLES), ORDERS)
def test_euler_angles_are_intrinsic_and_survive_splitting_and_composing(q, angles, order):
    expected = Rotation.from_euler(order.upper(), angles).as_quat()[[3, 0, 1, 2]]
    assert_same(quat.from_euler(np.array(angles), order), expected)
    split = euler.split(q[:, 0], q[:, 1:].T, order).compute_angles()
    middle = as_scipy(q).as_euler(order.upper())[:, 1]
    np.testing.assert_allclose(split[1], middle, atol=1e-7)
    assert_same(np.stack(euler.compose(split, order), axis=-1), q)


@given(st.tuples(ANGLES, ANGLES, ANGLES), st.sampled_from([-1, 1]), ORDERS)
def test_the_third_angle_is_free_at_a_gimbal_lock(angles, side, order):
    first, last, third = (np.array([angle]) for angle in angles)
    q = np.stack(euler.compose([first, np.array([0.5 * side * np.pi]), last], order))
    halves = euler.split(q[0], q[1:], order)
    assert halves.find_locked(1e-5).all()
    parts = [halves.compute_first(third), halves.compute_angles()[1], third]
    assert_same(np.stack(euler.compose(parts, order), axis=-1), q.T)


@given(VECTOR, VECTOR, st.booleans())
def test_between_rotates_one_direction_to_another_even_opposite_ones(a, b, opposite):
    a, b = (v + 1e-3 for v in (a, b))
    b = -a if opposite else b
    turned = quat.mul_vec(quat.between(a, b), a) / np.linalg.norm(a)
    np.testing.assert_allclose(turned, b / np.linalg.norm(b), atol=1e-5)


@given(st.lists(st.sampled_from([-1, 1]), min_size=50, max_size=50), st.floats(-20.0, 20.0))
def test_unroll_keeps_neighbours_on_one_hemisphere(signs, turn):
    q = quat.from_yaw(np.linspace(0, turn, 50)) * np.array(signs)[:, None]
    smooth = quat.unroll(q)
    assert np.all(np.sum(smooth[1:] * smooth[:-1], axis=-1) > 0.9)
    assert_same(smooth, q)


@given(st.floats(-3.0, 3.0))
def test_yaw_is_zero_toward_minus_y_and_follows_the_turn(angle):
    forward = np.array([0.0, -1.0, 0.0])
    measured = measure_heading(quat.from_yaw(np.array([angle])), forward)
    np.testing.assert_allclose(measured, [angle], atol=1e-12)


@given(QUATS, VECTORS)
def test_forward_and_inverse_kinematics_are_inverse(rotations, positions):
    parents = np.array([-1, 0, 1, 1, 0, -1])
    world = quat.fk(rotations[None], positions[None], parents)
    back_rotations, back_positions = quat.ik(*world, parents)
    assert_same(back_rotations, rotations)
    np.testing.assert_allclose(back_positions[0], positions, atol=1e-10)
    # one bone computed by hand
    expected = as_scipy(rotations[0]).apply(positions[1]) + positions[0]
    np.testing.assert_allclose(world[1][0, 1], expected[0], atol=1e-12)


@given(QUATS, QUATS)
def test_component_first_quaternions_match_quat(a, b):
    a, b = a.astype(np.float32), b.astype(np.float32)
    first, second = (np.ascontiguousarray(q.T) for q in (a, b))
    for ours, theirs in ((component_quat.mul, quat.mul), (component_quat.inv_mul, quat.inv_mul)):
        np.testing.assert_allclose(ours(first, second).T, theirs(a, b), atol=1e-6)
    relative = component_quat.inv_mul(first, second)
    np.testing.assert_array_equal(component_quat.mul(component_quat.inv(first), second), relative)
    np.testing.assert_allclose(component_quat.normalize(3.0 * first), first, atol=1e-6)
    np.testing.assert_array_equal(component_quat.unroll(first).T, quat.unroll(a))
    vectors = component_quat.to_scaled_angle_axis(first)
    expected = quat.to_scaled_angle_axis(quat.positive(a))
    np.testing.assert_allclose(vectors.T, expected, atol=1e-5)
    assert_same(component_quat.from_scaled_angle_axis(vectors).T, a, 1e-6)


@given(QUAT, QUAT, VECTOR, VECTOR)
def test_scalar_quaternions_match_quat(a, b, v, w):
    (a,), (b,), (v,), (w,) = a, b, v, w
    p, q = tuple(a.tolist()), tuple(b.tolist())
    np.testing.assert_allclose(scalar_quat.mul(p, q), quat.mul(a, b), atol=1e-12)
    np.testing.assert_allclose(scalar_quat.inv_mul(p, q), quat.inv_mul(a, b), atol=1e-12)
    turned = scalar_quat.mul_vec(p, tuple(v.tolist()))
    np.testing.assert_allclose(turned, quat.mul_vec(a, v), atol=1e-12)
    v, w = v + 1e-3, w + 1e-3  # between directions
    between = scalar_quat.between(*v.tolist(), *w.tolist())
    np.testing.assert_allclose(between, quat.between(v, w), atol=1e-12)

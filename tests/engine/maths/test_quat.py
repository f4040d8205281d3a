"""Quaternion algebra against scipy's rotations, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from motion_matching.engine.maths import quat
from tests.engine.rigs import measure_heading

RNG = np.random.default_rng(1)


def make_random_quats(*shape: int) -> np.ndarray:
    return quat.normalize(RNG.normal(size=(*shape, 4)))


def as_scipy(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(q[..., [1, 2, 3, 0]].reshape(-1, 4))


def same_rotation(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-9) -> bool:
    return bool(np.all(np.abs(np.abs(np.sum(a * b, axis=-1)) - 1) < tolerance))


def test_product_and_rotation_agree_with_scipy():
    a, b, v = make_random_quats(50), make_random_quats(50), RNG.normal(size=(50, 3))
    expected = (as_scipy(a) * as_scipy(b)).as_quat()[:, [3, 0, 1, 2]]
    assert same_rotation(quat.mul(a, b), expected)
    np.testing.assert_allclose(quat.mul_vec(a, v), as_scipy(a).apply(v), atol=1e-12)
    np.testing.assert_allclose(quat.inv_mul_vec(a, quat.mul_vec(a, v)), v, atol=1e-12)


def test_products_are_associative_and_undone_by_inverses():
    a, b, c = make_random_quats(20), make_random_quats(20), make_random_quats(20)
    np.testing.assert_allclose(quat.mul(quat.mul(a, b), c), quat.mul(a, quat.mul(b, c)), atol=1e-12)
    np.testing.assert_allclose(
        quat.mul(a, quat.inv(a)), np.broadcast_to(quat.IDENTITY, (20, 4)), atol=1e-12
    )


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-6, 1e-3, 1.0, np.pi - 1e-6])
def test_exponential_and_logarithm_are_inverse_at_every_angle(size):
    axis = RNG.normal(size=(30, 3))
    v = size * axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    np.testing.assert_allclose(
        quat.to_scaled_angle_axis(quat.from_scaled_angle_axis(v)), v, atol=1e-9
    )
    expected = Rotation.from_rotvec(v).as_quat()[:, [3, 0, 1, 2]]
    assert same_rotation(quat.from_scaled_angle_axis(v), expected)


def test_matrices_round_trip_including_half_turns():
    q = np.concatenate(
        [make_random_quats(40), [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]]
    )
    matrices = quat.to_matrix(q)
    np.testing.assert_allclose(matrices, as_scipy(q).as_matrix(), atol=1e-12)
    assert same_rotation(quat.from_matrix(matrices), q)


@pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"])
def test_euler_angles_are_intrinsic(order):
    angles = RNG.uniform(-4, 4, size=(30, 3))
    expected = Rotation.from_euler(order.upper(), angles).as_quat()[:, [3, 0, 1, 2]]
    assert same_rotation(quat.from_euler(angles, order), expected)


def test_between_rotates_one_direction_to_another_even_opposite_ones():
    a, b = RNG.normal(size=(30, 3)), RNG.normal(size=(30, 3))
    b[:5] = -a[:5]
    turned = quat.mul_vec(quat.between(a, b), a)
    unit = b / np.linalg.norm(b, axis=-1, keepdims=True)
    np.testing.assert_allclose(turned / np.linalg.norm(a, axis=-1, keepdims=True), unit, atol=1e-5)


def test_unroll_keeps_neighbours_on_one_hemisphere():
    angle = np.linspace(0, 4 * np.pi, 200)
    q = quat.from_yaw(angle) * RNG.choice([-1, 1], size=(200, 1))
    smooth = quat.unroll(q)
    assert np.all(np.sum(smooth[1:] * smooth[:-1], axis=-1) > 0.9)
    assert same_rotation(smooth, q)


def test_yaw_is_zero_toward_minus_y_and_follows_the_turn():
    forward = np.array([0.0, -1.0, 0.0])
    angles = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(measure_heading(quat.from_yaw(angles), forward), angles, atol=1e-12)


def test_forward_and_inverse_kinematics_are_inverse():
    parents = np.array([-1, 0, 1, 1, 0, -1])
    rotations, positions = make_random_quats(7, 6), RNG.normal(size=(7, 6, 3))
    world = quat.fk(rotations, positions, parents)
    back_rotations, back_positions = quat.ik(*world, parents)
    assert same_rotation(back_rotations, rotations)
    np.testing.assert_allclose(back_positions, positions, atol=1e-12)
    # one bone computed by hand
    expected = as_scipy(rotations[:, 0]).apply(positions[:, 1]) + positions[:, 0]
    np.testing.assert_allclose(world[1][:, 1], expected, atol=1e-12)

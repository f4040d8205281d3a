"""Two bones reach goals, open about their hinge, and mean the same for floats and for arrays."""

import math

import numpy as np
import pytest

from motion_matching.engine.legs import two_bones
from motion_matching.engine.legs.two_bones import bend_to
from motion_matching.engine.maths.numeric import ARRAYS, FLOATS, join, split
from motion_matching.engine.maths.rotations import quat

FRAMES = 40


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def limb(rng):
    """Return bones (T, 3) that bend forward by 5 to 120 degrees about their hinge (T, 3)."""
    upper = rng.normal(size=(FRAMES, 3))
    hinge = quat.normalize_vectors(np.cross(upper, rng.normal(size=(FRAMES, 3))))
    bend = np.radians(rng.uniform(5.0, 120.0, FRAMES))
    lower = 0.8 * quat.mul_vec(quat.from_angle_axis(-bend, hinge), upper)
    return upper, lower, hinge


def measure_ends(limb, whole, lower_turn):
    upper, lower, _ = limb
    return quat.mul_vec(whole, upper), quat.mul_vec(quat.mul(whole, lower_turn), lower)


def test_a_limb_reaches_each_goal_within_its_length(limb, rng):
    upper, lower, hinge = limb
    length = np.linalg.norm(upper, axis=1) * 1.8
    goal = quat.normalize_vectors(rng.normal(size=(FRAMES, 3)))
    goal *= (length * rng.uniform(0.3, 0.99, FRAMES))[:, None]
    first, second = measure_ends(limb, *bend_to(upper, lower, goal, hinge))
    np.testing.assert_allclose(first + second, goal, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), np.linalg.norm(upper, axis=1))


def test_a_goal_out_of_reach_is_pointed_at(limb, rng):
    upper, lower, hinge = limb
    length = np.linalg.norm(upper, axis=1) * 1.8
    way = quat.normalize_vectors(rng.normal(size=(FRAMES, 3)))
    first, second = measure_ends(limb, *bend_to(upper, lower, 3.0 * way * length[:, None], hinge))
    np.testing.assert_allclose(first + second, way * length[:, None], atol=1e-6)


def test_a_limb_keeps_the_side_to_which_it_bends(limb, rng):
    upper, lower, hinge = limb
    goal = quat.normalize_vectors(upper + lower) * (0.9 * np.linalg.norm(upper, axis=1))[:, None]
    first, second = measure_ends(limb, *bend_to(upper, lower, goal, hinge))
    np.testing.assert_allclose(
        quat.normalize_vectors(np.cross(second, first)), hinge, atol=1e-6
    )  # the goal is in its plane


def test_a_limb_bent_backward_comes_to_bend_forward(limb):
    upper, lower, hinge = limb
    goal = 0.7 * (upper + lower)
    first, second = measure_ends(limb, *bend_to(upper, lower, goal, -hinge))
    assert np.all(np.sum(np.cross(second, first) * -hinge, axis=1) > 0.0)


def test_nothing_turns_where_a_limb_is_at_its_goal(limb):
    upper, lower, hinge = limb
    for turn in bend_to(upper, lower, upper + lower, hinge):
        assert quat.angle_between(turn, np.array([1.0, 0.0, 0.0, 0.0])).max() < 1e-6


def test_floats_and_arrays_mean_the_same(limb):
    upper, lower, hinge = limb
    reach = 0.9 * np.linalg.norm(upper, axis=1)
    rows = [tuple(row) for row in np.hstack([upper, lower, hinge, reach[:, None]]).tolist()]
    for name in ("open_joint", "unfold"):
        solve = getattr(two_bones, name)
        arrays = join(solve(split(upper), split(lower), split(hinge), reach, ARRAYS))
        floats = [solve(r[:3], r[3:6], r[6:9], r[9], FLOATS) for r in rows]
        np.testing.assert_allclose(arrays, floats, atol=1e-12)
    axis, _ = two_bones.find_axes(upper, lower, hinge)
    floats = [two_bones.find_axis(r[:3], r[3:6], r[6:9], FLOATS)[0] for r in rows]
    np.testing.assert_allclose(axis, floats, atol=1e-12)


def test_unfolding_opens_to_a_length_and_leaves_a_limb_bent_backward(limb):
    upper, lower, hinge = limb
    reach = 1.5 * np.linalg.norm(upper, axis=1)
    moved = join(two_bones.unfold(split(upper), split(lower), split(hinge), reach, ARRAYS))
    np.testing.assert_allclose(np.linalg.norm(upper + lower + moved, axis=1), reach)
    slightly = 0.8 * quat.mul_vec(quat.from_angle_axis(np.full(FRAMES, 0.4), hinge), upper)
    stays = two_bones.unfold(split(upper), split(slightly), split(hinge), reach, ARRAYS)
    assert np.abs(join(stays)).max() == 0.0


@pytest.mark.parametrize("height", [-0.4, 0.0, 0.9, 5.0])
def test_a_pitched_vector_keeps_its_length_and_heading(height):
    x, y, z = two_bones.pitch_to_height((0.3, -0.4, 1.2), height, FLOATS)
    assert math.hypot(x, y, z) == pytest.approx(1.3)
    assert z == pytest.approx(min(height, 1.3))
    assert y * 0.3 == pytest.approx(-0.4 * x)

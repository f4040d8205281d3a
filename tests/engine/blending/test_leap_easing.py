"""A baked body that would leap moves evenly instead, and else as its motion does."""

from __future__ import annotations

import numpy as np

from motion_matching.engine.blending.leap_easing import even_out_leaps
from motion_matching.engine.maths.rotations import quat

FPS, MOST, COUNT = 60.0, 30.0, 120


def make_still(database) -> np.ndarray:
    return np.array(database.poses[np.full(COUNT, 100)], np.float64)


def make_a_leap(database) -> np.ndarray:
    """Make poses (120, 7, B) with an elbow that bends at once from frame 60 on."""
    poses = make_still(database)
    arm = database.skeleton.names.index("LeftForeArm")
    turn = quat.from_angle_axis(np.full(60, 0.3), np.array([0.0, 0.0, 1.0]))
    poses[60:, 3:, arm] = quat.mul(poses[60:, 3:, arm], turn)
    return poses


def measure_accelerations(poses: np.ndarray, database) -> np.ndarray:
    places = quat.compute_world(poses, database.skeleton.parents)[1]
    return np.linalg.norm(np.diff(places, n=2, axis=0), axis=-1).max(axis=1) * FPS**2


def test_a_joint_that_would_leap_moves_evenly(demo_database):
    poses = make_a_leap(demo_database)
    even = even_out_leaps(poses, demo_database.skeleton.parents, FPS, MOST)
    assert measure_accelerations(poses, demo_database).max() > 3.0 * MOST
    assert measure_accelerations(even, demo_database).max() <= MOST


def test_only_the_moment_around_a_leap_changes(demo_database):
    poses = make_a_leap(demo_database)
    even = even_out_leaps(poses, demo_database.skeleton.parents, FPS, MOST)
    away = np.abs(np.arange(COUNT) - 60) > 0.15 * FPS
    np.testing.assert_array_equal(even[away], poses[away])


def test_frames_that_are_kept_stay_as_they_are(demo_database):
    poses, parents = make_a_leap(demo_database), demo_database.skeleton.parents
    kept = np.arange(COUNT) >= 60
    even = even_out_leaps(poses, parents, FPS, MOST, kept=kept)
    np.testing.assert_array_equal(even[kept], poses[kept])
    before, after = (measure_accelerations(each, demo_database) for each in (poses, even))
    assert after.max() < before.max()


def test_only_the_chosen_bones_move(demo_database):
    poses, skeleton = make_a_leap(demo_database), demo_database.skeleton
    arm = skeleton.names.index("LeftForeArm")
    even = even_out_leaps(poses, skeleton.parents, FPS, MOST, [arm])
    others = np.arange(skeleton.bone_count) != arm
    np.testing.assert_array_equal(even[:, :, others], poses[:, :, others])
    assert measure_accelerations(even, demo_database).max() <= MOST


def test_bones_that_do_not_leap_stay_as_they_are(demo_database):
    poses, skeleton = make_a_leap(demo_database), demo_database.skeleton
    legs = [k for k, name in enumerate(skeleton.names) if "Leg" in name or "Foot" in name]
    assert even_out_leaps(poses, skeleton.parents, FPS, MOST, legs) is poses


def test_the_path_and_the_lengths_of_bones_stay(demo_database):
    poses = make_a_leap(demo_database)
    poses[:, 0, 0] += np.arange(COUNT) / FPS
    even = even_out_leaps(poses, demo_database.skeleton.parents, FPS, MOST)
    np.testing.assert_array_equal(even[:, :, 0], poses[:, :, 0])
    np.testing.assert_allclose(even[:, :3, 2:], poses[:, :3, 2:], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(even[:, 3:], axis=1), 1.0, atol=1e-6)


def test_rotations_of_either_sign_are_the_same_motion(demo_database):
    poses = make_a_leap(demo_database)
    flipped = poses.copy()
    flipped[::2, 3:] *= -1.0
    parents = demo_database.skeleton.parents
    places, of_flipped = (
        quat.compute_world(even_out_leaps(each, parents, FPS, MOST), parents)[1]
        for each in (poses, flipped)
    )
    np.testing.assert_allclose(of_flipped, places, atol=1e-9)


def test_motion_that_does_not_leap_is_returned_as_it_is(demo_database):
    poses = make_still(demo_database)
    assert even_out_leaps(poses, demo_database.skeleton.parents, FPS, MOST) is poses

"""Heels that a fading jump lifts come down to where the motions on both sides have them."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.control.heel_lowering import lower_heels, measure_pitches
from motion_matching.engine.control.legs import measure_legs
from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.database import measure_character_legs
from motion_matching.engine.database.sources import Source
from motion_matching.engine.maths import quat
from tests.engine import rigs

FPS, COUNT = 60.0, 90
UP = 0.6


@pytest.fixture
def leg(demo_database):
    return measure_character_legs(demo_database)[0]


def stand(database, leg, up: np.ndarray) -> np.ndarray:
    """Return a pose with contacts (T, 7, B) whose heel is `up` by further angles (T,)."""
    frame = np.flatnonzero(np.all(database.contacts, axis=1))[0]
    poses = np.array(database.poses[np.full(len(up), frame)], np.float64)
    rotations, _ = quat.compute_world(poses, database.skeleton.parents)
    shin, foot = leg.chain[leg.shin], leg.chain[leg.foot]
    across = quat.mul_vec(rotations[:, shin], np.array(leg.hinge)) * [1.0, 1.0, 0.0]
    turn = quat.from_angle_axis(-up, quat.normalize_vectors(across))
    above = rotations[:, database.skeleton.parents[foot]]
    poses[:, 3:, foot] = quat.inv_mul(above, quat.mul(turn, rotations[:, foot]))
    return poses


def lower(poses, database, leg, most: np.ndarray) -> np.ndarray:
    result, parents = poses.copy(), database.skeleton.parents
    lower_heels(leg, result, *quat.compute_world(poses, parents), parents, most, FPS)
    return result


def test_how_far_a_heel_is_up_is_measured_about_the_toe(demo_database, leg):
    ups = np.array([0.0, 0.3, 0.9, 2.0])
    poses = stand(demo_database, leg, ups)
    pitches = measure_pitches(leg, demo_database.skeleton, poses)
    np.testing.assert_allclose(pitches - pitches[0], ups, atol=0.02)


@pytest.mark.parametrize("up", [UP, 1.8])
def test_a_heel_comes_down_and_its_ankle_stays(demo_database, leg, up):
    """Also one that stands on the tip of its toe, or is past it, comes down on its own side."""
    poses = stand(demo_database, leg, np.full(COUNT, up))
    flat = stand(demo_database, leg, np.zeros(COUNT))
    most = measure_pitches(leg, demo_database.skeleton, flat)
    shown = lower(poses, demo_database, leg, most)
    pitches = measure_pitches(leg, demo_database.skeleton, shown)
    np.testing.assert_allclose(pitches, most, atol=0.02)
    parents = demo_database.skeleton.parents
    (_, before), (_, after) = (quat.compute_world(each, parents) for each in (poses, shown))
    ankle, toe = leg.chain[leg.foot], leg.chain[-1]
    np.testing.assert_allclose(after[:, ankle], before[:, ankle], atol=1e-9)
    expected = quat.compute_world(flat, parents)[1][:, toe]
    np.testing.assert_allclose(after[:, toe], expected, atol=0.01)


def test_a_heel_comes_down_evenly_where_it_has_to(demo_database, leg):
    poses = stand(demo_database, leg, np.full(COUNT, UP))
    before = measure_pitches(leg, demo_database.skeleton, poses)
    most = np.where(np.arange(COUNT) < COUNT // 2, np.inf, before - UP)
    after = measure_pitches(leg, demo_database.skeleton, lower(poses, demo_database, leg, most))
    np.testing.assert_allclose(after[:10], before[:10], atol=1e-3)
    np.testing.assert_allclose(after[-10:], most[-10:], atol=1e-2)
    assert np.abs(np.diff(after)).max() * FPS < 5.0


def test_heels_that_are_low_enough_are_left_alone(demo_database, leg):
    poses = stand(demo_database, leg, np.full(COUNT, UP))
    most = measure_pitches(leg, demo_database.skeleton, poses)
    np.testing.assert_array_equal(lower(poses, demo_database, leg, most + 0.01), poses)


def test_forelegs_whose_elbows_bend_back_have_toes_ahead_of_them_too():
    database = build([Source(clip=rigs.anonymize(rigs.make_dog())[0])], BuildSettings())[0]
    legs = measure_legs(database.skeleton, database.roles, database.poses)
    stands = np.all(database.contacts, axis=1)
    poses = database.poses[stands if stands.any() else slice(None)]
    for leg in legs:
        pitches = measure_pitches(leg, database.skeleton, poses)
        assert np.percentile(np.abs(pitches), 50) < 0.5 * np.pi

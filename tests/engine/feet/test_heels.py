"""Heels that a fading jump lifts come down to where the motions on both sides have them."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.feet.contact_ranges import ContactRange
from motion_matching.engine.feet.planting import ToeMotion, measure_pitches
from motion_matching.engine.legs.legs import measure_legs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.sources.sources import Source
from tests.engine import rigs
from tests.engine.feet.planted import plant

FPS, COUNT = 60.0, 90
UP = 0.6


@pytest.fixture
def leg(demo_database):
    return demo_database.derive(measure_character_legs)[0]


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
    """Return poses whose feet stand, with the heel of a leg up by angles (T,) at most."""
    legs, count = database.derive(measure_character_legs), len(poses)
    toes = quat.compute_world(poses, database.skeleton.parents)[1][
        :, [each.toe for each in database.roles.legs]
    ]
    pitches = np.full((count, len(legs)), np.inf)
    pitches[:, legs.index(leg)] = most
    still = np.zeros((count, len(legs), 2)), toes[..., 2], np.zeros(count, bool)
    data = ToeMotion(*still, pitches=pitches)
    ranges = [ContactRange(k, 0, count) for k in range(len(legs))]
    return plant(poses, database.skeleton, legs, ranges, FPS, data=data).astype(np.float64)


def test_how_far_a_heel_is_up_is_measured_about_the_toe(demo_database, leg):
    ups = np.array([0.0, 0.3, 0.9, 2.0])
    poses = stand(demo_database, leg, ups)
    pitches = measure_pitches(leg, demo_database.skeleton, poses)
    np.testing.assert_allclose(pitches - pitches[0], ups, atol=0.02)


@pytest.mark.parametrize("up", [UP, 1.8])
def test_a_heel_comes_down_as_far_as_in_the_data(demo_database, leg, up):
    """Also one that stands on the tip of its toe, or is past it, comes down on its own side."""
    poses = stand(demo_database, leg, np.full(COUNT, up))
    flat = stand(demo_database, leg, np.zeros(COUNT))
    most = measure_pitches(leg, demo_database.skeleton, flat)
    shown = lower(poses, demo_database, leg, most)
    pitches = measure_pitches(leg, demo_database.skeleton, shown)
    np.testing.assert_allclose(pitches, most, atol=0.1 * up)
    toes = quat.compute_world(shown, demo_database.skeleton.parents)[1][:, leg.chain[-1]]
    assert np.ptp(toes, axis=0).max() < 1e-3, "the toe stands"


def test_a_heel_comes_down_evenly_where_it_has_to(demo_database, leg):
    poses = stand(demo_database, leg, np.full(COUNT, UP))
    before = measure_pitches(leg, demo_database.skeleton, poses)
    most = np.where(np.arange(COUNT) < COUNT // 2, np.inf, before - UP)
    after = measure_pitches(leg, demo_database.skeleton, lower(poses, demo_database, leg, most))
    assert after[:10].min() > most[-10:].max() + 0.6 * UP
    np.testing.assert_allclose(after[-10:], most[-10:], atol=0.06)
    assert np.abs(np.diff(after)).max() * FPS < 5.0


def test_heels_that_are_low_enough_are_left_alone(demo_database, leg):
    poses = stand(demo_database, leg, np.zeros(COUNT))
    most = measure_pitches(leg, demo_database.skeleton, poses)
    after = measure_pitches(leg, demo_database.skeleton, lower(poses, demo_database, leg, most))
    np.testing.assert_allclose(after, most, atol=0.02)


def test_forelegs_whose_elbows_bend_back_have_toes_ahead_of_them_too():
    database = build([Source(clip=rigs.anonymize(rigs.make_dog())[0])], BuildSettings())[0]
    legs = measure_legs(database.skeleton, database.roles, database.poses)
    stands = np.all(database.contacts, axis=1)
    poses = database.poses[stands if stands.any() else slice(None)]
    for leg in legs:
        pitches = measure_pitches(leg, database.skeleton, poses)
        assert np.percentile(np.abs(pitches), 50) < 0.5 * np.pi

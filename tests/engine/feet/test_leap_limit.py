"""Toes and ankles never accelerate harder than the motion that has been played."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.feet.live.foot_lock import FootLock
from motion_matching.engine.feet.live.leap_limit import LeapLimit
from motion_matching.engine.legs.legs import measure_legs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.settings import FootLocking
from motion_matching.engine.takes import baking, metrics, takes
from tests.engine.scripted import perform_script

FPS, HARDEST = 60.0, 80.0


@pytest.fixture(scope="module")
def legs(demo_database):
    return measure_legs(demo_database.skeleton, demo_database.roles, demo_database.poses[::7])


def show_leaping_body(database, legs, hardest: float) -> np.ndarray:
    """Return toes and ankles (T, 2 L, 3) of a body in the air that is suddenly elsewhere."""
    feet = FootLock(legs)
    poses = np.repeat(np.array(database.poses[:1], np.float64), 90, axis=0)
    poses[:, 2, database.roles.hips] += 0.4
    poses[30:, 0, database.roles.hips] += 0.1
    for pose in poses:
        contacts = np.zeros(len(legs), bool)
        feet.apply(pose, contacts, FootLocking(), 1.0 / FPS, hardest=hardest)
    bones = [bone for leg in database.roles.legs for bone in (leg.foot, leg.toe)]
    return quat.compute_world(poses, database.skeleton.parents)[1][:, bones]


def measure_hardest(places: np.ndarray) -> float:
    return FPS**2 * float(np.linalg.norm(np.diff(places, 2, axis=0), axis=-1).max())


def test_feet_follow_a_body_that_leaps_no_harder_than_the_motion_played(demo_database, legs):
    places = show_leaping_body(demo_database, legs, HARDEST)
    leaping = show_leaping_body(demo_database, legs, math.inf)
    assert measure_hardest(leaping) > 3.0 * HARDEST
    assert measure_hardest(places) < 1.2 * HARDEST
    np.testing.assert_allclose(places[-1], leaping[-1], atol=0.01)


def test_ordinary_feet_are_where_they_were(demo_database, legs):
    places = show_leaping_body(demo_database, legs, 1e6)
    np.testing.assert_array_equal(places, show_leaping_body(demo_database, legs, math.inf))


def show_foot(toes, arms, most, lowest=(-math.inf, -math.inf)) -> np.ndarray:
    """Return toes and ankles (T, 2, 3) of a foot that is to be at toes, and arms beside them."""
    limit, shown = LeapLimit(), []
    for toe, arm in zip(toes.tolist(), arms.tolist(), strict=True):
        place, way = limit.limit(tuple(toe), tuple(arm), lowest, most)
        shown.append([place, np.add(place, way)])
    return np.array(shown)


def test_a_foot_that_is_held_back_stays_above_the_floor():
    """It falls too fast to come to rest by its own acceleration."""
    heights = np.maximum(0.5 - 0.05 * np.arange(30), 0.02)
    toes, arms = np.outer(heights, [0.0, 0.0, 1.0]), np.tile([0.0, 0.12, 0.06], (30, 1))
    shown = show_foot(toes, arms, 0.001, (0.02, 0.08))
    assert shown[:, 0, 2].min() == pytest.approx(0.02, abs=1e-9)
    assert shown[-1, 0, 2] == pytest.approx(0.02, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_foot_that_leaps_and_turns_keeps_its_length_and_comes_there(seed):
    """Toe and ankle accelerate no harder than is allowed, and arrive without swinging past."""
    generator, most = np.random.default_rng(seed), 0.004
    toes, turns = np.zeros((120, 3)), np.zeros(120)
    toes[20:], turns[20:] = generator.uniform(-0.3, 0.3, 3), generator.uniform(-1.0, 1.0)
    arms = 0.15 * np.column_stack([np.cos(turns), np.zeros(120), np.sin(turns)])
    shown = show_foot(toes, arms, most)
    assert np.linalg.norm(np.diff(shown, 2, axis=0), axis=-1).max() < 1.01 * most
    np.testing.assert_allclose(np.linalg.norm(shown[:, 1] - shown[:, 0], axis=-1), 0.15, atol=1e-6)
    np.testing.assert_allclose(shown[-1], [toes[-1], toes[-1] + arms[-1]], atol=1e-6)
    along = shown[:, 0] @ toes[-1] / (toes[-1] @ toes[-1])
    assert along.max() < 1.15


def test_sharp_turns_pop_nowhere(lafan1):
    """Where kicks of the data, turns of the body and fading jumps come together, too."""
    take = perform_script(lafan1, "turns", "walk", 200.0, seed=2)
    body = baking.make_body(take.poses, take.character, lafan1)
    played = metrics.measure_frames(takes.find_played_frames(take, lafan1))
    assert (
        metrics.measure_pops(body.acceleration, played["acceleration_max"], take.fps)["pops"] == 0
    )

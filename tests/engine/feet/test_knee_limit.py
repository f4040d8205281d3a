"""Knees bend and stretch no faster than in the data, whatever a lock asks of a leg."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.feet.live.foot_lock import FootLock
from motion_matching.engine.feet.live.knee_limit import KneeLimit, compute_bends
from motion_matching.engine.feet.live.leap_limit import LeapLimit
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.settings import FootLocking
from motion_matching.engine.takes import metrics, takes

FPS = 60.0
UPPER, LOWER = 0.43, 0.42
LENGTHS = UPPER**2 + LOWER**2, 2.0 * UPPER * LOWER


@pytest.fixture(scope="module")
def legs(demo_database):
    return demo_database.derive(measure_character_legs)


def limit(leg, reaches: np.ndarray) -> np.ndarray:
    knee = KneeLimit(leg)
    shown = [knee.limit_reach(reach, *LENGTHS, 1.0, 1.0 / FPS) for reach in reaches.tolist()]
    return np.array(shown)


def test_a_knee_that_moves_from_the_start_is_not_held_back(legs):
    reaches = compute_reaches(0.5 + 10.0 * np.arange(8) / FPS)
    np.testing.assert_allclose(limit(legs[0], reaches), reaches, atol=1e-12)


def compute_reaches(bends: np.ndarray) -> np.ndarray:
    return np.sqrt(UPPER**2 + LOWER**2 + 2.0 * UPPER * LOWER * np.cos(bends))


def compute_knees(reaches: np.ndarray) -> np.ndarray:
    return np.arccos((reaches**2 - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER))


def test_the_most_of_a_knee_is_that_of_the_clips(demo_database, legs):
    bodies, contacts = takes.make_source_bodies(demo_database)
    sources = metrics.measure_clips(bodies, contacts, metrics.measure_toe_floors(bodies))
    most = max(leg.knee_rate for leg in legs)
    assert most == pytest.approx(sources["knee_rate_max"], rel=1e-3)


def test_a_knee_comes_to_rest_before_it_is_straight(legs):
    """One that hits straight at full speed stops within a tick, which the knee shows as a pop."""
    leg = replace(legs[0], knee_rate=12.0, knee_acceleration=150.0)
    goals = np.maximum(0.8 - 8.0 * np.arange(30) / FPS, 0.0)
    bends = compute_knees(limit(leg, compute_reaches(goals)))
    assert bends[-1] == pytest.approx(0.0, abs=0.02)
    assert np.abs(np.diff(bends, 2)).max() < 1.01 * 150.0 / FPS**2


@pytest.mark.parametrize("speed", [15.0, 30.0, 60.0])
def test_a_knee_comes_to_rest_before_it_folds_further_than_in_the_data(legs, speed):
    """One that is held back is slow to turn around, and would fold through itself."""
    furthest = 1.6
    leg = replace(
        legs[0],
        knee_rate=12.0,
        knee_acceleration=100.0,
        folded_length=float(compute_reaches(np.array(furthest))),
    )
    ticks = np.arange(30)
    goals = np.minimum(0.2 + speed * ticks / FPS, np.maximum(3.2 - speed * ticks / FPS, 0.3))
    goals = np.minimum(goals, 1.5)
    bends = compute_knees(limit(leg, compute_reaches(goals)))
    assert bends.max() < furthest + 0.02
    assert np.abs(np.diff(bends, 2)).max() * FPS**2 < 1.05 * leg.knee_acceleration


def test_a_knee_that_moves_as_in_the_data_is_not_held_back(legs):
    bends = 0.8 - 0.6 * np.cos(2.0 * math.pi * np.arange(120) / FPS)
    reaches = compute_reaches(bends)
    np.testing.assert_allclose(limit(legs[0], reaches), reaches, atol=1e-12)


@pytest.mark.parametrize("bends", [(0.05, 1.2), (1.2, 0.05)])
def test_a_knee_that_would_snap_bends_no_faster_than_in_the_data(legs, bends):
    asked = np.repeat(bends, 60)
    shown = compute_knees(limit(legs[0], compute_reaches(asked)))
    rates = np.diff(shown) * FPS
    assert np.abs(rates).max() <= legs[0].knee_rate
    assert np.abs(np.diff(rates)).max() * FPS <= 1.001 * legs[0].knee_acceleration
    # it is there within a third of a second, and hardly swings past
    np.testing.assert_allclose(shown[80:], bends[1], atol=0.02)
    assert shown.max() < 1.4


def lift_feet(database, legs, make_lock=FootLock, size: float = 1.0, rate: float = FPS):
    """Jerk the feet of a floating body 25 cm up and down again; return how fast knees bend."""
    parents, roles = database.skeleton.parents, database.roles
    feet, settings, places = make_lock(legs), FootLocking(), []
    for tick in range(40):
        pose = np.array(database.poses[0], np.float64)
        pose[:, 0] = (0, 0, 0.3, 1, 0, 0, 0)
        if 10 <= tick < 25:
            for leg, role in zip(legs, roles.legs, strict=True):
                turned = quat.from_scaled_angle_axis(-1.2 * np.array(leg.hinge))
                pose[3:, role.shin] = quat.mul(pose[3:, role.shin], turned)
        pose[:3] *= size
        feet.apply(pose, np.zeros(2, bool), settings, 1.0 / rate)
        places.append(quat.compute_world(pose[None], parents)[1][0])
    joints = np.stack(places)[:, [[leg.thigh, leg.shin, leg.foot] for leg in roles.legs]]
    bends = np.stack([compute_bends(*joints[:, k].transpose(1, 0, 2)) for k in (0, 1)], axis=1)
    return np.abs(np.diff(bends, axis=0)).max(axis=0) * rate


def test_legs_that_a_jump_would_snap_bend_as_in_the_data(demo_database, legs):
    rates = lift_feet(demo_database, legs)
    freely = [replace(leg, knee_rate=math.inf, knee_acceleration=math.inf) for leg in legs]
    assert (lift_feet(demo_database, freely) > 2.0 * legs[0].knee_rate).all()
    assert (rates <= [leg.knee_rate for leg in legs]).all()


def test_a_foot_that_meets_the_floor_hardly_sinks_into_it(demo_database, legs):
    """A body that drops by more than its knees can take folds its legs faster than in the data."""
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    feet, settings = FootLock(legs), FootLocking()
    for tick in range(40):
        pose = np.array(demo_database.poses[0], np.float64)
        pose[:, 0] = (0, 0, 0, 1, 0, 0, 0)
        pose[2, roles.hips] -= 0.25 * (tick >= 20)
        feet.apply(pose, np.ones(2, bool), settings, 1.0 / FPS)
        toes = quat.compute_world(pose[None], parents)[1][0, [leg.toe for leg in roles.legs], 2]
        assert (toes > [leg.toe_height - 0.01 for leg in legs]).all()


def sink(leg, heights: np.ndarray, bend: float = 0.03) -> tuple[np.ndarray, np.ndarray]:
    """Return bends and reaches of a leg bent by `bend` whose hip is so high above its floor.

    Its foot hangs below the hip, goes on from where it is shown, and comes down no harder than the
    motion.
    """
    knee, foot, own = KneeLimit(leg), LeapLimit(), float(compute_reaches(np.array(bend)))
    reaches = []
    for height in heights.tolist():
        wanted = 0.0, 0.0, max(-own, -height)
        (_, _, z), _ = foot.limit(wanted, (0.0, 0.0, 0.0), (-height, -height), 60.0 / FPS**2)
        reaches.append(knee.limit_reach(-z, *LENGTHS, height + z, 1.0 / FPS))
        foot.settle(0.0, 0.0, -z - reaches[-1])
    return compute_knees(np.array(reaches)), np.array(reaches)


def test_a_straight_knee_bends_in_time_for_a_floor_that_comes_nearer(legs):
    """One that waits for the floor has to bend by a fifth of a right angle within a tick."""
    leg = replace(legs[0], knee_rate=18.0, knee_acceleration=280.0)
    heights = np.maximum(UPPER + LOWER + 0.1 - 0.7 * np.arange(20) / FPS, 0.8)
    bends, reaches = sink(leg, heights)
    rates = np.diff(bends) * FPS
    assert np.abs(rates).max() <= 18.0
    assert np.abs(np.diff(rates)).max() * FPS <= 1.001 * 280.0
    assert (reaches <= heights + 1e-9).all()


def test_a_leg_that_comes_down_onto_the_floor_gently_is_not_bent(legs):
    time = np.arange(40) / FPS
    heights = UPPER + LOWER + 0.1 * np.square(np.maximum(1.0 - 3.0 * time, 0.0))
    bends, _ = sink(legs[0], heights)
    np.testing.assert_allclose(bends, 0.03, atol=1e-6)


def test_a_leg_above_a_step_of_the_floor_is_not_bent(legs):
    heights = UPPER + LOWER + np.where(np.arange(20) < 10, 0.3, 0.1) - 0.05 * np.arange(20) / FPS
    bends, _ = sink(legs[0], heights)
    np.testing.assert_allclose(bends, 0.03, atol=1e-6)

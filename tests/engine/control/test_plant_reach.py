"""Baked feet stand where their legs reach, and the hips come down where that is not enough."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from motion_matching.engine.control.contact_ranges import ContactRange
from motion_matching.engine.control.plant_reach import (
    LegReach,
    compute_hips_fall,
    move_plants_into_reach,
)

FPS, LENGTH, HEIGHT = 60.0, 0.9, 0.85
FRAMES = 120


def walk_on(speed: float, aside: float = 0.0, reach: float = 0.97) -> LegReach:
    """Return a leg without a foot, whose hip moves forward at a speed and is `aside` in metres."""
    forward = speed * (np.arange(FRAMES) / FPS - 1.0)
    hip = np.column_stack([np.full(FRAMES, aside), forward, np.full(FRAMES, HEIGHT)])
    reaches = np.full(FRAMES, reach * LENGTH)
    return LegReach(hip, np.zeros((FRAMES, 3)), reaches, np.full(FRAMES, LENGTH))


def measure_excess(leg: LegReach, points: np.ndarray, frames: slice, fall: float) -> np.ndarray:
    """Return how far beyond a leg's reach points (..., 2) on the ground are, at `frames`."""
    level = np.sqrt(leg.reach[frames] ** 2 - (leg.hip[frames, 2] - fall) ** 2)
    ways = leg.hip[frames, :2] - points
    return np.linalg.norm(ways, axis=-1) - level


def move(leg: LegReach, ranges: list[ContactRange], points: np.ndarray, beside=()) -> np.ndarray:
    stand = np.zeros((FRAMES, 2))
    for r, point in zip(ranges, points, strict=True):
        stand[r.start : r.stop] = point
    moved = move_plants_into_reach(leg, ranges, stand, np.zeros(FRAMES), beside)
    return np.array([moved[r.start] for r in ranges])


def test_a_foot_within_reach_stays_where_it_lands():
    ranges = [ContactRange(0, 10, 30), ContactRange(0, 50, 70)]
    leg = walk_on(1.0)
    points = np.array([np.median(leg.hip[r.start : r.stop, :2], axis=0) for r in ranges])
    np.testing.assert_array_equal(move(leg, ranges, points), points)


def test_a_foot_that_is_left_behind_stands_where_its_leg_reaches_it_longest():
    ranges, leg = [ContactRange(0, 40, 80)], walk_on(1.0)
    start = leg.hip[55, :2] + [0.03, 0.0]

    def measure_worst(point: np.ndarray) -> float:
        return measure_excess(leg, point, slice(40, 80), 0.05 * LENGTH).max()

    moved = move(leg, ranges, start[None])[0]
    best = minimize(measure_worst, start, method="Nelder-Mead", options={"fatol": 1e-6})
    assert measure_worst(start) > 0.05
    assert measure_worst(moved) < max(best.fun, 0.0) + 0.005


def test_a_foot_does_not_stand_farther_than_a_hand_from_where_it_lands():
    leg, ranges = walk_on(2.0), [ContactRange(0, 20, 100)]
    start = leg.hip[22, :2]
    assert np.linalg.norm(move(leg, ranges, start[None])[0] - start) < 0.0801


def test_a_foot_does_not_move_toward_the_other():
    own, other = walk_on(0.0, aside=0.1), walk_on(0.0, aside=-0.1)
    ranges, start = [ContactRange(0, 10, 50)], np.array([[0.6, 0.0]])
    assert move(own, ranges, start)[0, 0] < 0.55
    np.testing.assert_allclose(move(own, ranges, start, [other]), start, atol=1e-9)


def test_hips_come_down_until_the_legs_reach_and_evenly():
    leg = walk_on(1.2)
    planted = np.zeros((FRAMES, 1), bool)
    planted[46:74] = True
    toe = np.zeros((FRAMES, 3))
    assert measure_excess(leg, toe[46:74, :2], slice(46, 74), 0.0).max() > 0.03
    fall = compute_hips_fall([leg], [toe], planted, FPS)
    down = leg.hip[46:74] - fall[46:74, None] * [0.0, 0.0, 1.0]
    missing = np.linalg.norm(down, axis=-1) - leg.reach[46:74]
    assert missing.max() < 0.01
    assert np.abs(np.diff(fall, n=2)).max() * FPS**2 < 3.0
    assert fall.max() <= 0.05 * LENGTH


def test_hips_stay_where_the_legs_reach():
    leg, planted = walk_on(0.1), np.ones((FRAMES, 1), bool)
    np.testing.assert_array_equal(
        compute_hips_fall([leg], [np.zeros((FRAMES, 3))], planted, FPS), 0.0
    )


def test_hips_stay_where_no_foot_stands():
    leg, planted = walk_on(3.0), np.zeros((FRAMES, 1), bool)
    np.testing.assert_array_equal(
        compute_hips_fall([leg], [np.zeros((FRAMES, 3))], planted, FPS), 0.0
    )

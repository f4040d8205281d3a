"""Legs of a whole take bend to their targets with their knees in front, and without a leap."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.control.legs import LegGeometry
from motion_matching.engine.control.planting import plant_feet
from motion_matching.engine.control.settings import PerformerSettings
from motion_matching.engine.database.database import measure_character_legs
from motion_matching.engine.maths import quat

FPS, COUNT = 60.0, 90
BEGINS, ENDS = 40, 53


def swing_backward(database, most: float) -> tuple[np.ndarray, LegGeometry]:
    """Make poses (T, 7, B) high above the ground whose knee swings backward and forward again."""
    leg = measure_character_legs(database)[0]
    poses = np.array(database.poses[np.full(COUNT, 100)], np.float64)
    poses[:, 2, 0] += 1.0
    angles = np.full(COUNT, 0.45)
    angles[BEGINS:ENDS] -= (0.45 + most) * np.sin(np.linspace(0.0, np.pi, ENDS - BEGINS))
    shin, hinge = leg.chain[leg.shin], np.tile(leg.hinge, (COUNT, 1))
    turn = quat.from_angle_axis(measure_bends(poses, database, leg) - angles, hinge)
    poses[:, 3:, shin] = quat.mul(poses[:, 3:, shin], turn)
    np.testing.assert_allclose(measure_bends(poses, database, leg), angles, atol=0.02)
    return poses, leg


def measure_bends(poses: np.ndarray, database, leg: LegGeometry) -> np.ndarray:
    """Return by how much (T,) in radians a knee is bent, below 0 backward."""
    rotations, places = quat.compute_world(poses, database.skeleton.parents)
    hip, knee, ankle = (places[:, leg.chain[k]] for k in (leg.thigh, leg.shin, leg.foot))
    hinge = quat.mul_vec(rotations[:, leg.chain[leg.shin]], np.array(leg.hinge))
    upper, lower = knee - hip, ankle - knee
    sine = np.sum(np.cross(lower, upper) * hinge, axis=-1)
    return np.arctan2(sine, np.sum(upper * lower, axis=-1))


def measure_reach(poses: np.ndarray, database, leg: LegGeometry) -> np.ndarray:
    """Return the ways (T, 3) from hip to ankle."""
    places = quat.compute_world(poses, database.skeleton.parents)[1]
    return places[:, leg.chain[leg.foot]] - places[:, leg.chain[leg.thigh]]


@pytest.mark.parametrize("most", [0.1, 0.3, 1.0, 1.6])
def test_a_knee_that_swings_backward_does_not_swing_forward_as_far(demo_database, most):
    """One that passes straight for a moment stays straight, one that is far off keeps its reach."""
    poses, leg = swing_backward(demo_database, most)
    legs, settings = measure_character_legs(demo_database), PerformerSettings()
    shown = plant_feet(poses, demo_database.skeleton, legs, [], FPS, settings)
    before, after = (measure_bends(each, demo_database, leg) for each in (poses, shown))
    backward = before < 0.0
    assert before.min() < -0.9 * most
    assert after.min() > -1e-3
    assert np.all(after[backward] < np.minimum(0.1 * most + 0.9 * most**2, most) + 1e-3)
    np.testing.assert_allclose(after[~backward], before[~backward], atol=1e-3)
    # no bend changes faster for it, and ankles stay on their way from the hip
    assert np.abs(np.diff(after)).max() < np.abs(np.diff(before)).max() + 1e-3
    ways = [measure_reach(each, demo_database, leg) for each in (poses, shown)]
    lengths = [np.linalg.norm(way, axis=-1) for way in ways]
    along = np.sum(ways[0] * ways[1], axis=-1) / (lengths[0] * lengths[1])
    assert np.arccos(np.minimum(along, 1.0)).max() < 1e-2
    assert np.abs(lengths[1] - lengths[0]).max() < 0.2 * lengths[0].max()


def test_a_foot_keeps_its_attitude_as_its_knee_is_straightened(demo_database):
    poses, leg = swing_backward(demo_database, 0.3)
    legs, settings = measure_character_legs(demo_database), PerformerSettings()
    shown = plant_feet(poses, demo_database.skeleton, legs, [], FPS, settings)
    before, after = (
        quat.compute_world(each, demo_database.skeleton.parents)[0][:, leg.chain[leg.foot]]
        for each in (poses, shown)
    )
    assert quat.angle_between(before, after).max() < 1e-3

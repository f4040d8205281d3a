"""Toes that easing has left below the floor come up, evenly, with their tips."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.control.joints import compute_accelerations
from motion_matching.engine.control.legs import LegGeometry
from motion_matching.engine.control.toe_raising import raise_sunk_toes
from motion_matching.engine.database.database import measure_character_legs
from motion_matching.engine.maths import quat

FPS, COUNT = 60.0, 90
MOMENT = np.exp(-(((np.arange(COUNT) - 45) / 8.0) ** 2))  # of a third of a second
HIGHEST, DEEPEST = 0.005, 0.003  # metres above the floor and below it, of what has come up


def stand(database) -> tuple[np.ndarray, LegGeometry]:
    """Return poses (T, 7, B) of someone who stands, and their first leg."""
    leg = measure_character_legs(database)[0]
    poses = np.array(database.poses[np.full(COUNT, 100)], np.float64)
    poses[:, 2, 0] -= (measure_toes(poses, database, leg)[0] - leg.toe_height)[0]
    return poses, leg


def measure_toes(
    poses: np.ndarray, database, leg: LegGeometry
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the heights (T,) of a toe and of its tip, and where (T, 3) the tip is."""
    rotations, places = quat.compute_world(poses, database.skeleton.parents)
    toe = places[:, leg.chain[-1]]
    tip = toe + quat.mul_vec(rotations[:, leg.chain[-1]], np.array(leg.tip))
    return toe[:, 2], tip[:, 2], tip


def bend_tip_down(poses: np.ndarray, leg: LegGeometry, most: float) -> None:
    """Turn the toe of a leg of poses (T, 7, B) in place, by up to `most` radians for a moment."""
    across = np.tile([1.0, 0.0, 0.0], (COUNT, 1))
    turn = quat.from_angle_axis(most * MOMENT, across)
    poses[:, 3:, leg.chain[-1]] = quat.mul(poses[:, 3:, leg.chain[-1]], turn)


def raise_toes(poses: np.ndarray, database, leg: LegGeometry) -> np.ndarray:
    raised = poses.copy()
    floors = [np.zeros(COUNT)]
    raise_sunk_toes(raised, database.skeleton.parents, [leg], floors, 0.01, FPS)
    return raised


@pytest.mark.parametrize("degrees", [20.0, 40.0])
def test_a_tip_that_is_bent_into_the_floor_comes_up_and_the_toe_stays(demo_database, degrees):
    poses, leg = stand(demo_database)
    bend_tip_down(poses, leg, np.radians(degrees))
    before, raised = measure_toes(poses, demo_database, leg), raise_toes(poses, demo_database, leg)
    toes, tips, places = measure_toes(raised, demo_database, leg)
    assert (before[1] - leg.tip_height).min() < -0.01
    assert (tips - leg.tip_height).min() > -DEEPEST - 1e-3
    assert (tips - before[1]).max() < (leg.tip_height - before[1]).max() + HIGHEST
    np.testing.assert_allclose(toes, before[0], atol=1e-3)
    ways = places[:, None], before[2][:, None]
    after, now = (compute_accelerations(each, FPS).max() for each in ways)
    assert after < now + 1.0


def test_a_toe_below_the_floor_comes_up(demo_database):
    poses, leg = stand(demo_database)
    poses[:, 2, 0] -= 0.03 * MOMENT
    raised = raise_toes(poses, demo_database, leg)
    toes, tips, _ = measure_toes(raised, demo_database, leg)
    assert (toes - leg.toe_height).min() > -DEEPEST - 1e-3
    assert (tips - leg.tip_height).min() > -DEEPEST - 1e-3


def test_feet_on_the_floor_stay_as_they_are(demo_database):
    poses, leg = stand(demo_database)
    np.testing.assert_array_equal(raise_toes(poses, demo_database, leg), poses)

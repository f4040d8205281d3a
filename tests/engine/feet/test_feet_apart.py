"""Feet stay on their own side and go round each other, as far apart as in the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.feet.contact_ranges import ContactRange
from motion_matching.engine.feet.live.feet_apart import compute_push, measure_distances
from motion_matching.engine.feet.live.foot_lock import FootLock
from motion_matching.engine.legs.legs import Beside
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.settings import FootLocking
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, metrics
from tests.engine import rigs
from tests.engine.feet.planted import plant
from tests.engine.scripted import perform_script

FPS = 60.0
BESIDE = Beside(1, 0.08, -0.02, -0.06)


@pytest.fixture(scope="module")
def legs(demo_database):
    return demo_database.derive(measure_character_legs)


def make_foot(x: float, y: float, z: float = 0.03):
    """Return a foot that points along -y, with its ankle 14 cm behind the toe and 7 cm above."""
    return x, y, z, 0.0, 0.14, 0.07, 0.5


def push(x: float, y: float, z: float = 0.03, moved: float = 0.0, along: float = 0.0) -> float:
    """Return how far the first foot has to go aside, to +x, from one at the origin."""
    return compute_push(
        make_foot(x, y, z), make_foot(0.0, 0.0), 1.0, 0.0, BESIDE, -0.02, moved, along
    )


def test_feet_that_keep_their_distance_are_left_alone():
    assert push(0.15, 0.0) == 0.0
    assert push(0.0, 0.5) == 0.0, "one behind the other"
    assert push(0.02, 0.0, 0.4) == 0.0, "one high above the other"


def test_feet_beside_each_other_are_moved_apart_until_they_keep_their_distance():
    for x in (-0.1, 0.0, 0.05):
        aside = push(x, 0.05)
        assert x + aside == pytest.approx(0.09, abs=0.005)
        assert push(x + aside + 1e-6, 0.05) == pytest.approx(0.0, abs=1e-5)


def test_feet_cross_no_farther_than_in_the_data_also_one_behind_the_other():
    assert push(-0.1, 0.6) == pytest.approx(0.08)
    assert push(-0.01, 0.6) == 0.0


def test_feet_may_cross_where_the_motion_crosses_them_itself():
    assert BESIDE.compute_side(0.1) == -0.02
    assert BESIDE.compute_side(-0.05) == -0.05
    assert BESIDE.compute_side(-0.5) == -0.06, "but not beyond what the data does"


def test_a_foot_that_will_pass_another_goes_aside_in_time():
    assert push(0.03, 0.5) == 0.0
    assert push(0.03, 0.5, along=-0.5) > 0.04
    assert push(0.03, 0.5, along=0.5) == 0.0


def test_how_near_feet_come_is_measured_from_the_data(demo_database, legs):
    (beside,) = legs[0].beside
    assert legs[1].beside == ()
    lines = find_feet(demo_database.poses[::50], demo_database, legs)
    distances = measure_distances(*lines[0], *lines[1])
    assert np.percentile(distances, 0.1) < beside.apart < np.percentile(distances, 2.0)


def find_feet(poses, database, legs):
    """Return ankles and toes' tips (T, 3) of each foot of poses (T, 7, B)."""
    rotations, positions = quat.compute_world(np.asarray(poses), database.skeleton.parents)
    lines = []
    for leg, role in zip(legs, database.roles.legs, strict=True):
        toe = positions[:, role.toe]
        tip = toe + quat.mul_vec(rotations[:, role.toe], np.array(leg.tip))
        lines.append((positions[:, role.foot], tip))
    return lines


def measure_feet(poses, database, legs) -> np.ndarray:
    """Return the distances (T,) of the first two feet."""
    lines = find_feet(poses, database, legs)
    return measure_distances(*lines[0], *lines[1])


def find_lowest(database, legs) -> float:
    """Return the distance that feet have in the data but for one frame in a thousand."""
    return float(np.percentile(measure_feet(database.poses, database, legs), 0.1))


def swing_through(database) -> np.ndarray:
    """Return poses (T, 7, B) whose left foot swings along the right one's line, through it."""
    left = database.roles.legs[0]
    poses = []
    for step in np.linspace(-1.0, 1.0, 40):
        pose = np.array(database.poses[0], np.float64)
        pose[:, 0] = (0, 0, 0, 1, 0, 0, 0)
        rotations, _ = quat.compute_world(pose[None], database.skeleton.parents)
        # turned about the line from front to back, so that its foot comes before the other
        inward = quat.from_scaled_angle_axis(np.array([0.0, 1.0, 0.0]) * 0.2)
        ahead = quat.from_scaled_angle_axis(np.array([1.0, 0.0, 0.0]) * 0.5 * step)
        thigh = quat.mul(ahead, quat.mul(inward, rotations[0, left.thigh]))
        parent = database.skeleton.parents[left.thigh]
        pose[3:, left.thigh] = quat.inv_mul(rotations[0, parent], thigh)
        poses.append(pose)
    return np.stack(poses)


def lock(poses, legs, contacts):
    feet, shown = FootLock(legs), poses.copy()
    for pose in shown:
        feet.apply(pose, np.array(contacts), FootLocking(), 1.0 / FPS)
    return shown


def test_a_swinging_foot_goes_round_a_standing_one_which_stays(demo_database, legs):
    poses = swing_through(demo_database)
    shown = lock(poses, legs, (False, True))
    assert measure_feet(poses, demo_database, legs).min() < 0.02
    assert measure_feet(shown, demo_database, legs).min() > find_lowest(demo_database, legs) - 0.01
    stands = baking.compute_toe_positions(shown, demo_database)[:, 1]
    assert np.linalg.norm(np.ptp(stands, axis=0)) < 1e-3


def test_a_foot_that_lands_on_another_lands_beside_it(demo_database, legs):
    poses = swing_through(demo_database)[10:22]
    poses = np.concatenate([poses, np.repeat(poses[-1:], 40, axis=0)])
    feet, shown = FootLock(legs), poses.copy()
    for tick, pose in enumerate(shown):
        feet.apply(pose, np.array([tick > 12, True]), FootLocking(), 1.0 / FPS)
    assert feet.locked == (True, True)
    assert measure_feet(poses, demo_database, legs)[-1] < 0.04
    assert measure_feet(shown, demo_database, legs)[-1] > legs[0].beside[0].apart - 0.015


def bake(poses, database, legs, ranges, firm=()):
    return plant(poses, database.skeleton, legs, ranges, FPS, firm=firm)


def test_a_baked_foot_goes_round_a_standing_one_which_stays(demo_database, legs):
    poses = swing_through(demo_database)
    baked = bake(poses, demo_database, legs, [ContactRange(1, 0, len(poses))])
    assert measure_feet(baked, demo_database, legs).min() > legs[0].beside[0].apart - 0.01
    stands = baking.compute_toe_positions(baked, demo_database)[:, 1]
    assert np.linalg.norm(np.ptp(stands, axis=0)) < 1e-3


def land_on_a_foot(database) -> tuple[np.ndarray, list[ContactRange]]:
    """Return poses (T, 7, B) whose left foot comes to stand where the right one does."""
    poses = swing_through(database)[5:22]
    poses = np.concatenate([poses, np.repeat(poses[-1:], 40, axis=0)])
    return poses, [ContactRange(0, 20, len(poses)), ContactRange(1, 0, len(poses))]


def test_a_baked_foot_is_planted_beside_another(demo_database, legs):
    poses, ranges = land_on_a_foot(demo_database)
    baked = bake(poses, demo_database, legs, ranges)
    assert measure_feet(poses, demo_database, legs)[-1] < 0.04
    assert measure_feet(baked, demo_database, legs)[-1] > legs[0].beside[0].apart - 0.01


def test_a_foot_stands_where_an_animator_wants_it(demo_database, legs):
    poses, ranges = land_on_a_foot(demo_database)
    firm = bake(poses, demo_database, legs, ranges, firm=ranges)
    toes = [baking.compute_toe_positions(p, demo_database)[-1, :, :2] for p in (poses, firm)]
    np.testing.assert_allclose(*toes, atol=2e-3)
    pointed = [replace(r, point=tuple(toes[0][r.leg].tolist())) for r in ranges]
    shown = bake(poses, demo_database, legs, pointed)
    toes[1] = baking.compute_toe_positions(shown, demo_database)[-1, :, :2]
    np.testing.assert_allclose(*toes, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("feet", ["live", "baked"])
@pytest.mark.parametrize("gait", ["walk", "run"])
def test_legs_hardly_cross_more_than_in_the_clips(demo_database, legs, gait, feet):
    take = perform_script(demo_database, "turns", gait, 40.0, seed=1)
    if feet == "baked":
        take = baking.bake_feet(take, demo_database)
    crossings = [
        baking.make_body(poses, take.character, demo_database).crossings
        for poses in (take.poses, demo_database.poses[take.frames])
    ]
    shown, played = ((each > metrics.CROSSED).mean() for each in crossings)
    assert shown <= played
    distances = measure_feet(take.poses, demo_database, legs)
    assert np.mean(distances < find_lowest(demo_database, legs) - 0.01) < 1e-3


def test_four_legs_keep_to_their_sides():
    database = build([Source(clip=rigs.anonymize(rigs.make_dog())[0])], BuildSettings())[0]
    legs = database.derive(measure_character_legs)
    pairs = {(k, beside.leg) for k, leg in enumerate(legs) for beside in leg.beside}
    assert pairs
    for k, leg in enumerate(legs):
        for beside in leg.beside:
            assert 0.0 <= beside.apart < 1.0, (k, beside)
    shown = lock(np.array(database.poses[:100]), legs, (False,) * len(legs))
    toes = [
        baking.compute_toe_positions(p, database)[..., :2] for p in (shown, database.poses[:100])
    ]
    assert np.linalg.norm(toes[0] - toes[1], axis=-1).max() < 0.05, "as in the data"

"""The rest of a take after a new part: it goes on without a seam, moved there or led back."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.control import continuation, rollout
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.takes import takes
from tests.engine.performance.test_start_state import (
    build_script,
    compute_joints,
    continue_at,
    measure_accelerations,
    measure_largest_acceleration,
)


@pytest.fixture
def performer(demo_database, settings):
    return Performer(MotionMatching(demo_database, settings), settings)


def splice(performer, settings, database, seed, tick, length, **options):
    """Return a take, and its poses with a new part of some ticks after one; and what was carried."""
    base = rollout.solve(performer, build_script(database, settings, "random", 20.0, seed))
    other = build_script(database, settings, "random", 10.0, seed + 50, ("walk", "run")[seed % 2])
    new, _ = continue_at(performer, base, tick, other.intents[30 : 30 + length])
    end = tick + length
    method = performer.method
    body = continuation.Body(base.skeleton, method.acceleration_limits, method.legs, base.fps)
    rest = base.poses[end - 1 :]
    contacts = base.locked[end - 1 :]
    carried = continuation.carry_on(
        new.poses[-2:], rest, body, settings, contacts=contacts, **options
    )
    later = continuation.move_places(rest[2 + len(carried.poses) :], carried.move)
    poses = np.concatenate([base.poses[: tick + 1], new.poses, carried.poses, later])
    return base, poses, end, carried


@pytest.mark.parametrize("lead_back", [0.0, 3.0])
@pytest.mark.slow
def test_the_rest_goes_on_without_a_seam(demo_database, settings, performer, lead_back):
    limit, away = measure_largest_acceleration(demo_database), []
    for seed in range(6):
        base, poses, end, carried = splice(
            performer, settings, demo_database, seed, 200, 60 + 7 * seed, lead_back=lead_back
        )
        assert len(poses) == base.frame_count
        joints = compute_joints(poses, base.skeleton)
        accelerations = measure_accelerations(joints[end - 3 :], base.fps)
        assert accelerations.max() < limit, (seed, int(accelerations.max(axis=1).argmax()))
        own = compute_joints(base.poses, base.skeleton)
        away.append(np.linalg.norm(joints[end, 0] - own[end, 0]))
        if lead_back:
            np.testing.assert_allclose(joints[-30:], own[-30:], atol=1e-3)
        else:
            # the same movement, seen from the body
            sizes = [
                np.linalg.norm(j[-30:, :, None] - j[-30:, None], axis=-1) for j in (joints, own)
            ]
            np.testing.assert_allclose(*sizes, atol=1e-3)
        assert len(carried.poses) < len(base.poses) - end, "it never is the rest again"
    assert max(away) > 1.0


@pytest.mark.parametrize("lead_back", [0.0, 2.0])
@pytest.mark.slow
def test_feet_that_stand_do_not_slide_in_the_rest(demo_database, settings, performer, lead_back):
    slides = []
    for seed in range(6):
        base, poses, end, _ = splice(
            performer, settings, demo_database, seed, 200, 60 + 7 * seed, lead_back=lead_back
        )
        slides.append(measure_slides(performer, base, poses, end))
    assert np.mean(slides) < 0.05, slides


def measure_slides(performer, base, poses, end):
    """Return the mean speed in m/s of toes that stand in the rest, as it was."""
    toes = [leg.toe - 1 for leg in performer.method.database.roles.legs]
    joints = compute_joints(poses, base.skeleton)[end + 1 :, toes]
    own = compute_joints(base.poses, base.skeleton)[end + 1 :, toes]
    steps, before = (np.linalg.norm(np.diff(j[:, :, :2], axis=0), axis=-1) for j in (joints, own))
    low = joints[1:, :, 2] < np.array([leg.toe_height for leg in performer.method.legs]) + 0.01
    stands = (before < 1e-3) & low
    return (steps[stands] * base.fps).mean()


@pytest.mark.slow
def test_real_motion_goes_on_without_a_seam(bandai_namco):
    database = bandai_namco
    settings = takes.make_default_settings(database)
    performer = Performer(MotionMatching(database, settings), settings)
    limit, slides = measure_largest_acceleration(database), []
    for seed in range(4):
        for lead_back in (0.0, 3.0):
            base, poses, end, _ = splice(
                performer, settings, database, seed, 200, 60 + 7 * seed, lead_back=lead_back
            )
            joints = compute_joints(poses, base.skeleton)
            slides.append(measure_slides(performer, base, poses, end))
            for seam in (200, end):
                part = joints[seam - 5 : seam + 20]
                assert measure_accelerations(part, base.fps).max() < limit, (seed, seam)
    assert np.mean(slides) < 0.05, slides

"""Feet that are planted stay; legs bend for it as legs do."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine import takes
from motion_matching.engine.control.foot_lock import ContactLock, FootLock, leg_geometry
from motion_matching.engine.control.settings import PerformerSettings
from motion_matching.engine.maths import quat

DT = 1 / 60


def world(pose: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    local = pose.T.astype(np.float64)
    return quat.fk(quat.normalize(local[:, 3:]), local[:, :3], parents)


@pytest.fixture(scope="module")
def legs(demo_database):
    return leg_geometry(demo_database.skeleton, demo_database.roles, demo_database.poses[::7])


def lock_settings(**changes) -> PerformerSettings:
    return PerformerSettings().changed(changes)


def test_the_hinge_of_a_knee_is_the_axis_it_bends_about(demo_database, legs):
    parents = demo_database.skeleton.parents
    for frame in range(0, demo_database.frame_count, 501):
        rotations, positions = world(demo_database.poses[frame], parents)
        for leg, role in zip(legs, demo_database.roles.legs, strict=True):
            upper = positions[role.shin] - positions[role.thigh]
            lower = positions[role.foot] - positions[role.shin]
            axis = quat.mul_vec(rotations[role.shin], np.array(leg.hinge))
            # square to the plane of the leg
            assert abs(axis @ upper) < 0.05 * np.linalg.norm(upper)
            assert abs(axis @ lower) < 0.05 * np.linalg.norm(lower)


def test_a_toe_without_contact_is_where_the_data_has_it():
    lock = ContactLock()
    for k in range(50):
        data = (0.02 * k, 0.1, 0.2)
        assert lock.update(data, False, 0.02, 0.2, 0.1, DT) == pytest.approx(data, abs=1e-9)


def test_a_planted_toe_stays_until_its_contact_ends():
    lock = ContactLock()
    for k in range(10):
        lock.update((0.0, 0.0, 0.02 + 0.001 * (10 - k)), False, 0.02, 0.2, 0.1, DT)
    shown = [lock.update((0.001 * k, 0.0, 0.02), True, 0.02, 0.2, 0.1, DT) for k in range(60)]
    assert lock.locked
    np.testing.assert_allclose(shown[-1], shown[30], atol=1e-3)
    for _ in range(120):
        last = lock.update((0.06, 0.0, 0.02), False, 0.02, 0.2, 0.1, DT)
    assert not lock.locked
    np.testing.assert_allclose(last, (0.06, 0.0, 0.02), atol=1e-4)


def test_a_toe_moves_without_a_jump_when_it_locks_and_when_it_lets_go():
    lock, shown = ContactLock(), []
    speed = 1.0
    for k in range(180):
        shown.append(lock.update((speed * k * DT, 0.0, 0.02), 40 < k < 60, 0.02, 0.5, 0.1, DT))
    steps = np.linalg.norm(np.diff(np.array(shown), axis=0), axis=-1)
    assert steps.max() < 3.5 * speed * DT
    assert np.abs(np.diff(steps)).max() < speed * DT


def test_a_toe_too_far_from_its_plant_is_let_go_until_the_next_contact():
    lock = ContactLock()
    lock.update((0.0, 0.0, 0.02), False, 0.02, 0.2, 0.1, DT)
    states = []
    for k in range(60):
        lock.update((0.01 * k, 0.0, 0.02), True, 0.02, 0.2, 0.1, DT)
        states.append(lock.locked)
    assert states[0]
    assert not any(states[25:])


def test_a_leg_is_bent_to_the_target_and_the_foot_keeps_its_attitude(demo_database, legs):
    """A toe that is held while the body moves on: reached to a millimetre, with bones of the same lengths."""
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    rng = np.random.default_rng(4)
    for frame in rng.integers(0, demo_database.frame_count, 60):
        before = np.array(demo_database.poses[frame])
        before[:, 0] = (*rng.uniform(-2, 2, 2), 0, 1, 0, 0, 0)
        feet = FootLock(legs)
        toes = [world(before, parents)[1][leg.toe] for leg in roles.legs]
        if min(toe[2] for toe in toes) < max(leg.toe_height for leg in legs):
            continue
        feet.apply(before.copy(), np.ones(2, bool), lock_settings(), DT)
        moved = before.copy()
        moved[:2, 0] += rng.uniform(-0.02, 0.02, 2)
        for _ in range(90):
            pose = moved.copy()
            feet.apply(pose, np.ones(2, bool), lock_settings(), DT)
        rotations, positions = world(pose, parents)
        was, _ = world(moved, parents)
        for leg, toe in zip(roles.legs, toes, strict=True):
            reach = np.linalg.norm(positions[leg.foot] - positions[leg.thigh])
            length = sum(np.linalg.norm(moved[:3, b]) for b in (leg.shin, leg.foot))
            if reach < 0.9 * length:
                np.testing.assert_allclose(positions[leg.toe][:2], toe[:2], atol=2e-3)
            assert quat.angle_between(rotations[leg.foot], was[leg.foot]) < 1e-3
        np.testing.assert_array_equal(pose[:3], moved[:3])


@pytest.mark.parametrize("gait", ["walk", "run"])
def test_locked_feet_slide_much_less_and_knees_do_not_snap(demo_database, gait):
    results = []
    for lock in (False, True):
        settings = takes.default_settings(demo_database).changed({"foot_lock": lock})
        wanted = takes.performance_for(demo_database, settings, "figure_eight", gait=gait, seconds=20, seed=0)
        results.append(takes.perform(demo_database, settings, wanted))
    reports = [takes.report(take, demo_database)["take"] for take in results]
    assert reports[1]["foot_slide_contacts"] < 0.5 * reports[0]["foot_slide_contacts"]
    assert reports[1]["contacts_locked"] > 0.8
    assert reports[1]["toe_lowest"] > -0.01
    assert np.array_equal(results[0].poses, results[1].unlocked_poses)

    def knee_steps(take) -> np.ndarray:
        _, positions = take.clip().world()
        angles = []
        for leg in demo_database.roles.legs:
            upper = positions[:, leg.shin] - positions[:, leg.thigh]
            lower = positions[:, leg.foot] - positions[:, leg.shin]
            cosine = (upper * lower).sum(-1) / np.linalg.norm(upper, axis=-1) / np.linalg.norm(lower, axis=-1)
            angles.append(np.arccos(np.clip(cosine, -1, 1)))
        return np.abs(np.diff(angles, axis=1))

    assert knee_steps(results[1]).max() < 1.5 * knee_steps(results[0]).max()


def test_locking_pulls_no_bone_much_harder_than_the_data(demo_database):
    """Legs that are bent to a plant stay within what the data does, but for single ticks in a thousand."""
    settings = takes.default_settings(demo_database)
    limits = np.maximum(demo_database.limits, [[1.0], [10.0]])[1, 1:] / demo_database.fps
    for script in ("flips", "random"):
        wanted = takes.performance_for(demo_database, settings, script, gait="walk", seconds=30, seed=0)
        take = takes.perform(demo_database, settings, wanted)
        rotations = take.poses[:, 3:, 1:].transpose(0, 2, 1).astype(np.float64)
        rate = quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(rotations[1:], rotations[:-1]))) * take.fps
        hardest = (np.linalg.norm(np.diff(rate, axis=0), axis=2) / limits).max(axis=1)
        assert np.mean(hardest > 1.5) < 0.005

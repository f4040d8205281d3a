"""Foot lock: planted feet stay in place, and legs bend as legs do."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.feet.live.contact_lock import ContactLock
from motion_matching.engine.feet.live.foot_lock import FootLock
from motion_matching.engine.feet.live.landing import Flight, find_landing
from motion_matching.engine.feet.played_toes import NEVER, PlayedToe, PlayedToes, measure_toes
from motion_matching.engine.ground.ground import FLAT
from motion_matching.engine.legs.legs import bend, measure_legs
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.settings import FootLocking
from motion_matching.engine.performance.start_state import compose_places
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests.engine import rigs
from tests.engine.feet.planted import plant
from tests.engine.scripted import perform_script

DT = 1 / 60


def compute_world(pose: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    local = pose.T.astype(np.float64)
    return quat.fk(quat.normalize(local[:, 3:]), local[:, :3], parents)


@pytest.fixture(scope="module")
def legs(demo_database):
    return measure_legs(demo_database.skeleton, demo_database.roles, demo_database.poses[::7])


def make_lock_settings(**changes) -> FootLocking:
    return FootLocking(**changes)


def test_a_knee_hinge_is_the_axis_it_bends_about(demo_database, legs):
    parents = demo_database.skeleton.parents
    for frame in range(0, demo_database.frame_count, 501):
        rotations, positions = compute_world(demo_database.poses[frame], parents)
        for leg, role in zip(legs, demo_database.roles.legs, strict=True):
            upper = positions[role.shin] - positions[role.thigh]
            lower = positions[role.foot] - positions[role.shin]
            axis = quat.mul_vec(rotations[role.shin], np.array(leg.hinge))
            # perpendicular to the leg's plane
            assert abs(axis @ upper) < 0.05 * np.linalg.norm(upper)
            assert abs(axis @ lower) < 0.05 * np.linalg.norm(lower)


def update_lock(lock, data, contact, **changes):
    return lock.update(data, contact, 0.02, make_lock_settings(**changes), DT)


def test_a_toe_without_contact_follows_the_data():
    lock = ContactLock()
    for k in range(50):
        data = (0.02 * k, 0.1, 0.2)
        assert update_lock(lock, data, False) == pytest.approx(data, abs=1e-9)


def test_a_planted_toe_stays_until_its_contact_ends():
    lock = ContactLock()
    for k in range(10):
        update_lock(lock, (0.0, 0.0, 0.02 + 0.001 * (10 - k)), False)
    shown = [update_lock(lock, (0.001 * k, 0.0, 0.02), True) for k in range(60)]
    assert lock.locked
    np.testing.assert_allclose(shown[-1], shown[30], atol=1e-3)
    for _ in range(120):
        last = update_lock(lock, (0.06, 0.0, 0.02), False)
    assert not lock.locked
    np.testing.assert_allclose(last, (0.06, 0.0, 0.02), atol=1e-4)


def test_a_landing_toe_comes_to_rest_without_moving_back():
    lock = ContactLock()
    speed = 1.5
    for k in range(-20, 0):
        update_lock(lock, (speed * k * DT, 0.0, 0.05), False)
    shown = [update_lock(lock, (min(speed * k * DT, 0.1), 0.0, 0.02), True)[0] for k in range(40)]
    assert np.diff(shown).min() > -1e-6
    assert shown[-1] == pytest.approx(speed * 0.05 / (2 * np.log(2)), abs=0.03)


def test_a_toe_moves_smoothly_when_it_locks_and_unlocks():
    lock, shown = ContactLock(), []
    speed = 1.0
    for k in range(180):
        shown.append(
            update_lock(lock, (speed * k * DT, 0.0, 0.02), 40 < k < 60, unlock_radius=0.5)[:2]
        )
    steps = np.linalg.norm(np.diff(np.array(shown), axis=0), axis=-1)
    assert steps.max() < 3.5 * speed * DT
    assert np.abs(np.diff(steps)).max() < speed * DT


def test_a_toe_too_far_from_its_plant_is_released():
    lock = ContactLock()
    update_lock(lock, (0.0, 0.0, 0.02), False)
    states = []
    for k in range(60):
        update_lock(lock, (0.01 * k, 0.0, 0.02), True, unlock_radius=0.2)
        states.append(lock.locked)
    assert states[0]
    assert not any(states[25:])


def test_a_released_toe_is_planted_where_it_rests_again():
    lock = ContactLock()
    update_lock(lock, (0.0, 0.0, 0.02), False)
    for k in range(90):
        where = update_lock(lock, (min(0.01 * k, 0.3), 0.0, 0.02), True, unlock_radius=0.25)
    assert lock.locked
    assert where[0] == pytest.approx(0.3, abs=0.03)


def land_dragged(
    drag: float,
    *,
    knows_played: bool,
    turned: float = 0.0,
    at: int = 12,
    hardest: float = np.inf,
    **changes,
) -> tuple[list, list, ContactLock]:
    """Return where a toe is played (T,) and shown (T,) that comes down as its body is dragged on.

    It is played to slow down, and to stand from tick 20 on; `drag` is in m/s along x. From a tick
    on it is played farther by `turned` metres, as after a jump `at` that tick.
    """
    lock, settings = ContactLock(), make_lock_settings(**changes)
    speeds = [max(2.0 * (1.0 - k / 18.0), 0.0) for k in range(30)]
    places = np.concatenate([[0.0], np.cumsum(speeds[1:]) * DT])
    played, shown = [], []
    for k, (place, speed) in enumerate(zip(places.tolist(), speeds, strict=True)):
        jump = turned if k >= at else 0.0
        body = drag * k * DT + jump
        x, lands = place + body, float(places[-1]) + body
        stays, until = max(30 - k, 0) * DT if k >= 20 else 0.0, (20 - k) * DT if k < 20 else NEVER
        toe = PlayedToe(x, 0.0, speed, 0.0, stays, until, lands, 0.0, drag, 0.0, k == at, False)
        data = (place + drag * k * DT + jump * min((k - at + 1) / 8.0, 1.0), 0.0)
        height = 0.02 + 0.004 * max(20 - k, 0)
        aimed = toe if knows_played else None
        played.append(x)
        shown.append(lock.update((*data, height), k >= 20, 0.02, settings, DT, aimed, hardest)[0])
    return played, shown, lock


def test_a_landing_toe_is_not_dragged_along_by_a_fading_jump():
    """It stands at once, near where its motion lands it."""
    slides = []
    for knows_played in (False, True):
        played, shown, lock = land_dragged(0.6, knows_played=knows_played)
        assert lock.locked
        slides.append(abs(shown[29] - shown[19]))
        assert abs(shown[29] - played[20]) < 0.12
    assert slides[1] < 0.001 < 0.02 < slides[0]


def test_a_toe_lands_where_its_new_motion_lands_it_after_a_jump():
    """Its motion has it half a step farther, a moment before it comes down."""
    played, shown, lock = land_dragged(0.0, knows_played=True, turned=0.2)
    assert lock.locked
    assert shown[29] == pytest.approx(played[29], abs=0.01)
    assert abs(shown[29] - shown[20]) < 0.001


def test_a_toe_about_to_land_does_so_though_a_jump_comes():
    """Its new motion lands it a hand's breadth beside that, at the same moment."""
    _, usual, _ = land_dragged(0.0, knows_played=True, at=99)
    _, shown, lock = land_dragged(0.0, knows_played=True, turned=0.1, at=18)
    assert lock.locked
    np.testing.assert_allclose(shown[19:], usual[19:], atol=1e-6)


def test_a_toe_about_to_land_follows_a_jump_that_takes_it_far_away():
    """It lands a step farther, where its leg can reach it."""
    played, shown, lock = land_dragged(0.0, knows_played=True, turned=0.5, at=18)
    assert lock.locked
    assert shown[29] == pytest.approx(played[29], abs=0.01)


def test_a_toe_of_a_blend_moves_with_it_and_stands_where_and_when_it_lands():
    """What the blend foresees changes by a hand's breadth at each tick, until shortly before."""
    lock, settings, shown = ContactLock(), make_lock_settings(), []
    speeds = np.maximum(2.0 * (1.0 - np.arange(30) / 18.0), 0.0)
    places = np.append(0.0, np.cumsum(speeds[1:]) * DT)
    for k, place in enumerate(places.tolist()):
        stays, until = (max(30 - k, 0) * DT, NEVER) if k >= 20 else (0.0, (20 - k) * DT)
        lands = float(places[-1]) + (0.1 * (-1) ** k if k < 12 else 0.0)
        toe = PlayedToe(place, 0.0, 0.0, 0.0, stays, until, lands, 0.0, 0.0, 0.0, False, True)
        data = place, 0.0, 0.02 + 0.004 * max(20 - k, 0)
        shown.append(lock.update(data, k >= 20, 0.02, settings, DT, toe)[0])
    assert lock.locked
    np.testing.assert_allclose(shown[:13], places[:13], atol=1e-6)
    assert shown[29] == pytest.approx(places[29], abs=0.01)
    assert abs(shown[29] - shown[20]) < 0.001


def test_a_toe_that_has_landed_stands_though_its_motion_drifts_away():
    """The frames are of another motion at the tick at which it is to stand, far from its place."""
    lock, settings = ContactLock(), make_lock_settings()
    for k in range(12):
        stays, until = (0.0, (11 - k) * DT) if k < 11 else (0.1, 0.7)
        drift = 3.0 if k == 11 else 0.0
        toe = PlayedToe(0.0, 0.0, 0.0, 0.0, stays, until, 0.0, 0.0, drift, 0.0, k == 11, False)
        where = lock.update((0.0, 0.0, 0.02), k == 11, 0.02, settings, DT, toe)
    assert lock.locked
    assert where[0] == pytest.approx(0.0, abs=1e-6)


def test_a_toe_without_the_time_to_get_there_lands_nearer():
    """It stands within an eighth of a second, though its motion is too gentle to get there."""
    _, shown, lock = land_dragged(0.0, knows_played=True, turned=0.3, hardest=40.0)
    assert lock.locked
    assert np.abs(np.diff(shown[12:], n=2)).max() < 2.0 * 40.0 * DT**2
    assert abs(shown[29] - shown[27]) < 0.001


def test_a_toe_that_begins_to_land_moves_smoothly():
    _, usual, _ = land_dragged(0.6, knows_played=False)
    hardest = np.abs(np.diff(usual, n=2)).max() / DT**2
    _, shown, _ = land_dragged(0.6, knows_played=True, hardest=hardest)
    # it is aimed from the first tick on, and lands in the last tenth of a second before tick 20
    assert np.abs(np.diff(shown[10:], n=2)).max() / DT**2 < 1.2 * hardest


def test_a_landing_is_near_its_aim_and_no_harder_than_the_motion():
    rng = np.random.default_rng(3)
    for _ in range(200):
        place, speed = rng.uniform(-1.0, 1.0, 2), rng.uniform(-4.0, 4.0, 3)
        toe = Flight(*place, rng.uniform(0.0, 0.3), *speed)
        aim, hardest = tuple(rng.uniform(-1.0, 1.0, 2).tolist()), rng.uniform(20.0, 200.0)
        left, lands = find_landing(toe, aim, DT, 0.2, hardest)
        assert math.dist(lands, aim) < 0.2 + 1e-6
        ticks = 100
        dt, shown = left / ticks, [toe]
        for tick in range(ticks):
            shown.append(shown[-1].approach(lands, left - tick * dt, dt))
        np.testing.assert_allclose(shown[-1], (*lands, 0.0, 0.0, 0.0, 0.0), atol=1e-9)
        pushes = np.diff([each[3:] for each in shown[:-1]], axis=0) / dt
        # at most one to stop it, and one to lead it aside
        assert np.linalg.norm(pushes[:, :2], axis=1).max() < 2.0 * hardest
        assert np.abs(pushes[:, 2]).max() < 2.0 * hardest


def test_the_time_of_a_landing_changes_evenly_with_how_hard_it_may_be():
    toe = Flight(0.0, 0.0, 0.1, 2.0, 1.0, -0.5)
    times = [find_landing(toe, (0.8, -0.3), DT, 0.2, most)[0] for most in np.linspace(20, 200, 999)]
    assert times[0] > 2.0 * times[-1]
    assert np.abs(np.diff(np.log(times))).max() < 0.01


def measure_rows(database) -> np.ndarray:
    moves = database.toes, database.track, np.asarray(database.contacts)
    loops = [each.loop for each in database.ranges]
    return measure_toes(*moves, database.stops, loops, database.fps)


def test_the_toes_of_a_database_stand_where_its_contacts_are(demo_database):
    """Seen from the simulation bone they move, but not over the ground."""
    contacts, rows = np.asarray(demo_database.contacts), measure_rows(demo_database)
    frame = int(np.flatnonzero(contacts.all(axis=1))[0])
    pose = demo_database.poses[frame]
    _, positions = compute_world(pose, demo_database.skeleton.parents)
    played = PlayedToes(rows[frame], np.zeros(3), False)
    in_world = played.to_world(pose[:, 0].tolist(), (0.0, 0.0, 0.0), (True, True))
    for toe, leg in zip(in_world, demo_database.roles.legs, strict=True):
        np.testing.assert_allclose((toe.x, toe.y), positions[leg.toe, :2], atol=1e-4)
    speeds = np.linalg.norm(rows[..., 2:4], axis=-1)
    assert speeds[contacts].mean() < 0.05
    assert speeds[~contacts].mean() > 1.0
    np.testing.assert_array_equal(rows[..., 4] > 0.0, contacts)


def test_a_foot_lands_where_it_was_foretold(demo_database):
    """Every frame in the air knows where and when its toes come down, loops on their way around."""
    rows, contacts = measure_rows(demo_database), np.asarray(demo_database.contacts)
    followers, motion = demo_database.followers, demo_database.root_motion / demo_database.fps
    checked = 0
    for frame in range(0, demo_database.frame_count, 37):
        for leg in np.flatnonzero(~contacts[frame] & (rows[frame, :, 5] < NEVER)):
            ticks = round(float(rows[frame, leg, 5]) * demo_database.fps)
            place, at = (0.0, 0.0, 0.0), frame
            for _ in range(ticks):
                assert not contacts[at, leg]
                place, at = compose_places(place, tuple(motion[at])), int(followers[at])
            assert contacts[at, leg]
            x, y, _ = compose_places(place, (*demo_database.toes[at, leg, :2].tolist(), 0.0))
            np.testing.assert_allclose((x, y), rows[frame, leg, 6:], atol=2e-3)
            checked += 1
    assert checked > 50


@pytest.mark.parametrize("gait", ["walk", "run"])
def test_a_foot_that_lands_in_turns_stands_where_it_came_down(demo_database, gait):
    """Turns are where a fading jump drags a body most."""
    take = perform_script(demo_database, "turns", seconds=20.0, gait=gait, seed=2)
    toes = [leg.toe for leg in demo_database.roles.legs]
    places = demo_database.skeleton.compute_bone_positions(toes, take.poses)[..., :2]
    slides = []
    for leg in range(len(toes)):
        for start, stop in find_runs(take.locked[:, leg]):
            own = places[start:stop, leg]
            slides.append(np.linalg.norm(own - own[0], axis=-1).max())
    assert len(slides) > 30
    assert np.median(slides) < 0.002
    assert np.percentile(slides, 80) < 0.015
    assert take.locked[take.contacts].mean() > 0.97


def test_a_heel_comes_up_where_a_leg_is_too_short_for_its_planted_toe(demo_database, legs):
    """A body that moves on leaves its toe where it stands, and the foot rolls over it."""
    pose = np.array(demo_database.poses[0], np.float64)
    pose[:, 0] = (0, 0, 0, 1, 0, 0, 0)
    feet, settings = FootLock(legs), make_lock_settings(unlock_radius=1.0)
    leg = legs[0]
    toes, heels = [], []
    for k in range(90):
        shown = pose.copy()
        shown[1, 0] = -0.006 * max(k - 20, 0)
        feet.apply(shown, np.ones(2, bool), settings, DT)
        _, positions = compute_world(shown, demo_database.skeleton.parents)
        toes.append(positions[leg.chain[-1]])
        heels.append(positions[leg.chain[leg.foot]])
    away = np.linalg.norm((np.array(toes) - toes[20])[:, :2], axis=-1)
    lifted = np.array(heels)[:, 2] - heels[20][2]
    assert lifted.max() > 0.03
    assert away[lifted < 0.05].max() < 0.01
    assert np.abs(np.diff(heels, n=2, axis=0)).max() < 0.003


def test_landings_are_those_of_their_own_range():
    contacts = np.zeros((60, 1), bool)
    contacts[40:] = True
    still = np.zeros((60, 1, 3)), np.zeros((60, 3)), contacts

    def find_landings(stops, loops):
        return measure_toes(*still, np.array(stops), loops, 60.0)[:, 0, 5]

    whole = find_landings([60], [False])
    np.testing.assert_allclose(whole[:40], np.arange(40, 0, -1) / 60.0, rtol=1e-6)
    assert (whole[40:] == NEVER).all()
    assert (find_landings([40, 60], [False, False]) == NEVER).all()
    around = find_landings([60], [True])
    np.testing.assert_allclose(around[40:], np.arange(60, 40, -1) / 60.0, rtol=1e-6)


def test_only_toes_that_swing_low_are_lifted():
    lock = ContactLock()
    heights = [update_lock(lock, (0.03 * k * k * DT, 0.0, 0.022), False)[2] for k in range(60)]
    assert heights[1] == pytest.approx(0.022)
    assert heights[-1] == pytest.approx(0.02 + FootLocking().swing_clearance)
    assert np.diff(heights).min() >= 0
    assert np.diff(heights).max() < 0.006
    high = ContactLock()
    assert update_lock(high, (0.0, 0.0, 0.3), False)[2] == 0.3
    assert update_lock(high, (0.1, 0.0, 0.3), False)[2] == 0.3


def test_the_lift_of_a_toe_changes_smoothly():
    """Swing fast and low, stop within a tick, plant, and start again."""
    lock, heights = ContactLock(), []
    x = 0.0
    for k in range(120):
        x += 2.0 * DT if k % 40 < 15 else 0.0
        heights.append(update_lock(lock, (x, 0.0, 0.02), 20 < k % 40 < 35)[2])
    assert max(heights) > 0.035
    assert np.abs(np.diff(heights, 2)).max() < 0.4 * FootLocking().swing_clearance


def test_a_sinking_toe_slows_down_before_the_floor():
    lock, heights = ContactLock(), []
    for k in range(30):
        heights.append(update_lock(lock, (0.0, 0.0, max(0.2 - 2.0 * k * DT, -0.08)), False)[2])
    assert min(heights) >= 0.02
    hard = np.maximum(np.maximum(0.2 - 2.0 * np.arange(30) * DT, -0.08), 0.02)
    assert np.abs(np.diff(heights, 2)).max() < 0.6 * np.abs(np.diff(hard, 2)).max()


def fold_legs(database, legs, thigh: float, height: float = 0.0, knee: float = -2.75) -> np.ndarray:
    """Return a pose with its thighs turned, and its knees folded further than in the data."""
    pose = np.array(database.poses[0])
    pose[:, 0] = (0, 0, height, 1, 0, 0, 0)
    for leg, role in zip(legs, database.roles.legs, strict=True):
        for bone, turn in ((role.thigh, thigh), (role.shin, knee)):
            turned = quat.from_scaled_angle_axis(turn * np.array(leg.hinge))
            pose[3:, bone] = quat.mul(pose[3:, bone].astype(float), turned)
    return pose


def test_a_leg_folded_beyond_the_data_is_opened_at_its_knee(demo_database, legs):
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    pose = fold_legs(demo_database, legs, 1.0)
    before = compute_world(pose, parents)[1]
    shown = pose.copy()
    FootLock(legs).apply(shown, np.zeros(2, bool), make_lock_settings(), DT)
    after = compute_world(shown, parents)[1]
    for leg, role in zip(legs, roles.legs, strict=True):
        was, now = (p[role.foot] - p[role.thigh] for p in (before, after))
        assert np.linalg.norm(was) < leg.folded_length - 0.01
        assert np.linalg.norm(now) == pytest.approx(leg.folded_length, abs=1e-3)
        np.testing.assert_allclose(after[role.shin], before[role.shin], atol=2e-3)


def test_a_folded_leg_on_the_floor_is_unfolded_above_it(demo_database, legs):
    """The floor takes the way down: a toe that hangs just above it goes aside."""
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    pose = fold_legs(demo_database, legs, 1.0)
    toes = compute_world(pose, parents)[1][[leg.toe for leg in roles.legs]]
    pose[2, roles.hips] -= min(toes[:, 2]) - max(leg.toe_height for leg in legs) - 0.002
    shown = pose.copy()
    FootLock(legs).apply(shown, np.zeros(2, bool), make_lock_settings(swing_clearance=0.0), DT)
    after = compute_world(shown, parents)[1]
    for leg, role in zip(legs, roles.legs, strict=True):
        reach = np.linalg.norm(after[role.foot] - after[role.thigh])
        assert reach == pytest.approx(leg.folded_length, abs=2e-3)
        assert after[role.toe, 2] > leg.toe_height - 1e-3
        assert after[role.foot, 2] > leg.foot_height - 1e-3


def swing_folded_legs(database, legs) -> np.ndarray:
    """Return poses (T, 7, B) whose folded legs swing through beneath the hips."""
    turns = np.linspace(0.5, 1.5, 60)
    return np.stack([fold_legs(database, legs, turn, 1.0, -2.0) for turn in turns])


def fold_legs_through(database, legs) -> np.ndarray:
    """Return poses (T, 7, B) whose knees a blend folds through themselves, and back."""
    knees = -2.6 - 0.7 * np.sin(np.linspace(0.0, np.pi, 40))
    return np.stack([fold_legs(database, legs, 0.6, 1.0, knee) for knee in knees])


@pytest.mark.parametrize("way", ["live", "baked"])
def test_a_knee_that_folds_through_itself_stays_in_front(demo_database, legs, way):
    """The ankle passes the hip, from which no direction leads it away."""
    poses = fold_legs_through(demo_database, legs)
    before, after = compute_joints(poses, demo_database, legs, way)
    for leg, role in zip(legs, demo_database.roles.legs, strict=True):
        away = np.linalg.norm(before[:, role.foot] - before[:, role.thigh], axis=-1)
        assert away.min() < 0.2 * leg.folded_length, "the ankles come near the hips"
        for joint in (role.shin, role.foot):
            steps = [
                np.linalg.norm(np.diff(each[:, joint], axis=0), axis=-1) for each in (before, after)
            ]
            assert steps[1].max() < steps[0].max() + 0.005


@pytest.mark.parametrize("way", ["live", "baked"])
def test_a_knee_bent_far_backward_is_not_opened_through_the_hip(demo_database, legs, way):
    """As where a database has one walk, whose knees hardly bend, and a blend breaks them."""
    lengths = np.linalg.norm(demo_database.skeleton.rest_positions, axis=-1)
    stiff = tuple(
        replace(leg, folded_length=0.9 * float(lengths[role.shin] + lengths[role.foot]))
        for leg, role in zip(legs, demo_database.roles.legs, strict=True)
    )
    knees = 1.4 * np.sin(np.linspace(0.0, np.pi, 40))
    poses = np.stack([fold_legs(demo_database, legs, 0.2, 1.0, knee) for knee in knees])
    before, after = compute_joints(poses, demo_database, stiff, way)
    for leg, role in zip(stiff, demo_database.roles.legs, strict=True):
        away = np.linalg.norm(before[:, role.foot] - before[:, role.thigh], axis=-1)
        assert away.min() < leg.folded_length - 0.01
        steps = [
            np.linalg.norm(np.diff(each[:, role.foot], axis=0), axis=-1) for each in (before, after)
        ]
        assert steps[1].max() < 1.5 * steps[0].max()


def lock_feet(poses, legs) -> np.ndarray:
    """Return poses as shown live, without contacts."""
    feet, shown = FootLock(legs), poses.copy()
    for pose in shown:
        feet.apply(pose, np.zeros(2, bool), make_lock_settings(), DT)
    return shown


def plant_nothing(poses, database, legs) -> np.ndarray:
    """Return poses as baked, without contacts."""
    return plant(poses, database.skeleton, legs, [], 1 / DT)


def compute_joints(poses, database, legs, way) -> tuple[np.ndarray, np.ndarray]:
    """Return the joints (T, B, 3) of poses, and of those shown live or baked."""
    shown = lock_feet(poses, legs) if way == "live" else plant_nothing(poses, database, legs)
    before, after = (
        np.stack([compute_world(pose, database.skeleton.parents)[1] for pose in each])
        for each in (poses, shown)
    )
    return before, after


@pytest.mark.parametrize("way", ["live", "baked"])
def test_the_knee_of_a_folded_leg_never_flips_beneath_the_hip(demo_database, legs, way):
    poses = swing_folded_legs(demo_database, legs)
    before, after = compute_joints(poses, demo_database, legs, way)
    hips, feet = (
        before[:, [getattr(leg, name) for leg in demo_database.roles.legs]]
        for name in ("thigh", "foot")
    )
    level = (feet - hips)[..., 1]  # it swings along y
    assert (level[0] * level[-1] < 0).all(), "the ankles pass beneath the hips"
    steps = [np.linalg.norm(np.diff(each, axis=0), axis=-1).max() for each in (before, after)]
    assert steps[1] < 1.5 * steps[0]


def test_the_knee_of_a_leg_that_bends_does_not_leap_as_its_plane_is_known():
    """An almost straight leg bends about its hinge, a bent one in its plane, with all between."""
    knees = []
    for sine in np.linspace(0.0, 0.5, 251):
        # the plane is 60 degrees from the hinge, which is x, and the knee bends forward
        side = np.array([np.sin(np.pi / 3), -np.cos(np.pi / 3), 0.0])
        knee = np.array([0.0, 0.0, -0.5])
        ankle = knee + 0.5 * (sine * side - np.array([0.0, 0.0, np.sqrt(1 - sine**2)]))
        joint = tuple(knee), (1.0, 0.0, 0.0, 0.0)
        goal = tuple(0.85 * ankle)
        whole, lower, _ = bend((0.0, 0.0, 0.0), joint, tuple(ankle), goal, (1.0, 0.0, 0.0), 0.0)
        shin = quat.mul_vec(np.array(lower), ankle - knee)
        knees.append(quat.mul_vec(np.array(whole), knee))
        reached = knees[-1] + quat.mul_vec(np.array(whole), shin)
        np.testing.assert_allclose(reached, goal, atol=1e-9)
    assert np.linalg.norm(np.diff(knees, axis=0), axis=-1).max() < 0.01


@pytest.mark.slow
def test_a_leg_reaches_its_target_and_keeps_the_rotation_of_its_foot(demo_database, legs):
    """Hold toes in place while the body moves on, without stretching bones."""
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    heel = max(leg.foot_height for leg in legs)
    rng = np.random.default_rng(4)
    tested = 0
    for frame in rng.integers(0, demo_database.frame_count, 120):
        before = np.array(demo_database.poses[frame])
        before[:, 0] = (*rng.uniform(-2, 2, 2), 0, 1, 0, 0, 0)
        feet = FootLock(legs)
        toes = [compute_world(before, parents)[1][leg.toe] for leg in roles.legs]
        if min(toe[2] for toe in toes) < max(leg.toe_height for leg in legs):
            continue
        feet.apply(before.copy(), np.ones(2, bool), make_lock_settings(), DT)
        if not all(feet.locked):  # a toe high in the air is not planted
            continue
        tested += 1
        moved = before.copy()
        moved[:2, 0] += rng.uniform(-0.02, 0.02, 2)
        for _ in range(90):
            pose = moved.copy()
            feet.apply(pose, np.ones(2, bool), make_lock_settings(), DT)
        rotations, positions = compute_world(pose, parents)
        was, _ = compute_world(moved, parents)
        for leg, toe in zip(roles.legs, toes, strict=True):
            reach = np.linalg.norm(positions[leg.foot] - positions[leg.thigh])
            length = sum(np.linalg.norm(moved[:3, b]) for b in (leg.shin, leg.foot))
            if reach < 0.9 * length:
                np.testing.assert_allclose(positions[leg.toe][:2], toe[:2], atol=2e-3)
            if reach < 0.9 * length and positions[leg.foot, 2] > heel + 1e-3:
                assert quat.angle_between(rotations[leg.foot], was[leg.foot]) < 1e-3
        np.testing.assert_array_equal(pose[:3], moved[:3])
    assert tested > 10


def test_a_toe_in_the_air_is_planted_only_after_it_comes_down():
    """A fading jump may lift a toe that the data has on the floor."""
    lock = ContactLock()
    for k in range(20):
        z = max(0.4 - 0.03 * k, 0.02)
        shown = update_lock(lock, (0.0, 0.0, z), True)
        assert lock.locked == (z < 0.1)
        assert lock.locked or shown[2] == z


def settle(legs, pose, contacts, ground=FLAT, ticks=120, **changes):
    """Return the pose after a character has stood in it for some seconds."""
    feet = FootLock(legs, ground)
    for _ in range(ticks):
        shown = pose.copy()
        shown[2, 0] = feet.update_height(*pose[:2, 0].tolist(), make_lock_settings(**changes), DT)
        feet.apply(shown, contacts, make_lock_settings(**changes), DT)
    return shown


def measure_knee_side(positions, rotations, leg, role):
    """Measure how far the knee bends; negative values bend it backwards."""
    upper, lower = (
        positions[role.shin] - positions[role.thigh],
        positions[role.foot] - positions[role.shin],
    )
    return np.cross(lower, upper) @ quat.mul_vec(rotations[role.shin], np.array(leg.hinge))


def bend_knees_backward(database, legs) -> np.ndarray:
    """Return a pose (7, B) at the origin whose knees are bent the wrong way."""
    parents, roles = database.skeleton.parents, database.roles
    pose = np.array(database.poses[0])
    pose[:, 0] = (0, 0, 0, 1, 0, 0, 0)
    for leg, role in zip(legs, roles.legs, strict=True):
        back = quat.from_scaled_angle_axis(0.35 * np.array(leg.hinge))
        rotations, positions = compute_world(pose, parents)
        while measure_knee_side(positions, rotations, leg, role) > 0:
            pose[3:, role.shin] = quat.mul(pose[3:, role.shin].astype(float), back)
            rotations, positions = compute_world(pose, parents)
    return pose


def test_a_knee_bent_backwards_is_bent_forwards_again(demo_database, legs):
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    pose = bend_knees_backward(demo_database, legs)
    pose[2, roles.hips] -= 0.08  # pushes the feet up, so that knees have to bend
    rotations, positions = compute_world(settle(legs, pose, np.ones(2, bool)), parents)
    for leg, role in zip(legs, roles.legs, strict=True):
        assert measure_knee_side(positions, rotations, leg, role) > 0


def test_a_knee_that_passes_straight_for_a_moment_does_not_swing_back():
    """A fade that bends a knee backward and forward again leaves the leg straight meanwhile."""
    knee, hinge = np.array([0.0, 0.0, -0.45]), (1.0, 0.0, 0.0)
    raw, shown = [], []
    for angle in 0.45 - 0.7 * np.sin(np.linspace(0.0, np.pi, 13)):
        ankle = knee + 0.45 * np.array([0.0, -np.sin(angle), -np.cos(angle)])
        joint = tuple(knee), (np.cos(-angle / 2), np.sin(-angle / 2), 0.0, 0.0)
        whole, lower, _ = bend((0.0,) * 3, joint, tuple(ankle), tuple(ankle), hinge, 0.01)
        shin = quat.mul_vec(np.array(lower), ankle - knee)
        shown.append(quat.mul_vec(np.array(whole), np.array([knee, knee + shin])))
        raw.append(ankle)
        assert np.cross(shown[-1][1] - shown[-1][0], shown[-1][0])[0] > -1e-9
        assert np.linalg.norm(shown[-1][1] - ankle) < 0.01
    most = np.linalg.norm(np.diff(raw, 2, axis=0), axis=-1).max()
    assert np.linalg.norm(np.diff(shown, 2, axis=0), axis=-1).max() < 1.2 * most


@pytest.mark.parametrize("room", [0.0, 0.004])
def test_a_knee_that_is_bent_backward_pushes_no_foot_through_the_floor(room):
    angle, hinge = -0.4, (1.0, 0.0, 0.0)
    knee = np.array([0.0, 0.0, -0.45])
    ankle = knee + 0.45 * np.array([0.0, -np.sin(angle), -np.cos(angle)])
    joint = tuple(knee), (np.cos(-angle / 2), np.sin(-angle / 2), 0.0, 0.0)
    lengths = []
    for choices in ({}, {"room": room}):
        goal = tuple(ankle)
        whole, lower, _ = bend((0.0,) * 3, joint, goal, goal, hinge, 0.01, **choices)
        leg = knee + quat.mul_vec(np.array(lower), ankle - knee)
        lengths.append(np.linalg.norm(quat.mul_vec(np.array(whole), leg)))
    free, planted = lengths - np.linalg.norm(ankle)
    assert free > 0.01  # as nothing is below
    assert planted == pytest.approx(room, abs=1e-6)


def test_a_knee_bent_backwards_in_the_air_is_straightened_along_its_leg(demo_database, legs):
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    pose = bend_knees_backward(demo_database, legs)
    pose[2, 0] = 1.0
    shown = pose.copy()
    FootLock(legs).apply(shown, np.zeros(2, bool), make_lock_settings(), DT)
    before = compute_world(pose, parents)[1]
    rotations, positions = compute_world(shown, parents)
    for leg, role in zip(legs, roles.legs, strict=True):
        assert measure_knee_side(positions, rotations, leg, role) > -1e-6
        hip, away = before[role.thigh], before[role.foot] - before[role.thigh]
        length = sum(np.linalg.norm(pose[:3, bone]) for bone in (role.shin, role.foot))
        straight = hip + away * length / np.linalg.norm(away)
        np.testing.assert_allclose(positions[role.foot], straight, atol=1e-4)


def test_heels_and_tips_are_not_pushed_into_the_floor(demo_database, legs):
    """Put down a foot that lands heel first: the toe reaches the floor, the heel stays above it."""
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    for pitch in (-0.5, 0.5):
        pose = np.array(demo_database.poses[0])
        pose[:, 0] = (0, 0, 0, 1, 0, 0, 0)
        rotations, _ = compute_world(pose, parents)
        for role in roles.legs:
            tilted = quat.mul(
                quat.from_scaled_angle_axis(np.array([pitch, 0, 0])), rotations[role.foot]
            )
            pose[3:, role.foot] = quat.inv_mul(rotations[role.shin], tilted)
        rotations, positions = compute_world(settle(legs, pose, np.ones(2, bool)), parents)
        for leg, role in zip(legs, roles.legs, strict=True):
            assert positions[role.toe, 2] == pytest.approx(leg.toe_height, abs=2e-3)
            assert positions[role.foot, 2] > leg.foot_height - 2e-3
            tip = positions[role.toe] + quat.mul_vec(rotations[role.toe], np.array(leg.tip))
            assert tip[2] > leg.tip_height - 2e-3


class Slope:
    """A floor that rises in the facing direction, with a step up to the left."""

    def height(self, x, y):
        return -0.2 * y + (0.1 if x > 0 else 0.0)


def test_feet_stand_on_uneven_ground_and_the_hips_follow_the_lower_foot(demo_database, legs):
    parents, roles = demo_database.skeleton.parents, demo_database.roles
    ground = Slope()
    pose = np.array(demo_database.poses[0])
    pose[:, 0] = (0, -3.0, 0, 1, 0, 0, 0)
    flat = compute_world(settle(legs, pose, np.ones(2, bool)), parents)[1]
    positions = compute_world(settle(legs, pose, np.ones(2, bool), ground), parents)[1]
    floors = []
    for leg, role in zip(legs, roles.legs, strict=True):
        toe, heel = positions[role.toe], positions[role.foot]
        floors.append(ground.height(*heel[:2]))
        assert toe[2] == pytest.approx(ground.height(*toe[:2]) + leg.toe_height, abs=5e-3)
        # the sole lies along the slope
        assert heel[2] - floors[-1] == pytest.approx(flat[role.foot, 2], abs=0.01)
    assert floors[0] - floors[1] == pytest.approx(0.1, abs=0.05)
    assert positions[roles.hips, 2] == pytest.approx(flat[roles.hips, 2] + min(floors), abs=5e-3)


def test_hips_climb_a_step_smoothly(demo_database, legs):
    class Step:
        def height(self, x, y):
            return 0.2 if y < -0.5 else 0.0

    feet, heights = FootLock(legs, Step()), []
    for k in range(120):
        heights.append(feet.update_height(0.0, -0.01 * k, make_lock_settings(), DT))
    assert heights[0] == 0.0
    assert heights[-1] == pytest.approx(0.2, abs=1e-3)
    assert np.abs(np.diff(heights, 2)).max() < 0.2 * (2 * np.log(2) / 0.15 * DT) ** 2 * 1.05


def test_four_legs_are_locked_like_two():
    """Move an animal's body sideways; its paws stay in place."""
    database = build([Source(clip=rigs.anonymize(rigs.make_dog())[0])], BuildSettings())[0]
    legs = measure_legs(database.skeleton, database.roles, database.poses)
    assert len(legs) == 4
    feet, toes = FootLock(legs), []
    for tick in range(40):
        pose = np.array(database.poses[20])
        pose[:, 0] = (0.002 * tick, 0, -0.05, 1, 0, 0, 0)
        feet.apply(pose, np.ones(4, bool), make_lock_settings(), 1 / database.fps)
        assert feet.locked == (True,) * 4
        toes.append(
            compute_world(pose, database.skeleton.parents)[1][
                [leg.toe for leg in database.roles.legs]
            ]
        )
    moved = np.linalg.norm(np.array(toes)[:, :, :2] - np.array(toes)[-1, :, :2], axis=-1)
    assert moved.max() < 0.02
    np.testing.assert_allclose(
        np.array(toes)[-1, :, 2], [leg.toe_height for leg in legs], atol=2e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("gait", ["walk", "run"])
def test_locked_feet_slide_much_less_and_knees_do_not_snap(demo_database, gait):
    results = []
    for lock in (False, True):
        # a character that idles comes to be above its planted feet
        choices = {"foot_lock": lock, "idle": False, "support_weight": 0.0}
        results.append(perform_script(demo_database, "figure_eight", gait, **choices))
    reports = [takes.report(take, demo_database)["take"] for take in results]
    assert reports[1]["foot_slide_contacts"] < 0.5 * reports[0]["foot_slide_contacts"]
    assert reports[1]["contacts_locked"] > 0.8
    assert reports[1]["toe_lowest"] > -0.01
    assert np.array_equal(results[0].poses, results[1].unlocked_poses)

    def knee_steps(take) -> np.ndarray:
        _, positions = take.to_clip().compute_world()
        angles = []
        for leg in demo_database.roles.legs:
            upper = positions[:, leg.shin] - positions[:, leg.thigh]
            lower = positions[:, leg.foot] - positions[:, leg.shin]
            cosine = (
                (upper * lower).sum(-1)
                / np.linalg.norm(upper, axis=-1)
                / np.linalg.norm(lower, axis=-1)
            )
            angles.append(np.arccos(np.clip(cosine, -1, 1)))
        return np.abs(np.diff(angles, axis=1))

    assert knee_steps(results[1]).max() < 1.5 * knee_steps(results[0]).max()


@pytest.mark.slow
def test_locking_accelerates_no_bone_much_harder_than_the_data(demo_database):
    """Accelerations stay near the data's, except for a few ticks in a thousand."""
    limits = np.maximum(demo_database.limits, [[1.0], [10.0]])[1, 1:] / demo_database.fps
    shares = []
    for script in ("flips", "random"):
        take = perform_script(demo_database, script, seconds=30)
        rotations = take.poses[:, 3:, 1:].transpose(0, 2, 1).astype(np.float64)
        rate = (
            quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(rotations[1:], rotations[:-1])))
            * take.fps
        )
        hardest = (np.linalg.norm(np.diff(rate, axis=0), axis=2) / limits).max(axis=1)
        shares.append(np.mean(hardest > 1.5))
    assert np.mean(shares) < 0.005

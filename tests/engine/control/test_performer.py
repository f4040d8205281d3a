"""A steered character: reproducible, independent of its start, between data and code as set."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.control import rollout
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.control.trajectory import SimulationObject
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.planar import wrap
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.intent import FuturePath, Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import takes
from motion_matching.engine.takes.baking import compute_toe_positions


def perform(database, settings, name="random", gait="walk", seconds=12.0, **start):
    wanted = scripts.build_script(
        name,
        seconds,
        database.fps,
        settings.steering.walk,
        settings.steering.run,
        gait=gait,
        seed=3,
    )
    if start:
        wanted = Performance(wanted.name, wanted.fps, wanted.intents, **start)
    return takes.perform(database, settings, wanted)


def test_the_same_performance_gives_the_same_take_to_the_byte(demo_database, settings):
    a, b = perform(demo_database, settings), perform(demo_database, settings)
    assert a.poses.tobytes() == b.poses.tobytes()
    assert np.array_equal(a.frames, b.frames)


def test_a_reset_performer_starts_afresh(demo_database, settings):
    performer = Performer(MotionMatching(demo_database, settings), settings)
    wanted = scripts.build_script(
        "flips", 6, demo_database.fps, settings.steering.walk, settings.steering.run
    )
    a, b = rollout.solve(performer, wanted), rollout.solve(performer, wanted)
    assert a.poses.tobytes() == b.poses.tobytes()


def test_without_synchronization_the_character_moves_like_the_data(demo_database, settings):
    """Once jumps have faded, each tick takes the data's own step."""
    settings = settings.with_changes({"displacement": "synchronize", "synchronization": 0.0})
    take = perform(demo_database, settings, "strafe_circle")
    faded = np.ones(take.frame_count, bool)
    for tick in np.flatnonzero(take.jumped):
        faded[tick : tick + 45] = False
    ticks = np.flatnonzero(faded)[1:]
    assert len(ticks) > 20
    for t in ticks:
        _, dy, turn = take.character[t] - take.character[t - 1]
        step = demo_database.root_motion[take.frames[t] - 1] / demo_database.fps
        assert turn == pytest.approx(step[2], abs=1e-4)
        moved = np.hypot(*(take.character[t, :2] - take.character[t - 1, :2]))
        assert moved == pytest.approx(np.hypot(*step[:2]), abs=1e-4), dy


def test_the_steps_apart_add_up_to_the_distance_apart(demo_database, settings):
    settings = settings.with_changes({"displacement": "independent", "clamp": False})
    take = perform(demo_database, settings, "strafe_circle")
    distance = take.simulation - take.character
    assert np.linalg.norm(distance[-1, :2]) > 0.05
    np.testing.assert_allclose(np.cumsum(take.apart[:, :2], axis=0), distance[:, :2], atol=1e-9)
    turned = np.cumsum(take.apart[:, 2]) - distance[:, 2]
    np.testing.assert_allclose([wrap(turn) for turn in turned], 0.0, atol=1e-9)


def test_with_full_synchronization_both_follow_the_simulation(demo_database, settings):
    settings = settings.with_changes({"displacement": "synchronize", "synchronization": 1.0})
    take = perform(demo_database, settings, "flips")
    np.testing.assert_allclose(take.character[:, :2], take.simulation[:, :2], atol=1e-12)
    assert (
        max(
            abs(wrap(a - b)) for a, b in take.character[:, [2]] - take.simulation[:, [2]] + [[0, 0]]
        )
        < 1e-12
    )
    alone = SimulationObject(settings.steering)
    alone.reset(0.0, 0.0, 0.0)
    for tick, intent in enumerate(take.performance.intents):
        alone.steer(intent, 1 / take.fps)
        alone.step(1 / take.fps)
        np.testing.assert_allclose((alone.x, alone.y), take.character[tick, :2], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["flips", "random"])
def test_a_clamped_character_stays_near_the_simulation_object(demo_database, settings, script):
    for changes in (
        {},
        {"displacement": "independent"},
        {"clamp_distance": 0.05, "clamp_angle": 0.5},
    ):
        chosen = settings.with_changes(changes)
        take = perform(demo_database, chosen, script, gait="run")
        apart = np.linalg.norm(take.character[:, :2] - take.simulation[:, :2], axis=1)
        assert apart.max() <= chosen.coupling.clamp_distance + 1e-9
        angle = [
            abs(wrap(a - b))
            for a, b in zip(take.character[:, 2], take.simulation[:, 2], strict=True)
        ]
        assert max(angle) <= chosen.coupling.clamp_angle + 1e-9


@pytest.mark.parametrize("factor", [0.0, 0.3, 1.0])
def test_synchronization_places_both_at_the_same_position(demo_database, settings, factor):
    take = perform(
        demo_database,
        settings.with_changes({"displacement": "synchronize", "synchronization": factor}),
    )
    np.testing.assert_allclose(take.character[:, :2], take.simulation[:, :2], atol=1e-12)


def test_moving_and_turning_the_start_gives_the_same_take(demo_database, settings):
    """Moving and turning the start and the intents moves and turns the whole take."""
    yaw, place = 1.1, (5.0, -3.0)
    wanted = scripts.build_script(
        "random", 8.0, demo_database.fps, settings.steering.walk, settings.steering.run, seed=4
    )
    c, s = math.cos(yaw), math.sin(yaw)
    turned = tuple(
        i._replace(
            move=(c * i.move[0] - s * i.move[1], s * i.move[0] + c * i.move[1]),
            facing=None if i.facing is None else i.facing + yaw,
        )
        for i in wanted.intents
    )
    here = takes.perform(demo_database, settings, wanted)
    there = takes.perform(
        demo_database, settings, Performance("there", wanted.fps, turned, place, yaw)
    )
    assert np.array_equal(here.frames, there.frames)
    x = c * here.character[:, 0] - s * here.character[:, 1] + place[0]
    np.testing.assert_allclose(x, there.character[:, 0], atol=1e-3)
    np.testing.assert_allclose(here.poses[:, :, 1:], there.poses[:, :, 1:], atol=1e-4)


def test_changed_settings_apply_from_their_tick_on(demo_database, settings):
    wanted = scripts.build_script(
        "figure_eight", 8.0, demo_database.fps, settings.steering.walk, settings.steering.run
    )
    changed = Performance(
        wanted.name,
        wanted.fps,
        wanted.intents,
        changes=((120, {"weights": [0, 0, 0, 0, 0, 1, 1, 0, 0]}),),
    )
    a, b = (
        takes.perform(demo_database, settings, wanted),
        takes.perform(demo_database, settings, changed),
    )
    assert np.array_equal(a.poses[:120], b.poses[:120])
    assert not np.array_equal(a.frames, b.frames)


def test_feet_locked_again_start_from_their_current_position(demo_database, settings):
    """They are not pulled back to where they were planted before the lock was off."""
    performer = Performer(MotionMatching(demo_database, settings), settings)
    ahead, free = Intent(move=(0.0, -1.0)), settings.with_changes({"foot_lock": False})
    while not any(performer.step(ahead).locked):
        pass
    performer.apply(free)
    for _ in range(60):
        performer.step(ahead)
    performer.apply(settings)
    for _ in range(10):
        frame = performer.step(ahead)
        poses = np.stack([frame.pose, frame.unlocked_pose]).astype(np.float64)
        locked, unlocked = compute_toe_positions(poses, demo_database)
        assert np.linalg.norm(locked - unlocked, axis=-1).max() < settings.feet.unlock_radius


def test_settings_refused_by_the_method_leave_the_performer_unchanged(demo_database, settings):
    performer = Performer(MotionMatching(demo_database, settings), settings)
    with pytest.raises(SettingsError, match="weights"):
        performer.apply(settings.with_changes({"weights": [1.0, 2.0], "foot_lock": False}))
    assert performer.settings == settings


def test_unknown_and_invalid_settings_are_refused_by_name(settings):
    with pytest.raises(SettingsError, match="velocity_halflive"):
        settings.with_changes({"velocity_halflive": 0.2})
    with pytest.raises(SettingsError, match="synchronization"):
        settings.with_changes({"synchronization": 1.5})


def test_a_path_is_followed(demo_database, settings):
    """Give positions over the next two seconds; the character walks there."""
    settings = settings.with_changes({"synchronization": 0.5})
    performer = Performer(MotionMatching(demo_database, settings), settings)
    performer.reset((0.0, 0.0), 0.0)
    speed, dt = 1.1, 1 / demo_database.fps
    times = tuple(np.linspace(0.0, 2.0, 9))
    for tick in range(240):
        now = tick * dt
        path = FuturePath(
            times, tuple((0.0, -speed * (now + t)) for t in times), tuple(0.0 for _ in times)
        )
        frame = performer.step(Intent(path=path))
    assert abs(frame.character.x) < 0.3
    assert frame.character.y == pytest.approx(-speed * 240 * dt, abs=0.5)


@pytest.mark.slow
def test_past_features_use_the_characters_own_past(demo_database, settings):
    database = demo_database.with_schema(load_schema("nucl_ai"))
    take = perform(database, settings, "figure_eight", seconds=15)
    speed = np.linalg.norm(np.diff(take.character[:, :2], axis=0), axis=1) * take.fps
    assert speed[-150:].mean() == pytest.approx(settings.steering.walk.forward, rel=0.2)


def measure_accelerations(poses: np.ndarray, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Measure angular and linear acceleration (F - 2, B - 1) of every bone relative to its parent."""
    rotations = poses[:, 3:, 1:].transpose(0, 2, 1).astype(np.float64)
    rate = (
        quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(rotations[1:], rotations[:-1]))) * fps
    )
    angular = np.linalg.norm(np.diff(rate, axis=0), axis=2) * fps
    return angular, np.linalg.norm(np.diff(poses[:, :3, 1:], 2, axis=0), axis=1) * fps**2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "gait", "more"),
    [
        ("flips", "walk", 1.0),
        ("figure_eight", "run", 1.0),
        ("random", "walk", 1.2),
        ("random", "run", 1.35),
    ],
)
def test_no_jump_accelerates_a_bone_harder_than_the_data(
    demo_database, settings, script, gait, more
):
    """Compare each bone with its own largest acceleration relative to its parent, at and after
    every jump.

    Where a fading offset and the data accelerate the same way, single ticks of restless scripts get
    slightly more.
    """
    take = perform(demo_database, settings, script, gait, 30)
    assert take.jumped.sum() > 20
    ranges = zip(demo_database.starts, demo_database.stops, strict=True)
    of_ranges = [
        measure_accelerations(np.asarray(demo_database.poses[a:b]), demo_database.fps)
        for a, b in ranges
    ]
    for kind, least in ((0, 10.0), (1, 1.0)):
        hardest = np.maximum(np.max([a[kind].max(axis=0) for a in of_ranges], axis=0), least)
        ratio = measure_accelerations(take.unlocked_poses, take.fps)[kind] / hardest
        assert ratio.max() <= more
        assert np.mean(ratio.max(axis=1) > 1.0) < 0.02


def test_rotations_stay_normalized(demo_database, settings):
    take = perform(demo_database, settings, "random", "run")
    np.testing.assert_allclose(np.linalg.norm(take.poses[:, 3:], axis=1), 1, atol=1e-4)

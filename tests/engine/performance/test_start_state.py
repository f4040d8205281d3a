"""A performer that goes on from a pose in motion: nothing pops where it begins."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control import rollout
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance import performance as performances
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.performance.start_state import StartState, build_start_state
from motion_matching.engine.sources.sources import find_sources
from motion_matching.engine.takes import takes


def compute_joints(poses, skeleton):
    """Return the joints (T, J, 3) in the world of poses (T, 7, B), without the simulation bone."""
    return quat.compute_world(poses, skeleton.parents)[1][:, 1:]


def measure_accelerations(joints, fps):
    """Return the accelerations (T - 2, J) in m/s² of joints (T, J, 3)."""
    return np.linalg.norm(np.diff(joints, 2, axis=0), axis=-1) * fps**2


def measure_largest_acceleration(database):
    """Return the largest acceleration of any joint in the clips, in m/s²."""
    bodies, _ = takes.make_source_bodies(database)
    return max(
        measure_accelerations(body.positions, database.fps).max()
        for body in bodies
        if len(body.positions) > 2
    )


def build_script(database, settings, name, seconds, seed, gait="walk"):
    return scripts.build_script(
        name,
        seconds,
        database.fps,
        settings.steering.walk,
        settings.steering.run,
        gait=gait,
        seed=seed,
    )


@pytest.fixture(params=["matching", "field"])
def performer(request, demo_database, settings):
    make = MotionMatching
    if request.param == "field":
        make = FieldController(Metric.from_database(demo_database))
    return Performer(make(demo_database, settings), settings)


def continue_at(performer, base, tick, intents, **options):
    """Return the take of intents that begin after a tick of a take, and its performance."""
    names, fps = base.skeleton.names, base.fps
    place, start = build_start_state(names, base.poses[tick - 1 : tick + 2], fps, **options)
    performed = Performance("next", fps, intents, place[:2], place[2], start=start)
    return rollout.solve(performer, performed), performed


@pytest.mark.slow
def test_a_performance_goes_on_from_any_pose_of_a_take_without_a_seam(
    demo_database, settings, performer
):
    limit, fps = measure_largest_acceleration(demo_database), demo_database.fps
    seen = {"carried": [], "placed": [], "free": []}
    for seed in range(3):
        gait = ("walk", "run")[seed % 2]
        base = rollout.solve(
            performer, build_script(demo_database, settings, "random", 8.0, seed, gait)
        )
        rng = np.random.default_rng(seed)
        for tick in rng.integers(30, base.frame_count - 2, 4).tolist():
            other = build_script(demo_database, settings, "random", 3.0, seed + 50)
            intents = other.intents[int(fps) :][:20]
            for root, hardest in seen.items():
                take, _ = continue_at(performer, base, tick, intents, root=root)
                poses = np.concatenate([base.poses[tick - 2 : tick + 1], take.poses])
                joints = compute_joints(poses, base.skeleton)
                hardest.append(measure_accelerations(joints, fps).max())
    assert {root: max(hardest) for root, hardest in seen.items() if max(hardest) >= limit} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("data", "fps"), [("bandai-namco", 30), ("lafan1", 30), ("lafan1", 60)])
def test_real_motion_goes_on_where_it_is_to_a_millimetre(mocap, data, fps):
    """The first pose is that of the seam, and the next where its motion leads.

    That is within what the largest acceleration of the data allows, and a millimetre.
    """
    database = build(find_sources([mocap / data]), BuildSettings(fps=fps))[0]
    settings = takes.make_default_settings(database)
    performer = Performer(MotionMatching(database, settings), settings)
    reach, limit = 1.0 / fps**2, measure_largest_acceleration(database)
    for seed in range(2):
        base = rollout.solve(performer, build_script(database, settings, "random", 8.0, seed))
        joints = compute_joints(base.poses, base.skeleton)
        for tick in np.random.default_rng(seed).integers(fps, 7 * fps, 6).tolist():
            take, performed = continue_at(
                performer, base, tick, base.performance.intents[tick : tick + 5]
            )
            first = compute_joints(performer.begin(performed).pose[None], base.skeleton)[0]
            np.testing.assert_allclose(first, joints[tick], atol=1e-3)
            after = compute_joints(take.poses[:1], base.skeleton)[0]
            off = np.linalg.norm(after - (2.0 * joints[tick] - joints[tick - 1]), axis=-1)
            assert off.max() < reach * limit + 1e-3, (seed, tick)


def test_steady_motion_goes_on_as_it_would_have(demo_database, settings, performer):
    """With the same intents as before, hips and feet go where the take itself goes."""
    fps = demo_database.fps
    walk = (Intent(move=(0.0, -1.0)),) * int(6 * fps)
    base = rollout.solve(performer, Performance("walk", fps, walk))
    for tick in (60, 77, 100):
        take, _ = continue_at(performer, base, tick, walk[:30])
        own = compute_joints(base.poses[tick + 1 : tick + 2], base.skeleton)[0]
        other = compute_joints(take.poses[:1], base.skeleton)[0]
        assert np.linalg.norm(own - other, axis=-1).max() < 0.03
        speed = np.hypot(*(take.character[29, :2] - take.character[0, :2])) * fps / 29
        assert speed == pytest.approx(settings.steering.walk.forward, rel=0.15)


@pytest.mark.slow
def test_planted_feet_stay_where_they_are_or_lift_off(demo_database, settings):
    performer = Performer(MotionMatching(demo_database, settings), settings)
    fps, toes = demo_database.fps, [leg.toe - 1 for leg in demo_database.roles.legs]
    base = rollout.solve(performer, build_script(demo_database, settings, "random", 18.0, 1))
    joints, held = compute_joints(base.poses, base.skeleton)[:, toes], 0
    still = np.linalg.norm(np.diff(joints, axis=0), axis=-1) < 1e-3
    for tick in range(40, base.frame_count - 2, 7):
        take, _ = continue_at(performer, base, tick, (Intent(),) * 5)
        moved = compute_joints(take.poses[:1], base.skeleton)[0, toes] - joints[tick]
        for toe in np.flatnonzero(still[tick - 1] & base.locked[tick]):
            held += 1
            assert np.linalg.norm(moved[toe]) < 0.005, (tick, fps)
    assert held > 10


def test_a_standing_state_stands_and_a_running_one_runs_on(demo_database, settings, performer):
    fps = demo_database.fps
    run = (Intent(move=(0.0, -1.0), gait=1.0),) * int(4 * fps)
    base = rollout.solve(performer, Performance("run", fps, run))
    take, performed = continue_at(performer, base, int(3 * fps), run[:30])
    speeds = np.hypot(*np.diff(take.character[:, :2], axis=0).T) * fps
    assert speeds.min() > 0.75 * settings.steering.run.forward
    assert np.hypot(*performed.start.root_velocity[:2]) > 0.75 * settings.steering.run.forward
    still = np.repeat(base.poses[:1], 3, axis=0)
    place, start = build_start_state(base.skeleton.names, still, fps)
    assert not np.any(start.velocities)
    stands = rollout.solve(
        performer, Performance("stand", fps, (Intent(),) * 30, place[:2], place[2], start=start)
    )
    assert np.hypot(*(stands.character[-1, :2] - stands.character[0, :2])) < 0.1


def test_at_an_end_of_its_motion_a_state_moves_as_inside(demo_database, settings):
    performer = Performer(MotionMatching(demo_database, settings), settings)
    fps = demo_database.fps
    walk = (Intent(move=(0.0, -1.0)),) * int(3 * fps)
    poses = rollout.solve(performer, Performance("walk", fps, walk)).poses[60:63]
    names = demo_database.skeleton.names
    for order in ([0, 1, 1], [1, 1, 2]):
        _, start = build_start_state(names, poses[order], fps)
        assert np.hypot(*start.root_velocity[:2]) == pytest.approx(
            settings.steering.walk.forward, rel=0.2
        )
    leaps = poses.copy()
    leaps[2, :2, 0] += 3.0
    _, start = build_start_state(names, leaps, fps, fastest=10.0)
    assert not np.any(start.velocities)


def test_a_performance_with_a_start_is_the_same_after_saving(demo_database, settings, performer):
    base = rollout.solve(performer, build_script(demo_database, settings, "random", 4.0, 0))
    take, performed = continue_at(performer, base, 80, (Intent(),) * 30, root="free")
    stored = json.loads(performances.to_json(performed))
    read = performances.from_json(json.dumps(stored), "the test")
    assert read == performed
    again = rollout.solve(performer, read)
    assert again.poses.tobytes() == take.poses.tobytes()
    assert "start" not in json.loads(performances.to_json(replace(performed, start=None)))
    stored["start"]["bones"]["Hips"][3] = "x"
    with pytest.raises(SettingsError, match="Hips"):
        performances.from_json(json.dumps(stored), "the test")


def test_a_start_of_another_skeleton_stands(demo_database, settings, performer):
    start = StartState(("Simulation", "Tail"), ((0.0,) * 7,) * 2, ((0.0,) * 6,) * 2)
    frame = performer.start_from((1.0, 2.0), 0.5, start)
    assert frame.character == (1.0, 2.0, 0.5)
    assert np.array_equal(frame.pose, performer.reset((1.0, 2.0), 0.5).pose)


def test_feet_below_the_floor_come_up_smoothly(demo_database, settings):
    performer = Performer(MotionMatching(demo_database, settings), settings)
    fps = demo_database.fps
    pose = performer.reset((0.0, 0.0), 0.0).pose
    low = np.repeat(pose[None], 3, axis=0)
    low[:, 2, demo_database.roles.hips] -= 0.05
    place, start = build_start_state(demo_database.skeleton.names, low, fps)
    first = performer.start_from(place[:2], place[2], start).pose
    poses = [low[1], first, *(performer.step(Intent()).pose for _ in range(30))]
    joints = compute_joints(np.stack(poses), demo_database.skeleton)
    np.testing.assert_allclose(joints[1], joints[0], atol=1e-4)
    assert measure_accelerations(joints, fps).max() < measure_largest_acceleration(demo_database)
    toes = [leg.toe - 1 for leg in demo_database.roles.legs]
    heights = [leg.toe_height for leg in performer.method.legs]
    assert np.all(joints[-1, toes, 2] > np.array(heights) - 0.002)

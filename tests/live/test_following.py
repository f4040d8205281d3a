"""A real performer follows a path, reaches a target, and repeats a recording."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.control import rollout
from motion_matching.engine.control.performer import Performer, Placement
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.planar import wrap
from motion_matching.engine.performance import scripts
from motion_matching.engine.takes import takes
from motion_matching.live.inputs.base import Situation
from motion_matching.live.inputs.leaders.path import PathInput
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.live.inputs.leaders.target import PointInput, TargetInput


@pytest.fixture(scope="module")
def performer(demo_database) -> Performer:
    settings = takes.make_default_settings(demo_database)
    return Performer(MotionMatching(demo_database, settings), settings)


def drive_performer(
    performer: Performer, source, seconds: float, place: Placement | None = None
) -> list:
    """Return the frames of a performer that an input leads, from the input's start or from a place."""
    place = place or source.start.placement
    frames = [performer.reset((place.x, place.y), place.yaw)]
    for tick in range(round(seconds * performer.fps)):
        last = frames[-1]
        intent = source.get_intent(
            Situation(tick, performer.dt, last.character, last.simulation_object)
        )
        frames.append(performer.step(intent))
    return frames[1:]


def get_placements(frames) -> np.ndarray:
    return np.array([frame.character for frame in frames])


# ---------------------------------------------------------------- path

CIRCLE = (
    4.0
    * np.column_stack(
        [np.cos(np.linspace(0, 2 * np.pi, 60)), np.sin(np.linspace(0, 2 * np.pi, 60))]
    )[:-1]
)
BEND = np.array([[0.0, 0.0], [0.0, -4.0], [3.0, -6.0], [6.0, -6.0]])


def predict_path(path: PathInput, second: float):
    place = Placement(0.0, 0.0, 0.0)
    return path.get_intent(Situation(round(1000 * second), 0.001, place, place)).path


def trace_path(path: PathInput, seconds: float, dt: float = 0.01) -> np.ndarray:
    """Return the desired positions (T, 2) of a path, every `dt`."""
    return np.array([predict_path(path, k * dt).positions[0] for k in range(round(seconds / dt))])


def test_the_speed_profile_obeys_its_limits_and_ends_at_rest():
    path = PathInput(BEND, 1.4, acceleration=1.0, sideways=1.5)
    velocities = np.diff(trace_path(path, 14.0), axis=0) / 0.01
    speeds = np.linalg.norm(velocities, axis=1)
    assert speeds.max() == pytest.approx(1.4, abs=0.02)
    assert speeds[0] < 0.15
    assert speeds[-1] == 0.0
    smooth = np.convolve(speeds, np.ones(20) / 20, mode="valid")
    assert np.abs(smooth[20:] - smooth[:-20]).max() / 0.2 < 1.1
    assert trace_path(path, 14.0)[-1] == pytest.approx(BEND[-1])


def test_bends_limit_the_speed():
    path = PathInput(
        0.5 * CIRCLE, 3.0, cyclic=True, sideways=2.0
    )  # a radius of two metres: no more than 2 m/s
    speeds = np.linalg.norm(np.diff(trace_path(path, 20.0), axis=0), axis=1) / 0.01
    assert speeds.max() == pytest.approx(2.0, abs=0.1)


def test_speed_factors_scale_the_speed():
    factors = np.array([1.0, 1.0, 0.5, 0.5])
    path = PathInput(np.array([[0, 0], [0, -6], [0, -7], [0, -12]], float), 1.6, factors=factors)
    way = trace_path(path, 15.0)
    speeds = np.linalg.norm(np.diff(way, axis=0), axis=1) / 0.01
    assert speeds[(way[:-1, 1] < -2) & (way[:-1, 1] > -5)].mean() == pytest.approx(1.6, abs=0.05)
    assert speeds[(way[:-1, 1] < -8) & (way[:-1, 1] > -11)].mean() == pytest.approx(0.8, abs=0.05)


def test_a_closed_path_has_no_seam():
    path = PathInput(CIRCLE, 1.5, cyclic=True)
    way = trace_path(path, 60.0, 0.02)
    speeds = np.linalg.norm(np.diff(way, axis=0), axis=1) / 0.02
    assert speeds[200:].min() > 1.4
    assert np.abs(np.hypot(*way.T) - 4.0).max() < 0.05
    yaws = np.unwrap([predict_path(path, 0.1 * k).yaws[0] for k in range(600)])
    assert np.abs(np.diff(yaws)).max() < 0.1
    ahead = predict_path(path, 33.0)
    assert np.abs(np.diff(ahead.yaws)).max() < 0.1
    assert not path.is_finished


@pytest.mark.parametrize("cyclic", [False, True])
def test_the_character_stays_within_centimetres_of_a_path(performer, cyclic):
    points = CIRCLE if cyclic else BEND
    path = PathInput(points, 1.2, cyclic=cyclic)
    frames = drive_performer(performer, path, 18.0)
    way = trace_path(path, 40.0)
    apart = np.linalg.norm(get_placements(frames)[:, None, :2] - way[None], axis=2).min(axis=1)
    assert np.median(apart) < 0.1
    assert apart.max() < 0.3
    if not cyclic:
        assert path.is_finished
        assert np.linalg.norm(get_placements(frames)[-1, :2] - BEND[-1]) < 0.1


def test_degenerate_paths_are_refused():
    for wrong, word in ((np.zeros((1, 2)), "shorter"), (np.zeros((5, 2)), "shorter")):
        with pytest.raises(SettingsError, match=word):
            PathInput(wrong, 1.0)
    for speed in (0.0, -1.0, math.nan):
        with pytest.raises(SettingsError, match="speed"):
            PathInput(BEND, speed)


# ---------------------------------------------------------------- target


@pytest.fixture
def synchronized(demo_database) -> Performer:
    """A performer that is synchronized with the simulation object, also while standing."""
    settings = takes.make_default_settings(demo_database).with_changes(
        {"displacement": "synchronize", "synchronization": 0.6, "clamp": False}
    )
    return Performer(MotionMatching(demo_database, settings), settings)


def test_the_shipped_settings_stop_within_arms_length_without_sliding(performer):
    """With the shipped settings standing feet are not dragged: only the clamp limits the distance
    to the target.
    """
    for x, y in ((0, -4), (3, 0), (-5, -5)):
        goal = Placement(x, y, 0.0)
        frames = drive_performer(
            performer,
            TargetInput(lambda goal=goal: goal, performer.settings.steering),
            10.0,
            Placement(0.0, 0.0, 0.0),
        )
        last = frames[-1]
        assert math.hypot(last.simulation_object.x - x, last.simulation_object.y - y) < 0.05
        assert (
            math.hypot(last.character.x - x, last.character.y - y)
            < performer.settings.coupling.clamp_distance + 0.05
        )
        assert np.ptp(get_placements(frames)[-30:, :2], axis=0).max() < 0.05


@pytest.mark.parametrize(
    ("x", "y", "yaw"), [(0, -4, 0.0), (3, 0, 1.0), (0.5, 3, -2.0), (-5, -5, 3.0), (0.0, -0.6, 0.5)]
)
def test_the_character_stops_at_its_target(synchronized, x, y, yaw):
    performer = synchronized
    goal = Placement(x, y, yaw)
    target = TargetInput(lambda: goal, performer.settings.steering, turns=True)
    frames = drive_performer(performer, target, 10.0, Placement(0.0, 0.0, 0.0))
    way = get_placements(frames)
    apart = np.hypot(way[:, 0] - x, way[:, 1] - y)
    still = way[-round(1.5 * performer.fps) :]
    # a standing character sways a little, and the data moves it
    assert apart[-1] < 0.02
    assert np.ptp(still[:, :2], axis=0).max() < 0.02
    assert abs(wrap(still[-1, 2] - yaw)) < 0.02
    # it does not overshoot
    first = np.argmax(apart < 0.2)
    assert apart[first:].max() < 0.3


def test_a_moving_target_is_followed_and_a_deleted_one_is_not(synchronized):
    performer = synchronized
    goal = Placement(0.0, -3.0, 0.0)
    target = TargetInput(lambda: goal, performer.settings.steering)
    drive_on = drive_performer(performer, target, 7.0, Placement(0.0, 0.0, 0.0))
    assert np.hypot(drive_on[-1].character.x, drive_on[-1].character.y + 3.0) < 0.02
    goal = Placement(3.0, -3.0, 0.0)
    frames = []
    for tick in range(round(7.0 * performer.fps)):
        last = frames[-1] if frames else drive_on[-1]
        frames.append(
            performer.step(
                target.get_intent(
                    Situation(tick, performer.dt, last.character, last.simulation_object)
                )
            )
        )
    assert np.hypot(frames[-1].character.x - 3.0, frames[-1].character.y + 3.0) < 0.02
    goal = None
    still = drive_performer(performer, target, 4.0, Placement(1.0, 1.0, 0.0))
    assert np.hypot(still[-1].character.x - 1.0, still[-1].character.y - 1.0) < 0.1


# ---------------------------------------------------------------- replay


def test_replay_performs_the_recorded_ticks(demo_database, performer):
    settings = performer.settings
    wanted = scripts.build_script(
        "random", 6.0, demo_database.fps, settings.steering.walk, settings.steering.run, seed=5
    )
    replay = ReplayInput(wanted, demo_database.fps)
    take = rollout.solve(performer, wanted)
    frames = drive_performer(performer, replay, 6.0)
    assert np.stack([frame.pose for frame in frames]).tobytes() == take.poses.tobytes()
    assert replay.is_finished
    assert replay.get_intent(Situation(10_000, performer.dt, *[Placement(0, 0, 0)] * 2)).move == (
        0.0,
        0.0,
    )


# ---------------------------------------------------------------- a point


def test_the_character_stands_until_a_point_is_set_and_then_goes_there(synchronized):
    performer = synchronized
    goal = PointInput(performer.settings.steering)
    here = Placement(0.0, 0.0, 0.0)

    def go_on(seconds):
        nonlocal here
        frames = drive_performer(performer, goal, seconds, here)
        here = frames[-1].character
        return frames

    assert np.abs(get_placements(go_on(2.0))[:, :2]).max() < 0.1
    goal.point = (0.0, -3.0)
    go_on(7.0)
    assert math.hypot(here.x, here.y + 3.0) < 0.02
    goal.point = (2.0, -3.0)
    go_on(1.0)
    goal.point = (0.0, -1.0)  # another one on the way
    go_on(7.0)
    assert math.hypot(here.x, here.y + 1.0) < 0.02


# ---------------------------------------------------------------- a path that changes


def resume_at(before: PathInput, second: float, *arguments, **options) -> PathInput:
    predict_path(before, second)
    after = PathInput(*arguments, **options)
    after.resume(before)
    return after


def test_a_path_that_changes_ahead_is_followed_without_a_jump():
    before = PathInput(BEND, 1.2)
    changed = BEND.copy()
    changed[-1] = 2.0, -10.0
    after = resume_at(before, 2.5, changed, 1.2)
    old, new = predict_path(before, 2.5), predict_path(after, 2.5)
    assert math.dist(old.positions[0], new.positions[0]) < 0.03
    assert predict_path(after, 30.0).positions[0] == pytest.approx(changed[-1])
    way = trace_path(after, 30.0)
    assert np.linalg.norm(np.diff(way[250:], axis=0), axis=1).max() < 0.013
    assert after.is_finished
    # and once more
    again = resume_at(after, 4.0, BEND, 1.2)
    apart = math.dist(predict_path(after, 4.0).positions[0], predict_path(again, 4.0).positions[0])
    assert apart < 0.2


def test_where_a_changed_path_crosses_itself_the_same_part_is_followed():
    turns = np.linspace(0.0, 2.0 * np.pi, 200)[:-1]
    eight = 4.0 * np.column_stack([np.sin(turns), np.sin(2.0 * turns)])
    for cyclic in (False, True):
        before = PathInput(eight, 1.4, cyclic=cyclic)
        way = trace_path(before, 40.0, 0.05)
        crossing = 0.05 * (100 + np.argmin(np.hypot(*way[100:400].T)))
        after = resume_at(before, crossing, 1.02 * eight, 1.4, cyclic=cyclic)
        old, new = predict_path(before, crossing), predict_path(after, crossing)
        assert math.dist(old.positions[0], new.positions[0]) < 0.1
        assert abs(wrap(old.yaws[0] - new.yaws[0])) < 0.1
        assert math.dist(old.positions[-1], new.positions[-1]) < 0.3


def test_a_closed_path_that_changes_goes_on_for_laps():
    before = PathInput(CIRCLE, 1.5, cyclic=True)
    after = resume_at(before, 47.0, 1.1 * CIRCLE, 1.5, cyclic=True)
    old, new = predict_path(before, 47.0), predict_path(after, 47.0)
    assert math.dist(old.positions[0], new.positions[0]) < 0.45
    assert np.abs(np.hypot(*trace_path(after, 90.0, 0.05)[940:].T) - 4.4).max() < 0.06
    assert not after.is_finished

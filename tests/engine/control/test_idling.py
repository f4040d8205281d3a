"""A character that stands idles: it settles, steps into place, breathes, and leaves at once."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from building.studies import standing
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.life.idling import Idles, Idling
from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.control.rollout import solve
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.facts.idles import find_idles
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.performance.intent import FuturePath, Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, metrics, takes
from tests import demo

FPS = 30
STAND = Intent()
WALK = Intent(move=(0.5, -0.8))
AWAY = [STAND] * FPS + [WALK] * (4 * FPS)
METHODS = ("matching", "field")


@pytest.fixture(scope="module")
def controllers(demo_database):
    field = FieldController(Metric.from_database(demo_database))
    return {"matching": MotionMatching, "field": field}


@pytest.fixture(scope="module")
def stops(demo_database, settings, controllers):
    """Takes that walk, stand, walk elsewhere and stand again, by method."""
    intents = []
    for move in ((0.5, -0.8), (-0.9, 0.2), (0.1, 0.9)):
        intents += [Intent(move=move)] * (3 * FPS) + [STAND] * (5 * FPS)
    performance = Performance("stops", FPS, tuple(intents))
    return {
        name: takes.perform(demo_database, settings, performance, controller=controller)
        for name, controller in controllers.items()
    }


@pytest.fixture(scope="module")
def long_stands(demo_database, settings, controllers):
    """Takes that stand for two and a half minutes after a walk, by method."""
    performance = Performance("stand", FPS, tuple(AWAY + [STAND] * (150 * FPS)))
    return {
        name: takes.perform(demo_database, settings, performance, controller=controller)
        for name, controller in controllers.items()
    }


def find_settled(take, after=2.0):
    """Return the ticks (T,) at which a take has been asked to stand for some seconds."""
    result = np.zeros(take.frame_count, bool)
    for start, stop in find_runs(np.linalg.norm(take.desired_velocity, axis=1) < 1e-3):
        result[start + round(after * take.fps) : stop] = True
    return result


def measure_stance(take, database, ticks):
    """Measure as `measure_standing` does how feet stand at some ticks: apart, and heel up."""
    body = baking.make_body(take.poses, take.character, database)
    sources, _ = takes.make_source_bodies(database)
    ankles = body.legs[ticks, :, 2]
    up = ankles[..., 2] > standing.measure_ankle_floors(sources) + 0.05
    apart = np.linalg.norm(np.ptp(ankles[:, :2, :2], axis=1), axis=-1)
    return apart, up.any(axis=1)


def find_idles_played(take, database, start):
    """Return the idle (T,) that each tick from `start` on plays, -1 for none."""
    frames = take.frames[start:]
    idles = database.derive(find_idles)
    runs = idles.starts.searchsorted(frames, side="right") - 1
    return np.where(frames < idles.stops[runs], runs, -1)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.slow
def test_a_character_that_stops_settles_with_its_feet_as_in_the_data(stops, demo_database, name):
    sources, _ = takes.make_source_bodies(demo_database)
    usual = standing.measure_standing(sources, standing.measure_ankle_floors(sources))
    take = stops[name]
    for settled in (take, baking.bake_feet(take, demo_database)):
        apart, up = measure_stance(settled, demo_database, find_settled(take))
        assert np.percentile(apart, 95) < usual["standing_feet_apart"] + 0.02
        assert not up.any()


@pytest.mark.parametrize("name", METHODS)
def test_feet_step_into_place_one_at_a_time_and_never_slide(stops, demo_database, name):
    take, ticks = stops[name], find_settled(stops[name], 0.7)
    body = baking.make_body(take.poses, take.character, demo_database)
    assert take.locked[ticks].any(axis=1).all(), "both feet in the air"
    held = take.locked & np.roll(take.locked, 1, axis=0) & np.roll(take.locked, 2, axis=0)
    assert body.toe_speed[held & ticks[:, None]].max() < 0.12
    lifted = []
    for leg in range(2):
        for start, stop in find_runs(~take.locked[:, leg]):
            if ticks[start - 1] and ticks[stop]:
                lifted.append(np.ptp(body.toes[start:stop, leg, 2]))
                assert stop - start <= 0.5 * FPS
    assert lifted
    assert min(lifted) > 0.005


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.slow
def test_it_breathes_on_without_a_frozen_moment(long_stands, demo_database, name):
    take = long_stands[name]
    settled = slice(len(AWAY) + 2 * FPS, None)
    body = baking.make_body(take.poses, take.character, demo_database)
    moved = np.linalg.norm(np.diff(body.positions[settled], axis=0), axis=-1).max(axis=1)
    assert np.all(find_idles_played(take, demo_database, settled.start) >= 0)
    seconds = moved[: len(moved) // FPS * FPS].reshape(-1, FPS).sum(axis=1)
    assert seconds.min() > 0.001
    assert (np.diff(take.frames[settled]) != 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_no_idle_is_repeated_within_a_minute(long_stands, demo_database, name):
    runs = find_idles_played(long_stands[name], demo_database, len(AWAY) + 2 * FPS)
    changes = np.flatnonzero(np.diff(runs)) + 1
    starts, stops = np.append(0, changes), np.append(changes, len(runs))
    last = {}
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        assert start - last.get(runs[start], -999 * FPS) >= 60 * FPS
        last[runs[start]] = stop
    assert len(last) > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_it_stays_where_it_stands(long_stands, name):
    settled = long_stands[name].character[len(AWAY) + 4 * FPS :]
    away = np.linalg.norm(settled[:, :2] - np.median(settled[:, :2], axis=0), axis=1)
    assert away.max() < 0.15
    assert np.abs(settled[:, 2] - settled[0, 2]).max() < 0.1


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.slow
def test_it_leaves_at_once(demo_database, settings, controllers, name):
    """It is as soon under way as one that has not idled, on average."""
    intents, leaves, heading = list(AWAY), [], -0.6
    for seconds, turn in itertools.product((3, 8), (0.0, 0.8, -1.6, 3.1)):
        heading += turn
        move = math.sin(heading), -math.cos(heading)
        intents += [STAND] * (seconds * FPS)
        leaves.append((len(intents), move))
        intents += [Intent(move=move)] * (2 * FPS)
    performance, under_way = Performance("leave", FPS, tuple(intents)), {False: [], True: []}
    for idle, found in under_way.items():
        changed, controller = settings.with_changes({"idle": idle}), controllers[name]
        take = takes.perform(demo_database, changed, performance, controller=controller)
        for tick, move in leaves:
            if name == "matching" and idle:
                assert take.jumped[tick : tick + 3].any(), "it searches in that tick"
            velocity = np.gradient(take.character[tick : tick + 2 * FPS, :2], 1 / FPS, axis=0)
            fast = np.append(velocity @ move > 0.8 * settings.steering.walk.forward, True)
            found.append(np.argmax(fast))
    assert np.mean(under_way[True]) <= np.mean(under_way[False]) + 2


@pytest.mark.parametrize("name", METHODS)
def test_nothing_pops_where_it_begins_and_leaves(stops, demo_database, name):
    take = stops[name]
    body = baking.make_body(take.poses, take.character, demo_database)
    hardest = metrics.measure_frames(takes.find_played_frames(take, demo_database))
    assert metrics.measure_pops(body.acceleration, hardest["acceleration_max"], FPS)["pops"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_it_is_performed_again_to_the_byte(demo_database, settings, controllers, name):
    performance = Performance("again", FPS, tuple(AWAY + [STAND] * (8 * FPS) + [WALK] * FPS))
    performer = Performer(controllers[name](demo_database, settings), settings)
    first, again = solve(performer, performance), solve(performer, performance)
    afresh = takes.perform(demo_database, settings, performance, controller=controllers[name])
    assert first.poses.tobytes() == again.poses.tobytes() == afresh.poses.tobytes()


@pytest.fixture(scope="module")
def restless_database():
    """A database of clips that never stand: a walk and a run, without their first and last steps."""
    clips = {clip.name: clip for clip in demo.generate_clips()}
    cut = [clips[f"{gait}_curves"] for gait in ("walk", "run")]
    cut = [clip.crop(60, clip.frame_count - 90) for clip in cut]
    database = build([Source(clip=clip) for clip in cut], BuildSettings(mirror=True))[0]
    assert len(database.derive(find_idles).starts) == 0
    return database


def perform_restless(database, settings, name, intents):
    field = FieldController(Metric.from_database(database))
    controller = MotionMatching if name == "matching" else field
    performance = Performance("restless", FPS, tuple(intents))
    take = takes.perform(database, settings, performance, controller=controller)
    return take, baking.make_body(take.poses, take.character, database)


@pytest.mark.parametrize("gait", [0.0, 1.0])
@pytest.mark.parametrize("name", METHODS)
def test_a_pose_is_held_where_no_data_stands(restless_database, settings, name, gait):
    moves = [[Intent(move=move, gait=gait)] * (3 * FPS) for move in ((0.5, -0.8), (-0.9, 0.2))]
    intents = moves[0] + [STAND] * (6 * FPS) + moves[1]
    take, body = perform_restless(restless_database, settings, name, intents)
    settled = slice(7 * FPS, 9 * FPS)
    assert np.ptp(body.positions[settled], axis=0).max() < 0.02
    assert take.locked[settled].all(), "it stands on both feet"
    leaves = body.velocity[10 * FPS : 12 * FPS] @ (-0.9, 0.2)
    assert leaves.mean() > 0.5 * settings.steering.walk.forward
    hardest = metrics.measure_frames(takes.find_played_frames(take, restless_database))
    assert metrics.measure_pops(body.acceleration, hardest["acceleration_max"], FPS)["pops"] == 0


@pytest.mark.parametrize("name", METHODS)
def test_a_character_that_cannot_turn_on_the_spot_comes_to_rest(restless_database, settings, name):
    intents = AWAY + [STAND] * (3 * FPS) + [Intent(facing=2.5)] * (8 * FPS)
    _, body = perform_restless(restless_database, settings, name, intents)
    assert np.ptp(body.positions[-2 * FPS :], axis=0).max() < 0.02


def test_what_holds_a_pose_starts_with_it(restless_database, settings):
    take, body = perform_restless(
        restless_database, settings, "matching", [STAND] * FPS + [WALK] * FPS
    )
    assert len(np.unique(take.frames[:FPS])) == 1
    assert np.ptp(body.positions[:FPS, 0], axis=0).max() < 0.02  # while feet come down
    moving, _ = perform_restless(
        restless_database, settings.with_changes({"idle": False}), "matching", [STAND] * FPS
    )
    assert len(np.unique(moving.frames)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("first", [0.0, 1.1])
def test_a_character_whose_clips_only_run_sets_off_at_a_walk_to_all_sides(first):
    """Standing is least wrong for a search, and so is starting again and again, but no answer."""
    clip = next(clip for clip in demo.generate_clips() if clip.name == "run_curves")
    database = build([Source(clip=clip)], BuildSettings())[0]
    intents, walks = [], []
    for yaw in np.arange(first, first + 16.0, 1.9):
        intents += [STAND] * (3 * FPS)
        walks.append(slice(len(intents) + 2 * FPS, len(intents) + 4 * FPS))
        intents += [Intent(move=(0.6 * math.sin(yaw), 0.6 * math.cos(yaw)))] * (4 * FPS)
    settings = takes.make_default_settings(database)
    take, _ = perform_restless(database, settings, "matching", intents)
    speeds = FPS * np.linalg.norm(np.diff(take.character[:, :2], axis=0), axis=1)
    assert min(speeds[walk].mean() for walk in walks) > 0.4


@pytest.mark.parametrize("gait", ["walk", "run"])
def test_a_pose_out_of_a_step_is_held_on_both_feet(settings, gait):
    clip = next(clip for clip in demo.generate_clips() if clip.name == f"{gait}_curves")
    database = build([Source(clip=clip.crop(65, clip.frame_count - 90))], BuildSettings())[0]
    moves = [STAND] * (2 * FPS) + [Intent(move=(0.5, -0.8), gait=1.0)] * FPS + [STAND] * (6 * FPS)
    take, _ = perform_restless(database, settings, "matching", moves)
    heights = baking.compute_toe_positions(take.poses, database)[..., 2]
    above = heights - [leg.toe_height for leg in database.derive(measure_character_legs)]
    for settled in (slice(FPS, 2 * FPS), slice(-2 * FPS, None)):
        assert take.locked[settled].all()
        assert above[settled].max() < 5e-3


def test_a_single_idle_goes_on_from_another_part_of_itself(settings):
    clip = next(clip for clip in demo.generate_clips() if clip.name == "idle")
    database = build([Source(clip=clip)], BuildSettings())[0]
    assert len(database.derive(find_idles).starts) == 1
    performance = Performance("one", FPS, tuple([STAND] * (60 * FPS)))
    take = takes.perform(database, settings, performance)
    assert take.jumped.sum() >= 3
    assert (np.diff(take.frames) != 0).all()
    body = baking.make_body(take.poses, take.character, database)
    assert body.acceleration.max() < 5.0


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_it_can_be_switched_off(demo_database, settings, controllers, name):
    performance = Performance("off", FPS, tuple(AWAY + [STAND] * (4 * FPS)))
    on, off = (
        takes.perform(
            demo_database,
            settings.with_changes({"idle": idle}),
            performance,
            controller=controllers[name],
        )
        for idle in (True, False)
    )
    assert find_idles_played(on, demo_database, -1)[0] >= 0
    assert np.array_equal(off.contacts, off.contacts)
    performer = Performer(controllers[name](demo_database, settings), settings)
    performer.begin(performance)
    for intent in performance.intents:
        performer.step(intent)
    performer.apply(settings.with_changes({"idle": False}))
    assert np.isfinite(performer.step(STAND).pose).all()


def test_it_stands_where_a_path_rests_and_goes_on_with_it(demo_database, settings):
    performer = Performer(MotionMatching(demo_database, settings), settings)
    performer.reset((0.0, 0.0), 0.0)
    times = tuple(0.2 * k for k in range(8))
    rest = FuturePath(times, ((0.0, 0.0),) * 8, (0.0,) * 8)
    moving = FuturePath(times, tuple((0.0, -0.25 * k) for k in range(8)), (0.0,) * 8)
    frames = [performer.step(Intent(path=rest)).frame for _ in range(2 * FPS)]
    idles = demo_database.derive(find_idles)
    run = idles.starts.searchsorted(frames[-1], side="right") - 1
    assert idles.starts[run] <= frames[-1] < idles.stops[run]
    assert performer.step(Intent(path=moving)).jumped


# ---------------------------------------------------------------- what is chosen

PARENTS = np.array([-1, 0])
POSE = np.zeros((7, 2), np.float32)
POSE[3] = 1.0
STANDS, REST = Goal((), stands=True), np.zeros(3)


def make_idles(count=3, length=60, offsets=None):
    """Return idles of 2 s each, 100 frames apart, whose only bone is at an offset in metres."""
    starts = 100 * np.arange(count)
    entries = starts
    joints = np.zeros((count, 1, 3), np.float32)
    joints[:, 0, 0] = np.zeros(count) if offsets is None else offsets
    seconds = np.full(count, length / FPS, np.float32)
    one = np.ones(1, np.float32)
    return Idles(starts, starts + length, entries, np.arange(count), seconds, joints, one, 1.0)


def make_idling(idles, tagged=None):
    def make_mask(tags):
        mask = np.zeros(1000, bool)
        mask[slice(*(tagged or {}).get(next(iter(tags)), (0, 0)))] = True
        return mask

    return Idling(idles, PARENTS, FPS, make_mask)


def play(idling, ticks, goal=STANDS, frame=500):
    """Return the frames (T,) played on from."""
    played = []
    for _ in range(ticks):
        chosen = idling.choose(goal, frame, REST, POSE)
        frame = chosen + 1 if chosen >= 0 else frame + 1
        played.append(chosen)
    return np.array(played)


def test_the_nearest_idle_is_entered_and_played_to_its_end():
    played = play(make_idling(make_idles(offsets=[0.4, 0.1, 0.3])), 40)
    first = int(np.argmax(played >= 0))
    assert played[first] == 100
    assert (np.diff(played[first:]) == 1).all()


def test_idles_take_turns_when_all_were_played_of_late():
    played = play(make_idling(make_idles(offsets=[0.0, 0.01, 0.02])), 600)
    runs = played[played >= 0] // 100
    order = runs[np.flatnonzero(np.diff(runs, prepend=-1))]
    assert order[:9].tolist() == [0, 1, 2] * 3


def test_an_idle_that_is_played_already_goes_on_without_a_jump():
    idling = make_idling(make_idles())
    played = play(idling, 20, frame=120)
    first = int(np.argmax(played >= 0))
    assert played[first] == 120 + first


def test_a_moving_root_or_a_fresh_jump_delay_it():
    idling = make_idling(make_idles())
    for _ in range(5):
        assert idling.choose(STANDS, 500, np.array([0.5, 0.0, 0.0]), POSE) == -1
        assert idling.choose(STANDS._replace(fading=True), 500, REST, POSE) == -1


def test_tags_restrict_idles():
    idling = make_idling(make_idles(offsets=[0.0, 0.2, 0.4]), {"proud": (200, 260)})
    proud = STANDS._replace(tags=frozenset({"proud"}))
    played = play(idling, 200, proud)
    assert (played[played >= 0] >= 200).all()
    assert (play(idling, 30, STANDS._replace(tags=frozenset({"dance"}))) == -1).all()


def test_a_requested_motion_is_played_to_its_end():
    idling = make_idling(make_idles())
    idling.choose(Goal((), jump_to="wave"), 500, REST, POSE)
    assert (play(idling, 60, frame=700) == -1).all(), "frame by frame it is still the wave"
    assert play(idling, 10, frame=900)[-1] >= 0, "it was left"


def test_a_goal_that_moves_ends_it_in_that_tick():
    idling = make_idling(make_idles())
    assert play(idling, 10)[-1] >= 0
    assert idling.choose(Goal(()), 110, REST, POSE) == -1

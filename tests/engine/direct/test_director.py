"""Shots: marks that are hit on time, paths that are kept, and what cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.database.frame_names import find_frame
from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage.footage import make_footage
from motion_matching.engine.direct.footage.jump_table import build_table
from motion_matching.engine.direct.numbers import NUMBERS
from motion_matching.engine.direct.shot.shot import ForbiddenJump, Mark, Shot, TimedPath
from motion_matching.engine.errors import DatabaseError, SettingsError
from motion_matching.engine.ground.ground import Box
from motion_matching.engine.maths import planar
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.takes import baking, metrics, takes
from tests.engine.sentences import check_sentence

SHOT = Shot(
    12.0,
    marks=(
        Mark(4.0, (1.0, -3.0), 0.6, hold=1.0),
        Mark(8.0, (3.5, -5.0), 1.2),
        Mark(11.0, (7.0, -5.0), 1.57),
    ),
)


@pytest.fixture(scope="module")
def directed(director):
    return director.direct(SHOT)


@pytest.fixture(scope="module")
def finished(director, directed):
    return director.finish(directed)


def test_marks_are_hit_in_place_heading_and_time(directed):
    take = directed.take
    for mark in SHOT.marks:
        x, y, yaw = take.character[round(mark.time * take.fps)]
        assert np.hypot(x - mark.position[0], y - mark.position[1]) < 0.01
        assert abs(planar.wrap(yaw - mark.facing)) < np.radians(2.0)
    assert directed.report["reached"] == directed.report["asked"] == 3
    assert all(mark["reached"] and not mark["reason"] for mark in directed.report["marks"])


def test_the_body_is_led_aside_no_more_than_allowed(directed):
    assert directed.report["lead_max"] <= NUMBERS.largest_lead
    assert directed.report["turn_max"] <= NUMBERS.largest_turn
    assert directed.report["rate_min"] >= 0.85
    assert directed.report["rate_max"] <= 1.15


def test_a_shot_that_needs_no_jump_is_directed(director):
    done = director.finish(director.direct(Shot(2.0), 8))
    assert not done.plan.jumps.any()
    assert done.report["jumps"] == []


def test_a_held_mark_is_stood_on(directed):
    take = directed.take
    held = take.character[round(4.0 * take.fps) : round(5.0 * take.fps) + 1]
    assert np.ptp(held[:, :2], axis=0).max() < 0.06


def test_feet_slide_and_joints_jerk_no_more_than_in_the_frames_played(finished, walking):
    sources, _ = takes.make_source_bodies(walking)
    floors = metrics.measure_toe_floors(sources)
    played = metrics.measure_frames(takes.find_played_frames(finished.take, walking))
    baked = baking.measure_live(finished.take, walking, floors, played["acceleration_max"])
    assert baked["foot_skate_from_height"] <= 1.05 * played["foot_skate_from_height"]
    assert baked["foot_skate_from_contacts"] < 0.01
    assert baked["acceleration_max"] <= played["acceleration_max"]
    assert baked["pops"] == 0


def test_the_same_shot_gives_the_same_take_to_the_byte(director, directed):
    again = director.direct(SHOT).take
    assert again.poses.tobytes() == directed.take.poses.tobytes()
    assert again.character.tobytes() == directed.take.character.tobytes()


@pytest.mark.slow
def test_another_seed_gives_another_take_that_hits_the_marks(director, directed):
    other = director.direct(SHOT.with_seed(3))
    assert other.report["reached"] == 3
    shared = np.mean(other.take.frames == directed.take.frames)
    assert shared < 0.7


@pytest.mark.slow
def test_a_turned_and_moved_shot_gives_the_same_motion_elsewhere(director, directed):
    """As far as the grid allows, by which the search tells states apart."""
    turn, move = 2.0, np.array([5.0, -3.0])
    marks = [
        replace(
            mark,
            position=tuple((planar.rotate(np.array(mark.position), turn) + move).tolist()),
            facing=mark.facing + turn,
        )
        for mark in SHOT.marks
    ]
    moved = replace(SHOT, position=tuple(move.tolist()), facing=turn, marks=tuple(marks))
    other = director.direct(moved)
    assert other.report["reached"] == 3
    assert other.plan.cost == pytest.approx(directed.plan.cost, rel=0.4)


@pytest.mark.slow
def test_a_larger_character_does_the_same_in_its_own_size(director, directed, giant):
    """Of a giant four times as large all lengths are that times as large, and times twice."""
    size, footage = 4.0, make_footage(giant)
    assert footage.fps == pytest.approx(director.footage.fps, rel=0.01)
    marks = [
        replace(
            mark, time=2.0 * mark.time, hold=2.0 * mark.hold,
            position=tuple(size * v for v in mark.position),
        )
        for mark in SHOT.marks
    ]  # fmt: skip
    shot = Shot(2.0 * SHOT.seconds, marks=tuple(marks))
    other = Director(footage, build_table(footage)).direct(shot)
    assert other.report["reached"] == 3
    assert other.take.frame_count == directed.take.frame_count


def test_a_frame_of_a_clip_is_shown_when_it_is_wanted(director, walking):
    shot = Shot(9.0, marks=(Mark(5.0, frame="walk_speeds:150"),))
    directed = director.direct(shot)
    tick = round(5.0 * directed.take.fps)
    assert directed.take.frames[tick] == find_frame(walking, "walk_speeds:150")
    assert directed.report["marks"][0]["shown"] == "walk_speeds:150"


def test_a_gait_begins_when_it_is_asked_for(director):
    take = director.direct(Shot(10.0, marks=(Mark(5.0, gait="run"),))).take
    speed = np.linalg.norm(np.diff(take.character[:, :2], axis=0), axis=1) * take.fps
    assert np.median(speed[round(3.0 * take.fps) : round(4.5 * take.fps)]) < 2.1
    assert np.median(speed[round(7.0 * take.fps) :]) > 2.5


def test_a_path_is_kept_to_within_centimetres(director):
    times = tuple(np.arange(0.0, 10.01, 0.1).tolist())
    yaw = 0.5 * np.sin(0.6 * np.array(times))
    steps = 0.13 * planar.yaw_to_forward(yaw)
    places = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)[:-1]])
    path = TimedPath(times, tuple(map(tuple, places.tolist())), tuple(yaw.tolist()))
    told = director.direct(Shot(10.0, paths=(path,))).report["paths"][0]
    assert told["reached"], told
    assert told["place_error"] < 0.01
    assert told["place_error_p95"] < 0.025
    assert told["place_error_max"] < 0.1


def test_a_hand_stays_on_a_table_and_nothing_else_moves(director, directed, finished):
    tick = round(4.5 * directed.take.fps)
    hand = directed.take.skeleton.index("LeftHand")
    now = directed.take.skeleton.compute_bone_positions(
        [hand], finished.take.poses[tick : tick + 1]
    )
    point = tuple((now[0, 0] + [0.0, 0.05, 0.1]).tolist())
    pin = Mark.from_pin("left_hand", 4.2, 4.8, point)
    pinned = director.finish(replace(directed, shot=replace(SHOT, marks=(*SHOT.marks, pin))))
    told = pinned.report["marks"][-1]
    assert told["reached"]
    assert told["place_error"] < 0.01
    skeleton, poses = pinned.take.skeleton, pinned.take.poses
    arm = {hand, *skeleton.get_ancestors(hand)[:2]}
    others = [bone for bone in range(skeleton.bone_count) if bone not in arm]
    assert np.array_equal(poses[:, :, others], finished.take.poses[:, :, others])
    around = poses[round(3.5 * pinned.take.fps) : round(5.5 * pinned.take.fps)]
    steps = np.diff(skeleton.compute_bone_positions([hand], around)[:, 0], axis=0)
    assert np.linalg.norm(steps, axis=1).max() * pinned.take.fps < 2.0


def test_a_hand_that_cannot_reach_says_so(director, directed):
    pin = Mark.from_pin("right_hand", 4.2, 4.8, (9.0, 9.0, 1.0))
    shot = replace(SHOT, marks=(*SHOT.marks, pin))
    told = director.finish(replace(directed, shot=shot)).report["marks"][-1]
    assert not told["reached"]
    assert "right hand" in told["reason"]
    assert told["reason"].endswith(".")


def test_a_mark_too_far_away_is_named_and_the_rest_is_hit(director):
    far = Mark(6.5, (30.0, -5.0))
    shot = replace(SHOT, marks=(SHOT.marks[0], far, SHOT.marks[2]))
    told = director.direct(shot).report["marks"]
    assert [mark["reached"] for mark in told] == [True, False, True]
    reason = told[1]["reason"]
    assert "no motion goes" in reason
    assert "run_speeds" in reason
    assert reason.endswith(".")


def test_forbidden_jumps_do_not_happen(director, directed, walking):
    take = directed.take
    jumps = np.flatnonzero(directed.plan.jumps)[:3]
    frames = directed.plan.frames
    names = [
        (walking.get_frame_source(int(frames[j - 1])), walking.get_frame_source(int(frames[j])))
        for j in jumps
    ]
    forbidden = tuple(
        ForbiddenJump(*(f"{s.clip}:{s.frame}{':mirrored' if s.mirrored else ''}" for s in pair))
        for pair in names
    )
    other = director.direct(replace(SHOT, forbidden=forbidden)).plan
    for left, to in ((int(frames[j - 1]), int(frames[j])) for j in jumps):
        at = np.flatnonzero(other.jumps)
        near = np.abs(other.frames[at - 1] - left) < 0.15 * take.fps
        near &= np.abs(other.frames[at] - to) < 0.15 * take.fps
        assert not near.any()


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1.0, 1.0), (4.0, 0.5)])
def test_marks_behind_a_wall_are_reached_without_entering_it(director, size):
    box = Box((0.0, -3.0), size)
    shot = Shot(12.0, marks=(Mark(10.0, (0.3, -6.0), 0.0),), obstacles=(box,))
    directed = director.direct(shot)
    assert directed.report["reached"] == 1
    away = np.abs(directed.take.character[:, :2] - box.center) - 0.5 * np.array(size)
    assert np.linalg.norm(np.maximum(away, 0.0), axis=1).min() > 0.2


@pytest.mark.parametrize(
    ("shot", "words"),
    [
        (replace(SHOT, marks=(*SHOT.marks, Mark(8.0, (0.0, 0.0)))), ("8 s", "contradict", "place")),
        (replace(SHOT, marks=(Mark(13.0, (0.0, 0.0)),)), ("13 s", "after the end")),
        (replace(SHOT, marks=(*SHOT.marks, Mark(4.5, (0.0, 0.0)))), ("4.5 s", "holds until 5 s")),
        (replace(SHOT, marks=(Mark(5.0, frame="walk_speeds:99999"),)), ("walk_speeds", "99999")),
        (
            replace(SHOT, marks=(Mark.from_pin("left_wing", 1.0, 2.0, (0.0, 0.0, 0.0)),)),
            ("1 s", "left_wing"),
        ),
        (replace(SHOT, obstacles=(Box((3.5, -5.0), (1.0, 1.0)),)), ("8 s", "inside an obstacle")),
        (replace(SHOT, obstacles=(Box((0.0, 0.0), (1.0, 1.0)),)), ("start", "inside an obstacle")),
    ],
)
def test_what_contradicts_itself_is_refused_in_a_sentence(director, shot, words):
    with pytest.raises(SettingsError) as error:
        director.direct(shot)
    check_sentence(error, *words)


def test_two_marks_that_hold_one_place_at_once_are_one(director):
    shot = replace(SHOT, marks=(SHOT.marks[0], replace(SHOT.marks[0], gait="walk")))
    assert director.direct(shot, 80).report["reached"] == 2


def test_a_tag_that_no_frame_carries_is_refused(director):
    with pytest.raises(DatabaseError) as error:
        director.direct(replace(SHOT, marks=(Mark(2.0, tags=("dance",)),)))
    check_sentence(error, "dance")


@pytest.mark.slow
def test_frames_that_may_not_be_used_are_not_played(walking):
    limited = walking.with_tags(
        np.where(walking.range_of_frame == 4, 1, 0).astype(np.uint32),
        ("no_use",),
        walking.bias,
        walking.limits,
        walking.settings,
    )
    footage = make_footage(limited)
    take = Director(footage, build_table(footage)).direct(SHOT).take
    assert not np.isin(walking.range_of_frame[take.frames], 4).any()


def test_a_take_is_a_clip_of_the_source(finished):
    assert isinstance(finished.take.to_clip(), Clip)


def test_the_search_knows_how_fast_the_fastest_foot_of_a_frame_goes(footage):
    """As it does in the world, where the character itself moves and turns."""
    database, fps = footage.database, footage.fps
    start, stop = int(database.starts[0]), int(database.stops[0])
    poses = np.array(database.poses[start:stop], np.float64)
    half = 0.5 * footage.track[start:stop, 2]
    poses[:, :2, 0] = footage.track[start:stop, :2] * footage.scale.length
    poses[:, 2, 0], poses[:, 4:6, 0] = 0.0, 0.0
    poses[:, 3, 0], poses[:, 6, 0] = np.cos(half), np.sin(half)
    toes = [leg.toe for leg in database.roles.legs]
    places = database.skeleton.compute_bone_positions(toes, poses)[..., :2] / footage.scale.length
    speeds = np.linalg.norm(np.gradient(places, 1.0 / fps, axis=0), axis=-1).max(axis=1)
    known = footage.foot_speed[start:stop]
    np.testing.assert_allclose(known[5:-5], speeds[5:-5], atol=0.15)
    assert np.abs(known - speeds)[5:-5].mean() < 0.03

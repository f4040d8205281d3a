"""Palms that face where marks of hands ask, by forearm and wrist, as far as people turn them."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.body import mirror
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.direct.limbs.limb_marks import reach_marks
from motion_matching.engine.direct.limbs.limbs import find_limbs
from motion_matching.engine.direct.limbs.palms import find_elbow_side, measure_palm
from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.mark import HANDS, Mark
from motion_matching.engine.direct.shot.shot import Shot
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.ground.ground import Box
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.sources.sources import find_sources
from motion_matching.engine.takes import takes
from tests.engine.sentences import check_sentence

DOWN = (0.0, 0.0, -1.0)
TABLE = Box((0.0, -3.3), (1.2, 0.6), height=0.9)
LEAVE = Mark(7.0, (-2.0, -2.0))
HAND = Mark(4.0, (0.0, -3.15), 0.0, 1.0, part="left_hand", height=0.95, palm=DOWN)


def find_hand(take, part):
    """Return the bones of an arm, and where (T, B, 3) all joints are."""
    bones = range(take.skeleton.bone_count)
    return find_limbs(take.skeleton)[part], take.skeleton.compute_bone_positions(bones, take.poses)


def see_palm(take, part):
    """Return where (T, 3) the palm of a body faces whose palms face down at rest, arms aside."""
    limb = find_limbs(take.skeleton)[part]
    resting = take.skeleton.compute_rest_world()[0][limb.end].astype(float)
    rotations, _ = quat.compute_world(take.poses.astype(float), take.skeleton.parents)
    away = quat.mul(rotations[:, limb.end], quat.inv(resting))
    return quat.mul_vec(away, np.tile(DOWN, (len(away), 1)))


def measure_angles(a, b):
    """Return the angles between directions in degrees."""
    return np.degrees(np.arccos(np.clip(np.sum(a * b, axis=-1), -1.0, 1.0)))


def list_held(take, mark):
    """Return the ticks at which a mark is held."""
    first, last = (round(time * take.fps) for time in (mark.time, mark.time + mark.hold))
    return slice(first, last + 1)


def measure_accelerations(joints, fps):
    """Return the largest acceleration of each joint."""
    return np.linalg.norm(np.diff(joints, 2, axis=0), axis=-1).max(axis=0) * fps**2


@pytest.fixture(scope="module")
def planted(director):
    """A take that stands for seconds, its feet planted, and the mark of where it stands."""
    stand = Mark(4.0, (0.0, -3.0), 0.0, 3.0)
    done = director.direct(Shot(9.0, marks=(stand,)), 80)
    return director._plant(done.take, done.shot)


def make_table_shot(part, palm=DOWN):
    return Shot(8.0, marks=(replace(HAND, part=part, palm=palm), LEAVE), obstacles=(TABLE,))


@pytest.fixture(scope="module", params=HANDS)
def at_table(request, director):
    """A hand that is on a table for a second with its palm down, and the same without that."""
    part = request.param
    shots = make_table_shot(part), make_table_shot(part, None)
    return part, *(director.make(shot, states=80) for shot in shots)


def test_a_palm_faces_down_on_a_table_while_the_hand_is_held(at_table):
    part, done, free = at_table
    told = done.report["marks"][0]
    assert told["reached"], told
    held = list_held(done.take, done.shot.marks[0])
    assert measure_angles(see_palm(done.take, part)[held], np.array(DOWN)).max() < 5.0
    assert measure_angles(see_palm(free.take, part)[held], np.array(DOWN)).min() > 45.0
    assert math.degrees(told["palm_error"]) < 5.0
    assert "palm_error" not in free.report["marks"][0]


def test_fingers_lie_on_the_table_and_not_in_it(at_table):
    part, done, _ = at_table
    limb, joints = find_hand(done.take, part)
    held = list_held(done.take, done.shot.marks[0])
    forearm = joints[held, limb.end] - joints[held, limb.middle]
    rotations, _ = quat.compute_world(
        done.take.poses[held].astype(float), done.take.skeleton.parents
    )
    resting = done.take.skeleton.compute_rest_world()[0][limb.end].astype(float)
    side = 1.0 if part == HANDS[0] else -1.0
    away = quat.mul(rotations[:, limb.end], quat.inv(resting))
    fingers = quat.mul_vec(away, np.tile([side, 0.0, 0.0], (len(away), 1)))
    assert np.abs(fingers[:, 2]).max() < np.sin(np.radians(5.0))
    ahead = quat.normalize_vectors(forearm * [1.0, 1.0, 0.0])
    assert measure_angles(fingers, ahead).max() < 46.0


def test_elbow_and_wrist_stay_and_nothing_but_the_arm_turns(at_table):
    part, done, free = at_table
    limb, joints = find_hand(done.take, part)
    before = find_hand(free.take, part)[1]
    assert np.abs(joints[:, list(limb)] - before[:, list(limb)]).max() < 1e-5
    a, b = (measure_accelerations(each[:, list(limb)], done.take.fps) for each in (joints, before))
    assert (a <= 1.1 * b).all()
    others = np.setdiff1d(np.arange(joints.shape[1]), [limb.middle, limb.end])
    assert done.take.poses[..., others].tobytes() == free.take.poses[..., others].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("part", HANDS)
@pytest.mark.parametrize(
    ("obstacle", "place", "palm"),
    [
        (TABLE._replace(height=0.8), (0.0, -3.15, 1.0), (0.0, 0.0, 1.0)),
        (Box((0.0, -3.4), (2.0, 0.2), height=2.2), (0.15, -3.26, 1.25), (0.0, -1.0, 0.0)),
    ],
    ids=["to receive something", "at a wall"],
)
def test_an_elbow_is_tucked_in_or_lifted_where_the_forearm_alone_would_not_do(
    director, part, obstacle, place, palm
):
    x, y, z = place
    mark = replace(HAND, position=(x if part == HANDS[0] else -x, y), height=z, part=part)
    shot = Shot(8.0, marks=(replace(mark, palm=palm), LEAVE), obstacles=(obstacle,))
    done, free = (
        director.make(each, states=80)
        for each in (shot, replace(shot, marks=(replace(mark, palm=None), LEAVE)))
    )
    assert done.report["marks"][0]["reached"], done.report["marks"]
    held = list_held(done.take, mark)
    assert measure_angles(see_palm(done.take, part)[held], np.array(palm)).max() < 5.0
    limb, joints = find_hand(done.take, part)
    before = find_hand(free.take, part)[1]
    assert np.abs(joints[:, limb.end] - before[:, limb.end]).max() < 1e-4
    a, b = (measure_accelerations(j[:, [limb.middle]], done.take.fps) for j in (joints, before))
    assert a <= max(1.1 * b, 20.0)  # as of arms that swing in a walk


def test_a_palm_turns_calmly_within_half_a_second_on_both_sides(at_table):
    part, done, free = at_table
    fps = done.take.fps
    changed = (
        np.flatnonzero(np.abs(done.take.poses - free.take.poses).max(axis=(1, 2)) > 1e-6) / fps
    )
    assert changed[0] >= 3.45
    assert changed[-1] <= 5.55
    turns = [
        quat.compute_world(t.take.poses.astype(float), t.take.skeleton.parents)[0]
        for t in (done, free)
    ]
    hand = turns[0][:, find_limbs(done.take.skeleton)[part].end]
    steps = quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(hand[1:], hand[:-1])))
    assert np.linalg.norm(steps, axis=1).max() * fps < 10.0


def test_hands_of_mirrored_motion_turn_alike(planted, walking):
    mark = Mark(4.5, (0.3, -3.4), hold=1.0, part="left_hand", height=1.1, palm=(0.3, -0.8, -0.6))
    other = replace(mark, position=(-0.3, -3.4), part="right_hand", palm=(-0.3, -0.8, -0.6))
    turned = reach_marks(planted, [mark], walking)
    flipped = reach_marks(flip(planted), [other], walking)
    a, b = find_hand(flip(turned), "right_hand")[1], find_hand(flipped, "right_hand")[1]
    assert np.abs(a - b).max() < 1e-3
    pair = [see_palm(each, "right_hand") for each in (flip(turned), flipped)]
    assert measure_angles(*pair).max() < 0.2
    assert measure_palm(turned, mark)[0] == pytest.approx(measure_palm(flipped, other)[0], abs=1e-3)


def flip(take):
    """Return the mirror image of a take."""
    clip = mirror.mirror(take.to_clip())
    poses = np.concatenate([clip.positions, clip.rotations], axis=2).transpose(0, 2, 1)
    return replace(take, poses=np.ascontiguousarray(poses))


@pytest.mark.parametrize(
    ("palm", "words"),
    [
        ((1.0, 0.0, 0.0), "the forearm turns inward by 85° at most"),
        ((0.0, 0.0, 1.0), "the forearm turns outward by 90° at most"),
    ],
)
def test_what_no_person_does_is_told_with_its_joint_and_by_how_much(planted, walking, palm, words):
    """The elbow of a mark that does not lead stays, so that the forearm has to do it all."""
    pin = Mark.from_pin("left_hand", 4.5, 5.5, (0.2, -3.5, 1.3))
    mark = replace(pin, palm=palm)
    turned = reach_marks(planted, [mark], walking)
    away, reason = measure_palm(turned, mark)
    seen = see_palm(turned, "left_hand")[list_held(turned, mark)]
    worst = measure_angles(seen, quat.normalize_vectors(np.array(palm))).max()
    assert math.degrees(away) == pytest.approx(worst, abs=0.1)
    assert reason.startswith(f"the palm of the left hand is {worst:.0f}° short, as {words}"), reason


@pytest.mark.slow
def test_a_preview_tells_it_as_well(director):
    sketch = director.sketch(make_table_shot("left_hand"))
    assert sketch.report["marks"][0]["palm_error"] < 0.09
    far = director.sketch(make_table_shot("left_hand", (0.7, 0.0, 1.0)))
    assert "the forearm turns outward" in far.report["marks"][0]["reason"]


def test_a_mark_that_does_not_lead_turns_its_palm_too(planted, walking):
    pin = replace(Mark.from_pin("left_hand", 4.5, 5.5, (0.2, -3.4, 1.1)), palm=(0.0, 0.0, -3.0))
    turned = reach_marks(planted, [pin], walking)
    assert measure_angles(see_palm(turned, "left_hand")[list_held(turned, pin)], DOWN).max() < 5.0


def test_a_body_that_shows_no_palm_says_so_and_is_left_as_it_is(planted, walking):
    """Without fingers, and with a rest pose whose bones lie in one line, as in some files."""
    lying = planted.skeleton.rest_positions.copy()
    lying[1:] = np.linalg.norm(lying[1:], axis=1)[:, None] * [1.0, 0.0, 0.0]
    take = replace(planted, skeleton=replace(planted.skeleton, rest_positions=lying))
    mark = Mark(4.5, (0.2, -3.4), hold=1.0, part="left_hand", height=1.1, palm=DOWN)
    database = replace(walking, skeleton=take.skeleton)
    turned = reach_marks(take, [mark], database)
    free = reach_marks(take, [replace(mark, palm=None)], database)
    assert turned.poses.tobytes() == free.poses.tobytes()
    away, reason = measure_palm(turned, mark)
    assert away is None
    assert "does not show where the palm of the left hand faces" in reason


@pytest.mark.slow
def test_an_elbow_stays_outside_though_the_shoulder_comes_to_the_middle(director):
    """A deep reach turns the shoulder before the body, where a left arm is a left one still."""
    deep = replace(HAND, position=(0.0, -3.25), height=0.93, palm=None)
    for part, side in zip(HANDS, (1.0, -1.0), strict=True):
        shot = Shot(8.0, marks=(replace(deep, part=part), LEAVE), obstacles=(TABLE,))
        take = director.make(shot, states=80).take
        limb, joints = find_hand(take, part)
        held = list_held(take, deep)
        way = joints[held, limb.end] - joints[held, limb.root]
        elbow = joints[held, limb.middle] - joints[held, limb.root] - 0.5 * way
        assert (side * elbow[:, 0]).min() > 0.01
        assert measure_accelerations(joints[:, [limb.middle]], take.fps).max() < 60.0


@pytest.mark.parametrize("part", HANDS)
def test_an_elbow_at_ease_turns_no_faster_than_three_times_its_arm(part):
    """Wherever an arm leads that it can lead: all but up, back and inward at once."""
    rng, side = np.random.default_rng(5), 1.0 if part == HANDS[0] else -1.0
    ways = quat.normalize_vectors(rng.normal(size=(4000, 3)))
    ways = ways[ways @ [-0.2 * side, 0.8, 0.57] < 0.7]
    near = quat.normalize_vectors(ways + 1e-4 * rng.normal(size=ways.shape))
    headings = np.tile(quat.IDENTITY, (len(ways), 1))
    a, b = (quat.normalize_vectors(find_elbow_side(part, headings, w)) for w in (ways, near))
    assert np.abs(np.sum(a * ways, axis=1)).max() < 0.01
    turned = np.linalg.norm(a - b, axis=1) / np.linalg.norm(ways - near, axis=1)
    assert turned.max() < 3.0
    hanging = find_elbow_side(part, headings[:1], np.array([[0.0, 0.0, -1.0]]))[0]
    assert hanging[1] > 0.5  # backward
    assert side * hanging[0] > 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"part": "left_foot"}, ("has a palm", "left foot")),
        ({"part": "hips", "height": None}, ("has a palm", "hips")),
        ({"palm": (0.0, 0.0, 0.0)}, ("palm whose direction is none",)),
        ({"palm": (math.nan, 0.0, 1.0)}, ("palm whose direction is none",)),
    ],
)
def test_palms_that_cannot_be_are_refused_in_a_sentence(director, change, words):
    with pytest.raises(SettingsError) as error:
        director.direct(Shot(8.0, marks=(replace(HAND, **change),)))
    check_sentence(error, *words)


def test_two_palms_of_one_hand_at_once_contradict_each_other(director):
    marks = HAND, replace(HAND, palm=(0.0, -1.0, 0.0))
    with pytest.raises(SettingsError) as error:
        director.direct(Shot(8.0, marks=marks))
    check_sentence(error, "contradict", "where the palm faces")


def test_palms_are_written_to_files_and_read_again():
    shot = Shot(8.0, marks=(HAND, replace(HAND, time=6.0, palm=None)))
    text = shot_file.to_json(shot)
    first, second = json.loads(text)["marks"]
    assert first["palm"] == [0.0, 0.0, -1.0]
    assert "palm" not in second
    assert shot_file.from_json(text, "here") == shot


@pytest.mark.parametrize("palm", [[0, 0], [0, 0, 0], "down", [0, 0, math.nan], [0, 0, "1"]])
def test_files_with_palms_that_are_none_are_refused(palm):
    mark = {"time": 1, "part": "left_hand", "position": [0, 0, 1], "palm": palm}
    with pytest.raises(SettingsError, match="'palm' of mark 1"):
        shot_file.from_json(json.dumps({"seconds": 3, "marks": [mark]}), "here")


@pytest.fixture(scope="module")
def captured(mocap):
    """The database of two captured walks with fingers, and a take of it."""
    files = [mocap / "cmu-walks" / name for name in ("002_01.bvh", "002_02.bvh")]
    database = build(find_sources(files), BuildSettings())[0]
    settings = takes.make_default_settings(database)
    walk = takes.prepare_performance(database, settings, "flips", gait="walk", seconds=4.0, seed=0)
    return database, takes.perform(database, settings, walk)


@pytest.mark.slow
@pytest.mark.parametrize("part", HANDS)
def test_palms_of_captured_walks_are_those_between_wrist_and_knuckles(captured, part):
    """A hand passes over a rail: the plane of its wrist and knuckles comes to be level."""
    database, take = captured
    limb, joints = find_hand(take, part)
    tick = round(2.5 * take.fps)
    ahead = quat.mul_vec(take.poses[tick, 3:, 0].astype(float), np.array([0.0, -0.25, 0.25]))
    x, y, z = (joints[tick, limb.end] + ahead).tolist()
    mark = Mark(2.5, (x, y), hold=0.2, part=part, height=z, palm=DOWN)
    turned, free = (
        reach_marks(take, [each], database) for each in (mark, replace(mark, palm=None))
    )
    side = "L" if part == HANDS[0] else "R"
    bones = [
        take.skeleton.names.index(f"CC_Base_{side}_{name}") for name in ("Index1", "Pinky1", "Hand")
    ]
    seen = []
    for each in (turned, free):
        index, pinky, wrist = (find_hand(each, part)[1][list_held(each, mark), b] for b in bones)
        normal = np.cross(0.5 * (index + pinky) - wrist, index - pinky)
        seen.append(quat.normalize_vectors(normal if side == "L" else -normal))
    assert measure_angles(seen[0], np.array(DOWN)).max() < 5.0
    assert measure_angles(seen[1], np.array(DOWN)).max() > 45.0
    elbows, wrists = (
        [find_hand(each, part)[1][:, [bone]] for each in (turned, free)]
        for bone in (limb.middle, limb.end)
    )
    assert np.abs(wrists[0] - wrists[1]).max() < 1e-4
    a, b = (measure_accelerations(each, take.fps) for each in elbows)
    assert a <= 1.1 * b
    assert measure_palm(turned, mark)[0] < np.radians(5.0)


@pytest.mark.slow
def test_bodies_of_files_without_a_rest_pose_say_that_they_show_no_palm(bandai_director):
    mark = Mark(4.0, (0.4, -3.2), 0.0, part="left_hand", height=1.0, palm=DOWN)
    told = bandai_director.sketch(Shot(7.0, marks=(mark,))).report["marks"][0]
    assert told["palm_error"] is None
    assert "does not show where the palm of the left hand faces" in told["reason"]

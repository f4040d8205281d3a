"""Marks that ask for a pose: the search comes near to it, and a layer reaches it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.database.frame_names import find_frame
from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage.footage import make_footage
from motion_matching.engine.direct.limbs import mark_poses
from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.mark import Mark, Pose
from motion_matching.engine.direct.shot.shot import Shot
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.maths.rotations import quat

SHOT = Shot(6.0, marks=(Mark(3.0, (0.3, -1.6), 0.2, hold=1.5),))
TURN = quat.from_angle_axis(np.array(0.6), np.array([1.0, 0.0, 0.0]))


@pytest.fixture(scope="module")
def posed(walking):
    """A pose of all bones: a frame that stands, with arms and spine turned."""
    frame = find_frame(walking, "idle:60")
    pose = np.array(walking.poses[frame])
    names = walking.skeleton.names
    turned = [name for name in names if "arm" in name.lower() or name.lower() == "head"]
    assert len(turned) >= 3, names
    rotations = {name: pose[3:, bone] for bone, name in enumerate(names) if bone > 0}
    for name in turned:
        rotations[name] = quat.mul(rotations[name], TURN)
    hips = walking.roles.hips
    [[place]] = walking.skeleton.compute_bone_positions([hips], pose[None])
    listed = tuple((name, tuple(q.tolist())) for name, q in rotations.items())
    return Pose(listed, float(place[2]))


@pytest.fixture(scope="module")
def asked(posed):
    [mark] = SHOT.marks
    return replace(SHOT, marks=(replace(mark, pose=posed),))


@pytest.fixture(scope="module")
def done(director, asked):
    return director.make(asked)


def test_a_pose_is_reached_within_2_cm_with_its_feet_planted(done):
    [told] = done.report["marks"]
    assert told["reached"], told
    assert told["pose_error"] < 0.02
    assert told["place_error"] < 0.01


def test_the_layer_comes_and_goes_without_a_pop(director, asked, done):
    bare = director.direct(asked).take  # its feet are not planted
    tick, fade = round(3.0 * bare.fps), round(0.5 * bare.fps)
    steps = np.linalg.norm(np.diff(done.take.poses[:, 3:], axis=0), axis=1).max(axis=-1)
    usual = steps[: tick - 2 * fade].max()
    assert steps.max() < max(3.0 * usual, 0.2)  # no pop where the layer begins or ends


@pytest.mark.slow
def test_the_search_prefers_frames_near_to_the_pose(director, walking):
    """A walk shows its phase of the step then."""
    shot, tick = Shot(6.0, marks=(Mark(5.5, (0.0, -7.0)),)), round(3.0 * walking.fps)
    free, nearest = director.direct(shot).take.frames[tick], []
    for number in range(140, 180, 10):
        mark = Mark(3.0, pose=f"walk_speeds:{number}")
        away = mark_poses.measure_frames(mark_poses.find_pose(walking, mark), director.footage)
        shown = director.direct(replace(shot, marks=(mark, *shot.marks))).take.frames[tick]
        nearest.append((away[shown], away[free]))
    with_pose, without = np.mean(nearest, axis=0)
    assert with_pose < 0.5 * without, nearest


def test_a_few_bones_are_turned_and_the_rest_is_left_to_the_motion(director, posed, walking):
    [mark] = SHOT.marks
    arms = tuple((name, q) for name, q in posed.rotations if "arm" in name.lower())
    done = director.make(replace(SHOT, marks=(replace(mark, pose=Pose(arms)),)))
    tick = round(3.0 * done.take.fps)
    for name, rotation in arms:
        shown = done.take.poses[tick, 3:, walking.skeleton.names.index(name)]
        assert quat.angle_between(shown, np.array(rotation)) < 1e-3
    assert done.report["marks"][0]["pose_error"] < 1e-3


def test_poses_are_written_and_read(asked):
    assert shot_file.from_json(shot_file.to_json(asked), "here") == asked
    named = replace(asked, marks=(replace(asked.marks[0], pose="idle:60", pose_fade=0.0),))
    assert shot_file.from_json(shot_file.to_json(named), "here") == named


def test_another_piece_keeps_the_pose(director, asked, done):
    again = director.direct_again(done, 2.0, 5.0, replace(asked, seed=4))
    [told] = again.report["marks"]
    assert told["pose_error"] < 0.02


@pytest.mark.parametrize(
    ("pose", "words"),
    [
        ("dance:10", "dance"),
        (Pose((("Tail", (1.0, 0.0, 0.0, 0.0)),)), "has a bone 'Tail', which the skeleton has not"),
        (Pose((("Head", (0.0, 0.0, 0.0, 0.0)),)), "is no rotation"),
        (Pose((("Head", (np.nan, 0.0, 0.0, 0.0)),)), "is no rotation"),
        (Pose(height=np.nan), "at a height of nan"),
    ],
)
def test_poses_that_are_none_are_refused(director, pose, words):
    with pytest.raises(SettingsError, match=words):
        director.direct(replace(SHOT, marks=(Mark(2.0, pose=pose),)))


@pytest.mark.parametrize(
    ("pose", "words"),
    [
        (3, "'pose' of mark 1"),
        ({"bones": {}}, "'bones'"),
        ({"rotations": []}, "no object"),
        ({"rotations": {"Head": [1, 0, 0]}}, "'Head' of 'pose' of mark 1"),
        ({"rotations": {"Head": [0, 0, 0, 0]}}, "is no rotation"),
        ({"rotations": {"Head": [1, 0, 0, "x"]}}, "a number of 'Head'"),
        ({"height": "high"}, "'height' of 'pose'"),
    ],
)
def test_files_with_poses_that_are_none_are_refused(pose, words):
    text = json.dumps({"seconds": 3, "marks": [{"time": 1, "pose": pose}]})
    with pytest.raises(SettingsError, match=words):
        shot_file.from_json(text, "here")


def test_frames_are_compared_with_a_pose_once_for_all_passes(walking, director, asked):
    fresh = Director(make_footage(walking), director.table)
    fresh.direct(asked, states=40)
    [costs] = fresh.footage.pose_costs.values()
    fresh.direct(asked.with_seed(2), states=40)
    [again] = fresh.footage.pose_costs.values()
    assert again is costs
    [mark] = asked.marks
    away = mark_poses.measure_frames(mark_poses.find_pose(walking, mark), fresh.footage)
    np.testing.assert_array_equal(costs, away)

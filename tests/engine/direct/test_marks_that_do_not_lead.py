"""Marks that do not lead: a limb, or a pose, is brought there, and all else stays as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.direct.limbs.limbs import find_limbs
from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.mark import Mark, Pose
from motion_matching.engine.direct.shot.shot import Shot
from motion_matching.engine.direct.sketch import compute_way, find_changed_span
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.maths.rotations import quat
from tests.engine.sentences import check_sentence

STAND, GO = Mark(4.0, (0.4, -3.0), 0.3, hold=1.0), Mark(8.0, (1.0, -6.0))
SHOT = Shot(9.0, marks=(STAND, GO))
LIMBS = ("left_hand", "right_hand", "left_foot", "right_foot")


@pytest.fixture(scope="module")
def made(director):
    return director.make(SHOT)


def find_ends(done, limb):
    """Return where (T, 3) the end of a limb is."""
    bone = find_limbs(done.take.skeleton)[limb].end
    return done.take.skeleton.compute_bone_positions([bone], done.take.poses)[:, 0]


def find_near(done, limb, time, up=0.1):
    """Return a point that a limb reaches easily at a time."""
    tick = min(round(time * done.take.fps), done.take.frame_count - 1)
    x, y, z = find_ends(done, limb)[tick].tolist()
    return x, y, z + up


def add(shot, *marks):
    return replace(shot, marks=(*shot.marks, *marks))


def list_others(done, *limbs):
    """Return the bones that are not of these limbs."""
    skeleton = done.take.skeleton
    of_limbs = {bone for limb in limbs for bone in find_limbs(skeleton)[limb]}
    return [bone for bone in range(skeleton.bone_count) if bone not in of_limbs]


@pytest.mark.parametrize("limb", LIMBS)
@pytest.mark.parametrize(("start", "stop"), [(4.2, 4.9), (6.0, 6.1), (0.0, 0.2), (9.0, 9.0)])
def test_a_limb_is_there_over_the_whole_span_and_nothing_else_changes(
    director, made, limb, start, stop
):
    """As it stands, as it walks, from the beginning on, where none that leads can be, and last."""
    point = find_near(made, limb, 0.5 * (start + stop), up=0.05)
    done = director.make(add(SHOT, Mark.from_pin(limb, start, stop, point)))
    fps, others = made.take.fps, list_others(made, limb)
    last = made.take.frame_count - 1
    span = slice(min(round(start * fps), last), round(stop * fps) + 1)
    away = np.linalg.norm(find_ends(done, limb)[span] - point, axis=1)
    assert away.max() < 0.01
    told = done.report["marks"][-1]
    assert told["reached"]
    assert told["place_error"] == pytest.approx(away.max(), abs=1e-4)
    assert np.array_equal(done.take.frames, made.take.frames)
    assert np.array_equal(done.take.character, made.take.character)
    assert np.array_equal(done.take.poses[:, :, others], made.take.poses[:, :, others])
    assert done.report["marks"][:2] == made.report["marks"]
    moved = np.flatnonzero(np.any(done.take.poses != made.take.poses, axis=(1, 2)))
    assert moved[0] >= (start - 0.5) * fps - 1
    assert moved[-1] <= (stop + 0.5) * fps + 1


def test_without_a_height_the_limb_is_as_high_as_the_motion_has_it(director, made):
    first, last = round(4.2 * made.take.fps), round(4.8 * made.take.fps)
    shoulder = find_limbs(made.take.skeleton)["left_hand"].root
    [[above]] = made.take.skeleton.compute_bone_positions([shoulder], made.take.poses[[first]])
    x, y = (0.5 * (find_ends(made, "left_hand")[first] + above))[:2].tolist()
    mark = Mark(4.2, (x, y), hold=0.6, part="left_hand", leads=False)
    done = director.make(add(SHOT, mark))
    hand, before = (find_ends(each, "left_hand")[first : last + 1] for each in (done, made))
    assert np.abs(hand[:, :2] - (x, y)).max() < 1e-3
    assert np.abs(hand[:, 2] - before[:, 2]).max() < 1e-3
    assert done.report["marks"][-1]["reached"]


@pytest.mark.slow
def test_the_order_of_marks_does_not_matter(director, made):
    marks = (STAND, GO, Mark.from_pin("left_hand", 4.2, 4.6, find_near(made, "left_hand", 4.4)),
             Mark.from_pin("right_hand", 4.4, 4.8, find_near(made, "right_hand", 4.6)))  # fmt: skip
    first, *others = (
        director.make(replace(SHOT, marks=order), states=80) for order in permutations(marks)
    )
    for other in others:
        assert np.array_equal(other.take.poses, first.take.poses)
        assert other.report["reached"] == first.report["reached"] == 4


@pytest.mark.slow
def test_it_may_contradict_marks_that_lead_and_comes_on_top(director):
    """What a limb is led to is one thing, and where it is brought in the end another."""
    led = Mark(4.0, (0.3, -3.2), 0.3, hold=1.0, part="left_hand", height=1.0)
    shot = Shot(7.0, marks=(led,))
    before = director.make(shot)
    pin = Mark.from_pin("left_hand", 4.3, 4.6, find_near(before, "left_hand", 4.4, up=0.15))
    done = director.make(add(shot, pin))
    assert [told["reached"] for told in done.report["marks"]] == [False, True]
    others = list_others(done, "left_hand")
    assert np.array_equal(done.take.poses[:, :, others], before.take.poses[:, :, others])


@pytest.mark.slow
def test_a_range_that_is_directed_anew_has_it_too(director, made):
    point = find_near(made, "left_hand", 4.5)
    shot = add(SHOT, Mark.from_pin("left_hand", 4.2, 4.8, point))
    done = director.direct_again(director.make(shot), 3.0, 6.0)
    span = slice(round(4.2 * made.take.fps), round(4.8 * made.take.fps) + 1)
    assert np.linalg.norm(find_ends(done, "left_hand")[span] - point, axis=1).max() < 0.01
    assert done.report["marks"][-1]["reached"]


def test_a_pose_that_leads_nobody_is_shown_without_other_motion(director, made, walking):
    """The head is turned in what is played anyway."""
    bone = walking.skeleton.index("Head")
    turn = quat.from_angle_axis(np.array(0.6), np.array([0.0, 0.0, 1.0]))
    now = made.take.poses[round(4.5 * made.take.fps), 3:, bone]
    wanted = tuple(quat.mul(now, turn).tolist())
    pose = Pose((("Head", wanted),))
    done = director.make(add(SHOT, Mark(4.5, pose=pose, leads=False)))
    assert np.array_equal(done.take.frames, made.take.frames)
    told = done.report["marks"][-1]
    assert told["reached"], told
    shown = done.take.poses[round(4.5 * made.take.fps), 3:, bone]
    assert abs(float(shown @ np.array(wanted))) > 0.999


def test_a_sketch_measures_it_and_searches_nothing_anew_for_it(director, made):
    point = find_near(made, "left_hand", 4.5)
    shot = add(SHOT, Mark.from_pin("left_hand", 4.3, 4.6, point))
    before, sketch = director.sketch(SHOT), director.sketch(shot)
    assert np.array_equal(before.closed.places, sketch.closed.places)
    assert compute_way(sketch, director.footage).met == (True, True, True)
    moved = add(SHOT, Mark.from_pin("left_hand", 4.3, 4.6, (9.0, 9.0, 1.0)))
    assert find_changed_span(shot, moved) == find_changed_span(SHOT, moved) == (0.0, 0.0)
    again = director.sketch(moved, sketch)
    assert again.plan is sketch.plan
    assert compute_way(again, director.footage).met == (True, True, False)


@pytest.mark.parametrize(
    "mark",
    [
        Mark(2.0, (0.0, -1.0), leads=False),
        Mark(2.0, (0.0, -1.0), part="hips", leads=False),
        Mark(2.0, facing=0.0, leads=False),
        Mark(2.0, gait="run", leads=False),
        Mark(2.0, tags=(), leads=False),
        Mark(2.0, (0.0, -1.0), part="left_hand", frame="walk_speeds:150", leads=False),
    ],
)
def test_what_only_another_way_can_give_is_refused(director, mark):
    with pytest.raises(SettingsError) as error:
        director.direct(add(SHOT, mark))
    check_sentence(error, "2 s", "does not lead")


# ---------------------------------------------------------------- files and scripts of before


def test_pins_of_earlier_files_and_scripts_are_such_marks(tmp_path):
    pin = {"limb": "left_hand", "start": 4.2, "stop": 4.8, "position": [0.4, -3.2, 1.0]}
    path = tmp_path / "scene.json"
    path.write_text(json.dumps({"seconds": 9, "marks": [{"time": 4.0}], "pins": [pin]}))
    shot = shot_file.load(path)
    made = api.Pin("left_hand", 4.2, 4.8, (0.4, -3.2, 1.0))
    assert shot == api.Shot(9.0, marks=(api.Mark(4.0),), pins=(made,))
    assert shot == api.Shot(9.0, marks=(api.Mark(4.0), made))
    assert shot == replace(api.Shot(9.0, marks=(api.Mark(4.0),)), pins=(made,))
    [_, mark] = shot.marks
    assert (mark.time, mark.time + mark.hold) == pytest.approx((4.2, 4.8))
    assert (mark.part, mark.position, mark.height) == ("left_hand", (0.4, -3.2), 1.0)
    assert not mark.leads

    shot_file.save(shot, path)
    written = json.loads(path.read_text())
    assert "pins" not in written
    assert written["marks"][1]["leads"] is False
    assert shot_file.load(path) == shot

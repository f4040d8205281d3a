"""Each field of a mark is described once, and files, sizes and checks follow from that."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest

from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.mark import GOALS, Mark, Pose
from motion_matching.engine.direct.shot.shot import Shot
from motion_matching.engine.scale import Scale

FACTORS = {"m": 4.0, "s": 2.0, "rad": 1.0, "rad/s": 0.5, "share": 1.0}
TURNED = (0.5, 0.5, 0.5, 0.5)
OTHERS = {  # another value than the default, and the same for a creature four times as large
    "time": (3.0, 6.0),
    "position": ((1.0, -2.0), (4.0, -8.0)),
    "facing": (0.7, 0.7),
    "hold": (0.25, 0.5),
    "frame": ("walk:12", "walk:12"),
    "gait": ("run", "run"),
    "tags": (("brave",), ("brave",)),
    "tolerance": (0.5, 2.0),
    "facing_tolerance": (0.25, 0.25),
    "pose": (Pose((("Hips", TURNED),), 0.75), Pose((("Hips", TURNED),), 3.0)),
    "pose_tolerance": (0.125, 0.5),
    "pose_fade": (1.5, 3.0),
    "part": ("left_hand", "left_hand"),
    "height": (1.25, 5.0),
    "leads": (False, False),
    "palm": ((0.0, 0.0, -1.0), (0.0, 0.0, -1.0)),
}


def find_others(name: str):
    """Return what a field is changed to, and that for a creature four times as large."""
    if name in OTHERS:
        return OTHERS[name]
    goal = GOALS[name]
    if isinstance(goal.default, bool):
        return not goal.default, not goal.default
    if goal.choices:
        return (next(each for each in goal.choices if each != goal.default),) * 2
    if isinstance(goal.default, str):
        return "other", "other"
    value = goal.least + 0.25 * (min(goal.most, 4.0) - goal.least)
    assert value != goal.default
    return value, value * FACTORS[goal.unit]


NAMES = [each.name for each in fields(Mark)]
MARK = Mark(**{name: find_others(name)[0] for name in NAMES if name in GOALS})


def test_each_field_of_a_mark_is_described():
    assert list(GOALS) == NAMES
    assert all(goal.label and goal.help for goal in GOALS.values())


def test_each_field_comes_through_a_scene_file(tmp_path):
    empty = Mark(math.nan)
    same = [name for name in NAMES if getattr(MARK, name) == getattr(empty, name)]
    assert not same
    shot_file.save(Shot(8.0, marks=(MARK,)), tmp_path / "scene.json")
    (read,) = shot_file.load(tmp_path / "scene.json").marks
    assert read == MARK


@pytest.mark.parametrize("name", NAMES)
def test_each_field_is_written_alone(name):
    mark = replace(Mark(3.0, (1.0, -2.0), part="hips"), **{name: getattr(MARK, name)})
    (read,) = shot_file.from_json(shot_file.to_json(Shot(8.0, marks=(mark,))), "text").marks
    assert read == mark


def test_each_field_has_the_size_of_its_creature():
    scaled = Scale.from_size(4.0).to_world(MARK)
    for name in NAMES:
        assert getattr(scaled, name) == find_others(name)[1], name
    assert Scale.from_size(4.0).to_body(scaled) == MARK

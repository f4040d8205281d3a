"""What was written is compared with its source as Blender plays it, and wrong results are told."""

from __future__ import annotations

from dataclasses import replace

import bpy
import pytest

from motion_matching import api
from motion_matching.engine.retargeting.settings import RetargetSettings
from motion_matching.scene.retargeting import onto, sources
from motion_matching.scene.retargeting.transfer import RetargetRequest
from motion_matching.scene.retargeting.writing import WriteOptions
from tests.engine.characters import make_child, make_unreal
from tests.scene.retargeting.armatures import add_armature, add_mixamo, add_walker
from tests.scene.retargeting.spoilt import roll_left_foot, shift_bone, turn_bone
from tests.scene.rigs import assert_same, read_state


def retarget(obj, action, hero, **settings):
    """Retarget onto a character, and return what became of it."""
    motions = sources.read_actions(obj, [action])
    request = RetargetRequest(RetargetSettings(**settings))
    return onto.retarget_onto(hero, motions, request)[1].checks[0]


@pytest.mark.parametrize("make", [make_unreal, make_child])
def test_a_good_result_is_far_from_all_limits(make):
    obj, action = add_walker()
    check = retarget(obj, action, add_armature(make(), "Hero"))
    assert not check.is_wrong
    assert {figure.kind for figure in check.figures} >= {"lean", "facing", "direction", "roll"}
    assert max(figure.median / figure.limit for figure in check.figures) < 0.5


def test_where_and_how_the_character_stands_changes_no_figure():
    obj, action = add_walker()
    plain = retarget(obj, action, add_mixamo())
    other = add_mixamo("Other")
    other.location, other.rotation_euler.z = (5.0, -3.0, 2.0), 1.1
    bpy.context.scene.render.fps = 50  # keys between the source's frames
    moved = retarget(obj, action, other)
    for one, two in zip(plain.figures, moved.figures, strict=True):
        assert two.median == pytest.approx(one.median, abs=0.3), one


def test_fewer_keys_and_settings_are_no_faults():
    obj, action = add_walker()
    hero = add_mixamo()
    turned = {"spine": (40.0, 0.0, 0.0), "left_thigh": (0.0, 50.0, 0.0)}
    for settings in ({"offsets": turned}, {"hand_ik": 1.0}, {"scale": 2.0}, {"fit_root": "ground"}):
        assert not retarget(obj, action, hero, **settings).is_wrong, settings
    motions = sources.read_actions(obj, [action])
    options = WriteOptions(fewer_keys=0.01)
    assert not onto.retarget_onto(hero, motions, RetargetRequest(), options)[1].checks[0].is_wrong


SPOILT = {
    "rolled foot": (lambda c: turn_bone(c, "mixamorig:LeftFoot", 165, (0, 1, 0)), "left_foot"),
    "bent knee": (lambda c: turn_bone(c, "mixamorig:RightLeg", 20, (1, 0, 0)), "right_shin"),
    "raised arm": (lambda c: turn_bone(c, "mixamorig:LeftArm", 12, (1, 0, 0)), "left_upper_arm"),
    "on its head": (lambda c: turn_bone(c, "mixamorig:Hips", 180, (1, 0, 0)), "spine"),
    "turned hips": (lambda c: turn_bone(c, "mixamorig:Hips", 37, (0, 1, 0)), "hips"),
}


def write_spoilt(spoil):
    """Spoil good motion before it is written, and return what is found of it."""
    obj, action = add_walker()
    hero = add_mixamo()
    motions = sources.read_actions(obj, [action])
    _, done = onto.retarget_onto(hero, motions, RetargetRequest())
    [(motion, clip)] = done.pairs
    done.pairs[0] = (motion, spoil(clip))
    return onto.write_and_check(hero, done, RetargetRequest(), WriteOptions(), force="")[1][0]


@pytest.mark.parametrize("name", SPOILT)
def test_a_part_that_is_written_wrong_is_named(name):
    spoil, role = SPOILT[name]
    check = write_spoilt(spoil)
    assert check.role == role, check.describe()
    assert f"the {role.replace('_', ' ')} is off by" in check.describe().replace(" of the", " the")


def test_a_child_that_leaves_its_parent_is_torn():
    check = write_spoilt(lambda clip: shift_bone(clip, "mixamorig:LeftForeArm", 0.02))
    assert "bone 'mixamorig:LeftForeArm' is 2.0 cm from where it rests" in check.describe()


def test_a_burst_in_one_twentieth_of_the_frames_is_enough():
    def spoil(clip):
        wrong = turn_bone(clip, "mixamorig:LeftForeArm", 90, (1, 0, 0))
        rotations = clip.rotations.copy()
        rotations[20:24] = wrong.rotations[20:24]
        return replace(clip, rotations=rotations)

    check = write_spoilt(spoil)
    assert (check.role, check.frame in range(20, 24)) == ("left_forearm", True)


def test_a_wrong_result_is_refused_and_leaves_nothing_behind(monkeypatch):
    obj, action = add_walker()
    hero = add_mixamo()
    api.retarget_action(action, hero, name="good")
    bpy.context.scene.frame_set(20)
    roll_left_foot(monkeypatch)
    before = read_state(hero)
    said = r"'walk' came out wrong: the roll of the left foot is off by 1\d\d°.*force=True"
    with pytest.raises(api.ResultError, match=said) as told:
        api.retarget_action(action, hero)
    assert told.value.figures[0]["wrong"]
    assert_same(before, read_state(hero))
    assert obj.animation_data.action == action


def test_a_wrong_result_is_kept_with_force_and_the_figures_are_told(monkeypatch):
    _, action = add_walker()
    hero = add_mixamo()
    roll_left_foot(monkeypatch)
    figures = []
    made = api.retarget_action(action, hero, force=True, figures=figures)
    assert hero.animation_data.action == made
    assert [one["wrong"] for one in figures] == [True]
    assert {part["role"] for part in figures[0]["parts"]} >= {"left_thigh", "right_foot", "hips"}

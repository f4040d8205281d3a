"""A pose made by hand is kept as a mark, and the solved take is in it on that frame."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from motion_matching.app.direct import marks, outcomes
from tests.ui.characters import create_character, expect_refusal
from tests.ui.director.marked import FRAMES, add_marks, read_place
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching
AT = FRAMES[1]


@pytest.fixture
def obj():
    obj = create_character()
    ops.add_actions()
    add_marks()
    assert ops.direct() == {"FINISHED"}
    bpy.context.scene.frame_set(AT)
    bpy.context.view_layer.objects.active = obj
    return obj


def raise_arm(obj):
    """Turn the left upper arm by hand, without a key; return the joints as they are then."""
    bone = obj.pose.bones["LeftArm"]
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion.rotate(bone.rotation_quaternion.__class__((0.9, 0.0, 0.44, 0.0)))
    bpy.context.view_layer.update()
    return read_joints(obj)


def read_joints(obj):
    """Return the joints (B, 3) in the world."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([obj.matrix_world @ bone.head for bone in evaluated.pose.bones])


def test_a_pose_by_hand_is_kept_and_solved(obj):
    before = read_joints(obj)
    posed = raise_arm(obj)
    assert np.linalg.norm(posed - before, axis=1).max() > 0.1
    assert ops.keep_pose() == {"FINISHED"}
    [mark] = [each for each in marks.list_marks(obj) if marks.get_frame(each) == AT]
    assert marks.describe(mark) == "Pose"
    assert outcomes.get_outcome(mark) == "changed"
    assert len(marks.list_marks(obj)) == 3
    draw_panels()

    assert ops.direct() == {"FINISHED"}
    assert outcomes.get_outcome(mark) == "met", marks.mark_of(mark).reason
    bpy.context.scene.frame_set(AT)
    away = np.linalg.norm(read_joints(obj) - posed, axis=1)
    assert away.max() < 0.02, away


def test_without_a_mark_on_the_frame_one_is_added_where_the_character_is(obj):
    bpy.context.scene.frame_set(100)
    place = read_place(obj, 100)
    assert ops.keep_pose() == {"FINISHED"}
    [mark] = [each for each in marks.list_marks(obj) if marks.get_frame(each) == 100]
    away = np.array(mark.matrix_world.translation[:2]) - place[:2]
    assert np.linalg.norm(away) < 1e-3
    kept = json.loads(marks.mark_of(mark).pose)
    assert "LeftArm" in kept["rotations"]
    assert 0.5 < kept["height"] < 1.2


def test_poses_that_cannot_be_are_told_with_their_mark(obj):
    [mark] = [each for each in marks.list_marks(obj) if marks.get_frame(each) == AT]
    marks.mark_of(mark).use_pose = True
    expect_refusal(ops.direct, "'Mark.001' asks for a pose that was not kept yet")
    for text in ("{", "[]", '{"rotations": {"Head": [1, 0]}}', '{"rotations": {"Head": [NaN]}}'):
        marks.mark_of(mark).pose = text
        expect_refusal(ops.direct, "'Mark.001' asks for a pose that was edited")
    marks.mark_of(mark).pose = json.dumps({"rotations": {"Tail": [1, 0, 0, 0]}})
    expect_refusal(ops.direct, f"The pose of the mark at frame {AT} has a bone 'Tail'")

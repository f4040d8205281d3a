"""A pose made by hand is kept as a mark, and the solved take is in it on that frame."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from motion_matching.app.marks import marks, outcomes
from motion_matching.engine.bvh import bvh
from tests.app.live.test_control_rigs import create_rig
from tests.demo import generate_clips
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


@pytest.mark.slow
def test_within_a_stand_a_mark_asks_for_the_pose_alone(obj):
    [_, stand, _] = marks.list_marks(obj)
    marks.mark_of(stand).hold = 1.0
    assert ops.direct() == {"FINISHED"}
    bpy.context.scene.frame_set(AT + 15)
    bpy.context.view_layer.objects.active = obj
    posed = raise_arm(obj)
    assert ops.keep_pose() == {"FINISHED"}
    [kept] = [each for each in marks.list_marks(obj) if marks.get_frame(each) == AT + 15]
    assert not marks.mark_of(kept).use_place
    assert ops.direct() == {"FINISHED"}
    assert outcomes.get_outcome(kept) == "met", marks.mark_of(kept).reason
    bpy.context.scene.frame_set(AT + 15)
    assert np.linalg.norm(read_joints(obj) - posed, axis=1).max() < 0.02


def test_poses_that_cannot_be_are_told_with_their_mark(obj):
    [mark] = [each for each in marks.list_marks(obj) if marks.get_frame(each) == AT]
    marks.mark_of(mark).use_pose = True
    expect_refusal(ops.direct, "'Mark.001' asks for a pose that was not kept yet")
    for text in ("{", "[]", '{"rotations": {"Head": [1, 0]}}', '{"rotations": {"Head": [NaN]}}'):
        marks.mark_of(mark).pose = text
        expect_refusal(ops.direct, "'Mark.001' asks for a pose that was edited")
    marks.mark_of(mark).pose = json.dumps({"rotations": {"Tail": [1, 0, 0, 0]}})
    expect_refusal(ops.direct, f"The pose of the mark at frame {AT} has a bone 'Tail'")


def read_deform_joints(obj):
    """Return the joints (B, 3) of the bones that deform, in the world."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    names = [bone.name for bone in obj.data.bones if bone.use_deform]
    return np.array([obj.matrix_world @ evaluated.pose.bones[name].head for name in names])


@pytest.mark.slow
def test_a_pose_of_a_rigs_controls_is_kept_and_solved(tmp_path):
    obj = create_rig()
    obj.name = "Hero"
    for clip in generate_clips():
        if clip.name in ("idle", "walk_starts_and_stops", "walk_curves", "walk_speeds"):
            bvh.save(clip, tmp_path / f"{clip.name}.bvh")
    names = [{"name": path.name} for path in sorted(tmp_path.glob("*.bvh"))]
    ops.add_files(directory=str(tmp_path), files=names)
    [_, mark, _] = add_marks()
    marks.mark_of(mark).hold = 1.0
    assert ops.direct() == {"FINISHED"}
    frame = AT + 15
    bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.objects.active = obj

    before = read_deform_joints(obj)
    arm = obj.pose.bones["upper_arm_fk.L"]
    arm.rotation_quaternion.rotate(arm.rotation_quaternion.__class__((0.9, 0.0, 0.44, 0.0)))
    bpy.context.view_layer.update()
    posed = read_deform_joints(obj)
    assert np.linalg.norm(posed - before, axis=1).max() > 0.1
    assert ops.keep_pose() == {"FINISHED"}
    [kept] = [each for each in marks.list_marks(obj) if marks.get_frame(each) == frame]
    assert ops.direct() == {"FINISHED"}
    assert outcomes.get_outcome(kept) == "met", marks.mark_of(kept).reason
    bpy.context.scene.frame_set(frame)
    away = np.linalg.norm(read_deform_joints(obj) - posed, axis=1)
    assert away.max() < 0.02, away

"""Marks for a hand or the hips, set in the panel, and solved into a take that is baked."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.direct import previewing
from motion_matching.app.marks import marks, outcomes, shots
from motion_matching.app.runtime import runtime
from motion_matching.scene.direct import stored_shots
from tests.ui.characters import expect_refusal
from tests.ui.director.marked import FRAMES
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching
AT = FRAMES[1]
HEIGHT = 1.0


def ask_for(obj, part, height=None):
    """Have the second mark ask for a part of the body, and return it."""
    mark = marks.list_marks(obj)[1]
    marks.mark_of(mark).part = part
    if height is not None:
        mark.location.z, marks.mark_of(mark).use_height = height, True
    bpy.context.view_layer.update()
    return mark


def read_bone(obj, name, frame):
    """Return where a bone begins at a frame, in the world."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world @ evaluated.pose.bones[name].head)


@pytest.mark.slow
def test_a_hand_is_at_its_mark_in_the_baked_take(obj):
    mark = ask_for(obj, "left_hand", HEIGHT)
    assert marks.describe(mark) == "Left Hand"
    draw_panels()
    assert ops.direct() == {"FINISHED"}
    assert outcomes.get_outcome(mark) == "met", marks.mark_of(mark).reason
    away = read_bone(obj, "LeftHand", AT) - np.array(mark.matrix_world.translation)
    assert np.linalg.norm(away) < 0.01

    # another height is another wish, and the take solves its own again
    mark.location.z = 1.1
    bpy.context.view_layer.update()
    assert outcomes.get_outcome(mark) == "changed"
    stored, _ = stored_shots.read_shot(obj.animation_data.action)
    assert stored.marks[1].part == "left_hand"
    assert stored.marks[1].height == pytest.approx(HEIGHT, abs=1e-6)
    assert ops.direct_again() == {"FINISHED"}
    assert read_bone(obj, "LeftHand", AT)[2] == pytest.approx(HEIGHT, abs=0.01)


@pytest.mark.slow
def test_hips_are_where_the_arrow_begins(obj):
    mark = ask_for(obj, "hips")
    assert ops.direct() == {"FINISHED"}
    assert outcomes.get_outcome(mark) == "met", marks.mark_of(mark).reason
    away = read_bone(obj, "Hips", AT)[:2] - np.array(mark.matrix_world.translation[:2])
    assert np.linalg.norm(away) < 0.01


def test_without_a_place_or_a_height_that_is_on_the_character_or_the_motion_counts(obj):
    mark = ask_for(obj, "left_hand", HEIGHT)
    marks.mark_of(mark).use_height = False
    assert shots.read_height(mark, AT) is None
    marks.mark_of(mark).use_height, marks.mark_of(mark).use_place = True, False
    assert shots.read_height(mark, AT) is None
    assert marks.describe(mark) == "Facing"
    draw_panels()


def test_a_preview_follows_a_hand(obj):
    mark = ask_for(obj, "left_hand", HEIGHT)
    assert ops.preview_marks() == {"FINISHED"}
    for _ in range(2):
        bpy.context.view_layer.update()
        previewing.follow()
        while runtime.mark_preview.work:
            previewing.follow()
        assert runtime.mark_preview.describe() == "3 of 3 Met"
        mark.location.x += 0.1
    assert runtime.mark_preview.shot.marks[1].height == pytest.approx(HEIGHT, abs=1e-6)
    assert ops.end_mark_preview() == {"FINISHED"}


def test_a_hand_on_the_first_frame_is_refused_with_its_frame(obj):
    mark = ask_for(obj, "left_hand")
    marks.set_frame(mark, shots.get_start(obj))
    expect_refusal(ops.direct, "is for the left hand, but a shot begins where its character is")


def test_another_part_is_undone(obj):
    mark = ask_for(obj, "character")
    name = mark.name
    bpy.ops.ed.undo_push(message="Before")
    marks.mark_of(mark).part = "right_foot"
    bpy.ops.ed.undo_push(message="Part")
    bpy.ops.ed.undo()
    assert marks.mark_of(bpy.data.objects[name]).part == "character"


def test_a_palm_is_set_in_the_panel_read_previewed_and_undone(obj):
    mark = ask_for(obj, "left_hand", HEIGHT)
    name, asked = mark.name, outcomes.describe_request(mark)
    assert shots.read_palm(mark, AT) is None
    bpy.ops.ed.undo_push(message="Before")
    marks.mark_of(mark).palm = "DOWN"
    draw_panels()
    assert marks.describe(mark) == "Left Hand, Palm Down"
    assert outcomes.describe_request(mark) != asked
    assert shots.read_palm(mark, AT) == (0.0, 0.0, -1.0)
    bpy.ops.ed.undo_push(message="Palm")
    bpy.ops.ed.undo()
    mark = bpy.data.objects[name]
    assert marks.mark_of(mark).palm == "FREE"
    assert outcomes.describe_request(mark) == asked

    marks.mark_of(mark).palm = "UP"
    assert shots.read_palm(mark, AT) == (0.0, 0.0, 1.0)
    marks.mark_of(mark).part = "left_foot"
    assert shots.read_palm(mark, AT) is None
    assert marks.describe(mark) == "Left Foot"


def test_a_palm_along_the_arrow_follows_it_in_the_preview(obj):
    mark = ask_for(obj, "left_hand", HEIGHT)
    marks.mark_of(mark).palm = "ARROW"
    bpy.context.view_layer.update()
    yaw = shots.read_place(mark, AT).yaw
    assert shots.read_palm(mark, AT) == pytest.approx((np.sin(yaw), -np.cos(yaw), 0.0), abs=1e-6)
    assert ops.preview_marks() == {"FINISHED"}
    for turned in (0.0, 0.2):
        mark.rotation_euler.z += turned
        bpy.context.view_layer.update()
        previewing.follow()
        while runtime.mark_preview.work:
            previewing.follow()
        palm = runtime.mark_preview.shot.marks[1].palm
        assert palm == pytest.approx((np.sin(yaw + turned), -np.cos(yaw + turned), 0.0), abs=1e-5)
    assert ops.end_mark_preview() == {"FINISHED"}


@pytest.mark.slow
def test_what_a_palm_lacks_is_told_by_the_solve(obj):
    mark = ask_for(obj, "left_hand", HEIGHT)
    marks.mark_of(mark).palm = "DOWN"
    assert ops.direct() == {"FINISHED"}
    stored, _ = stored_shots.read_shot(obj.animation_data.action)
    assert stored.marks[1].palm == (0.0, 0.0, -1.0)
    reason = marks.mark_of(mark).reason
    assert outcomes.get_outcome(mark) == ("missed" if reason else "met")
    assert not reason or reason.startswith("The palm of the left hand is ")

"""The director in Blender: marks in the scene, solved into takes."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from motion_matching.app.direct import marks, outcomes
from tests.ui.characters import create_character
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching
FRAMES = 24, 96, 144
PLACES = (0.6, -1.2, 0.3), (-0.6, -5.0, -1.2), (-2.2, -7.0, -0.6)  # x, y and yaw


@pytest.fixture(autouse=True)
def obj():
    obj = create_character(clips=("idle", "walk_starts_and_stops", "walk_curves", "walk_forward"))
    ops.add_actions()
    return obj


def add_mark(frame, place):
    bpy.context.scene.frame_set(frame)
    cursor = bpy.context.scene.cursor
    cursor.location, cursor.rotation_euler = (*place[:2], 0.7), (0.0, 0.0, place[2])
    assert ops.add_mark() == {"FINISHED"}
    return marks.get_active_mark(bpy.data.objects["Hero"])


def add_marks():
    return [add_mark(frame, place) for frame, place in zip(FRAMES, PLACES, strict=True)]


def read_place(obj, frame):
    """Return where the character is (x, y) and how it faces at a frame."""
    bpy.context.scene.frame_set(frame)
    matrix = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    turn = matrix.to_quaternion()
    return np.array([*matrix.translation[:2], 2.0 * math.atan2(turn.z, turn.w)])


def test_three_marks_are_met_and_told(obj):
    placed = add_marks()
    assert [mark.name for mark in placed] == ["Mark", "Mark.001", "Mark.002"]
    assert outcomes.get_state(obj)[1] == "3 Marks"
    assert ops.direct() == {"FINISHED"}
    [take] = obj.motion_matching.takes
    assert take.action == obj.animation_data.action
    assert tuple(take.action.frame_range) == (1, 144 + 24)
    assert any("plant" in marker.name for marker in take.action.pose_markers)
    told = [(outcomes.get_outcome(mark), marks.mark_of(mark).reason) for mark in placed]
    assert told == [("met", "")] * 3, told
    assert outcomes.get_state(obj) == ("CHECKMARK", "Solved")
    for frame, place in zip(FRAMES, PLACES, strict=True):
        away = read_place(obj, frame) - place
        assert np.linalg.norm(away[:2]) < 0.01, (frame, away)
        assert abs(away[2]) < 0.035, (frame, away)
    draw_panels()

    # a mark that is moved has to be solved again; then it is met where it is now
    placed[1].location.x += 0.4
    bpy.context.view_layer.update()
    assert outcomes.get_outcome(placed[1]) == "changed"
    assert ops.direct() == {"FINISHED"}
    second = obj.motion_matching.takes[1].action
    assert second != take.action
    away = read_place(obj, FRAMES[1]) - PLACES[1]
    assert np.linalg.norm(away[:2] - (0.4, 0.0)) < 0.01, away
    assert outcomes.get_outcome(placed[1]) == "met"

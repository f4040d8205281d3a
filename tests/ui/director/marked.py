"""A character with three marks to be directed."""

from __future__ import annotations

import math

import bpy
import numpy as np

from motion_matching.app.marks import marks

ops = bpy.ops.motion_matching
FRAMES = 60, 132, 204
PLACES = (0.1, -1.6, 0.1), (0.8, -4.0, 0.6), (2.2, -5.9, 0.7)  # x, y and yaw


def add_mark(frame, place):
    bpy.context.scene.frame_set(frame)
    cursor = bpy.context.scene.cursor
    cursor.location, cursor.rotation_euler = (*place[:2], 0.7), (0.0, 0.0, place[2])
    assert ops.add_mark() == {"FINISHED"}
    empty = marks.get_active_mark(bpy.data.objects["Hero"])
    marks.mark_of(empty).use_facing = True
    return empty


def add_marks():
    return [add_mark(frame, place) for frame, place in zip(FRAMES, PLACES, strict=True)]


def read_place(obj, frame):
    """Return where the character is (x, y) and how it faces at a frame."""
    bpy.context.scene.frame_set(frame)
    matrix = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    turn = matrix.to_quaternion()
    return np.array([*matrix.translation[:2], 2.0 * math.atan2(turn.z, turn.w)])

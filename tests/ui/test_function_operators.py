"""Operators take identifier and label from their names, and may be functions."""

from __future__ import annotations

import bpy

from motion_matching.ui.base.function_operators import operator, stepped_operator


def test_a_function_is_an_operator_that_is_called_like_it():
    seen = []

    @operator(requires=(), options={"INTERNAL"})
    def note_frame(context):
        """Note the current frame"""
        seen.append(context.scene.frame_current)

    @stepped_operator("Count Twice", requires=())
    def count(context):
        """Count in two steps"""
        for number in (1, 2):
            yield "Counting", 0.5 * number
            seen.append(number)
        return ""

    assert [note_frame.bl_idname, note_frame.bl_label] == [
        "motion_matching.note_frame",
        "Note Frame",
    ]
    assert [count.bl_idname, count.bl_label] == ["motion_matching.count", "Count Twice"]
    assert (note_frame.bl_options, count.bl_options) == ({"INTERNAL"}, {"REGISTER", "UNDO"})
    for each in (note_frame, count):
        bpy.utils.register_class(each)
    try:
        bpy.context.scene.frame_set(7)
        assert bpy.ops.motion_matching.note_frame() == {"FINISHED"}
        assert bpy.ops.motion_matching.count() == {"FINISHED"}
        tip = bpy.ops.motion_matching.count.get_rna_type().description
    finally:
        for each in (note_frame, count):
            bpy.utils.unregister_class(each)
    assert (seen, tip) == ([7, 1, 2], "Count in two steps")

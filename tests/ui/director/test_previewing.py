"""The way of a take follows marks as they are dragged, and leaves no trace in the file."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.direct import previewing
from motion_matching.app.marks import marks
from motion_matching.app.runtime import runtime
from motion_matching.ui.director import drawing
from tests.ui.characters import add_character, expect_refusal, read_state
from tests.ui.director.marked import FRAMES, PLACES, read_place
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


def settle():
    """Let a preview find the way of the marks as they are now, as its timer would."""
    bpy.context.view_layer.update()
    previewing.follow()
    while runtime.mark_preview and runtime.mark_preview.work:
        previewing.follow()
    return runtime.mark_preview


def preview():
    assert ops.preview_marks() == {"FINISHED"}
    return settle()


def test_the_way_meets_the_marks_and_nothing_changes(obj):
    ops.build()
    before = read_state()
    shown = preview()
    assert shown.describe() == "3 of 3 Met"
    assert not shown.note
    at = shown.way.places[np.array(FRAMES) - 1]  # the scene and the data have 24 frames a second
    assert np.abs(at[:, :2] - np.array(PLACES)[:, :2]).max() < 0.02
    draw_panels()
    assert read_state() == before
    assert not obj.motion_matching.takes

    assert ops.end_mark_preview() == {"FINISHED"}
    assert runtime.mark_preview is None
    expect_refusal(ops.end_mark_preview, "No preview of marks is shown")
    draw_panels()


def test_a_dragged_mark_is_followed(obj):
    shown = preview()
    first = shown.way
    mark = marks.list_marks(obj)[1]
    mark.location.x += 0.3
    before = read_state()
    assert settle().way is not first
    assert shown.way.marks[1] == pytest.approx(mark.location[:2], abs=1e-5)
    assert shown.describe() == "3 of 3 Met"
    assert read_state() == before

    second = shown.way
    assert settle().way is second, "nothing was moved"
    mark.rotation_euler.z += 0.2
    assert settle().way is not second


@pytest.mark.slow
def test_the_way_is_that_of_the_take(obj):
    shown = preview()
    ops.direct()
    for frame in FRAMES:
        place = read_place(obj, frame)
        row = round((frame - 1) / 24 * shown.director.footage.database.fps)
        assert np.abs(shown.way.places[row, :2] - place[:2]).max() < 0.03


def test_other_wishes_are_followed(obj):
    shown = preview()
    first = shown.way
    marks.set_frame(marks.list_marks(obj)[2], FRAMES[2] + 24)
    assert len(settle().way.places) > len(first.places)
    second = shown.way
    marks.remove_mark(obj, marks.list_marks(obj)[0])
    assert len(settle().way.marks) == 2
    assert shown.way is not second


def test_a_mark_out_of_reach_is_drawn_as_missed(obj):
    shown = preview()
    lines = drawing.build_lines(shown.way, 1.0)
    assert [role for *_, role in lines] == ["desired", "chosen", *["trajectory"] * 3]
    for points, *_ in lines:
        assert points.shape[1] == 3
        assert len(points) % 2 == 0
        assert points.flags.c_contiguous, "the graphics card reads rows"
    for (ring, *_), mark in zip(lines[2:], shown.way.marks, strict=True):
        assert np.abs(np.linalg.norm(ring[:, :2] - mark, axis=1) - 0.3).max() < 1e-5
    marks.list_marks(obj)[2].location.y -= 30.0
    assert settle().describe() == "2 of 3 Met"
    assert "no motion goes" in previewing.get_reason(obj, marks.list_marks(obj)[2])
    assert not previewing.get_reason(obj, marks.list_marks(obj)[1])
    lines = drawing.build_lines(shown.way, 1.0)
    assert [role for *_, role in lines][2:] == [*["trajectory"] * 2, *["contact"] * 3]


def test_what_cannot_be_is_told_and_the_way_stays(obj):
    shown = preview()
    first = shown.way
    marks.set_frame(marks.list_marks(obj)[0], FRAMES[1])
    assert "frame 132" in settle().note
    draw_panels()
    assert shown.way is first or shown.way is None
    marks.set_frame(marks.list_marks(obj)[0], FRAMES[0])
    assert not settle().note
    assert shown.describe() == "3 of 3 Met"
    for empty in marks.list_marks(obj):
        bpy.data.objects.remove(empty)
    assert settle().note == "Add a mark to see the way to it."
    assert shown.way is None


@pytest.mark.slow
def test_it_ends_by_itself(obj):
    preview()
    other = add_character("Other")
    bpy.context.view_layer.objects.active = other
    assert settle() is None
    assert "'Hero' is no longer the active character" in runtime.mark_preview_end
    draw_panels()

    bpy.context.view_layer.objects.active = obj
    preview()
    assert not runtime.mark_preview_end
    obj.motion_matching.sources[0].enabled = False
    bpy.ops.motion_matching.build()
    assert settle() is None
    assert "the sources changed" in runtime.mark_preview_end

    obj.motion_matching.sources[0].enabled = True
    preview()
    bpy.data.objects.remove(obj)
    assert settle() is None
    assert "its character was deleted" in runtime.mark_preview_end


def test_it_ends_with_the_file(obj):
    preview()
    marks.list_marks(obj)[0].location.x += 0.1
    bpy.context.view_layer.update()
    previewing.follow()
    assert runtime.mark_preview.work is not None
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert runtime.mark_preview is None
    assert not runtime.mark_preview_end


def test_undo_leaves_it_on(obj):
    bpy.ops.ed.undo_push(message="Before")
    shown = preview()
    marks.list_marks(obj)[0].location.x += 0.1
    settle()
    bpy.ops.ed.undo_push(message="Moved")
    moved = shown.way
    bpy.ops.ed.undo()
    assert settle() is shown
    assert shown.way is not moved
    assert shown.describe() == "3 of 3 Met"

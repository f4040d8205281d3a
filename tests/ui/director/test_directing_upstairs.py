"""Marks on other floors: drawn where they are on the ground, and reached by the take."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.direct import previewing
from motion_matching.app.marks import marks
from motion_matching.app.runtime import runtime
from motion_matching.ui.director import drawing
from tests.ui.characters import create_character
from tests.ui.climbing import RISER, STEPS, add_stairs, find_height

ops = bpy.ops.motion_matching
CLIPS = ("idle", "walk_speeds", "walk_starts_and_stops", "stairs_up_15", "stairs_up_17")
TOP = STEPS * RISER
PLACES = (1, (0.0, 0.0)), (220, (0.0, -5.2))


def settle():
    bpy.context.view_layer.update()
    previewing.follow()
    while runtime.mark_preview and runtime.mark_preview.work:
        previewing.follow()
    return runtime.mark_preview


@pytest.fixture
def obj():
    """A character with a mark at the foot of stairs, and one on the platform that they lead to."""
    obj = create_character(clips=CLIPS)
    assert ops.add_actions(mirror=True) == {"FINISHED"}
    obj.motion_matching.obstacles = add_stairs()
    scene = bpy.context.scene
    scene.frame_end = 260
    for frame, place in PLACES:
        scene.frame_set(frame)
        scene.cursor.location = (*place, 0.0)
        assert ops.add_mark() == {"FINISHED"}
    return obj


def test_a_new_mark_lies_on_the_ground(obj):
    heights = [empty.location.z for empty in marks.list_marks(obj)]
    assert heights == pytest.approx([0.0, TOP], abs=1e-5)


@pytest.mark.slow
def test_the_way_is_drawn_on_the_ground_and_the_take_goes_up_to_the_mark(obj):
    assert ops.build() == {"FINISHED"}
    assert ops.preview_marks() == {"FINISHED"}
    shown = settle()
    assert not shown.note
    assert shown.describe() == "2 of 2 Met"
    way = shown.way
    true = [find_height(-y) for _, y, _ in way.places.tolist()]
    assert way.below == pytest.approx(true, abs=1e-4)
    assert way.below[-1] == pytest.approx(TOP, abs=1e-4)
    assert way.heights[:, 0] == pytest.approx([0.0, TOP], abs=1e-4)
    lines = drawing.build_lines(way, 1.0)
    path, steps, first, second = (points for points, *_ in lines)
    assert path[:, 2].max() == pytest.approx(TOP + 0.01, abs=1e-3)
    assert len(np.unique(steps[:, 2].round(2))) > STEPS - 1, "footfalls lie on treads"
    assert np.ptp(first[:, 2]) == 0.0
    assert second[:, 2] == pytest.approx(TOP + 0.01, abs=1e-3)

    mark = marks.list_marks(obj)[1]
    mark.location.y = -(1.2 + 2.5 * 0.29)  # the middle of a tread
    settle()
    assert shown.way.heights[1, 0] == pytest.approx(3 * RISER, abs=1e-4)
    ring = drawing.build_lines(shown.way, 1.0)[3][0]
    assert np.ptp(ring[:, 2]) > RISER, "it lies over the treads around"
    mark.location.y = -5.2
    settle()

    assert ops.direct() == {"FINISHED"}
    scene, (frame, place) = bpy.context.scene, PLACES[1]
    scene.frame_set(1)
    below = read_hips(obj)
    scene.frame_set(frame)
    above = read_hips(obj)
    assert above[:2] == pytest.approx(place, abs=0.1)
    assert above[2] - below[2] == pytest.approx(TOP, abs=0.05)


def read_hips(obj):
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return (shown.matrix_world @ shown.pose.bones["Hips"].head)[:]

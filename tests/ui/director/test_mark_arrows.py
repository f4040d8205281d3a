"""The arrows of marks lie where their empties do, and have a head where a facing is asked for."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from motion_matching.app.marks import marks
from motion_matching.ui.director import drawing
from tests.ui.characters import create_character

ops = bpy.ops.motion_matching


def test_arrows_follow_their_marks():
    obj = create_character()
    assert len(drawing.build_arrows(obj)) == 0
    bpy.context.scene.cursor.location = (1.0, 2.0, 0.5)
    assert ops.add_mark() == {"FINISHED"}
    mark = marks.get_active_mark(obj)
    assert not marks.mark_of(mark).use_facing, "an arrow that nobody has turned asks for nothing"
    bpy.context.view_layer.update()
    [start, tip] = drawing.build_arrows(obj)
    assert start[:2] == pytest.approx((1.0, 2.0))
    assert np.linalg.norm(tip - start) == pytest.approx(mark.empty_display_size)

    marks.mark_of(mark).use_facing = True
    mark.rotation_euler.z, mark.location.z = math.radians(90.0), 1.0
    bpy.context.view_layer.update()
    points = drawing.build_arrows(obj)
    assert len(points) == 6, "a shaft and a head"
    assert points[:, 2] == pytest.approx(1.0 + 0.01)
    assert (points[1] - points[0])[:2] == pytest.approx((mark.empty_display_size, 0.0), abs=1e-6)
    mark.hide_viewport = True
    bpy.context.view_layer.update()
    assert len(drawing.build_arrows(obj)) == 0

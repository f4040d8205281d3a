"""Tags in the Dope Sheet and the Timeline: the source they belong to, their place, and tagging
selected keys.
"""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

import motion_matching
from motion_matching.scene.blender.animation import actions
from motion_matching.ui.tags import drawing as tags_drawing
from motion_matching.ui.tags import operators as tags_operators
from tests.ui.characters import create_character


def test_bands_are_drawn_where_their_action_is_shown():
    ops, obj = bpy.ops.motion_matching, create_character()
    settings, scene = obj.motion_matching, bpy.context.scene

    # ranges on a lane do not overlap, and there are no more lanes than needed
    rng = random.Random(3)
    for count in (0, 1, 2, 40):
        ranges = [
            (start, start + rng.randrange(30))
            for start in (rng.randrange(200) for _ in range(count))
        ]
        lanes = tags_drawing.assign_lanes([a for a, _ in ranges], [b for _, b in ranges])
        deepest = max((sum(a <= f <= b for a, b in ranges) for f in range(240)), default=0)
        assert max(lanes, default=-1) + 1 == deepest
        for i, (a, b) in enumerate(ranges):
            for j, (c, d) in enumerate(ranges[:i]):
                assert lanes[i] != lanes[j] or b < c or d < a
    assert tags_drawing.assign_lanes([1, 11, 5], [10, 20, 15]) == [0, 0, 1], (
        "neighbours share a lane"
    )

    ops.add_actions(mirror=False)
    [source.action.name for source in settings.sources]
    first, second = settings.sources[0], settings.sources[1]
    for start, end in ((10, 20), (15, 40), (21, 30)):
        tags_operators.add_range(first, f"t{start}", "FREE", start, end)
    bands, lanes = tags_drawing.build_bands(first.tag_ranges, 0, 100)
    assert [tuple(band) for band in bands] == [
        (0, 10, 20, 0),
        (1, 15, 40, 1),
        (2, 21, 30, 0),
    ]
    assert lanes == 2
    bands, lanes = tags_drawing.build_bands(first.tag_ranges, 20.5, 30)
    assert [b.number for b in bands] == [1, 2]
    assert lanes == 2, "scrolling keeps the lanes"
    assert tags_drawing.build_bands(second.tag_ranges, 0, 100) == ([], 0)

    # bands stay within the editor, above its foot if there is room, as lines if not
    for height in (20, 36, 60, 150, 800):
        for lanes in (1, 2, 5, 40):
            for margin in (12.0, 42.0):
                bottom, lane = tags_drawing._fit_lanes(height, lanes, margin)
                assert 0 < lane <= 16, (height, lanes)
                assert bottom >= 0, (height, lanes)
                assert bottom + lanes * lane <= max(height - 26, 9) + 1e-6, (height, lanes)
    assert tags_drawing._fit_lanes(150, 2, 12.0) == (12.0, 16.0)

    # the source that an editor shows
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    area.type = "DOPESHEET_EDITOR"
    space = area.spaces.active
    region = next(region for region in area.regions if region.type == "WINDOW")

    def call_in_editor(call, *arguments, **options):
        with bpy.context.temp_override(
            window=window, area=area, region=region, active_object=obj, object=obj
        ):
            return call(*arguments, **options)

    def get_shown_source():
        return call_in_editor(lambda: tags_drawing.get_shown_source(bpy.context))

    def show_action(action):
        if space.mode == "ACTION" and hasattr(space, "action"):
            space.action = action

    settings.source_index = 0
    for mode in ("TIMELINE", "DOPESHEET", "ACTION"):
        space.mode = mode
        assert obj.animation_data.action is None, mode
        assert get_shown_source() == first, mode
        actions.assign(obj, second.action)
        bpy.context.view_layer.update()
        show_action(second.action)
        assert get_shown_source() == second, mode
        settings.source_index = 1
        assert get_shown_source() == second, mode
        settings.source_index = 0
        other = bpy.data.actions.new("Other")
        actions.assign(obj, other)
        show_action(other)
        assert get_shown_source() is None, mode
        obj.animation_data.action = None
        show_action(None)
    space.mode = "GPENCIL"
    assert get_shown_source() is None
    assert tags_drawing.get_shown_source(bpy.context) is None, "outside of a Dope Sheet"

    # selected keys are tagged on the shown source
    space.mode = "DOPESHEET"
    actions.assign(obj, second.action)
    curves = actions.get_active_curves(second.action, actions.find_slot(second.action, obj))
    for curve in curves:
        curve.keyframe_points.foreach_set(
            "select_control_point", np.zeros(len(curve.keyframe_points), bool)
        )
    with pytest.raises(RuntimeError) as caught:
        call_in_editor(ops.add_tag, frames="KEYS")
    assert "selected" in str(caught.value), caught.value
    settings.source_index = 0
    for curve, frame in ((curves[0], 30), (curves[5], 44)):
        key = next(key for key in curve.keyframe_points if round(key.co.x) == frame)
        key.select_control_point = True
    assert call_in_editor(ops.add_tag, frames="KEYS", kind="no_use") == {"FINISHED"}
    assert settings.source_index == 1
    [tag] = second.tag_ranges
    assert (tag.kind, tag.frame_start, tag.frame_end) == ("no_use", 30, 44)
    scene.frame_set(50)
    call_in_editor(ops.tag_at_playhead, end=True)
    assert (tag.frame_start, tag.frame_end) == (30, 50)

    # thousands of ranges are laid out within a redraw
    for number in range(2000):
        tag = second.tag_ranges.add()
        tag.frame_start, tag.frame_end = 25 * number, 25 * number + 30
    bands, lanes = tags_drawing.build_bands(second.tag_ranges, 1000, 1200)
    assert lanes <= 4
    assert 8 <= len(bands) <= 12

    # the handler is removed with the extension
    assert tags_drawing.overlay.is_on
    motion_matching.unregister()
    assert not tags_drawing.overlay.is_on

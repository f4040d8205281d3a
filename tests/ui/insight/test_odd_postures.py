"""Odd postures: listed by source and frames of the timeline, excluded and avoided by a button."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

# after bpy, which brings it
import blf  # isort: skip

from motion_matching.app.database import build, status
from motion_matching.app.insight import postures
from motion_matching.app.sources import source_preview
from motion_matching.app.strip import state
from motion_matching.engine.progress import run_to_end
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.rig import armature, fitting
from motion_matching.scene.writing import bake
from tests.engine.stumbles import make_stumbling_runs
from tests.ui.characters import create_character, expect_refusal
from tests.ui.drawn import Button, Layout, draw_panels, override_region

ops = bpy.ops.motion_matching
ROW_WIDTH, FRAME_WIDTH = 236, 28  # of the sidebar as wide as it opens; of a button but for its text


class Rows(Layout):
    """A layout that keeps the texts of its buttons, by the row that they are drawn into."""

    def __init__(self, rows):
        self.rows, self.texts = rows, []
        rows.append(self.texts)

    def __getattr__(self, name):
        add = super().__getattr__(name)

        def keep(*given, **options):
            drawn = add(*given, **options)
            if isinstance(drawn, Button):
                self.texts.append(options.get("text", ""))
                return drawn
            return Rows(self.rows)

        return keep


@pytest.fixture
def obj():
    """A character whose runs stumble, with its database."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    clips, _ = make_stumbling_runs(fps=actions.get_scene_fps(bpy.context.scene))
    obj = armature.create_armature(clips[0].skeleton, "Hero")
    fitting.store_rest(obj, clips[0].skeleton)
    for clip in clips:
        bake.bake(clip, obj, name=clip.name).use_fake_user = True
    obj.animation_data.action = None
    bpy.context.view_layer.objects.active = obj
    ops.add_actions()
    assert ops.build() == {"FINISHED"}
    return obj


def list_moments(obj):
    return status.refresh(obj).odd.moments


def load(obj):
    return run_to_end(build.load_or_build_steps(obj))


def test_odd_postures_are_listed_by_the_frames_of_the_timeline(obj):
    _, stumbles = make_stumbling_runs(fps=24.0)
    moments = list_moments(obj)
    assert len(moments) == sum(map(len, stumbles.values()))
    for moment in moments:
        assert any(
            start + 1 <= moment.first < moment.last <= stop  # the first frame of an action is 1
            for start, stop in stumbles[moment.source]
        )
        assert moment.text.endswith((" while running", " while walking"))


def test_the_panel_is_drawn_with_and_without_odd_postures(obj):
    assert list_moments(obj)
    assert draw_panels() > 5
    ops.tag_odd_postures()
    assert not list_moments(obj)
    assert draw_panels() > 5


def test_the_texts_of_buttons_side_by_side_fit(obj):
    assert list_moments(obj)
    rows = []
    panel = bpy.types.MOTION_MATCHING_PT_odd_postures
    with override_region():
        panel.draw_settings(SimpleNamespace(layout=Rows(rows)), obj, obj.motion_matching)
    assert {"Exclude All", "Avoid All", "Play All"} <= {text for row in rows for text in row}
    blf.size(0, 11)
    for row in filter(any, rows):
        widest = max(blf.dimensions(0, text)[0] for text in row)
        assert len(row) * (widest + FRAME_WIDTH) <= ROW_WIDTH, row


def test_one_is_excluded_and_undone_in_one_step(obj):
    bpy.ops.ed.undo_push(message="before")
    moments = list_moments(obj)
    chosen = moments[0]
    frames = load(obj).frame_count
    assert ops.tag_odd_postures(source=chosen.source, frame=chosen.first) == {"FINISHED"}
    [tag] = obj.motion_matching.sources[chosen.source].tag_ranges
    assert (tag.kind, tag.frame_start, tag.frame_end) == ("no_use", chosen.first, chosen.last)
    assert status.refresh(obj).kind == "fresh", "no build is needed"
    database = load(obj)
    assert database.frame_count == frames
    length = chosen.last - chosen.first + 1
    assert (~database.playable).sum() == 2 * length, "and its mirror image"
    assert list_moments(obj) == moments[1:]
    place = {"source": chosen.source, "frame": chosen.first}
    expect_refusal(ops.tag_odd_postures, "no odd posture left", **place)
    bpy.ops.ed.undo_push(message="excluded")
    bpy.ops.ed.undo()
    again = bpy.data.objects["Hero"]
    assert not again.motion_matching.sources[chosen.source].tag_ranges
    assert list_moments(again) == moments


def test_all_are_avoided_by_a_cost_that_begins_before_them(obj):
    moments = list_moments(obj)
    assert ops.tag_odd_postures(kind="prefer") == {"FINISHED"}
    tags = [tag for source in obj.motion_matching.sources for tag in source.tag_ranges]
    assert len(tags) == len(moments)
    assert {(tag.kind, tag.bias) for tag in tags} == {("prefer", 10.0)}
    first = min(moments, key=lambda m: (m.source, m.first))
    tag = min(obj.motion_matching.sources[first.source].tag_ranges, key=lambda t: t.frame_start)
    assert tag.frame_start == first.first - first.lead
    assert 0.3 < first.lead / 24.0 < 0.45
    assert list_moments(obj) == ()
    database = load(obj)
    assert database.playable.all()
    assert database.bias.max() >= 10.0


def test_the_strip_tells_of_many_and_its_button_ends_that(obj):
    list_moments(obj)
    [warning] = state.get_warnings(obj, "insight")
    assert warning.text.startswith(f"Odd postures: {len(list_moments(obj))} in running (")
    assert [button.label for button in warning.buttons] == ["Exclude All", "Avoid All"]
    button = warning.buttons[0]
    assert button.operator == postures.TAG
    assert ops.tag_odd_postures(**dict(button.properties)) == {"FINISHED"}
    list_moments(obj)
    assert state.get_warnings(obj, "insight") == []


def test_a_button_previews_the_source_at_the_posture(obj):
    chosen = list_moments(obj)[-1]
    assert ops.go_to_posture(source=chosen.source, frame=chosen.first) == {"FINISHED"}
    _, source = source_preview.find_shown(obj)
    assert source.name == chosen.source
    assert bpy.context.scene.frame_current == chosen.first
    ops.stop_preview()
    said = expect_refusal(ops.go_to_posture, "no source 'gone'", source="gone", frame=1)
    assert "Traceback" not in said


def test_an_ordinary_database_has_none_and_no_warning():
    obj = create_character()
    ops.add_actions()
    assert ops.build() == {"FINISHED"}
    assert status.refresh(obj).odd == postures.NO_ODD_MOMENTS
    assert state.get_warnings(obj, "insight") == []
    expect_refusal(ops.tag_odd_postures, "no odd posture left")

"""Inspecting what is on screen, and what can be done with each candidate."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.insight import data_insight, inspector
from motion_matching.app.runtime import runtime
from motion_matching.app.sources import source_preview
from motion_matching.app.takes.take_actions import read_parts
from motion_matching.scene.blender.animation import actions
from motion_matching.ui.insight.panel import format_frame, format_verdict
from tests.ui.characters import create_character, expect_refusal

ops = bpy.ops.motion_matching


@pytest.fixture(autouse=True)
def obj():
    obj = create_character()
    ops.add_actions()
    obj.motion_matching.insight.inspect = "screen"
    return obj


def inspect_at(frame):
    bpy.context.scene.frame_set(frame)
    inspector.refresh()
    assert not runtime.inspector.problem, runtime.inspector.problem
    return runtime.inspector


def bake(obj, seconds=6.0):
    bpy.context.scene.frame_set(1)
    ops.bake_script(script="flips", seconds=seconds)
    take = obj.motion_matching.takes[obj.motion_matching.take_index].action
    actions.assign(obj, take)
    return take


def read_keys(action, obj, until):
    """Return the values of all curves at frames before `until`."""
    slot = actions.find_slot(action, obj)
    curves = actions.get_active_curves(action, slot)
    return {(c.data_path, c.array_index): [c.evaluate(f) for f in range(1, until)] for c in curves}


def test_the_button_inspects_what_is_on_screen_unless_something_else_was_chosen(obj):
    shown = obj.motion_matching.insight
    shown.property_unset("inspect")
    assert shown.inspect == "source", "as in files of earlier versions"
    take = bake(obj)
    ops.inspect_frame()
    assert runtime.inspector.subject == "source"
    inspector.prefer_screen(obj)  # as the button does, in a window
    assert shown.inspect == "screen"
    ops.inspect_frame()
    assert runtime.inspector.take.find() == take
    shown.inspect = "source"
    inspector.prefer_screen(obj)
    assert shown.inspect == "source"


def test_the_take_that_plays_is_inspected(obj):
    take = bake(obj)
    assert ops.inspect_frame() == {"FINISHED"}
    seen = inspect_at(30)
    assert seen.subject == "take"
    assert seen.take.find() == take
    assert seen.inspection.candidates
    assert seen.inspected.moment == (0, 30)
    # where something else is shown, that is said
    obj.animation_data.action = None
    inspector.refresh()
    assert "inspect again" in runtime.inspector.problem
    assert ops.inspect_frame() == {"FINISHED"}
    assert runtime.inspector.subject == "source"


@pytest.mark.slow
def test_a_take_goes_on_with_the_candidate_that_was_chosen(obj):
    take = bake(obj)
    ops.inspect_frame()
    seen = inspect_at(40)
    frames = seen.parts[0][1].take.frames.copy()
    candidates = [c for c in seen.inspection.candidates if c.frame != seen.inspection.chosen]
    chosen = next(c.frame for c in candidates if c.verdict.startswith("lost"))
    assert ops.use_candidate(frame=chosen) == {"FINISHED"}

    takes = obj.motion_matching.takes
    again = takes[obj.motion_matching.take_index].action
    assert again != take
    assert len(takes) == 2
    assert obj.animation_data.action == again
    assert bpy.context.scene.frame_current == 40
    [part] = read_parts(again)
    entered = [k for k, intent in enumerate(part.performance.intents) if intent.enter]
    assert entered == [40]

    # the inspector shows the new take: the same before, the chosen motion from there on
    now = runtime.inspector.parts[0][1].take
    assert runtime.inspector.take.find() == again
    assert np.array_equal(now.frames[:40], frames[:40])
    successor = seen.database.successors[chosen]
    assert now.frames[40] == successor
    assert now.jumped[40]
    before, after = read_keys(take, obj, 30), read_keys(again, obj, 30)
    for path, values in before.items():
        np.testing.assert_allclose(after[path], values, atol=0.02, err_msg=str(path))

    # baked again, it still goes that way
    ops.bake_again()
    last = takes[obj.motion_matching.take_index].action
    assert any(intent.enter for intent in read_parts(last)[0].performance.intents)


@pytest.mark.slow
def test_a_verdict_names_features_as_the_panel_does(obj):
    bake(obj)
    ops.inspect_frame()
    verdicts = [
        format_verdict(seen, weighed.verdict)
        for frame in range(2, 40)
        for seen in [inspect_at(frame)]
        for weighed in seen.inspection.candidates
    ]
    lost = [verdict for verdict in verdicts if "most by" in verdict]
    assert lost
    assert all("_" not in verdict for verdict in lost), lost[0]
    assert any("most by Path (" in verdict or "Foot Position (" in verdict for verdict in lost)


@pytest.mark.slow
def test_a_forbidden_frame_is_entered_no_more(obj):
    bake(obj)
    ops.inspect_frame()
    chosen, origin = next(
        (chosen, origin)
        for seen in map(inspect_at, range(2, 120))
        for chosen in [seen.inspection.chosen]
        for origin in [seen.database.get_frame_source(chosen)]
        if chosen != seen.inspected.frame and origin.frame >= 8  # with frames on both sides
    )
    assert ops.forbid_candidate(frame=chosen) == {"FINISHED"}
    source = next(s for s in obj.motion_matching.sources if s.action.name == origin.clip)
    [tag] = source.tag_ranges
    assert tag.kind == "no_entry"
    assert tag.frame_start <= origin.frame + 1 <= tag.frame_end
    assert tag.frame_end - tag.frame_start == 16
    assert status.refresh(obj).kind == "fresh", "no build is needed"
    assert "changed" in data_insight.explain_staleness(obj, runtime.inspector)
    ops.bake_again()
    actions.assign(obj, obj.motion_matching.takes[obj.motion_matching.take_index].action)
    ops.inspect_frame()
    now = runtime.inspector
    assert now.database.find_reserved("no_entry")[chosen]
    played = now.parts[0][1].take
    entered = played.frames[played.jumped]
    assert not now.database.find_reserved("no_entry")[entered - 1].any()


@pytest.mark.slow
def test_the_source_of_a_candidate_is_chosen_and_shown_at_its_frame(obj):
    bake(obj)
    ops.inspect_frame()
    seen = inspect_at(40)
    for candidate in seen.inspection.candidates:
        origin = seen.database.get_frame_source(candidate.frame)
        assert ops.go_to_candidate(frame=candidate.frame) == {"FINISHED"}
        where = bpy.context.scene.frame_current
        assert format_frame(seen, candidate.frame)[0] == f"Frame {where}", "as the panel says"
        preview, source = source_preview.find_shown(obj)
        assert source.action.name == origin.clip
        assert source == obj.motion_matching.sources[obj.motion_matching.source_index]
        assert preview.mirrored == origin.mirrored
        assert runtime.inspector.inspection == seen.inspection, "the list stays meanwhile"
        frame, _, _ = source_preview.find_bones(preview, source, bpy.context.scene.frame_current)
        assert round(frame) == origin.frame + 1, "the first frame of the action is 1"
        ops.stop_preview()
        assert bpy.context.scene.frame_current == 40
    said = expect_refusal(ops.go_to_candidate, "no frame 999999", frame=999_999)
    assert "Traceback" not in said


def test_another_action_is_compared_with_the_frames_like_its_pose(obj):
    """A copy of a source under another name: its frames are found again."""
    walk = bpy.data.actions["walk_curves"]
    copy = walk.copy()
    copy.name = "mine"
    actions.assign(obj, copy)
    bpy.context.scene.frame_set(60)
    assert ops.inspect_frame() == {"FINISHED"}
    for frame in (60, 97, 151):
        seen = inspect_at(frame)
        assert seen.subject == "pose"
        assert 1 < len(seen.similar) <= 5
        best = seen.database.get_frame_source(seen.similar[0][0])
        assert (best.clip, best.mirrored) == ("walk_curves", False)
        assert abs(best.frame - (frame - 1)) <= 1
        assert [cost for _, cost in seen.similar] == sorted(cost for _, cost in seen.similar)
        assert seen.strokes
    expect_refusal(ops.use_candidate, "poll()", "Inspect a frame of a take first")
    assert ops.forbid_candidate(frame=seen.similar[1][0]) == {"FINISHED"}
    assert runtime.inspector.similar
    assert not data_insight.explain_staleness(obj, runtime.inspector)

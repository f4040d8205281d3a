"""Spare motion: one button excludes what is hardly played, and undo brings it back."""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app.database import build, status
from motion_matching.engine.progress import run_to_end
from motion_matching.engine.takes import pruning
from motion_matching.ui.tags.operators import add_range
from tests.ui.characters import create_character, expect_refusal
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


@pytest.fixture
def obj(monkeypatch):
    """A character with a database of two clips; scripts are short, as it has few frames."""
    monkeypatch.setattr(pruning, "SECONDS", 5.0)
    obj = create_character(clips=("walk_curves", "run_curves"))
    ops.add_actions()
    assert ops.build() == {"FINISHED"}
    return obj


def list_ranges(obj):
    return {
        source.name: [(t.kind, t.frame_start, t.frame_end) for t in source.tag_ranges]
        for source in obj.motion_matching.sources
    }


def test_what_is_excluded_is_tagged_and_comes_back_with_undo(obj):
    frames = run_to_end(build.load_or_build_steps(obj)).playable.sum()
    bpy.ops.ed.undo_push(message="before")
    obj.motion_matching.insight.keep = 0.4
    assert ops.exclude_spare_motion() == {"FINISHED"}
    ranges = list_ranges(obj)
    assert all(kind == "no_use" for tags in ranges.values() for kind, *_ in tags)
    assert any(ranges.values())
    assert status.refresh(obj).kind == "fresh", "no build is needed"
    database = run_to_end(build.load_or_build_steps(obj))
    assert 0.35 < database.playable.sum() / frames < 0.5
    for name, tags in ranges.items():
        action = bpy.data.actions[name]
        first, last = action.frame_range
        assert all(first <= start <= end <= last for _, start, end in tags)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert not any(list_ranges(bpy.context.object).values())


def test_ranges_with_a_name_of_ones_own_stay(obj):
    source = obj.motion_matching.sources[0]
    add_range(source, "wave", "FREE", 20, 60)
    obj.motion_matching.insight.keep = 0.2
    assert ops.exclude_spare_motion() == {"FINISHED"}
    excluded = [(t.frame_start, t.frame_end) for t in source.tag_ranges if t.kind == "no_use"]
    assert excluded
    assert all(end < 20 or start > 60 for start, end in excluded)


def test_without_sources_it_says_what_to_do():
    create_character(clips=("walk_curves",))
    expect_refusal(ops.exclude_spare_motion, "to build from first")


def test_the_panel_is_drawn(obj):
    assert draw_panels() > 5

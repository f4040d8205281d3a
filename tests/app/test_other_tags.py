"""A change of tags updates the database at once: it stays fresh, and no source is read again."""

from __future__ import annotations

import os
import time
from dataclasses import fields
from pathlib import Path

import bpy
import numpy as np
import pytest

import motion_matching
from motion_matching.app.database import status
from motion_matching.app.database.build import load_or_build_steps
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.app.runtime import runtime
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.library import library
from tests.demo import generate_clips
from tests.ui.characters import create_character, expect_refusal

ops = bpy.ops.motion_matching
PART_OF_BUILD = 0.03  # what a change of tags takes: 0.1 s where a build takes some seconds


def create_mixed_character(folder: Path) -> bpy.types.Object:
    """A character whose sources are two actions, one of a part of its frames, and a file."""
    obj = create_character(clips=("walk_curves", "run_curves"))
    ops.add_actions()
    clip = next(clip for clip in generate_clips() if clip.name == "walk_starts_and_stops")
    bvh.save(clip, folder / "starts.bvh")
    ops.add_files(filepath=str(folder / "starts.bvh"))
    part = obj.motion_matching.sources[1]
    part.use_range, part.frame_start, part.frame_end = True, 31, 150
    return obj


def add_range(source, label, start, end, kind="FREE"):
    tag = source.tag_ranges.add()
    tag.name, tag.label, tag.kind, tag.frame_start, tag.frame_end = label, label, kind, start, end
    return tag


def load(obj):
    """Return the database as it is used, and what was done to get it."""
    steps, stages = load_or_build_steps(obj), []
    try:
        while True:
            stages.append(next(steps)[0])
    except StopIteration as done:
        return done.value, {stage.split()[0] for stage in stages}


def check_same(now, expected):
    for field in fields(expected):
        one, other = getattr(now, field.name), getattr(expected, field.name)
        if isinstance(other, np.ndarray):
            np.testing.assert_array_equal(one, other, err_msg=field.name)
        elif field.name != "skeleton":
            assert one == other, field.name


@pytest.mark.slow
def test_other_tags_leave_a_database_fresh_and_as_a_build_makes_it(tmp_path):
    obj = create_mixed_character(tmp_path)
    settings = obj.motion_matching
    first, part, file = settings.sources
    add_range(part, "no_use", 1, 40)
    assert ops.build() == {"FINISHED"}
    built = get_library().load(compute_key(obj))
    assert status.refresh(obj).tags == ()

    first.gait, file.tags = "walk", "calm, no_entry"
    add_range(first, "lean_left", 12, 60)
    add_range(first, "Prefer", 30, 45, "prefer").bias = -2.5
    add_range(part, "hurry", 60, 200)
    add_range(file, "late", 20, 41)
    part.tag_ranges[0].frame_end = 50
    known = status.refresh(obj)
    assert known.kind == "fresh"
    assert known.tags == ("calm", "hurry", "late", "lean_left", "lean_right", "walk")
    assert known.key == compute_key(obj)
    tagged, stages = load(obj)
    assert stages == {"Looking"}, "no source is read"
    assert settings.built_key == compute_key(obj)
    assert get_library().load(compute_key(obj)) is tagged
    assert tagged.poses is built.poses, "the motion is that of the file"

    # the next session finds it as well, and moved sources keep their own tags
    get_library().__init__(get_library().folder)
    settings.sources.move(0, 2)
    again, stages = load(obj)
    assert stages == {"Looking", "Loading"}, "no source is read"
    check_same(again, tagged)
    settings.sources.move(2, 0)

    # tags found from the motion are tags as well
    settings.auto_tags, settings.thresholds.run_speed = True, 2.4
    found, stages = load(obj)
    assert stages == {"Looking"}
    assert "turn_left" in found.tag_names

    # a build with the same tags gives the same, and replaces the file
    for now in (found, tagged):
        assert ops.build() == {"FINISHED"}
        expected = databases.load(get_library().get_path(compute_key(obj)))
        assert expected is not now
        check_same(now, expected)
        settings.auto_tags = False
    assert len(list(get_library().folder.glob("*.npz"))) == 1


@pytest.mark.slow
def test_tags_that_add_motion_or_cannot_be_used_are_told(tmp_path):
    obj = create_mixed_character(tmp_path)
    source = obj.motion_matching.sources[0]
    ops.build()
    tag = add_range(source, "mine", 300, 400)
    tag.frame_start, tag.frame_end = 9000, 9100
    assert status.refresh(obj).kind == "fresh"
    assert "'mine'" in status.refresh(obj).idle_tags[0].text
    assert "mine" not in obj.motion_matching.built_notes
    assert "mine" in load(obj)[0].tag_names
    tag.frame_start = 5
    assert not status.refresh(obj).idle_tags

    tag.label = ""
    known = status.refresh(obj)
    assert known.kind == "broken"
    assert "no name" in known.problem
    expect_refusal(ops.measure_coverage, "no name")
    tag.label = "mine"
    assert status.refresh(obj).kind == "fresh"

    tag.kind, tag.frame_start, tag.frame_end = "loop", 30, 90
    assert status.refresh(obj).kind == "stale", "its cycle is further motion"
    ops.build()
    add_range(source, "smooth", 40, 60)
    known = status.refresh(obj)
    assert (known.kind, known.tags) == ("fresh", ("smooth",))
    tagged, _ = load(obj)
    ops.build()
    check_same(tagged, databases.load(get_library().get_path(compute_key(obj))))


def test_a_new_build_is_seen_under_all_tags(tmp_path):
    obj = create_mixed_character(tmp_path)
    source = obj.motion_matching.sources[0]
    ops.build()
    plain = compute_key(obj)
    source.tags = "calm"
    load(obj)
    ops.map_poses()
    edition = runtime.statuses.editions[compute_key(obj)]
    source.tags = ""
    ops.build()
    source.tags = "calm"
    assert status.refresh(obj).kind == "fresh"
    assert runtime.statuses.editions[compute_key(obj)] == edition + 1
    assert get_library().find_base(plain) == plain


def test_files_of_other_tags_go_with_the_cache(tmp_path):
    obj = create_mixed_character(tmp_path)
    ops.build()
    obj.motion_matching.sources[0].tags = "calm"
    assert status.refresh(obj).kind == "fresh"
    assert ops.clear_cache() == {"FINISHED"}
    assert not list(get_library().folder.iterdir())
    assert status.refresh(obj).kind == "stale"
    motion_matching.unregister()
    motion_matching.register()
    assert status.refresh(obj).kind == "stale"


@pytest.mark.slow
@pytest.mark.skipif("MOTION_MATCHING_MOCAP" not in os.environ, reason="needs motion capture")
def test_other_tags_of_motion_capture_take_a_small_part_of_its_build():
    obj = create_character(clips=("walk_curves",))
    bpy.context.scene.render.fps = 30
    folder = Path(os.environ["MOTION_MATCHING_MOCAP"]) / "bandai-namco"
    for file in sorted(folder.glob("*.bvh")):  # with their mirror images
        source = obj.motion_matching.sources.add()
        source.name, source.kind, source.filepath = file.stem, "FILE", str(file)
    began = time.process_time()
    assert ops.build() == {"FINISHED"}
    building = time.process_time() - began
    assert get_library().load(compute_key(obj)).frame_count >= 50_000
    status.refresh(obj)
    sources, times = obj.motion_matching.sources, []
    for kind in ("FREE", "no_use", "prefer", "no_entry", "no_use"):
        for number in range(0, len(sources), 9):
            add_range(sources[number], "mine", 20, 60 + number, kind)
        began = time.process_time()
        assert status.refresh(obj).kind == "fresh"
        times.append(time.process_time() - began)
        began = time.process_time()
        tagged, stages = load(obj)
        assert stages == {"Looking"}
        times.append(time.process_time() - began)
    print("parts of the build:", [round(seconds / building, 4) for seconds in times])
    assert np.median(times) < PART_OF_BUILD * building
    assert (~tagged.playable).sum() > 2000


def refresh_soon(obj):
    """Compute the status as panels have it done after a change."""
    status.mark_stale()
    while obj.session_uid in runtime.statuses.stale:
        status._refresh_stale()
    return status.get_status(obj)


@pytest.fixture
def read_curves(monkeypatch):
    """The data path of every curve that is read for a key."""
    paths, encode = [], library._encode_curve

    def note(curve):
        paths.append(curve.data_path)
        return encode(curve)

    monkeypatch.setattr(library, "_encode_curve", note)
    return paths


def test_a_tag_reads_no_action_but_its_own_again(read_curves):
    obj = create_character(clips=("walk_curves", "run_curves", "idle"))
    ops.add_actions()
    ops.build()
    assert refresh_soon(obj).kind == "fresh"
    read_curves.clear()
    assert refresh_soon(obj).kind == "fresh"
    assert not read_curves
    source = obj.motion_matching.sources["run_curves"]
    source.tags = "calm"
    found = refresh_soon(obj)
    assert found.kind == "fresh"
    assert found.tags == ("calm",)
    curves = actions.get_active_curves(source.action, actions.find_slot(source.action, obj))
    assert len(read_curves) == len(curves)
    assert found.key == compute_key(obj), "as if all were read"


def test_an_action_that_changed_is_read_again(read_curves):
    obj = create_character(clips=("walk_curves", "run_curves"))
    ops.add_actions()
    ops.build()
    action = obj.motion_matching.sources["run_curves"].action
    actions.assign(obj, action)
    bpy.context.view_layer.update()
    assert refresh_soon(obj).kind == "fresh"
    curve = actions.get_active_curves(action, actions.find_slot(action, obj))[7]
    value = curve.keyframe_points[40].co.y
    curve.keyframe_points[40].co.y += 0.01
    bpy.context.view_layer.update()
    assert refresh_soon(obj).stale_reason == "Changed since the build: 'run_curves'"
    curve.keyframe_points[40].co.y = value
    bpy.context.view_layer.update()
    assert refresh_soon(obj).kind == "fresh"

    # what a script changes without Blender's knowledge counts when the database is loaded
    read_curves.clear()
    compute_key(obj)
    assert len({path for path in read_curves if "Head" in path}) > 0
    count = len(read_curves)
    compute_key(obj)
    assert len(read_curves) == 2 * count


@pytest.mark.slow
def test_other_tags_of_actions_take_a_small_part_of_their_build():
    bpy.context.scene.render.fps = 60
    ops.add_demo_performer()
    began = time.process_time()
    ops.build()
    building = time.process_time() - began
    obj = bpy.context.object
    assert refresh_soon(obj).frames >= 50_000
    source, times = obj.motion_matching.sources[3], {}
    for kind in ("FREE", "no_use", "prefer", "no_entry"):
        add_range(source, "mine", 20, 90, kind)
        began = time.process_time()
        assert refresh_soon(obj).kind == "fresh"
        times[kind] = time.process_time() - began
    for name, value in (("gait", "run"), ("tags", "calm, no_use")):
        setattr(source, name, value)
        began = time.process_time()
        assert refresh_soon(obj).kind == "fresh"
        times[name] = time.process_time() - began
    print("parts:", {kind: round(seconds / building, 4) for kind, seconds in times.items()})
    assert np.median(list(times.values())) < PART_OF_BUILD * building

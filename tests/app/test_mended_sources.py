"""Alien frames of sources are mended by a build, told by clip and frame, and can be kept."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.library import get_library
from motion_matching.app.strip import state, warnings
from motion_matching.engine.building.missing_motion import find_missing_motion
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.motion.clip import Clip
from motion_matching.scene.blender.animation.actions import get_channelbag
from tests.demo import generate_clips
from tests.ui.characters import create_character

ops = bpy.ops.motion_matching


@pytest.fixture
def clip() -> Clip:
    return next(c for c in generate_clips(fps=24) if c.name == "idle_and_turns_in_place")


def add_rest_pose(clip: Clip) -> Clip:
    """Return a clip with a T-pose at the origin as its first frame, as exporters write one."""
    rest = clip.skeleton.rest_positions[None], clip.skeleton.rest_rotations[None]
    positions = np.concatenate([np.float32(rest[0]), clip.positions])
    rotations = np.concatenate([np.float32(rest[1]), clip.rotations])
    return replace(clip, positions=positions, rotations=rotations)


@pytest.fixture
def performer(tmp_path, clip) -> bpy.types.Object:
    bvh.save(add_rest_pose(clip), tmp_path / "turns.bvh")
    obj = create_character()
    ops.add_files(filepath=str(tmp_path / "turns.bvh"))
    assert ops.build() == {"FINISHED"}
    status.refresh(obj)
    return obj


def list_kinds(obj: bpy.types.Object) -> list[str]:
    status.refresh(obj)
    return [item.kind for item in get_warnings(obj)]


def get_warnings(obj: bpy.types.Object) -> list[warnings.WarningItem]:
    """Return what is shown of sources; that these idles lack side steps is not about one."""
    items = state.get_warnings(obj, "database")
    return [item for item in items if item.kind != "side steps"]


def load(obj: bpy.types.Object) -> databases.Database:
    return get_library().load(status.get_status(obj).key)


def test_a_rest_pose_is_left_out_and_told_by_clip_and_frame(performer, clip):
    group = performer.motion_matching
    assert load(performer).ranges[0].first_source_frame == 1.0
    assert list_kinds(performer) == ["alien"]
    finding = status.find_finding(group.sources[0])
    assert "Frame 0 of 'turns'" in finding.reason
    assert "left out" in finding.reason


def test_the_panel_tells_of_missing_side_steps_as_a_build_does(performer, tmp_path):
    [item] = [one for one in state.get_warnings(performer, "database") if not one.about]
    [note] = find_missing_motion(load(performer))
    assert (item.kind, f"{item.text}.") == (note.kind, note.text) == ("side steps", note.text)
    assert [button.label for button in item.buttons] == ["Add Motion"]
    strafes = next(clip for clip in generate_clips(fps=24) if clip.name == "strafes")
    bvh.save(strafes, tmp_path / "strafes.bvh")
    ops.add_files(filepath=str(tmp_path / "strafes.bvh"))
    assert ops.build() == {"FINISHED"}
    status.refresh(performer)
    kinds = [one.kind for one in state.get_warnings(performer, "database")]
    assert "side steps" not in kinds


def test_a_button_keeps_the_frames_and_the_database_is_stale_then(performer):
    group = performer.motion_matching
    [item] = get_warnings(performer)
    [button] = [one for one in item.buttons if one.label == "Keep Frames"]
    assert ops.edit_named_sources(**dict(button.properties)) == {"FINISHED"}
    assert group.sources[0].keep_frames
    assert status.refresh(performer).kind == "stale"
    assert ops.build() == {"FINISHED"}
    status.refresh(performer)
    assert load(performer).ranges[0].first_source_frame == 0.0
    assert list_kinds(performer) == ["kept frames"]
    [item] = get_warnings(performer)
    assert "Frame 0 of 'turns'" in item.text
    [button] = [one for one in item.buttons if one.label == "Mend Frames"]
    assert ops.edit_named_sources(**dict(button.properties)) == {"FINISHED"}
    assert not group.sources[0].keep_frames
    assert status.refresh(performer).kind == "fresh"  # that of before is there still


def test_a_database_of_before_is_fresh_and_says_what_a_build_would_mend(performer):
    """It has the same key, holds the rest pose, and no word of having been examined."""
    group = performer.motion_matching
    key, own = status.get_status(performer).key, load(performer).range_sources
    group.sources[0].keep_frames = True
    assert ops.build() == {"FINISHED"}
    status.refresh(performer)
    kept = load(performer)
    group.sources[0].keep_frames = False
    sources = tuple(replace(one, key=own[0].key) for one in kept.range_sources)
    settings = {name: value for name, value in kept.settings.items() if name != "examined"}
    before = replace(kept, settings=settings, range_sources=sources)
    library = get_library()
    library.store(key, before)
    status.cache_database(key, library.load(key))
    group.built_notes = ""
    assert status.refresh(performer).kind == "fresh"
    [item] = get_warnings(performer)
    assert item.kind == "unmended"
    assert "Frame 0 of 'turns'" in item.text
    [button] = [one for one in item.buttons if one.label == "Build Again"]
    assert button.operator == "motion_matching.build"
    assert ops.build() == {"FINISHED"}
    assert list_kinds(performer) == ["alien"]


def test_frames_of_actions_are_told_as_in_the_timeline():
    obj = create_character()
    ops.add_actions()
    source, *others = obj.motion_matching.sources
    for other in others:
        other.enabled = False
    for curve in get_channelbag(source.action).fcurves:
        if curve.data_path.endswith("location"):
            curve.keyframe_points[0].co[1] += 1.0
    assert ops.build() == {"FINISHED"}
    status.refresh(obj)
    first = round(source.action.frame_range[0])
    assert f"Frame {first} of" in status.find_finding(source).reason

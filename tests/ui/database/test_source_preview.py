"""The preview of a source: its motion over the character, as the timeline goes."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import numpy as np
import pytest

import motion_matching
from motion_matching.app.runtime import runtime
from motion_matching.app.sources import source_preview
from motion_matching.app.takes import requested_tags
from motion_matching.engine.bvh import bvh
from motion_matching.scene.blender.animation import actions
from motion_matching.ui.database import preview_drawing
from motion_matching.ui.tags import drawing as tags_drawing
from tests.demo import generate_clips
from tests.ui.characters import create_character, expect_refusal, read_state

ops = bpy.ops.motion_matching
FPS = 24


@pytest.fixture
def obj(tmp_path):
    """A character that plays one of its two actions; a file at twice the rate is its third."""
    obj = create_character(clips=("walk_curves", "run_curves"))
    ops.add_actions(mirror=False)
    clip = next(c for c in generate_clips(fps=2.0 * FPS) if c.name == "walk_starts_and_stops")
    bvh.save(clip, tmp_path / "starts.bvh")
    ops.add_files(filepath=str(tmp_path / "starts.bvh"))
    obj.location, obj.rotation_euler = (2.0, 1.0, 0.5), (0.0, 0.0, 0.7)
    actions.assign(obj, obj.motion_matching.sources[0].action)
    bpy.context.scene.frame_set(7)
    return obj


def choose(obj, name):
    sources = obj.motion_matching.sources
    index = next(i for i, s in enumerate(sources) if (s.action or s).name == name)
    obj.motion_matching.source_index = index
    return sources[index]


def get_bones(obj):
    """Return the frame of the source that is shown, and its bones (B, 2, 3)."""
    preview, source = source_preview.find_shown(obj)
    frame, bones, _ = source_preview.find_bones(preview, source, bpy.context.scene.frame_current)
    return frame, bones, preview


def read_pose(obj):
    return [tuple(round(v, 6) for row in bone.matrix for v in row) for bone in obj.pose.bones]


def test_an_action_is_seen_where_it_would_play_and_nothing_changes(obj):
    scene = bpy.context.scene
    run = choose(obj, "walk_curves")
    before, pose = read_state(), read_pose(obj)
    assert ops.preview_source() == {"FINISHED"}
    assert read_state() == before
    assert read_pose(obj) == pose

    expected = {}
    for number in (7, 40):
        scene.frame_set(number)
        expected[number] = get_bones(obj)
    own = obj.animation_data.action
    assert own != run.action
    actions.assign(obj, run.action)
    for number, (shown, bones, preview) in expected.items():
        scene.frame_set(number)
        assert shown == number
        names = [obj.pose.bones[k].name for k in range(len(obj.pose.bones))]
        heads = {n: np.array(obj.matrix_world @ obj.pose.bones[n].head) for n in names}
        clip_names = list(heads)
        seen = preview.body.interpolate(number - preview.first)
        assert len(bones) == len(preview.body.parents) - 1 - preview.body.hips
        known = np.array(list(heads.values()))
        # every bone of the character is where the skeleton has a joint
        gaps = np.linalg.norm(known[:, None] - seen[None], axis=-1).min(axis=1)
        assert gaps.max() < 1e-4, clip_names[int(gaps.argmax())]
    actions.assign(obj, own)

    # pressing again stops, and goes back to the frame before
    scene.frame_set(50)
    assert ops.preview_source() == {"FINISHED"}
    assert runtime.source_preview is None
    assert read_state() == before
    expect_refusal(ops.stop_preview, "poll()", "Preview a source first")


def test_a_file_goes_by_its_rate_speed_and_range_from_where_the_character_stands(obj):
    scene, source = bpy.context.scene, choose(obj, "starts")
    actions_before = len(bpy.data.actions)
    ops.preview_source()
    scene.frame_set(0)
    frame, _, preview = get_bones(obj)
    assert frame == 0
    assert len(bpy.data.actions) == actions_before, "nothing is imported"
    np.testing.assert_allclose(
        preview.body.interpolate(0 - preview.first)[preview.body.hips, :2],
        obj.location[:2],
        atol=1e-5,
    )
    assert 0.4 < preview.body.positions[..., 2].min() < 0.6, "it stands on the character's ground"
    clip = bvh.load(source.filepath)
    span = np.ptp(clip.compute_world()[1], axis=0)
    assert abs(np.ptp(preview.body.positions, axis=0)[:, 2] - span[:, 2]).max() < 1e-4

    scene.frame_set(30)
    assert get_bones(obj)[0] == 60, "twice as many frames pass"
    source.speed = 1.5
    assert get_bones(obj)[0] == 90
    source.use_range, source.frame_start, source.frame_end = True, 20, 100
    assert get_bones(obj)[0] == 20 + (30 - 20) * 3
    scene.frame_set(5)
    assert get_bones(obj)[0] == 20
    assert "from 20 to 47" in preview_drawing.describe_frame(*source_preview.find_shown(obj))
    scene.frame_set(500)
    assert get_bones(obj)[0] == 100
    source.loop = True
    assert 20 <= get_bones(obj)[0] < 100
    assert ops.stop_preview() == {"FINISHED"}
    assert scene.frame_current == 7


def test_a_preview_begins_at_the_start_of_a_source_that_the_current_frame_is_not_in(obj):
    scene, source = bpy.context.scene, choose(obj, "starts")
    source.use_range, source.frame_start, source.frame_end = True, 20, 100
    scene.frame_set(3000)
    ops.preview_source()
    assert (scene.frame_current, get_bones(obj)[0]) == (20, 20)
    ops.stop_preview()
    assert scene.frame_current == 3000
    scene.frame_set(30)
    ops.preview_source()
    assert scene.frame_current == 30


def test_tags_are_set_and_drawn_at_the_frames_that_are_seen(obj):
    scene, source = bpy.context.scene, choose(obj, "starts")
    ops.preview_source()
    scene.frame_set(30)
    assert ops.add_tag(label="go") == {"FINISHED"}
    [tag] = source.tag_ranges
    assert tag.frame_start == 60
    scene.frame_set(45)
    ops.tag_at_playhead(end=True)
    assert (tag.frame_start, tag.frame_end) == (60, 90)
    assert source_preview.to_timeline_frame(source, 60) == 30
    # another source is tagged at its own frames
    assert source_preview.to_source_frame(obj.motion_matching.sources[0], 30) == 30

    # the editors show the ranges of what is previewed, whatever plays
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    area.type = "DOPESHEET_EDITOR"
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region, object=obj):
        assert tags_drawing.get_shown_source(bpy.context) == source
        ops.stop_preview()
        assert tags_drawing.get_shown_source(bpy.context) != source


def test_the_mirror_image_is_seen_from_the_same_place(obj):
    choose(obj, "run_curves")
    ops.preview_source()
    plain = runtime.source_preview.body.positions
    ops.preview_source(mirrored=True)
    assert runtime.source_preview.mirrored
    mirrored = runtime.source_preview.body.positions
    assert not np.allclose(plain, mirrored, atol=0.1)
    hips = runtime.source_preview.body.hips
    np.testing.assert_allclose(plain[0, hips], mirrored[0, hips], atol=1e-3)
    moved = [track[:, hips] - track[0, hips] for track in (plain, mirrored)]
    np.testing.assert_allclose(moved[0] * [-1, 1, 1], moved[1], atol=1e-3)
    ops.preview_source(mirrored=True)
    assert runtime.source_preview is None


def test_it_ends_with_its_source_another_choice_a_file_and_the_extension(obj, tmp_path):
    settings = obj.motion_matching
    file = choose(obj, "starts")
    ops.preview_source()
    settings.source_index = 0
    assert runtime.source_preview is None
    assert bpy.context.scene.frame_current == 7

    choose(obj, "starts")
    ops.preview_source()
    file.filepath = "/somewhere/else.bvh"
    assert runtime.source_preview is None, "it reads something else now"
    expect_refusal(ops.preview_source, "starts", "does not exist")
    choose(obj, "run_curves")
    ops.preview_source()
    ops.remove_source()
    assert runtime.source_preview is None

    ops.preview_source()
    path = str(tmp_path / "while.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    assert runtime.source_preview is not None
    held = {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "actions", "meshes")}
    bpy.ops.wm.open_mainfile(filepath=path)
    assert runtime.source_preview is None
    assert held == {kind: len(getattr(bpy.data, kind)) for kind in held}
    obj = bpy.data.objects["Hero"]
    assert obj.animation_data.action is not None
    ops.preview_source()
    assert runtime.source_preview is not None
    bpy.data.objects.remove(obj)
    assert source_preview.find_shown(None) is None
    motion_matching.unregister()
    assert runtime.source_preview is None
    assert not preview_drawing.overlay.is_on


def test_undo_takes_a_preview_only_with_its_source(obj):
    choose(obj, "run_curves")
    bpy.ops.ed.undo_push(message="before")
    ops.preview_source()
    obj.location.x += 1.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    assert source_preview.find_shown(obj) is not None
    ops.stop_preview()

    bpy.ops.ed.undo_push(message="before adding")
    added = obj.motion_matching.sources.add()
    added.name, added.action = "again", bpy.data.actions["walk_curves"]
    obj.motion_matching.source_index = len(obj.motion_matching.sources) - 1
    bpy.ops.ed.undo_push(message="added")
    ops.preview_source()
    bpy.ops.ed.undo()
    assert source_preview.find_shown(bpy.data.objects["Hero"]) is None
    assert runtime.source_preview is None


def test_a_take_shows_the_tags_that_it_requested(obj):
    choose(obj, "walk_curves").tags = "calm"
    ops.bake_script(script="square", seconds=4.0, gait="walk", tags="calm")
    take = obj.motion_matching.takes[0].action
    first, last = take.frame_range
    [band] = requested_tags.read_requested_tags(take)
    assert band == ("calm", round(first), round(last))
    assert requested_tags.read_requested_tags(bpy.data.actions["walk_curves"]) == ()


@pytest.mark.slow
@pytest.mark.skipif("MOTION_MATCHING_MOCAP" not in os.environ, reason="needs motion capture")
@pytest.mark.parametrize(
    "name", ["lafan1/push1_subject2.bvh", "bandai-namco/dataset-2_run_normal_001.bvh"]
)
def test_motion_capture_is_seen_before_it_is_imported(obj, name):
    file = Path(os.environ["MOTION_MATCHING_MOCAP"]) / name
    ops.add_files(filepath=str(file))
    choose(obj, file.stem)
    assert ops.preview_source() == {"FINISHED"}
    bpy.context.scene.frame_set(24)
    _, bones, preview = get_bones(obj)
    assert (np.ptp(bones.reshape(-1, 3), axis=0) < 2.2).all(), "only the body is drawn"
    assert np.ptp(bones.reshape(-1, 3)[:, 2]) > 1.2
    assert (
        np.linalg.norm(
            preview.body.interpolate(0 - preview.first)[preview.body.hips, :2] - obj.location[:2]
        )
        < 1e-4
    )
    assert preview.body.positions[..., 2].min() > 0.5 - 0.3
    assert ops.preview_source(mirrored=True) == {"FINISHED"}

"""The simulation bone edited by hand: an empty whose path is built from, saved, and missed when
lost.
"""

from __future__ import annotations

import math
import pathlib

import bpy
import numpy as np
import pytest

from motion_matching.app.character.characters import get_active_armature
from motion_matching.app.database import status
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.app.strip.warnings import describe_notes
from motion_matching.engine.bvh import bvh
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing import bake
from tests.demo import generate_clips
from tests.ui.characters import create_character, expect_refusal

ops = bpy.ops.motion_matching


def build_database(obj):
    assert ops.build() == {"FINISHED"}
    return get_library().load(compute_key(obj))


def get_rows(built, name):
    k = [r.clip for r in built.ranges].index(name)
    return slice(int(built.starts[k]), int(built.stops[k]))


@pytest.fixture(autouse=True)
def obj():
    return create_character()


@pytest.mark.slow
def test_a_path_edited_by_hand_replaces_the_computed_one(obj):
    settings = obj.motion_matching

    expect_refusal(ops.edit_path, "Add actions or files")
    ops.add_actions()
    names = [source.action.name for source in settings.sources]
    settings.source_index = names.index("walk_curves")
    source = settings.sources[settings.source_index]
    computed, key = build_database(obj), compute_key(obj)
    expect_refusal(ops.computed_path, "already has its computed path")
    expect_refusal(ops.select_path, "by hand first")
    obj.rotation_euler.z = 0.0

    assert ops.edit_path(fewer_keys=0.0) == {"FINISHED"}
    path = source.path
    assert source.use_path
    assert path.name == "walk_curves Path"
    assert path.type == "EMPTY"
    assert path.users_scene
    assert bpy.context.object == obj
    assert obj.select_get(), "the selection stays"
    expect_refusal(ops.edit_path, "computed one first")
    assert status.refresh(obj).kind == "stale"

    # unedited, it equals the computed path
    again = build_database(obj)
    assert np.abs(again.track - computed.track).max() < 1e-4
    assert np.abs(again.poses - computed.poses).max() < 1e-4
    assert np.abs(again.features - computed.features).max() < 5e-4, np.abs(
        again.features - computed.features
    ).max()

    # the empty moves with the character
    obj.animation_data_create()
    actions.assign(obj, source.action)
    for frame in (1, 60, 150):
        bpy.context.scene.frame_set(frame)
        x, y, yaw = again.track[get_rows(again, "walk_curves")][frame - 1]
        hips = obj.matrix_world @ obj.pose.bones["Hips"].head
        assert (path.matrix_world.translation.xy - hips.xy).length < 0.3
        assert abs(path.matrix_world.translation.x - x) < 1e-4
        assert abs(path.matrix_world.translation.y - y) < 1e-4
        faced = -path.matrix_world.col[1]
        assert math.hypot(faced.x - math.sin(yaw), faced.y + math.cos(yaw)) < 1e-4
    bpy.context.scene.frame_set(1)
    obj.animation_data.action = None

    # an edit changes its frame, also in the mirror image
    curves = {(c.data_path, c.array_index): c for c in actions.get_assigned_curves(path)}
    assert sorted(curves) == [("location", 0), ("location", 1), ("rotation_euler", 2)]
    curves["location", 0].keyframe_points[99].co.y += 0.25
    curves["rotation_euler", 2].keyframe_points[99].co.y += 0.5
    assert compute_key(obj) != key
    edited = build_database(obj)
    there = get_rows(edited, "walk_curves")
    moved = edited.track - computed.track
    assert np.allclose(moved[there.start + 99], [0.25, 0.0, 0.5], atol=1e-4), moved[
        there.start + 99
    ]
    moved[there.start + 99] = 0.0
    half = len(moved) // 2
    assert np.allclose(moved[half + there.start + 99], [-0.25, 0.0, -0.5], atol=1e-4)
    moved[half + there.start + 99] = 0.0
    assert np.abs(moved).max() < 1e-4
    # the character's motion in the world stays, relative to another path
    assert np.abs(edited.features - computed.features).max() > 0.01

    # values between the keys of smooth curves count too
    for curve in curves.values():
        for point in curve.keyframe_points:
            point.interpolation = "BEZIER"
        curve.update()
    for k in range(120, 90, -1):
        for curve in curves.values():
            curve.keyframe_points.remove(curve.keyframe_points[k])
    smooth = build_database(obj)
    assert (
        np.abs(np.diff(smooth.track[there], 2, axis=0)).max()
        < np.abs(np.diff(edited.track[there], 2, axis=0)).max()
    )

    # after saving and reopening it is the same database
    after = compute_key(obj)
    file = bpy.app.tempdir + "path.blend"
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    obj = bpy.data.objects["Hero"]
    settings = obj.motion_matching
    source = settings.sources[settings.source_index]
    assert source.use_path
    assert source.path.name == "walk_curves Path"
    assert compute_key(obj) == after

    # its keys must cover the source's frames
    source.use_range, source.frame_start, source.frame_end = True, 20, 2000
    expect_refusal(ops.build, "walk_curves Path", "20 to 2000", "both ends")
    source.use_range = False

    # back to computed: the empty and its action are removed, and the earlier database is found
    blocks = len(bpy.data.actions), len(bpy.data.objects)
    assert ops.select_path() == {"FINISHED"}
    assert bpy.context.object == source.path
    assert ops.computed_path() == {"FINISHED"}
    assert bpy.context.object == obj
    assert not source.use_path
    assert source.path is None
    assert (len(bpy.data.actions), len(bpy.data.objects)) == (blocks[0] - 1, blocks[1] - 1)
    assert compute_key(obj) == key


@pytest.mark.slow
def test_a_lost_path_is_reported_and_undo_restores_it(obj):
    settings = obj.motion_matching

    bpy.context.preferences.edit.use_global_undo = True
    bpy.context.preferences.edit.undo_steps = 32
    ops.add_actions()
    settings.source_index = 1
    assert settings.sources[1].action.name
    bpy.ops.ed.undo_push(message="start")
    ops.edit_path()
    bpy.ops.ed.undo_push(message="by hand")
    before = compute_key(obj)

    # deleted by the user
    path = settings.sources[1].path
    for other in bpy.context.selected_objects:
        other.select_set(False)
    path.select_set(True)
    bpy.context.view_layer.objects.active = path
    assert get_active_armature(bpy.context) == obj, "the panels stay while the empty is edited"
    bpy.ops.object.delete()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.ed.undo_push(message="deleted")
    assert ops.build() == {"FINISHED"}
    [item] = describe_notes(settings.built_notes)
    assert item.about == (settings.sources[1].name,)
    assert "lost its hand-edited path" in item.text
    # other sources can still be edited, before and after it
    for k in (0, 2):
        settings.source_index = k
        ops.edit_path()
        assert settings.sources[k].path.name == f"{settings.sources[k].action.name} Path"
        last = settings.sources[k].action.frame_range[1]
        assert settings.sources[k].path.animation_data.action.frame_range[1] == last
    settings.source_index = 1
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    settings = obj.motion_matching
    assert compute_key(obj) == before
    assert settings.sources[1].path.users_scene
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    settings = obj.motion_matching
    assert not settings.sources[1].use_path
    assert settings.sources[1].path is None
    assert not [o for o in bpy.data.objects if o.type == "EMPTY"]
    # removed from the file
    ops.edit_path()
    path = settings.sources[1].path
    path.animation_data.action = None
    expect_refusal(ops.build, path.name, "no keys")
    bpy.data.objects.remove(path)
    ops.build()
    [item] = describe_notes(settings.built_notes)
    assert "lost its hand-edited path" in item.text
    assert not ops.select_path.poll()
    assert ops.computed_path() == {"FINISHED"}
    assert ops.build() == {"FINISHED"}

    # other influences on it are reported
    computed = build_database(obj)
    ops.edit_path()
    path = settings.sources[1].path
    path.constraints.new("COPY_LOCATION")
    expect_refusal(ops.build, path.name, "Bake Action")
    path.constraints.clear()
    thin = {c.data_path: len(c.keyframe_points) for c in actions.get_assigned_curves(path)}
    assert thin["location"] < 0.3 * settings.sources[1].action.frame_range[1], thin
    away = build_database(obj).track[:, :2] - computed.track[:, :2]
    assert np.linalg.norm(away, axis=1).max() < 0.011
    # a source that is switched off cannot be edited
    settings.source_index = 0
    settings.sources[0].enabled = False
    expect_refusal(ops.edit_path, "Switch on this source")


@pytest.mark.slow
def test_a_path_moves_with_its_armature_and_works_for_files(obj):
    settings = obj.motion_matching

    # a rotated, small armature elsewhere, whose action moves only its bones
    clip = next(clip for clip in generate_clips(fps=24) if clip.name == "walk_curves")
    made = bake.bake(clip, obj, name="hips", root=RootTarget.HIPS)
    obj.animation_data.action = None
    for bone in obj.pose.bones:
        bone.matrix_basis.identity()
    for action in [a for a in bpy.data.actions if a != made]:
        bpy.data.actions.remove(action)
    obj.location, obj.rotation_euler, obj.scale = (2.0, -1.0, 0.0), (0.0, 0.0, 0.7), (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    ops.add_actions(which="ALL")
    assert [s.action.name for s in settings.sources] == ["hips"]
    assert not actions.moves_object(made, obj)
    computed = build_database(obj)
    ops.edit_path(fewer_keys=0.0)
    path = settings.sources[0].path
    assert path.parent == obj
    again, key = build_database(obj), compute_key(obj)
    assert np.abs(again.track - computed.track).max() < 1e-4 * (1 + np.abs(computed.track).max()), (
        "turned and scaled"
    )

    # path and clip move with the armature, so the database stays the same
    obj.location, obj.rotation_euler.z = (-4.0, 3.0, 0.0), -1.2
    bpy.context.view_layer.update()
    assert compute_key(obj) == key
    moved = build_database(obj)
    assert np.abs(moved.features - again.features).max() < 2e-3, np.abs(
        moved.features - again.features
    ).max()
    assert np.abs(moved.track - again.track).max() > 1.0
    # a copy has the path relative to itself
    twin = obj.copy()
    bpy.context.collection.objects.link(twin)
    twin.location = (9.0, 9.0, 0.0)
    bpy.context.view_layer.update()
    assert compute_key(twin) == key

    # a motion capture file counts frames from zero, as its range does
    settings.sources.clear()
    bpy.data.objects.remove(path)
    file = pathlib.Path(bpy.app.tempdir) / "walk.bvh"
    bvh.save(clip, file)
    obj.location, obj.rotation_euler, obj.scale = (0, 0, 0), (0, 0, 0), (1, 1, 1)
    for ranged in (False, True):
        settings.sources.clear()
        ops.add_files(filepath=str(file), mirror=False)
        source = settings.sources[0]
        source.use_range, source.frame_start, source.frame_end = ranged, 30, 160
        computed = build_database(obj)
        ops.edit_path(fewer_keys=0.0)
        assert source.path.animation_data.action.frame_range[0] == (30 if ranged else 0)
        again = build_database(obj)
        assert again.track.shape == computed.track.shape
        assert np.abs(again.track - computed.track).max() < 1e-4
        assert len([r.clip for r in again.ranges]) == 1
        assert again.ranges[0].clip == "walk"
        ops.computed_path()


def test_the_path_of_an_overridden_character_can_be_edited(obj):
    # a character from another file, as an override of its collection
    together = bpy.data.collections.new("Cast")
    bpy.context.scene.collection.children.link(together)
    bpy.context.scene.collection.objects.unlink(obj)
    together.objects.link(obj)
    ops.add_actions()
    file = bpy.app.tempdir + "cast.blend"
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(file, link=True) as (_there, wanted):
        wanted.collections = ["Cast"]
    wanted.collections[0].override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, do_fully_editable=True
    )
    obj = next(one for one in bpy.data.objects if one.override_library)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    settings = obj.motion_matching
    assert ops.edit_path() == {"FINISHED"}
    path = settings.sources[settings.source_index].path
    assert path.users_collection == (bpy.context.scene.collection,)
    assert ops.build() == {"FINISHED"}
    assert not settings.built_notes


def edit_walk_by_hand(obj):
    ops.add_actions()
    assert ops.edit_path() == {"FINISHED"}
    return obj.motion_matching.sources[obj.motion_matching.source_index]


def list_names(kind):
    return {block.name for block in getattr(bpy.data, kind)}


@pytest.mark.parametrize("keeps", [True, False])
def test_back_to_computed_keeps_an_action_of_the_users(obj, keeps):
    source = edit_walk_by_hand(obj)
    mine = bpy.data.actions.new("Mine")
    mine.use_fake_user = keeps
    made, source.path.animation_data.action = source.path.animation_data.action.name, mine
    path = source.path.name
    assert ops.computed_path() == {"FINISHED"}
    assert path not in list_names("objects")
    assert made not in list_names("actions")
    assert "Mine" in list_names("actions")
    assert mine.use_fake_user, "saving would drop it"


@pytest.mark.parametrize("use", ["shield", "user"])
def test_back_to_computed_keeps_what_it_made_if_that_is_used(obj, use):
    source = edit_walk_by_hand(obj)
    made, path = source.path.animation_data.action, source.path.name
    other = bpy.data.objects.new("Other", None)
    if use == "shield":
        made.use_fake_user = True
    else:
        other.animation_data_create().action = made
    assert ops.computed_path() == {"FINISHED"}
    assert path not in list_names("objects")
    assert made.name in list_names("actions")


def test_back_to_computed_keeps_an_object_of_the_users(obj):
    ops.add_actions()
    source = obj.motion_matching.sources[obj.motion_matching.source_index]
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    empty = bpy.data.objects.new("Mine", None)
    for mine in (camera, empty):
        bpy.context.scene.collection.objects.link(mine)
        source.path, source.use_path = mine, True
        assert ops.computed_path() == {"FINISHED"}
        assert not source.use_path
        assert source.path is None
        assert mine.name in list_names("objects")

    # an empty that was made here, on which something of the user's hangs
    assert ops.edit_path() == {"FINISHED"}
    path = source.path.name
    camera.parent = source.path
    assert ops.computed_path() == {"FINISHED"}
    assert path in list_names("objects")
    assert camera.parent.name == path

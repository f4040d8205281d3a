"""Many sources at once: search, edits of all listed, folders, other Blender files, FBX and glTF."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.build import load_or_build_steps
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.app.insight import data_insight
from motion_matching.app.runtime import runtime
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.scene.reading.sampling import sample
from motion_matching.ui.database import operators_import
from motion_matching.ui.database.operators_sources import find_shown_indices, get_shown_indices
from tests.demo import generate_clips
from tests.ui.characters import add_character, create_character, expect_refusal, read_state


def test_actions_of_a_character_that_rests_otherwise_are_not_added():
    """Their keys are turns from another rest pose: on this armature they would break the body."""
    ops, other = bpy.ops.motion_matching, create_character()
    ops.add_actions()
    twin, bent = other.copy(), other.copy()
    bent.data = other.data.copy()
    for obj, name in ((twin, "Twin"), (bent, "Bent")):
        bpy.context.collection.objects.link(obj)
        obj.name = name
        obj.motion_matching.sources.clear()
        obj.animation_data_clear()
    bpy.context.view_layer.objects.active = bent
    bpy.ops.object.mode_set(mode="EDIT")
    bone = bent.data.edit_bones["LeftArm"]
    bone.roll += 1.0
    bpy.ops.object.mode_set(mode="OBJECT")
    expect_refusal(ops.add_actions, f"'{other.name}'", "another rest pose")
    bpy.context.view_layer.objects.active = twin
    assert ops.add_actions() == {"FINISHED"}
    assert len(twin.motion_matching.sources) == len(other.motion_matching.sources)

    # what it plays itself is its own
    bpy.context.view_layer.objects.active = bent
    bent.animation_data_create().action = other.motion_matching.sources[0].action
    assert ops.add_actions() == {"FINISHED"}
    assert [source.name for source in bent.motion_matching.sources] == [
        other.motion_matching.sources[0].name
    ]


def test_all_listed_sources_are_edited_at_once():
    ops, obj = bpy.ops.motion_matching, create_character()
    settings = obj.motion_matching
    assert not ops.edit_sources.poll()
    assert not ops.remove_sources.poll()
    ops.add_actions()
    names = [source.name for source in settings.sources]
    assert names == ["run_curves", "walk_curves", "walk_starts_and_stops"]
    assert find_shown_indices(settings) == [0, 1, 2]

    # words in any order and case match names, gaits and tags
    settings.search = "CURVES walk"
    assert find_shown_indices(settings) == [1]
    settings.search = "walk"
    ops.edit_sources(edit="off")
    ops.edit_sources(edit="no_mirror")
    assert [source.enabled for source in settings.sources] == [True, False, False]
    assert [source.mirror for source in settings.sources] == [True, False, False]
    settings.search = "nothing of that name"
    assert not ops.edit_sources.poll()
    assert not ops.remove_sources.poll()

    # copy the active source's values to all
    settings.search, settings.source_index = "", 1
    active = settings.sources[1]
    active.speed, active.gait, active.tags = 1.2, "walk", "tired, limp"
    active.use_range, active.frame_start, active.frame_end = True, 20, 90
    for edit in ("speed", "gait", "tags", "range"):
        assert ops.edit_sources(edit=edit) == {"FINISHED"}
    assert all(
        (s.gait, s.tags, s.use_range, s.frame_start, s.frame_end)
        == ("walk", "tired, limp", True, 20, 90)
        and abs(s.speed - 1.2) < 1e-6
        for s in settings.sources
    )
    settings.search = "limp"
    assert len(find_shown_indices(settings)) == 3
    ops.edit_sources(edit="whole")
    ops.edit_sources(edit="on")
    assert all(s.enabled and not s.use_range for s in settings.sources)
    for edit, loops in (("loop", True), ("no_loop", False)):
        ops.edit_sources(edit=edit)
        assert all(s.loop == loops for s in settings.sources)
    settings.search = "run"
    assert ops.remove_sources() == {"FINISHED"}
    assert [source.name for source in settings.sources] == names[1:]
    assert len(bpy.data.actions) == 3

    # the filtered list is cached, and updated after every relevant change
    settings.search = "walk"
    assert (
        get_shown_indices(settings)
        == find_shown_indices(settings)
        == [
            0,
            1,
        ]
    )
    assert get_shown_indices(settings) is get_shown_indices(settings)

    def get_checked_indices():
        assert get_shown_indices(settings) == find_shown_indices(settings)
        return get_shown_indices(settings)

    settings.sources[0].action.name = "stroll"
    settings.sources[0].gait = "none"
    assert get_checked_indices() == [1]
    settings.sources[0].tags = "like a walk"
    assert get_checked_indices() == [0, 1]
    settings.sources[1].action.name = "stroll too"
    settings.sources[1].gait = "none"
    assert get_checked_indices() == [0]
    settings.sources[0].name, settings.search = "lost", "lost"
    assert get_checked_indices() == []
    bpy.data.actions.remove(settings.sources[0].action)
    assert get_checked_indices() == [0]
    settings.sources[0].name = "found"
    assert get_checked_indices() == []
    settings.search = "stroll"
    ops.add_actions()
    assert len(get_checked_indices()) == 1
    settings.source_index = 1
    ops.remove_source()
    assert get_checked_indices() == []
    add_character("Second", clips=("run_curves",))
    assert get_shown_indices(bpy.context.object.motion_matching) == []
    assert get_checked_indices() == []


def test_a_file_that_changes_during_a_build_is_reported(tmp_path):
    ops, folder = bpy.ops.motion_matching, tmp_path
    clips = {clip.name: clip for clip in generate_clips(fps=30.0)}
    file = folder / "walk.bvh"
    bvh.save(clips["run_curves"], folder / "run.bvh")
    bvh.save(clips["walk_curves"], file)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ops.add_files(directory=str(folder), files=[{"name": "run.bvh"}, {"name": "walk.bvh"}])
    obj = bpy.context.object
    settings = obj.motion_matching

    def check_refused_when(change, *words):
        """Change a file between the last check of the sources and their loading; the build must
        report it.
        """

        def build_and_change():
            looks = 0
            for text, _ in load_or_build_steps(obj):
                looks += text == "Looking at sources"
                if looks == 2 * len(settings.sources):
                    change()
                    looks += 1

        with pytest.raises(
            MotionMatchingError
        ) as caught:  # the file's content differs from the checked one
            build_and_change()
        assert all(word in str(caught.value) for word in words), caught.value
        assert not list(get_library().folder.glob("*.npz"))
        assert not settings.built_key

    check_refused_when(
        lambda: bvh.save(clips["walk_starts_and_stops"], file), str(file), "changed", "build again"
    )
    check_refused_when(file.unlink, str(file), "cannot be read")
    bvh.save(clips["walk_curves"], file)
    assert ops.build() == {"FINISHED"}
    assert get_library().has(compute_key(obj))


@pytest.mark.slow
def test_the_panel_shows_the_figures_of_a_rebuilt_database():
    ops, obj = bpy.ops.motion_matching, create_character(clips=("walk_curves",))
    ops.add_actions()
    belt = bpy.data.objects.new("Belt", None)
    bpy.context.scene.collection.objects.link(belt)
    follows = obj.pose.bones["Hips"].constraints.new("COPY_LOCATION")
    follows.target, follows.use_offset = belt, True
    ops.build()
    key, before = obj.motion_matching.built_key, status.get_status(obj).coverage
    ops.measure_coverage()
    ops.map_poses()
    ops.inspect_frame()
    measured, mapped = runtime.coverage_reports[obj.session_uid], runtime.pose_maps[obj.session_uid]
    assert not any(
        data_insight.explain_staleness(obj, found)
        for found in (measured, mapped, runtime.inspector)
    )
    for frame in (1, 200):
        belt.location.y = -60.0 if frame > 1 else 0.0
        belt.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    ops.build()
    assert obj.motion_matching.built_key == key, (
        "the motion of a constraint's target is not part of the key"
    )
    assert (
        status.get_status(obj).coverage
        == status.describe_coverage(get_library().load(key))
        != before
    )

    # insight from the earlier data is reported as stale, and can be measured again
    assert all(
        "built again" in data_insight.explain_staleness(obj, found)
        for found in (measured, mapped, runtime.inspector)
    )
    ops.measure_coverage()
    ops.map_poses()
    ops.inspect_frame()
    again = runtime.coverage_reports[obj.session_uid], runtime.pose_maps[obj.session_uid]
    assert again[0].summary != measured.summary
    assert again[1] is not mapped
    assert not any(
        data_insight.explain_staleness(obj, found) for found in (*again, runtime.inspector)
    )


@pytest.mark.slow
def test_actions_of_other_blender_files_are_appended_or_linked(tmp_path):
    ops, path = bpy.ops.motion_matching, str(tmp_path / "capture.blend")
    create_character("Captured")
    cube = bpy.data.objects.new("Cube", None)
    cube.location.x = 1.0
    cube.keyframe_insert("location")
    cube.animation_data.action.name, cube.animation_data.action.use_fake_user = "of a cube", True
    bpy.ops.wm.save_as_mainfile(filepath=path)
    for link in (False, True):
        obj = create_character(clips=("walk_curves",))
        before = read_state()["blocks"]
        bpy.data.actions.remove(bpy.data.actions["walk_curves"])
        assert ops.add_blend_actions(filepath=path, link=link) == {"FINISHED"}
        settings = obj.motion_matching
        assert [source.name for source in settings.sources] == [
            "run_curves",
            "walk_curves",
            "walk_starts_and_stops",
        ]
        assert all(bool(source.action.library) == link for source in settings.sources)
        assert "of a cube" not in bpy.data.actions
        assert read_state()["blocks"]["objects"] == before["objects"]
        assert ops.add_actions() == {"CANCELLED"}, (
            "linked actions of the file are found too, and these are sources already"
        )
        settings.sources.clear()
        assert ops.add_actions() == {"FINISHED"}
        assert len(settings.sources) == 3
        assert ops.build() == {"FINISHED"}
    obj = create_character(clips=("walk_curves",))
    expect_refusal(ops.add_blend_actions, "nowhere.blend", filepath="/nowhere.blend")
    for bone in obj.data.bones:
        bone.name = f"other {bone.name}"
    blocks = read_state()["blocks"]
    expect_refusal(ops.add_blend_actions, "no action", "Hero", filepath=path)
    assert read_state()["blocks"] == blocks
    own = str(tmp_path / "own.blend")
    bpy.ops.wm.save_as_mainfile(filepath=own)
    for link in (False, True):
        expect_refusal(ops.add_blend_actions, "own.blend", "the open file", filepath=own, link=link)
    assert read_state()["blocks"] == blocks
    assert not ops.add_assets.poll()


EXPORTED = """
import os
import sys
import motion_matching
motion_matching.register()
from tests.ui.characters import *
obj, folder = create_character(clips=("walk_curves",)), sys.argv[1]
data, action = obj.animation_data, bpy.data.actions["walk_curves"]
data.action = action
if bpy.app.version >= (4, 4):
    data.action_slot = action.slots[0]
bpy.ops.export_scene.fbx(filepath=folder + "/walk.fbx", add_leaf_bones=False, bake_anim_simplify_factor=0.0)
bpy.ops.export_scene.gltf(filepath=folder + "/walk.glb")
# no character, at another frame rate
mesh = bpy.data.meshes.new("Stone")
mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
stone = bpy.data.objects.new("Stone", mesh)
bpy.context.collection.objects.link(stone)
obj.select_set(False)
stone.select_set(True)
bpy.context.scene.render.fps = 50
bpy.ops.export_scene.fbx(filepath=folder + "/stone.fbx", use_selection=True)
os._exit(0)  # Blender 4.2's module crashes at exit after exporting glTF
"""


@pytest.mark.slow
def test_motion_of_other_formats_becomes_actions(run_in_blender, tmp_path):
    run_in_blender(EXPORTED, tmp_path)
    ops, folder = bpy.ops.motion_matching, tmp_path

    def read_positions(action):
        clip = sample(obj, [action])[0].clip
        return dict(
            zip(clip.skeleton.names, clip.compute_world()[1].transpose(1, 0, 2), strict=False)
        )

    obj = create_character(clips=("walk_curves", "run_curves"))
    settings, wanted = obj.motion_matching, read_positions(bpy.data.actions["walk_curves"])
    bvh.save(sample(obj, [bpy.data.actions["walk_curves"]])[0].clip, folder / "walk.bvh")
    stone = bpy.data.objects.new("Stone", None)
    bpy.context.collection.objects.link(stone)
    for file, tolerance in (("walk.bvh", 1e-3), ("walk.fbx", 0.01), ("walk.glb", 1e-3)):
        settings.sources.clear()
        bpy.context.scene.frame_set(7)
        stone.location.x = 0.0
        stone.keyframe_insert("location", frame=1)
        stone.location.x = 5.0
        obj.animation_data.action = None
        bpy.context.view_layer.update()
        # an unkeyed pose of a bone that the files move
        obj.pose.bones["Head"].rotation_mode = "XYZ"
        obj.pose.bones["Head"].rotation_euler.x = 0.5
        bpy.context.view_layer.update()
        before, actions = read_state(), set(bpy.data.actions)
        assert ops.import_motion(filepath=str(folder / file)) == {"FINISHED"}
        after = read_state()
        assert {**after["blocks"], "actions": None} == {**before["blocks"], "actions": None}, (
            "other data than actions was added"
        )
        assert all(
            after[name] == before[name] for name in ("frame", "active", "selected", "assigned")
        )
        bpy.context.view_layer.update()
        assert stone.location.x == 5.0, "an unkeyed pose stays"
        assert abs(obj.pose.bones["Head"].rotation_euler.x - 0.5) < 1e-6, (
            file,
            obj.pose.bones["Head"].rotation_euler,
        )
        stone.animation_data_clear()
        made = set(bpy.data.actions) - actions
        assert made
        assert {source.action for source in settings.sources} == made
        assert all(a.use_fake_user for a in made)
        found = read_positions(max(made, key=lambda action: "walk" in action.name))
        apart = max(np.abs(found[bone] - wanted[bone]).max() for bone in wanted)
        assert apart < tolerance, (file, apart)
        print(file, "is", apart, "m off")
    assert ops.build() == {"FINISHED"}

    # a pose that differs from the assigned action's keys stays too
    played = bpy.data.actions["walk_curves"]
    obj.animation_data.action = played
    if hasattr(played, "slots"):
        obj.animation_data.action_slot = played.slots[0]
    bpy.context.scene.frame_set(20)
    obj.pose.bones["Head"].rotation_mode = "QUATERNION"
    obj.pose.bones["Head"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert ops.import_motion(filepath=str(folder / "walk.bvh")) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert obj.animation_data.action == played
    assert abs(obj.pose.bones["Head"].rotation_quaternion.x - 0.6) < 1e-6
    obj.animation_data.action = None

    # files without a character are named, and leave nothing
    bpy.data.objects["Hero"].select_set(True)
    (folder / "broken.fbx").write_bytes(b"no FBX")
    before = read_state()
    expect_refusal(ops.import_motion, "broken.fbx", filepath=str(folder / "broken.fbx"))
    expect_refusal(ops.import_motion, Path(__file__).name, filepath=__file__)
    assert read_state() == before
    obj.select_set(False)
    stone.select_set(True)
    bpy.context.view_layer.objects.active = None
    before = read_state()
    expect_refusal(
        ops.import_motion, "stone.fbx", "no armature", filepath=str(folder / "stone.fbx")
    )
    assert read_state() == before, (before, read_state())
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)

    # cancelling after the first of two files leaves nothing, with and without an armature
    def cancel_import():
        before, files = (
            read_state(),
            [SimpleNamespace(name="walk.glb"), SimpleNamespace(name="walk.fbx")],
        )
        chosen = SimpleNamespace(
            filepath="", directory=str(folder), files=files, mirror=True, character=""
        )
        work = Import.steps(chosen, bpy.context)
        assert "walk.glb" in next(work)[0]
        assert "walk.fbx" in next(work)[0]
        while read_state() == before:  # all is read before any of it becomes an action
            next(work)
        work.close()
        assert read_state() == before, (before, read_state())

    Import = operators_import.MOTION_MATCHING_OT_import_motion
    assert settings.sources
    index = settings.source_index
    cancel_import()
    assert settings.source_index == index
    bpy.data.objects.remove(obj)
    cancel_import()
    obj = create_character(clips=("walk_curves", "run_curves"))
    settings = obj.motion_matching

    # a broken file does not stop the others
    settings.sources.clear()
    ops.import_motion(directory=str(folder), files=[{"name": "broken.fbx"}, {"name": "walk.glb"}])
    assert settings.sources
    assert all("walk" in source.name for source in settings.sources)

    # without an armature, the file's own character is used
    for file in ("walk.fbx", "walk.glb", "walk.bvh"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        assert ops.import_motion(filepath=str(folder / file)) == {"FINISHED"}
        obj = bpy.context.object
        assert obj.type == "ARMATURE", file
        assert obj.motion_matching.sources, file
        assert ops.build() == {"FINISHED"}, file

    # a folder of sources on disk
    (folder / "below").mkdir()
    (folder / "walk.bvh").rename(folder / "below" / "walk.bvh")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert ops.add_folder(directory=str(folder)) == {"FINISHED"}
    settings = bpy.context.object.motion_matching
    assert [Path(source.filepath).name for source in settings.sources] == ["walk.bvh"]
    expect_refusal(ops.add_folder, "nowhere", directory=str(folder / "nowhere"))

"""Sources of other skeletons in the panels: their bones are mapped, and can be chosen by hand."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.content import compute_key
from motion_matching.app.mapping import mapping
from motion_matching.app.property_access import settings_of
from motion_matching.app.sources import source_preview
from motion_matching.engine.bvh import bvh
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.rig.armature import create_armature
from motion_matching.ui.database import ground_paths
from tests.demo import generate_clips
from tests.engine import characters
from tests.scene import rigify
from tests.ui.characters import add_character, create_character, expect_refusal

OPS = bpy.ops.motion_matching


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three generated clips as files."""
    result = []
    for clip in generate_clips(fps=24):
        if clip.name in ("idle", "walk_starts_and_stops", "walk_curves"):
            bvh.save(clip, tmp_path / f"{clip.name}.bvh")
            result.append(tmp_path / f"{clip.name}.bvh")
    return result


def add_files(files: list[Path]) -> None:
    names = [{"name": file.name} for file in files]
    assert OPS.add_files(directory=str(files[0].parent), files=names) == {"FINISHED"}


def create_target(make=characters.make_mixamo) -> bpy.types.Object:
    """Create an armature of another skeleton in an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obj = create_armature(make().skeleton, "Target")
    if make is characters.make_mixamo:
        obj.scale = (0.01,) * 3  # it is in centimetres
        bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


@pytest.mark.slow
def test_a_rig_of_other_names_plays_files_in_three_steps(files):
    """Add files, build and bake: the take is keyed on the character's own bones and it walks."""
    obj = create_target()
    add_files(files)
    states = status.refresh(obj).states
    assert {state.kind for state in states.values()} == {"mapped"}
    assert OPS.bake_script(script="figure_eight", seconds=6.0) == {"FINISHED"}
    database = status.refresh(obj)
    assert database.kind == "fresh"
    assert database.clips == 3
    keyed = actions.find_moved_bones(actions.get_channelbag(obj.animation_data.action).fcurves)
    assert keyed <= set(obj.data.bones.keys())
    hips = find_path(obj, "mixamorig:Hips")
    assert np.ptp(hips[:, :2], axis=0).max() > 1.0
    assert (
        abs(np.median(hips[:, 2]) / (0.01 * obj.data.bones["mixamorig:Hips"].head_local.z) - 1)
        < 0.1
    )


def find_path(obj: bpy.types.Object, bone: str) -> np.ndarray:
    """Return where a bone's head is in each frame of what an armature plays."""
    scene, (first, last) = bpy.context.scene, obj.animation_data.action.frame_range
    path = []
    for frame in range(int(first), int(last) + 1):
        scene.frame_set(frame)
        path.append(tuple(obj.matrix_world @ obj.pose.bones[bone].head))
    return np.array(path)


def test_bones_are_chosen_for_all_sources_of_a_skeleton(files):
    obj = create_target()
    add_files(files)
    before = status.refresh(obj).states["walk_curves"]
    key = compute_key(obj)
    assert OPS.choose_bone(role="head", side="SOURCE", bone=mapping.NO_BONE) == {"FINISHED"}
    states = status.refresh(obj).states
    assert {state.mapping.mapped_count for state in states.values()} == {
        before.mapping.mapped_count - 1
    }
    assert compute_key(obj) != key
    assert OPS.choose_bone(role="head", side="SOURCE", bone="Neck") == {"FINISHED"}
    [pair] = [p for p in status.refresh(obj).states["idle"].mapping.pairs if p.role == "head"]
    assert pair.source[0] == "Neck"
    assert OPS.choose_bone(role="left_toe", side="CHARACTER", bone=mapping.NO_BONE) == {"FINISHED"}
    [pair] = [p for p in status.refresh(obj).states["idle"].mapping.pairs if p.role == "left_toe"]
    assert pair.target == ()
    assert OPS.reset_mapping() == {"FINISHED"}
    assert status.refresh(obj).states["walk_curves"].mapping == before.mapping
    assert compute_key(obj) == key
    assert OPS.reset_mapping() == {"CANCELLED"}


def test_a_mapping_is_saved_and_used_for_other_sources(files, tmp_path):
    obj = create_target()
    add_files(files)
    status.refresh(obj)
    OPS.choose_bone(role="head", side="SOURCE", bone="Neck")
    status.refresh(obj)
    save = {"kind": "mappings", "for_source": True, "name": "Neck for Head"}
    assert OPS.save_preset(**save) == {"FINISHED"}
    [folder] = bpy.utils.preset_paths("motion_matching/mappings")
    assert OPS.reset_mapping() == {"FINISHED"}
    path = str(Path(folder) / "neck_for_head.json")
    apply = {"kind": "mappings", "for_source": True, "filepath": path}
    assert OPS.apply_preset(**apply) == {"FINISHED"}
    [pair] = [p for p in status.refresh(obj).states["idle"].mapping.pairs if p.role == "head"]
    assert pair.source[0] == "Neck"
    (tmp_path / "wrong.json").write_text('{"version": 1, "source": {"head": "Nose"}}')
    apply["filepath"] = str(tmp_path / "wrong.json")
    expect_refusal(OPS.apply_preset, "'Nose'", "find all bones", **apply)


@pytest.mark.slow
def test_actions_of_another_armature_become_the_characters_motion(files):
    """Two kinds of sources, files and actions of another performer, make one database."""
    obj = create_character()
    other = create_other(obj)
    OPS.add_actions()
    own = len(settings_of(obj).sources)
    key = compute_key(obj)
    other.select_set(True)
    bpy.context.view_layer.objects.active = obj
    assert OPS.add_actions(which="OTHERS") == {"FINISHED"}
    added = settings_of(obj).sources[own:]
    assert [source.performer for source in added] == [other] * len(added)
    names = [source.name for source in added]
    add_files(files[:1])
    states = status.refresh(obj).states
    assert [states[name].kind for name in names] == ["mapped"] * len(names)
    assert states[settings_of(obj).sources[0].name].kind == "same"
    assert compute_key(obj) != key
    assert OPS.build() == {"FINISHED"}
    assert status.refresh(obj).clips == len(settings_of(obj).sources)
    OPS.bake_script(script="random", seconds=3.0, seed=2)
    assert np.ptp(find_path(obj, "Hips")[:, :2], axis=0).max() > 0.3
    # what the other one does is asked for from it alone
    other.select_set(False)
    expect_refusal(OPS.add_actions, "select the armature with the motion", which="OTHERS")


def create_other(obj: bpy.types.Object) -> bpy.types.Object:
    """Add a performer with other names, scaled and turned, that walks; the active one stays."""
    other = add_character("Other", ("walk_curves",))
    other.animation_data.action = bpy.data.actions["walk_curves.001"]
    for bone in other.data.bones:  # its action goes along
        bone.name = f"Other:{bone.name}"
    other.scale, other.rotation_euler.z = (1.3,) * 3, 1.0
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = obj
    return other


def test_a_preview_shows_the_source_beside_the_character(files):
    obj = create_target(characters.make_child)
    add_files(files)
    status.refresh(obj)
    settings_of(obj).source_index = 0
    assert OPS.preview_source() == {"FINISHED"}
    preview, source = source_preview.find_shown(obj)
    _, bones, original = source_preview.find_bones(preview, source, bpy.context.scene.frame_current)
    assert original is not None
    heights = [float(np.ptp(part[..., 2])) for part in (bones, original)]
    assert heights[0] < 0.85 * heights[1], "the child is smaller"
    apart = bones[..., 0].mean() - original[..., 0].mean()
    assert abs(apart) > 0.4
    source_preview.close()


@pytest.mark.slow
def test_rigify_plays_files_on_its_controls(files):
    """Keys are on controls alone, feet stand on the ground, and an edit of the foot is followed."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obj = rigify.create_rigify_rig("basic_human")
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    add_files(files)
    assert {state.kind for state in status.refresh(obj).states.values()} == {"mapped"}
    assert OPS.bake_script(script="figure_eight", seconds=4.0) == {"FINISHED"}
    keyed = actions.find_moved_bones(actions.get_channelbag(obj.animation_data.action).fcurves)
    assert {"torso", "foot_ik.L", "foot_ik.R"} <= keyed
    assert not any(name.startswith(("DEF-", "ORG-", "MCH-")) for name in keyed)
    for side in "LR":
        toe = obj.data.bones[f"DEF-toe.{side}"]
        height = find_path(obj, toe.name)[:, 2]
        assert abs(np.percentile(height, 10) - toe.head_local.z) < 0.01


def test_the_path_of_a_mapped_source_is_the_characters(files):
    """A child goes less far than the performer of the file; by hand, its path can be edited."""
    obj = create_target(characters.make_child)
    add_files(files)
    status.refresh(obj)
    settings = settings_of(obj)
    settings.source_index = settings.sources.find("walk_curves")
    settings.show_path = True
    ground_paths.refresh()
    assert not ground_paths.get_cache().note
    path = ground_paths.get_cache().snapshot.tracks["smoothed"].positions
    clip = next(clip for clip in generate_clips(fps=24) if clip.name == "walk_curves")
    whole = np.ptp(clip.positions[:, 0, :2], axis=0).max()
    assert 0.3 * whole < np.ptp(path, axis=0).max() < 0.8 * whole
    assert OPS.edit_path() == {"FINISHED"}
    assert OPS.build() == {"FINISHED"}


@pytest.mark.slow
def test_many_skeletons_are_mapped_beside_redraws(tmp_path):
    """However many bodies the files have, Blender is held up for a small part of the work alone."""
    clip = generate_clips(fps=24)[0].crop(0, 3)
    for number in range(12):
        body = replace(clip.skeleton, rest_positions=clip.skeleton.rest_positions * (1 + number))
        bvh.save(replace(clip, skeleton=body), tmp_path / f"{number}.bvh")
    obj = rigify.create_rigify_rig("human")
    bpy.context.view_layer.objects.active = obj
    add_files(sorted(tmp_path.iterdir()))
    began, work, held = time.process_time(), mapping.find_states_steps(obj.session_uid), []
    states = None
    while states is None:
        before = time.thread_time()
        try:
            next(work)
        except StopIteration as done:
            states = done.value
        held.append(time.thread_time() - before)
    assert {state.kind for state in states.values()} == {"mapped"}
    assert sum(held) < 0.5 * (time.process_time() - began)

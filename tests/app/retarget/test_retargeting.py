"""Retargeting in steps: cancelled, or with the file changed meanwhile, it changes nothing."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching import api
from motion_matching.app.mapping import bone_table
from motion_matching.app.retarget import retargeting
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import RigChangedError, SettingsError
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.writing.bake import bake
from tests.engine.mending.test_source_doctor import add_rest_pose
from tests.scene.retargeting.armatures import add_mixamo, add_walker, make_walk, select
from tests.scene.rigify import create_rigify_rig
from tests.scene.rigs import assert_same, edit_bones, read_state
from tests.steps import run_steps


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """A BVH file of walking."""
    path = tmp_path / "walk.bvh"
    bvh.save(make_walk(), path)
    return path


def start(hero, walker=None):
    walker, action = walker or add_walker()
    source = retargeting.ActionSource(walker, action)
    return retargeting.retarget_action_steps(hero, source)


def test_the_summary_says_how_many_parts_are_mapped():
    hero = add_mixamo()
    said = run_steps(start(hero))
    assert said == "Retargeted 'walk Hero': mapped 20 of 20 parts of the body"
    group = hero.motion_matching.retarget
    assert group.summary == "Mapped 20 of 20"
    by_role = {pair.role: pair for pair in group.pairs}
    assert by_role["left_thigh"].target == "mixamorig:LeftUpLeg"
    assert by_role["left_thigh"].source == "LeftUpLeg"
    assert by_role["spine"].target == "mixamorig:Spine, mixamorig:Spine1, mixamorig:Spine2"
    assert min(pair.confidence for pair in group.pairs) > 0.5


def test_rest_poses_of_files_and_actions_are_left_out_unless_frames_are_kept(tmp_path):
    hero = add_mixamo()
    group = hero.motion_matching.retarget
    posed = add_rest_pose(make_walk(), 1, at_end=False, in_place=False)
    path = tmp_path / "posed.bvh"
    bvh.save(posed, path)
    walker = create_armature(posed.skeleton, "Walker")
    action = bake(posed, walker, name="walk")
    first = action.frame_range[0]
    said = run_steps(start(hero, (walker, action)))
    assert f"begins with frame {first + 1:.0f} of its source" in said
    assert hero.animation_data.action.frame_range[0] == first + 1
    assert [note[:5] for note in retargeting.get_notes(group)] == ["Frame"]
    said = run_steps(retargeting.retarget_files_steps(hero, [path], None))
    assert "Frame 0 of 'posed' is unlike the others" in said
    mended = hero.animation_data.action.frame_range
    group.keep_frames = True
    said = run_steps(retargeting.retarget_files_steps(hero, [path], None))
    assert "kept as it is" in said
    kept = hero.animation_data.action.frame_range
    assert (kept[0], kept[1]) == (mended[0], mended[1] + 1)
    bvh.save(make_walk(), path)
    assert "Frame" not in run_steps(retargeting.retarget_files_steps(hero, [path], None))
    assert not retargeting.get_notes(group)


def test_scripts_mend_and_keep_frames_as_the_panel_does(tmp_path):
    hero = add_mixamo()
    path = tmp_path / "posed.bvh"
    bvh.save(add_rest_pose(make_walk(), 1, at_end=False, in_place=False), path)
    notes: list[str] = []
    [mended] = api.retarget_file(path, hero, notes=notes)
    [kept] = api.retarget_file(path, hero, notes=notes, keep_frames=True, force=True)
    assert kept.frame_range[1] == mended.frame_range[1] + 1
    assert ["kept" in note for note in notes] == [False, True]


def test_scripts_learn_that_a_file_has_other_axes(tmp_path):
    path = tmp_path / "lying.bvh"
    bvh.save(make_walk(), path, up="Z", forward="-Y")
    notes: list[str] = []
    api.retarget_file(path, add_mixamo(), notes=notes, force=True)
    assert "'lying' lies or stands on its head" in notes[0]
    assert "Z up and -Y forward" in notes[0]


def test_work_that_is_cancelled_in_any_stage_changes_nothing(walk):
    hero = add_mixamo()
    walker = add_walker()
    before = read_state(hero)
    for begin in (
        lambda: start(hero, walker),
        lambda: retargeting.retarget_files_steps(hero, [walk], None),
    ):
        stages: list[str] = []
        while True:
            steps = begin()
            said = next((text for text, _ in steps if text not in stages), "")
            stages.append(said)
            steps.close()
            assert_same(before, read_state(hero))
            if said == "Writing":
                break
        assert len(stages) > 2, stages


@pytest.mark.slow
def test_writing_onto_a_control_rig_goes_on_in_short_steps(tmp_path):
    """Blender redraws between two of them, and until the last, nothing is left if it is ended."""
    for name in ("first", "second"):
        bvh.save(make_walk().crop(0, 60), tmp_path / f"{name}.bvh")
    hero = create_rigify_rig("basic_human")
    hero.motion_matching.fewer_keys, hero.motion_matching.retarget.legs = 0.5, "IK"
    paths = sorted(tmp_path.iterdir())
    taken, parts = [], []
    work = retargeting.retarget_files_steps(hero, paths, None)
    for stage, part in work:
        if stage != "Writing":
            began = time.process_time()
            continue
        taken.append(time.process_time() - began)
        parts.append(part)
        began = time.process_time()
    assert parts == sorted(parts)
    assert parts[0] == 0.0
    assert parts[-1] > 0.9
    assert len(parts) > 100
    assert max(taken) < 0.2 * sum(taken)
    assert [action.name for action in bpy.data.actions] == ["first rig", "second rig"]

    hero.animation_data_clear()
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    bpy.context.view_layer.update()
    before = read_state(hero)
    work = retargeting.retarget_files_steps(hero, paths, None)
    for stage, part in work:
        if stage == "Writing" and part > 0.6:
            break
    work.close()
    assert_same(before, read_state(hero))


def test_bones_that_change_meanwhile_end_it():
    hero = add_mixamo()
    steps = start(hero)
    next(steps)

    def raise_head(bones):
        bones["mixamorig:Head"].tail.y += 10.0

    edit_bones(hero, raise_head)
    actions = len(bpy.data.actions)
    with pytest.raises(RigChangedError, match=r"'Hero' has changed"):
        run_steps(steps)
    assert len(bpy.data.actions) == actions


def test_an_armature_that_is_deleted_meanwhile_ends_it():
    hero = add_mixamo()
    steps = start(hero)
    next(steps)
    bpy.data.objects.remove(hero)
    with pytest.raises(SettingsError, match="was deleted"):
        run_steps(steps)


def test_bones_in_the_table_count_and_those_of_another_source_do_not():
    hero = add_mixamo()
    run_steps(start(hero))
    pairs = hero.motion_matching.retarget.pairs
    by_role = {pair.role: pair for pair in pairs}
    by_role["neck"].target = ""
    by_role["left_thigh"].source = "Oberschenkel.L"
    request = retargeting.get_request(hero)
    assert request.target_bones == {"neck": [""]}
    assert request.source_bones == {"left_thigh": ["Oberschenkel.L"]}
    said = run_steps(start(hero, (bpy.data.objects["Walker"], bpy.data.actions["walk"])))
    assert said.endswith("mapped 19 of 20 parts of the body")
    again = {pair.role: pair for pair in hero.motion_matching.retarget.pairs}
    assert again["neck"].target == ""
    assert retargeting.get_request(hero).target_bones == {"neck": [""]}


def test_an_offset_turns_a_part_and_roles_of_the_panel_count():
    hero = add_mixamo()
    walker = add_walker()
    run_steps(start(hero, walker))
    group, head = hero.motion_matching.retarget, hero.pose.bones["mixamorig:Head"]
    bpy.context.scene.frame_set(10)
    before = head.matrix.to_quaternion()
    pair = next(pair for pair in group.pairs if pair.role == "head")
    pair.offset = (0.0, 0.0, radians(30))
    run_steps(start(hero, walker))
    bpy.context.scene.frame_set(10)
    turned = np.degrees(before.rotation_difference(head.matrix.to_quaternion()).angle)
    assert turned == pytest.approx(30.0, abs=1.0)
    hero.motion_matching.roles.left_thigh = "mixamorig:RightUpLeg"
    hero.motion_matching.roles.right_thigh = "mixamorig:LeftUpLeg"
    request = retargeting.get_request(hero)
    assert request.target_bones["left_thigh"] == "mixamorig:RightUpLeg"


def test_a_mapping_survives_a_round_trip(tmp_path):
    hero = add_mixamo()
    run_steps(start(hero))
    group = hero.motion_matching.retarget
    next(pair for pair in group.pairs if pair.role == "neck").target = ""
    data = bone_table.get_mapping_data(group)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data))
    bone_table.clear_bones(hero)
    assert not group.pairs
    bone_table.load_bones(group, str(path), "mine")
    assert bone_table.get_mapping_data(group) == data
    path.write_text('{"version": 1, "target": {"nose": "Nose"}}')
    listed = len(group.pairs)
    with pytest.raises(SettingsError, match=r"mine\.json.*nose"):
        bone_table.load_bones(group, str(path), "broken")
    assert len(group.pairs) == listed


def test_files_of_several_skeletons_are_retargeted_one_by_one(tmp_path, walk):
    other = tmp_path / "other.bvh"
    renamed = make_walk()
    names = tuple(f"x:{name}" for name in renamed.skeleton.names)
    bvh.save(replace(renamed, skeleton=renamed.skeleton.with_names(names)), other)
    hero = add_mixamo()
    said = run_steps(retargeting.retarget_files_steps(hero, [walk, other], None))
    assert said.startswith("Retargeted 2 actions")
    made = {action.name for action in bpy.data.actions}
    assert made == {"walk Hero", "other Hero"}
    assert hero.animation_data.action.name == "walk Hero"


def test_the_source_is_the_other_selected_armature():
    hero = add_mixamo()
    walker, action = add_walker()
    twin = bpy.data.objects.new("Twin", walker.data.copy())
    bpy.context.scene.collection.objects.link(twin)
    select(hero, walker)
    assert retargeting.find_source(bpy.context, hero) == (walker, action)
    select(hero)
    assert retargeting.find_action(bpy.context, hero) is None
    with pytest.raises(SettingsError, match="select the armature that plays it"):
        retargeting.find_source(bpy.context, hero)
    hero.motion_matching.retarget.action = action
    assert retargeting.find_source(bpy.context, hero) == (walker, action)
    hero.motion_matching.retarget.source = twin
    assert retargeting.find_source(bpy.context, hero) == (twin, action)

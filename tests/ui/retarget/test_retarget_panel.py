"""Retarget Action and Retarget File do their job, say why they cannot, and undo restores all."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from motion_matching import app
from motion_matching.app.steps import EndedEarly
from motion_matching.engine.bvh import bvh
from motion_matching.scene.blender.animation import actions
from motion_matching.ui.retarget import operators
from tests.engine.mending.test_source_doctor import add_rest_pose
from tests.scene.retargeting.armatures import add_mixamo, add_walker, make_walk, select
from tests.scene.retargeting.spoilt import roll_left_foot
from tests.scene.retargeting.test_motion_files import write_two_characters
from tests.ui.characters import expect_refusal, read_state
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


def add_pair() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add an active character, and a selected armature that walks."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    walker, _ = add_walker()
    hero = add_mixamo()
    select(hero, walker)
    return hero, walker


def test_an_action_of_the_other_selected_armature_becomes_one_of_this():
    hero, walker = add_pair()
    assert ops.retarget_action() == {"FINISHED"}
    assert hero.animation_data.action.name == "walk Hero"
    assert walker.animation_data.action.name == "walk"
    assert set(bpy.context.selected_objects) == {hero, walker}
    assert bpy.context.view_layer.objects.active == hero


def test_the_panel_shows_what_was_mended_until_the_next_time(tmp_path):
    hero, _ = add_pair()
    group = hero.motion_matching.retarget
    before = draw_panels()
    path = tmp_path / "posed.bvh"
    bvh.save(add_rest_pose(make_walk(), 1, at_end=False, in_place=False), path)
    assert ops.retarget_file(filepath=str(path)) == {"FINISHED"}
    assert "Frame 0 of 'posed'" in app.retarget.retargeting.get_notes(group)[0]
    assert draw_panels() >= before
    group.notes = "what an edited file may hold"
    assert app.retarget.retargeting.get_notes(group) == []
    draw_panels()
    bvh.save(make_walk(), path)
    assert ops.retarget_file(filepath=str(path)) == {"FINISHED"}
    assert group.notes == ""


def test_a_chosen_action_needs_no_selection():
    hero, walker = add_pair()
    select(hero)
    expect_refusal(ops.retarget_action, "Choose an action")
    hero.motion_matching.retarget.action = walker.animation_data.action
    assert ops.retarget_action() == {"FINISHED"}


def test_its_own_action_is_refused():
    _, walker = add_pair()
    select(walker)
    walker.motion_matching.retarget.action = walker.animation_data.action
    before = read_state()
    expect_refusal(ops.retarget_action, "'walk'", "'Walker' itself", "assign it")
    assert read_state() == before


def test_files_become_actions(tmp_path):
    hero, _ = add_pair()
    for name in ("one", "two"):
        bvh.save(make_walk(20), tmp_path / f"{name}.bvh")
    files = [{"name": "one.bvh"}, {"name": "two.bvh"}]
    assert ops.retarget_file(directory=str(tmp_path), files=files) == {"FINISHED"}
    made = {action.name for action in bpy.data.actions if action.name.endswith("Hero")}
    assert made == {"one Hero", "two Hero"}
    assert hero.animation_data.action.name == "one Hero"


def test_of_two_characters_in_a_file_one_is_chosen(tmp_path):
    add_pair()
    path = tmp_path / "duo.bvh"
    write_two_characters(path)
    before = read_state()
    expect_refusal(ops.retarget_file, "'Hips' and 'SecondHips'", filepath=str(path))
    assert read_state() == before
    assert ops.retarget_file(filepath=str(path), character="SecondHips") == {"FINISHED"}


def test_what_cannot_be_retargeted_changes_nothing(tmp_path):
    hero, _ = add_pair()
    hero.pose.bones["mixamorig:LeftLeg"].lock_rotation[0] = True
    before = read_state()
    expect_refusal(ops.retarget_action, "'mixamorig:LeftLeg'", "locked")
    assert read_state() == before
    (tmp_path / "walk.bvh").write_text("no motion")
    expect_refusal(ops.retarget_file, "walk.bvh", filepath=str(tmp_path / "walk.bvh"))
    assert read_state() == before


def test_pose_mode_stays_and_importers_are_refused_there(tmp_path):
    hero, _ = add_pair()
    hero.motion_matching.retarget.action = bpy.data.actions["walk"]
    select(hero)
    bpy.ops.object.mode_set(mode="POSE")
    assert ops.retarget_action() == {"FINISHED"}
    bvh.save(make_walk(10), tmp_path / "one.bvh")
    assert ops.retarget_file(filepath=str(tmp_path / "one.bvh")) == {"FINISHED"}
    (tmp_path / "two.fbx").write_bytes(b"no FBX")
    before = read_state()
    said = expect_refusal(ops.retarget_file, "Object Mode", filepath=str(tmp_path / "two.fbx"))
    assert "two.fbx" in said
    assert (read_state(), bpy.context.mode) == (before, "POSE")


def test_undo_takes_the_action_away():
    add_pair()
    bpy.ops.ed.undo_push(message="before")
    before = read_state()
    assert ops.retarget_action() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert read_state() == before


def test_options_reach_the_motion():
    hero, _ = add_pair()
    group = hero.motion_matching.retarget
    group.scale = 2.0
    assert ops.retarget_action() == {"FINISHED"}
    large = hero.animation_data.action
    group.scale = 0.0
    assert ops.retarget_action() == {"FINISHED"}
    ways = []
    for action in (large, hero.animation_data.action):
        actions.assign(hero, action)
        places = []
        for frame in (1, 60):
            bpy.context.scene.frame_set(frame)
            bone = hero.pose.bones["mixamorig:Hips"]
            places.append((hero.matrix_world @ bone.head).xy)
        ways.append((places[1] - places[0]).length)
    assert ways[0] / ways[1] == pytest.approx(2.0, rel=0.1)


def test_bones_are_found_shown_saved_and_cleared():
    hero, _ = add_pair()
    expect_refusal(ops.clear_retarget_bones, "no bones to clear")
    assert ops.find_retarget_bones() == {"FINISHED"}
    group = hero.motion_matching.retarget
    assert group.summary == "Mapped 20 of 20"
    assert len(bpy.data.actions) == 1, "nothing is retargeted"
    for number, pair in enumerate(group.pairs):
        if pair.role == "neck":
            pair.target = ""
            group.pair_index = number
    assert draw_panels() > 10
    assert ops.save_preset(kind="mappings", name="No Neck") == {"FINISHED"}
    assert group.preset == "no_neck"
    assert ops.clear_retarget_bones() == {"FINISHED"}
    assert not group.pairs
    [folder] = bpy.utils.preset_paths("motion_matching/mappings")
    file = Path(folder) / "no_neck.json"
    assert ops.apply_preset(kind="mappings", filepath=str(file)) == {"FINISHED"}
    assert ops.retarget_action() == {"FINISHED"}
    assert group.summary == "Mapped 19 of 20"


def test_there_is_nothing_to_save_without_bones():
    add_pair()
    expect_refusal(ops.save_preset, "no bones to save", kind="mappings", name="empty")


def test_cancelling_a_file_in_the_middle_changes_nothing(tmp_path):
    add_pair()
    bvh.save(make_walk(20), tmp_path / "one.bvh")
    before = read_state()
    operator = SimpleNamespace(
        filepath=str(tmp_path / "one.bvh"), directory="", files=(), character=""
    )
    steps = operators.MOTION_MATCHING_OT_retarget_file.steps(operator, bpy.context)
    for _ in range(2):
        next(steps)
    steps.close()
    assert read_state() == before


def test_a_result_that_is_wrong_is_listed_and_shown(tmp_path, monkeypatch):
    hero, _ = add_pair()
    group = hero.motion_matching.retarget
    assert ops.retarget_action() == {"FINISHED"}
    assert not group.results
    expect_refusal(ops.show_retarget_result, "no wrong results")
    for name in ("one", "two"):
        bvh.save(make_walk(20), tmp_path / f"{name}.bvh")
    roll_left_foot(monkeypatch)
    files = [{"name": "one.bvh"}, {"name": "two.bvh"}]
    assert ops.retarget_file(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert {item.action.name for item in group.results} == {"one Hero", "two Hero"}
    assert "roll of the left foot" in group.results[0].text
    assert draw_panels() > 10
    bpy.context.scene.frame_set(200)
    index = next(i for i, item in enumerate(group.results) if item.action.name == "two Hero")
    assert ops.show_retarget_result(index=index) == {"FINISHED"}
    assert hero.animation_data.action.name == "two Hero"
    assert bpy.context.scene.frame_current == group.results[index].frame <= 20
    assert hero.data.bones.active.name == "mixamorig:LeftFoot"
    bpy.data.actions.remove(bpy.data.actions["two Hero"])
    expect_refusal(ops.show_retarget_result, "was deleted", index=index)
    assert draw_panels() > 10
    assert ops.clear_retarget_results() == {"FINISHED"}
    assert not group.results


def test_ending_the_check_early_keeps_what_was_made():
    hero, _ = add_pair()
    operator = SimpleNamespace()
    steps = operators.MOTION_MATCHING_OT_retarget_action.steps(operator, bpy.context)
    while not next(steps)[0].startswith("Checking"):
        pass
    with pytest.raises(StopIteration) as done:
        steps.throw(EndedEarly())
    assert "1 were not checked" in done.value.value
    assert hero.animation_data.action.name == "walk Hero"

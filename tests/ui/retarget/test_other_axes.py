"""Files whose characters lie because of their axes: a click reads them as they stand."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from motion_matching.app.strip import state, warnings
from motion_matching.engine.bvh import bvh
from tests.scene.retargeting.armatures import add_mixamo, make_walk, select
from tests.ui.characters import create_character, expect_refusal, read_state
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


def add_hero() -> bpy.types.Object:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    hero = add_mixamo()
    select(hero)
    return hero


def measure_height(hero: bpy.types.Object) -> float:
    """Return how far the head is above the feet on the action's first frame, in metres."""
    bpy.context.scene.frame_set(int(hero.animation_data.action.frame_range[0]))
    bones = hero.pose.bones
    ends = [hero.matrix_world @ bones[f"mixamorig:{name}"].head for name in ("Head", "LeftFoot")]
    return ends[0].z - ends[1].z


def test_a_click_retargets_files_with_the_axes_under_which_they_stand(tmp_path):
    hero = add_hero()
    settings, group = hero.motion_matching, hero.motion_matching.retarget
    expect_refusal(ops.retarget_again, "no other axes")
    for name in ("one", "two"):
        bvh.save(make_walk(30), tmp_path / f"{name}.bvh", up="Z", forward="-Y")
    files = [{"name": "one.bvh"}, {"name": "two.bvh"}]
    assert ops.retarget_file(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert abs(measure_height(hero)) < 0.5, "it lies"
    assert group.better_axes == "Z up and -Y forward"
    assert (settings.up, settings.forward) == ("Y", "Z"), "nothing changes without a click"
    assert draw_panels() > 10
    bpy.ops.ed.undo_push(message="before")
    assert ops.retarget_again() == {"FINISHED"}
    assert measure_height(hero) > 1.2
    assert (settings.up, settings.forward) == ("Z", "-Y")
    assert not group.better_axes
    assert sum("Hero" in action.name for action in bpy.data.actions) == 4, "nothing is lost"
    expect_refusal(ops.retarget_again, "no other axes")
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    settings = bpy.context.object.motion_matching
    assert (settings.up, settings.retarget.better_axes) == ("Y", "Z up and -Y forward")


def test_files_that_are_gone_change_nothing(tmp_path):
    hero = add_hero()
    path = tmp_path / "one.bvh"
    bvh.save(make_walk(30), path, up="Z", forward="-Y")
    assert ops.retarget_file(filepath=str(path)) == {"FINISHED"}
    path.unlink()
    before = read_state()
    expect_refusal(ops.retarget_again, "one.bvh")
    assert read_state() == before
    assert hero.motion_matching.up == "Y"
    hero.motion_matching.retarget.lying_files = '{"of": "somebody"}'
    expect_refusal(ops.retarget_again, "retarget them again")


def test_files_that_stand_are_not_doubted(tmp_path):
    hero = add_hero()
    bvh.save(make_walk(30), tmp_path / "one.bvh")
    assert ops.retarget_file(filepath=str(tmp_path / "one.bvh")) == {"FINISHED"}
    assert not hero.motion_matching.retarget.better_axes


def build_from_files(folder, up: str, forward: str) -> bpy.types.Object:
    obj = create_character(clips=("walk_curves",))
    for number in range(2):
        bvh.save(make_walk(90), folder / f"{number}.bvh", up=up, forward=forward)
    ops.add_files(directory=str(folder), files=[{"name": f"{number}.bvh"} for number in range(2)])
    assert ops.build() == {"FINISHED"}
    return obj


def find_warning(obj: bpy.types.Object) -> warnings.WarningItem | None:
    items = state.get_warnings(obj)
    return next((item for item in items if item.kind == "axes"), None)


def test_the_database_offers_the_axes_in_its_warning(tmp_path):
    obj = build_from_files(tmp_path, "Z", "-Y")
    item = find_warning(obj)
    assert item is not None
    assert "2 sources" in item.text
    button = next(one for one in item.buttons if one.operator == "motion_matching.use_axes")
    assert dict(button.properties) == {"up": "Z", "forward": "-Y"}
    assert draw_panels() > 10
    assert ops.use_axes(**dict(button.properties)) == {"FINISHED"}
    settings = obj.motion_matching
    assert (settings.up, settings.forward) == ("Z", "-Y")
    assert find_warning(obj) is None, "it is about the axes before"
    assert ops.build() == {"FINISHED"}
    assert find_warning(obj) is None


def test_axes_are_refused_without_files_and_where_they_are_none():
    obj = create_character(clips=("walk_curves",))
    ops.add_actions()
    expect_refusal(ops.use_axes, "no file among the sources", up="Z", forward="-Y")
    obj.motion_matching.sources[0].kind = "FILE"
    before = json.dumps([obj.motion_matching.up, obj.motion_matching.forward])
    expect_refusal(ops.use_axes, "perpendicular", up="Z", forward="-Z")
    assert json.dumps([obj.motion_matching.up, obj.motion_matching.forward]) == before


@pytest.mark.parametrize("up", ["Y", "-Y"])
def test_a_database_of_files_that_stand_is_not_doubted(tmp_path, up):
    obj = build_from_files(tmp_path, up, "Z")
    assert (find_warning(obj) is None) == (up == "Y")
    assert np.isfinite(obj.motion_matching.file_scale)

"""Every property survives files, undo and copies, whatever its type."""

from __future__ import annotations

import json

import bpy
import pytest

from motion_matching.ui import classes
from motion_matching.ui.database.operators_sources import add_source
from tests import wheels
from tests.ui.characters import create_character, expect_refusal, find_override, override_character
from tests.ui.every_property import (
    add_items,
    fill,
    find_defaults,
    find_differences,
    list_kinds,
    list_leaves,
)


def fill_character():
    obj = create_character(clips=("walk_curves",))
    fill(obj.motion_matching)
    assert find_defaults(obj.motion_matching) == set(), "a property was left out"
    registered = {cls.__name__ for cls in classes.ALL if issubclass(cls, bpy.types.PropertyGroup)}
    assert list_kinds(obj.motion_matching) == registered, "a group of properties was left out"
    return dict(list_leaves(obj.motion_matching))


def check_values(obj, was):
    assert find_differences(was, dict(list_leaves(obj.motion_matching))) == {}


def test_every_setting_survives_saving_and_undo(tmp_path):
    folder = tmp_path
    path = str(folder / "all.blend")

    was = fill_character()
    assert len(was) > 150, "there is something to lose"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    check_values(bpy.data.objects["Hero"], was)

    bpy.ops.ed.undo_push(message="before")
    fill(bpy.data.objects["Hero"].motion_matching, 3)
    later = dict(list_leaves(bpy.data.objects["Hero"].motion_matching))
    assert len(find_differences(was, later)) > 100
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    check_values(bpy.data.objects["Hero"], was)
    bpy.ops.ed.redo()
    check_values(bpy.data.objects["Hero"], later)
    bpy.ops.ed.undo()


def test_every_setting_is_copied():
    was = fill_character()
    obj = bpy.context.object
    bpy.ops.object.duplicate()
    assert bpy.context.object != obj
    check_values(bpy.context.object, was)
    bpy.data.objects.remove(bpy.context.object)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    bpy.ops.view3d.copybuffer()
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.view3d.pastebuffer()
    check_values(bpy.data.objects["Hero"], was)


def test_every_setting_is_appended_and_linked(tmp_path):
    folder = tmp_path
    path = str(folder / "all.blend")

    was = fill_character()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    for link in (False, True):
        bpy.ops.wm.read_homefile(use_empty=True)
        with bpy.data.libraries.load(path, link=link) as (_, target):
            target.objects = ["Hero"]
        check_values(target.objects[0], was)


def test_every_setting_can_be_overridden(tmp_path):
    folder = tmp_path
    path = str(folder / "all.blend")
    shot = str(folder / "shot.blend")

    was = fill_character()
    override_character(path)

    def save_and_reopen():
        bpy.ops.wm.save_as_mainfile(filepath=shot)
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.ops.wm.open_mainfile(filepath=shot)
        return find_override()

    check_values(save_and_reopen(), was)
    obj = find_override()
    fill(obj.motion_matching, 3, named=False)
    changed = dict(list_leaves(obj.motion_matching))
    apart = find_differences(was, changed)
    assert len(apart) > 100, apart
    check_values(save_and_reopen(), changed)

    # items added to the linked ones
    obj = find_override()
    add_items(obj.motion_matching)
    more = dict(list_leaves(obj.motion_matching))
    assert len(more) > len(changed) + 30
    check_values(save_and_reopen(), more)


OPENED = """
import json
import sys
from pathlib import Path
import motion_matching
motion_matching.register()
from tests.ui.every_property import *
folder = Path(sys.argv[1])
bpy.ops.wm.open_mainfile(filepath=str(folder / "all.blend"))
was = json.loads((folder / "all.json").read_text())
now = json.loads(json.dumps(dict(list_leaves(bpy.data.objects["Hero"].motion_matching))))
assert len(was) > 150 and find_differences(was, now) == {}, find_differences(was, now)
print("opened in", bpy.app.version_string)
"""


@pytest.mark.slow
def test_newer_blenders_read_every_setting(run_in_blender, tmp_path):
    pythons = wheels.find_newer_pythons()
    if not pythons:
        pytest.skip("no newer module of Blender stands beside this one")
    folder = tmp_path
    path = str(folder / "all.blend")

    was = fill_character()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    (folder / "all.json").write_text(json.dumps(was))
    for version, python in pythons.items():
        assert f"opened in {version}" in run_in_blender(OPENED, tmp_path, python=python)


def test_lists_of_a_linked_character_name_items_that_stay(tmp_path):
    folder = tmp_path
    path = str(folder / "all.blend")
    shot = str(folder / "shot.blend")

    ops = bpy.ops.motion_matching
    obj = create_character(clips=("walk_curves",))
    for number in range(3):  # files with the same name in three folders
        add_source(obj, "walk", kind="FILE", filepath=f"/capture/{number}/walk.bvh")
    settings = obj.motion_matching
    assert len({source.name for source in settings.sources}) == 3
    [item.name for item in settings.features.items]
    obj = override_character(path)
    settings = obj.motion_matching
    for number, source in enumerate(settings.sources):
        source.speed = 0.5 + number
    add_source(obj, "walk", kind="FILE", filepath="/capture/3/walk.bvh")

    # linked items cannot be removed, which is reported
    settings.source_index = 0
    expect_refusal(ops.remove_source, "'walk'", "linked file")
    assert len(settings.sources) == 4
    settings.source_index = 3
    assert ops.remove_source() == {"FINISHED"}
    assert len(settings.sources) == 3

    # a preset replaces linked features
    for preset in ("holden", "default"):
        ops.apply_preset(kind="features", filepath=preset)
        used = [item for item in settings.features.items if item.weight]
        from motion_matching.engine.files import presets

        wanted = presets.load("features", preset)["features"]
        assert [item.kind for item in used] == [entry["kind"] for entry in wanted], preset
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    obj = find_override()
    assert [source.speed for source in obj.motion_matching.sources] == [0.5, 1.5, 2.5]


def test_an_override_keeps_settings_unread_in_the_linked_file(tmp_path):
    folder = tmp_path
    path = str(folder / "all.blend")
    shot = str(folder / "shot.blend")

    create_character(clips=("walk_curves",))
    obj = override_character(path)
    obj.motion_matching.controller.velocity_halflife = 0.7
    obj.motion_matching.play.tags = "limp"
    was = dict(list_leaves(obj.motion_matching))
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    check_values(find_override(), was)

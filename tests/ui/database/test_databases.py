"""Databases with names: each is a list of sources, and choosing one changes nothing but which of
them are on.
"""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app import status
from tests.ui.characters import character, refused

ops = bpy.ops.motion_matching


def settings():
    return bpy.context.view_layer.objects.active.motion_matching


def on():
    return [source.name for source in settings().sources if source.enabled]


def stands():
    return status.refresh(bpy.context.view_layer.objects.active).kind


def show(place):
    settings().database_index = place


@pytest.fixture(autouse=True)
def built():
    character()
    refused(ops.add_database, "Add actions or files")
    ops.add_actions()
    every = on()
    assert len(every) == 3
    assert ops.add_database(label="Everything") == {"FINISHED"}
    assert on() == every
    assert stands() == "none"
    assert ops.build() == {"FINISHED"}
    assert stands() == "fresh"
    assert ops.add_database(label="Walks") == {"FINISHED"}
    assert on() == every
    assert stands() == "fresh", "it begins as what was there"
    for source in settings().sources:
        source.enabled = source.name.startswith("walk")
    walks = on()
    assert len(walks) == 2
    assert stands() == "stale"
    assert ops.build() == {"FINISHED"}
    assert stands() == "fresh"
    return every, source, walks


def test_switching_databases_keeps_them_built(built):
    every, _, walks = built

    for _ in range(2):
        show(0)
        assert on() == every
        assert stands() == "fresh", "it is there, and is not built again"
        show(1)
        assert on() == walks
        assert stands() == "fresh"
    assert [database.label for database in settings().databases] == ["Everything", "Walks"]
    walk_key = settings().built_key
    show(0)
    assert settings().built_key != walk_key
    settings().sources[walks[0]].enabled = False
    show(1)
    show(0)
    assert len(on()) == 2
    assert walks[0] not in on(), "what was switched is kept with the one that was shown"
    assert stands() == "stale"

    # sources that are new belong to the database that is shown
    bpy.data.actions[every[0]].copy().name = "another"
    assert ops.add_actions() == {"FINISHED"}
    assert "another" in on()
    show(1)
    assert on() == walks
    assert [source.name for source in settings().sources][-1] == "another"
    place = settings().sources.find(walks[0])
    settings().source_index = place
    assert ops.remove_source() == {"FINISHED"}
    show(0)
    show(1)
    assert on() == walks[1:], "a source that is gone is in no database"


def test_removing_a_database_keeps_its_sources(built):
    every, _, walks = built

    assert ops.add_database(label="Walks") == {"FINISHED"}
    assert [database.label for database in settings().databases] == [
        "Everything",
        "Walks",
        "Walks.001",
    ]
    assert ops.remove_database() == {"FINISHED"}
    assert settings().database_index == 1
    assert on() == walks
    assert ops.remove_database() == {"FINISHED"}
    assert on() == every
    assert stands() == "fresh"
    for source in settings().sources[1:]:
        source.enabled = False
    left = on()
    assert ops.remove_database() == {"FINISHED"}
    assert on() == left
    assert not settings().databases, "sources stay as they are"
    refused(ops.remove_database, "Choose a database")
    show(5)
    assert on() == left


def test_databases_survive_files_undo_and_overrides(tmp_path, built):
    every, _, walks = built
    where = str(tmp_path / "saved.blend")

    bpy.ops.ed.undo_push(message="before")
    show(0)
    bpy.ops.ed.undo_push(message="shown")
    bpy.ops.ed.undo()
    assert on() == walks
    assert settings().database_index == 1
    assert stands() == "fresh"
    bpy.ops.ed.redo()
    assert on() == every
    assert settings().database_index == 0
    bpy.ops.wm.save_as_mainfile(filepath=where)
    bpy.ops.wm.open_mainfile(filepath=where)
    assert on() == every
    assert stands() == "fresh"
    show(1)
    assert on() == walks
    assert stands() == "fresh"

    # a character of another file, changed by an override
    bpy.ops.wm.save_as_mainfile(filepath=where)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(where, link=True) as (_, target):
        target.objects = ["Hero"]
    bpy.context.scene.collection.objects.link(target.objects[0])
    mine = target.objects[0].override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = mine
    show(0)
    assert on() == every
    assert ops.remove_database() == {"CANCELLED"}, "it comes with the linked file"
    assert len(settings().databases) == 2
    assert on() == every
    assert ops.add_database(label="Mine") == {"FINISHED"}
    settings().sources[0].enabled = False
    bpy.ops.wm.save_as_mainfile(filepath=where.replace("saved", "shot"))
    bpy.ops.wm.open_mainfile(filepath=where.replace("saved", "shot"))
    bpy.context.view_layer.objects.active = next(
        obj for obj in bpy.data.objects if obj.override_library
    )
    assert [database.label for database in settings().databases] == ["Everything", "Walks", "Mine"]
    assert len(on()) == 2
    show(1)
    assert on() == walks
    show(2)
    assert len(on()) == 2
    assert every[0] not in on()

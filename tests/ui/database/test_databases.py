"""Databases with names: each is a list of sources, and choosing one only switches sources on and
off.
"""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app.database import status
from tests.ui.characters import create_character, expect_refusal, find_override, override_character

ops = bpy.ops.motion_matching


def get_settings():
    return bpy.context.view_layer.objects.active.motion_matching


def list_enabled():
    return [source.name for source in get_settings().sources if source.enabled]


def get_state():
    return status.refresh(bpy.context.view_layer.objects.active).kind


def show(place):
    get_settings().database_index = place


@pytest.fixture(autouse=True)
def databases():
    create_character()
    expect_refusal(ops.add_database, "Add actions or files")
    ops.add_actions()
    every = list_enabled()
    assert len(every) == 3
    assert ops.add_database(label="Everything") == {"FINISHED"}
    assert list_enabled() == every
    assert get_state() == "none"
    assert ops.build() == {"FINISHED"}
    assert get_state() == "fresh"
    assert ops.add_database(label="Walks") == {"FINISHED"}
    assert list_enabled() == every
    assert get_state() == "fresh", "a new database starts as a copy"
    for source in get_settings().sources:
        source.enabled = source.name.startswith("walk")
    walks = list_enabled()
    assert len(walks) == 2
    assert get_state() == "stale"
    assert ops.build() == {"FINISHED"}
    assert get_state() == "fresh"
    return every, source, walks


def test_switching_databases_keeps_them_built(databases):
    every, _, walks = databases

    for _ in range(2):
        show(0)
        assert list_enabled() == every
        assert get_state() == "fresh", "it is not built again"
        show(1)
        assert list_enabled() == walks
        assert get_state() == "fresh"
    assert [database.label for database in get_settings().databases] == ["Everything", "Walks"]
    walk_key = get_settings().built_key
    show(0)
    assert get_settings().built_key != walk_key
    get_settings().sources[walks[0]].enabled = False
    show(1)
    show(0)
    assert len(list_enabled()) == 2
    assert walks[0] not in list_enabled(), "changes belong to the shown database"
    assert get_state() == "stale"

    # new sources belong to the shown database
    bpy.data.actions[every[0]].copy().name = "another"
    assert ops.add_actions() == {"FINISHED"}
    assert "another" in list_enabled()
    show(1)
    assert list_enabled() == walks
    assert [source.name for source in get_settings().sources][-1] == "another"
    place = get_settings().sources.find(walks[0])
    get_settings().source_index = place
    assert ops.remove_source() == {"FINISHED"}
    show(0)
    show(1)
    assert list_enabled() == walks[1:], "a removed source is in no database"


def test_removing_a_database_keeps_its_sources(databases):
    every, _, walks = databases

    assert ops.add_database(label="Walks") == {"FINISHED"}
    assert [database.label for database in get_settings().databases] == [
        "Everything",
        "Walks",
        "Walks.001",
    ]
    assert ops.remove_database() == {"FINISHED"}
    assert get_settings().database_index == 1
    assert list_enabled() == walks
    assert ops.remove_database() == {"FINISHED"}
    assert list_enabled() == every
    assert get_state() == "fresh"
    for source in get_settings().sources[1:]:
        source.enabled = False
    left = list_enabled()
    assert ops.remove_database() == {"FINISHED"}
    assert list_enabled() == left
    assert not get_settings().databases, "sources stay as they are"
    expect_refusal(ops.remove_database, "Choose a named database")
    show(5)
    assert list_enabled() == left


def test_databases_survive_files_undo_and_overrides(tmp_path, databases):
    every, _, walks = databases
    where = str(tmp_path / "saved.blend")

    bpy.ops.ed.undo_push(message="before")
    show(0)
    bpy.ops.ed.undo_push(message="shown")
    bpy.ops.ed.undo()
    assert list_enabled() == walks
    assert get_settings().database_index == 1
    assert get_state() == "fresh"
    bpy.ops.ed.redo()
    assert list_enabled() == every
    assert get_settings().database_index == 0
    bpy.ops.wm.save_as_mainfile(filepath=where)
    bpy.ops.wm.open_mainfile(filepath=where)
    assert list_enabled() == every
    assert get_state() == "fresh"
    show(1)
    assert list_enabled() == walks
    assert get_state() == "fresh"

    # a character from another file with an override
    override_character(where)
    show(0)
    assert list_enabled() == every
    assert ops.remove_database() == {"CANCELLED"}, "linked databases cannot be removed"
    assert len(get_settings().databases) == 2
    assert list_enabled() == every
    assert ops.add_database(label="Mine") == {"FINISHED"}
    get_settings().sources[0].enabled = False
    bpy.ops.wm.save_as_mainfile(filepath=where.replace("saved", "shot"))
    bpy.ops.wm.open_mainfile(filepath=where.replace("saved", "shot"))
    bpy.context.view_layer.objects.active = find_override()
    assert [database.label for database in get_settings().databases] == [
        "Everything",
        "Walks",
        "Mine",
    ]
    assert len(list_enabled()) == 2
    show(1)
    assert list_enabled() == walks
    show(2)
    assert len(list_enabled()) == 2
    assert every[0] not in list_enabled()

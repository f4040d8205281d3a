"""In a window: sources from selected actions and from a folder, and the state of builds and
databases.
"""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    FOLDER,
    alive,
    call,
    click,
    empty_file,
    event,
    find_motion_capture,
    load_module,
    look_at_performer,
    redrawn,
    region_of,
    run,
    started,
    tap,
    ticked,
    until,
    view,
    worked,
)

LIBRARY = FOLDER / "library"


def open_editor(kind):
    """Turn the largest area beside the view into an editor of that kind."""
    areas = [area for area in view()[0].screen.areas if area != view()[1]]
    area = max(areas, key=lambda one: one.width * one.height)
    area.ui_type = kind
    yield 0.5
    return area


def call_in(area, operator, **options):
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=view()[0], area=area, region=region):
        return operator(**options)


def add_selected():
    """Add the selected actions as sources, remove them again, and return their names."""
    yield from until(lambda: call(bpy.ops.motion_matching.add_assets.poll))
    sources = bpy.context.object.motion_matching.sources
    assert call(bpy.ops.motion_matching.add_assets) == {"FINISHED"}
    names = sorted(source.action.name for source in sources)
    call(bpy.ops.motion_matching.remove_source, all=True)
    return names


def add_from_selections():
    """Add actions selected in the Outliner, as assets of this file, and in an asset library."""
    obj = bpy.context.object
    call(bpy.ops.motion_matching.remove_source, all=True)
    assert not call(bpy.ops.motion_matching.add_assets.poll)
    area = yield from open_editor("OUTLINER")
    area.spaces.active.display_mode, area.spaces.active.filter_text = "LIBRARIES", "run_"
    yield 0.5
    call_in(area, bpy.ops.outliner.select_all, action="SELECT")
    names = yield from add_selected()
    assert names
    assert names == sorted(
        action.name for action in bpy.data.actions if action.name.startswith("run_")
    ), names
    area.spaces.active.filter_text = ""
    call_in(area, bpy.ops.outliner.select_all, action="DESELECT")
    yield 0.3

    for name in ("walk_curves", "walk_bends"):
        bpy.data.actions[name].asset_mark()
    LIBRARY.mkdir(parents=True, exist_ok=True)
    bpy.data.libraries.write(
        str(LIBRARY / "walks.blend"), {bpy.data.actions["walk_curves"]}, fake_user=True
    )
    library = bpy.context.preferences.filepaths.asset_libraries.new(
        name="Walks", directory=str(LIBRARY)
    )
    area = yield from open_editor("ASSETS")
    for reference, wanted in (
        ("LOCAL", ["walk_bends", "walk_curves"]),
        (library.name, ["walk_curves"]),
    ):
        area.spaces.active.params.asset_library_reference = reference
        yield 1.0
        call_in(area, bpy.ops.file.select_all, action="SELECT")
        names = yield from add_selected()
        assert names == wanted, (reference, names)
    assert any(action.library for action in bpy.data.actions), "those of a library are linked"
    area.ui_type = "PROPERTIES"
    assert bpy.context.object == obj


def build_from_a_folder():
    """A folder of motion capture becomes a character whose build is cancelled, changed and
    repeated.
    """
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    bpy.context.view_layer.objects.active = None
    folder, _ = find_motion_capture()
    call(bpy.ops.motion_matching.add_folder, directory=f"{folder}{os.sep}")
    settings, status = bpy.context.object.motion_matching, load_module("app.database.status")
    stands = lambda: status.get_status(bpy.context.object)  # noqa: E731
    yield from redrawn("UI")
    yield from click("motion_matching.build")
    yield from until(lambda: alive().progress)
    event("ESC")
    event("ESC", "RELEASE")
    yield from until(lambda: not alive().progress)
    assert not settings.built_key
    yield from click("motion_matching.build")
    yield from until(lambda: alive().progress)
    yield from worked()
    yield from until(lambda: stands().kind == "fresh")
    print(
        f"{len(settings.sources)} files of {folder.name}: {stands().frames} frames in "
        f"{stands().clips} clips"
    )
    assert stands().clips > 0.9 * len(settings.sources)
    settings.contact_speed = 0.2
    yield from until(lambda: stands().kind == "stale")
    assert stands().stale_reason == "Changed since the build: Contact Speed"
    call(bpy.ops.ed.undo_push, message="Slower")
    settings.contact_speed = 0.15
    yield from until(lambda: stands().kind == "fresh")
    live = yield from started()
    tap("W", unicode="w")
    yield from ticked(live, 20)
    tap("ESC")
    yield from until(lambda: alive().live is None)


def switch_databases():
    """A database stays built while another one with fewer files is chosen in the list."""
    settings, status = bpy.context.object.motion_matching, load_module("app.database.status")
    plus = region_of(view()[1], "UI").width - 45
    yield from click("motion_matching.add_database", at=plus)
    yield from click("motion_matching.add_database", at=plus)
    assert [database.label for database in settings.databases] == ["Database", "Database.001"]
    settings.sources[0].enabled = False
    yield from until(lambda: status.get_status(bpy.context.object).kind == "stale")
    settings.database_index = 0
    yield from until(lambda: status.get_status(bpy.context.object).kind == "fresh")
    assert all(source.enabled for source in settings.sources)
    settings.database_index = 1
    assert [source.enabled for source in settings.sources[:2]] == [False, True]
    yield from until(lambda: status.get_status(bpy.context.object).kind == "stale")


def scenario():
    yield from empty_file("character", "database", "databases")
    yield from click("motion_matching.add_demo_performer")
    yield from worked()
    look_at_performer()
    yield from add_from_selections()
    yield from build_from_a_folder()
    yield from switch_databases()


run(scenario)

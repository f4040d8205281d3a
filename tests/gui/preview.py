"""A source is previewed, scrubbed and tagged in a window, and Esc ends that."""

from __future__ import annotations

import os
import sys

import bpy
import numpy as np

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
    run,
    take_screenshot,
    tap,
    until,
    view,
    worked,
)

MUCH = 100  # pixels that a drawing covers at least
USE, FORBID, GO = 188, 210, 231  # pixels from the left of the sidebar to buttons of a candidate


def get_settings():
    return bpy.data.objects["Performer"].motion_matching


def keep_picture(name):
    """Copy the screen, for people, if a folder for pictures is given."""
    folder, screen = os.environ.get("PICTURES"), os.environ.get("BLENDER_GUI_FB")
    yield from redrawn()
    yield 0.5
    if folder and screen:
        with open(screen, "rb") as content, open(os.path.join(folder, name), "wb") as copy:
            copy.write(content.read())


def show_timeline():
    """Turn the properties into a timeline, which has room for bands with names."""
    window, _, _ = view()
    for area in window.screen.areas:
        if area.type == "PROPERTIES":
            area.type = "DOPESHEET_EDITOR"
            area.spaces.active.mode = "DOPESHEET"


def count_difference(one, other):
    return int((np.abs(one - other).max(axis=-1) > 8).sum())


def preview_a_file():
    """Its button shows a file that was never imported; scrubbing moves it; Esc ends it."""
    _, files = find_motion_capture()
    files = [*files[:1], *([f] if (f := os.environ.get("PREVIEW_ALSO")) else [])]
    for file in files:
        call(bpy.ops.motion_matching.add_files, filepath=str(file))
    settings, scene = get_settings(), bpy.context.scene
    for file in files:
        index = [s.filepath for s in settings.sources].index(str(file))
        settings.source_index = index
        scene.frame_set(12)
        plain = yield from take_screenshot()
        count = len(bpy.data.actions)
        yield from click("motion_matching.preview_source")
        yield from until(lambda: alive().source_preview)
        yield from worked()
        event("MOUSEMOVE", "NOTHING")
        shown = yield from take_screenshot()
        assert count_difference(plain, shown) > MUCH
        for _ in range(3):
            tap("RIGHT_ARROW")
        yield from until(lambda: scene.frame_current == 15)
        scene.frame_set(30)
        moved = yield from take_screenshot()
        assert count_difference(shown, moved) > MUCH
        call(bpy.ops.motion_matching.add_tag, label="turn_left")
        settings.sources[index].tag_ranges[0].frame_end = 70
        show_timeline()
        yield from keep_picture(f"preview_{index}.xwd")
        assert len(bpy.data.actions) == count
        event("MOUSEMOVE", "NOTHING")
        yield 0.2
        tap("ESC")
        yield from until(lambda: alive().source_preview is None)
        assert scene.frame_current == 12
        again = yield from take_screenshot()
        assert count_difference(plain, again) < MUCH


def undo_and_save_meanwhile():
    """What is previewed is in no file, and goes with an undone source."""
    settings = get_settings()
    settings.source_index = 0
    call(bpy.ops.motion_matching.preview_source)
    assert alive().source_preview
    before = len(bpy.data.objects), len(bpy.data.actions)
    path = str(FOLDER / "meanwhile.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    call(bpy.ops.ed.undo_push, message="here")
    yield from redrawn()
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 0.5
    assert alive().source_preview is None
    assert (len(bpy.data.objects), len(bpy.data.actions)) == before
    assert load_module("ui.database.preview_drawing").overlay.is_on


def act_on_candidates():
    """A take is inspected as it plays; its candidates' buttons go on with one, and show one."""
    settings, scene = get_settings(), bpy.context.scene
    settings.sources[0].tags = "calm"
    call(bpy.ops.motion_matching.bake_script, script="flips", seconds=6.0, tags="calm")
    scene.frame_set(40)
    show_timeline()
    yield from click("motion_matching.inspect_frame")
    yield from until(lambda: alive().inspector and alive().inspector.inspection)
    yield from worked()
    assert alive().inspector.subject == "take"
    look_at_performer()
    yield from keep_picture("inspector.xwd")
    count = len(settings.takes)
    yield from click("motion_matching.use_candidate", at=USE)
    yield from until(lambda: len(settings.takes) == count + 1)
    yield from worked()
    yield from until(lambda: alive().inspector and alive().inspector.inspection)
    yield from keep_picture("inspector_used.xwd")
    yield from click("motion_matching.go_to_candidate", at=GO)
    yield from until(lambda: alive().source_preview)
    yield from worked()
    yield from keep_picture("inspector_source.xwd")
    event("MOUSEMOVE", "NOTHING")
    yield 0.2
    tap("ESC")
    yield from until(lambda: alive().source_preview is None)
    assert not alive().inspector.problem
    call(bpy.ops.motion_matching.stop_inspecting)


def scenario():
    yield from empty_file("database", "source", "tags", "insight", "frame_inspector")
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from worked()
    look_at_performer()
    yield from preview_a_file()
    for source in get_settings().sources:
        source.enabled = source.kind == "ACTION"
    yield from act_on_candidates()
    yield from undo_and_save_meanwhile()


if __name__ == "__main__":
    run(scenario, needs_keys=False)

"""A take plays beside the character in a window, is scrubbed, undone around, and hidden by Esc."""

from __future__ import annotations

import os
import sys

import bpy
import numpy as np
from mathutils import Euler

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    FOLDER,
    alive,
    call,
    click,
    empty_file,
    event,
    look_at_performer,
    redrawn,
    run,
    take_screenshot,
    tap,
    until,
    view,
    worked,
)

MUCH = 1000  # pixels that a body covers at least
NOISE = 100


def get_settings():
    return bpy.data.objects["Performer"].motion_matching


def count_difference(one, other):
    return int((np.abs(one - other).max(axis=-1) > 8).sum())


def count_blocks():
    return {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "actions")}


def keep_picture(name):
    """Copy the screen, for people, if a folder for pictures is given."""
    folder, screen = os.environ.get("PICTURES"), os.environ.get("BLENDER_GUI_FB")
    yield from redrawn()
    yield 0.5
    if folder and screen:
        with open(screen, "rb") as content, open(os.path.join(folder, name), "wb") as copy:
            copy.write(content.read())


def bake_two():
    """Bake two takes, the second without a foot lock and slower, and look at the first from afar."""
    settings = get_settings()
    call(bpy.ops.motion_matching.bake_script, script="square", seconds=6.0)
    yield from worked()
    settings.controller.search_interval = 0.5
    call(bpy.ops.motion_matching.bake_script, script="square", seconds=6.0)
    yield from worked()
    settings.take_index, settings.compare_with = 0, settings.takes[1].action
    bpy.data.objects["Performer"].animation_data.action = settings.takes[0].action
    bpy.context.scene.frame_set(60)
    look_at_performer()
    seen = view()[1].spaces.active.region_3d
    seen.view_distance, seen.view_location = 6.0, (0.3, -2.0, 0.8)
    seen.view_rotation = Euler((1.3, 0.0, 0.5)).to_quaternion()


def play_beside_and_hide(name):
    """The button shows a body that moves with the timeline; Esc hides it without a trace."""
    scene, before = bpy.context.scene, count_blocks()
    frame, plain = scene.frame_current, (yield from take_screenshot())
    yield from click("motion_matching.play_beside")
    yield from until(lambda: alive().beside)
    yield from worked()
    event("MOUSEMOVE", "NOTHING")
    shown = yield from take_screenshot()
    print(f"   {name}: {count_difference(plain, shown)} pixels are drawn")
    assert count_difference(plain, shown) > MUCH
    assert scene.frame_current == frame
    scene.frame_set(frame + 25)
    moved = yield from take_screenshot()
    assert count_difference(shown, moved) > MUCH
    yield from keep_picture(f"beside_{name}.xwd")
    scene.frame_set(frame)
    assert count_blocks() == before
    event("MOUSEMOVE", "NOTHING")
    yield 0.2
    tap("ESC")
    yield from until(lambda: alive().beside is None)
    again = yield from take_screenshot()
    assert count_difference(plain, again) < NOISE


def undo_and_save_meanwhile():
    """It stays while what it shows is there, and is in no file."""
    call(bpy.ops.motion_matching.play_beside)
    names = {obj.name for obj in bpy.data.objects}
    call(bpy.ops.ed.undo_push, message="here")
    path = str(FOLDER / "beside.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    assert alive().beside
    yield from redrawn()
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 0.5
    assert alive().beside is None
    assert {obj.name for obj in bpy.data.objects} == names


def scenario():
    yield from empty_file("takes", "compare")
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from worked()
    yield from bake_two()
    yield from play_beside_and_hide("take")
    get_settings().compare_by = "METHOD"
    yield from click("motion_matching.compare_takes")
    yield from until(lambda: alive().comparisons)
    yield from worked()
    yield from play_beside_and_hide("method")
    yield from undo_and_save_meanwhile()


if __name__ == "__main__":
    run(scenario, needs_keys=False)

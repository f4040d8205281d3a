"""In a window: a rig that is too slow is driven live through a proxy, and gets the recording.

The rig is Rigify's human in local view, with a mesh that takes long to evaluate, and another that
the user has hidden.
"""

from __future__ import annotations

import os
import sys

import addon_utils
import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    FOLDER,
    call,
    check_left_nothing,
    empty_file,
    event,
    find_motion_capture,
    load_module,
    read_traces,
    recorded,
    redrawn,
    run,
    started,
    tap,
    ticked,
    until,
    view,
    worked,
)
from screen import SCREEN, read_screen, save_png

FIGURE = 500  # pixels that a figure in the view has at least


def take_picture(name):
    yield from redrawn()
    yield from redrawn("UI")
    yield 0.5
    if SCREEN:
        save_png(read_screen(), FOLDER / f"slow_rig_{name}.png")


def add_rig():
    """Add Rigify's human with its meshes, in local view."""
    addon_utils.enable("rigify", default_set=True)
    call(bpy.ops.object.armature_human_metarig_add)
    metarig = bpy.context.object
    call(bpy.ops.pose.rigify_generate)
    rig = bpy.context.object
    bpy.data.objects.remove(metarig)
    rig.name = "rig"
    staging, skeletons = load_module("scene.staging.character"), load_module("scene.controls.match")
    skeleton = skeletons.read_deform_skeleton(rig)
    limbs = load_module("scene.controls.proxy_writer").find_human_limbs(skeleton)
    body, hat = (
        staging.create_character_body(rig, skeleton, limbs, name) for name in ("Body", "Hat")
    )
    body.modifiers.new("Subdivision", "SUBSURF").levels = 3
    body.modifiers.move(1, 0)  # the last one might be left to the graphics card
    body.data.materials.clear()
    hat.hide_set(True)
    for obj in (rig, body):
        obj.select_set(True)
    call(bpy.ops.view3d.localview, frame_selected=False)
    body.select_set(False)
    bpy.context.view_layer.objects.active = rig
    return rig


def build(rig):
    folder, files = find_motion_capture()
    names = [{"name": file.name} for file in files]
    call(bpy.ops.motion_matching.add_files, directory=str(folder), files=names)
    yield 1.0
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from worked()
    assert rig.motion_matching.built_key
    call(bpy.ops.ed.undo_push, message="Build")


def list_visible():
    """Return the names of the objects that the view shows."""
    space = view()[1].spaces.active
    objects = bpy.context.view_layer.objects
    return sorted(obj.name for obj in objects if obj.visible_in_viewport_get(space))


def scenario():
    yield from empty_file("play", "controls")
    rig = add_rig()
    yield from build(rig)
    seen = view()[1].spaces.active.region_3d
    seen.view_distance, seen.view_location = 4.5, (0.0, 0.0, 0.9)
    yield from take_picture("before")
    assert list_visible() == ["Body", "rig"]
    before = read_traces()
    live = yield from started()
    print(live.describe_driven())
    assert live.describe_driven().startswith("Proxy: the rig evaluates at ")
    assert list_visible() == ["rig Proxy", "rig Proxy.001"]
    assert not [text for text in live.messages if "busy" in text]
    event("W", unicode="w")
    yield from ticked(live, 40)
    yield from take_picture("playing")
    yield from recorded(live, 60)
    yield from take_picture("recording")
    tap("SPACE", unicode=" ")
    yield from until(lambda: not live.session.is_recording)
    yield from take_picture("recorded")
    tap("ESC")
    yield from check_left_nothing(live, before)
    yield from take_picture("ended")
    assert list_visible() == ["Body", "rig"]
    assert rig.animation_data.action.name in live.takes
    call(bpy.ops.ed.undo)
    yield 0.5
    yield from take_picture("undone")
    assert list_visible() == ["Body", "rig"]
    assert not [obj for obj in bpy.data.objects if "Proxy" in obj.name]


run(scenario)

"""In a window: a rig that is too slow is driven live through a proxy, and gets the recording.

The rig is Rigify's human in local view, with a mesh that takes long to evaluate, and another that
the user has hidden.
"""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    FOLDER,
    call,
    check_left_nothing,
    empty_file,
    event,
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
)
from rigify_human import add_meshes, build, generate_rig
from screen import SCREEN, read_screen, save_png


def take_picture(name):
    yield from redrawn()
    yield from redrawn("UI")
    yield 0.5
    if SCREEN:
        save_png(read_screen(), FOLDER / f"slow_rig_{name}.png")


def enter_local_view(rig, body):
    """Show only these two, and leave the rig selected."""
    body.select_set(True)
    rig.select_set(True)
    call(bpy.ops.view3d.localview, frame_selected=False)
    body.select_set(False)


def list_visible():
    """Return the names of the objects that the view shows."""
    space = view()[1].spaces.active
    objects = bpy.context.view_layer.objects
    return sorted(obj.name for obj in objects if obj.visible_in_viewport_get(space))


def scenario():
    yield from empty_file("play", "controls")
    rig = generate_rig()
    body, _ = add_meshes(rig)
    enter_local_view(rig, body)
    yield from build()
    call(bpy.ops.ed.undo_push, message="Build")
    seen = view()[1].spaces.active.region_3d
    seen.view_distance, seen.view_location = 4.5, (0.0, 0.0, 0.9)
    yield from take_picture("before")
    assert list_visible() == ["Body", "rig"]
    before = read_traces()
    live = yield from started()
    driven = load_module("app.strip.state").describe_driven(rig)
    print(driven)
    assert driven.startswith("Proxy: the rig evaluates at ")
    assert list_visible() == ["rig Proxy", "rig Proxy Body"]
    print(f"{live.session._clock.dropped:.1f} s left out after the start")
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
    seen.view_location = (0.0, 0.0, 0.9)
    call(bpy.ops.ed.undo)
    yield 0.5
    yield from take_picture("undone")
    assert list_visible() == ["Body", "rig"]
    assert not [obj for obj in bpy.data.objects if "Proxy" in obj.name]


run(scenario)

"""Keys of a live session as the user's keymap has them: changed, used, and reset."""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    PACKAGE,
    alive,
    check_left_nothing,
    create_performer,
    event,
    heard,
    load_module,
    read_traces,
    run,
    started,
    tap,
    ticked,
    until,
)


def get_user_item(action):
    """Return the first item of an action in the user's keymap."""
    keymaps, preferences = load_module("ui.keymaps"), load_module("ui.preferences")
    if bpy.context.window_manager.keyconfigs.user.keymaps.get(keymaps.NAME) is None:
        return None
    items = keymaps.iterate_items(preferences.STEER)
    return next((item for item in items if item.properties.action == action), None)


def describe():
    return load_module("ui.preferences").describe_keys(with_start=True)


def scenario():
    yield from create_performer()
    yield from until(lambda: get_user_item("ahead"))
    assert describe().startswith("Ctrl Alt M: start,  W A S D: steer"), describe()
    get_user_item("ahead").type = "I"
    get_user_item("record").type = "F8"
    yield from until(lambda: get_user_item("ahead").is_user_modified)
    assert "I A S D: steer" in describe(), describe()
    before = read_traces()
    live = yield from started()
    place = live.position
    event("W", unicode="w")
    yield from ticked(live, 30)
    event("W", "RELEASE")
    assert abs(live.position[0] - place[0]) + abs(live.position[1] - place[1]) < 0.3
    event("I", unicode="i")
    yield from ticked(live, 60)
    event("I", "RELEASE")
    assert abs(live.position[0] - place[0]) + abs(live.position[1] - place[1]) > 0.8
    tap("F8")
    yield from until(lambda: live.session.is_recording)
    tap("F8")
    yield from until(lambda: not live.session.is_recording)
    # a tap of the operator holds a direction
    bpy.ops.motion_matching.steer(action="back")
    yield from ticked(live, 5)
    assert live.keyboard.read_controls().move == (0.0, -1.0)
    tap("ESC")
    yield from check_left_nothing(live, before)
    assert ("I", "PRESS") in heard
    keymap = bpy.context.window_manager.keyconfigs.user.keymaps[load_module("ui.keymaps").NAME]
    keymap.restore_item_to_default(get_user_item("ahead"))
    assert "W A S D: steer" in describe(), describe()
    assert "F8: record" in describe(), describe()
    yield from change_keys()
    yield from enable_again()


def change_keys():
    """Keys and shortcuts are added, removed and restored."""
    ops = bpy.ops.motion_matching
    keymaps, start = load_module("ui.keymaps"), load_module("ui.preferences").START
    assert ops.add_key(action="push") == {"FINISHED"}
    yield 0.3
    items = [
        i for i in keymaps.iterate_items("motion_matching.steer") if i.properties.action == "push"
    ]
    assert len(items) == 2, items
    items[-1].type = "Q"
    bpy.context.window_manager.keyconfigs.user.keymaps[keymaps.NAME].keymap_items.remove(items[0])
    yield 0.3
    assert "Q: push" in describe(), describe()
    assert ops.add_key() == {"FINISHED"}
    yield 0.3
    _, added = keymaps.iterate_shortcuts(start)
    added.type = "F9"
    yield from show_preferences()
    own, _ = keymaps.iterate_shortcuts(start)  # Blender may have made the items anew
    bpy.context.window_manager.keyconfigs.user.keymaps["3D View"].keymap_items.remove(own)
    yield 0.3
    assert describe().startswith("F9: start"), describe()
    tap("F9")
    yield from until(lambda: alive().live)
    tap("ESC")
    yield from until(lambda: alive().live is None)
    assert ops.restore_keys() == {"FINISHED"}
    yield 0.3
    assert describe().startswith("Ctrl Alt M: start,  W A S D: steer"), describe()
    assert "E: push" in describe(), describe()
    assert "Space: record" in describe(), describe()


def show_preferences():
    """Draw the preferences once, with all keys."""
    bpy.ops.screen.userpref_show()
    bpy.context.preferences.active_section = "ADDONS"
    bpy.ops.preferences.addon_show(module=PACKAGE)
    yield 3.0
    window = bpy.context.window_manager.windows[-1]
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.window_close()
    yield 0.3


def enable_again():
    """Blender drops changed keys of an extension that is disabled, as the manual says."""
    get_user_item("push").type = "J"
    yield 0.5
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    yield 0.5
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    yield from until(lambda: get_user_item("push"))
    yield 0.5
    assert "E: push" in describe(), describe()


if __name__ == "__main__":
    run(scenario)

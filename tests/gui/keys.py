"""Keys of a live session as the user's keymap has them: changed, used, and reset."""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
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
    assert describe().startswith("Ctrl Alt M starts,  W A S D steer"), describe()
    get_user_item("ahead").type = "I"
    get_user_item("record").type = "F8"
    yield from until(lambda: get_user_item("ahead").is_user_modified)
    assert "I A S D steer" in describe(), describe()
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
    assert "W A S D steer" in describe(), describe()
    assert "F8 records" in describe(), describe()


run(scenario)

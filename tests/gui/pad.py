"""A gamepad in a window: it steers, Start records, and the keyboard takes over when it is
unplugged.

The pad is SDL's virtual joystick, in the process that reads it, with the extension's library.
"""

from __future__ import annotations

import math
import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    alive,
    check_left_nothing,
    create_performer,
    event,
    load_module,
    read_traces,
    run,
    started,
    tap,
    ticked,
    until,
    view,
)


def collect_messages(live):
    """Collect the messages about gamepads from now on."""
    messages = []
    tick = live.tick

    def tick_and_collect(*arguments):
        tick(*arguments)
        messages.extend(text for text in live.messages if "gamepad" in text)

    live.tick = tick_and_collect
    return messages


def get_view_directions():
    """Return the directions ahead and to the right of the view."""
    heading = load_module("ui.play.navigation").compute_heading(view()[1].spaces.active.region_3d)
    return (math.sin(heading), -math.cos(heading)), (-math.cos(heading), -math.sin(heading))


def measure_way(live, count):
    """Wait for ticks; return how far the character went ahead and to the right."""
    x, y = live.position
    yield from ticked(live, count)
    x, y = live.position[0] - x, live.position[1] - y
    return tuple(x * way[0] + y * way[1] for way in get_view_directions())


def press_until(pad, name, condition):
    pad.set_button(name, True)
    yield from until(condition)
    pad.set_button(name, False)


def steer(live, pad):
    pad.push_stick(0.0, 1.0)
    ahead, aside = yield from measure_way(live, 90)
    print(f"the stick up: {ahead:.2f} m ahead, {aside:.2f} m to the right")
    assert ahead > 1.5
    assert abs(aside) < 0.3 * ahead
    pad.push_stick(1.0, 0.0)
    yield from ticked(live, 60)
    ahead, aside = yield from measure_way(live, 60)
    print(f"the stick to the right: {ahead:.2f} m ahead, {aside:.2f} m to the right")
    assert aside > 1.0
    assert abs(ahead) < 0.3 * aside
    pad.push_stick(0.0, 0.5)
    yield from ticked(live, 60)
    ahead, _ = yield from measure_way(live, 60)
    print(f"the stick half up: {ahead:.2f} m ahead")
    assert 0.3 < ahead < 2.0


def record_until_unplugged(live, pad, told):
    pad.push_stick(0.0, 1.0)
    yield from press_until(pad, "start", lambda: live.session.is_recording)
    yield from ticked(live, 90)
    told.clear()
    pad.unplug()
    yield from until(lambda: told)
    yield from ticked(live, 20)
    assert len(told) == 1, told
    print(told[0])
    assert "Virtual Pad" in told[0]
    assert "disconnected" in told[0]
    assert alive().live is live
    assert live.session.is_recording
    event("W", unicode="w")
    yield from ticked(live, 30)
    ahead, _ = yield from measure_way(live, 60)
    event("W", "RELEASE")
    print(f"the keyboard goes on: {ahead:.2f} m ahead")
    assert ahead > 1.2
    tap("SPACE", unicode=" ")
    yield from until(lambda: not live.session.is_recording)


def scenario():
    yield from create_performer()
    obj, before = bpy.context.object, read_traces()
    from virtual_pad import VirtualPad  # uses the extension's library

    live = yield from started()
    told = collect_messages(live)
    with VirtualPad() as pad:
        yield from until(lambda: told)
        assert "'Virtual Pad' is connected" in told[0], told
        yield from steer(live, pad)
        yield from record_until_unplugged(live, pad, told)
    tap("ESC")
    yield from check_left_nothing(live, before)
    [take] = obj.motion_matching.takes
    first, last = take.action.frame_range
    print(f"recorded {last - first:.0f} frames")
    assert last - first > 170


run(scenario)

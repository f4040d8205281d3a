"""In a window: saving, opening, reverting, new files, workspaces, areas, scenes and windows while
live.
"""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    alive,
    call,
    check_left_nothing,
    create_performer,
    event,
    read_traces,
    recorded,
    run,
    started,
    tap,
    ticked,
    until,
    view,
)

FILE = os.path.join(os.environ["MOTION_MATCHING_TEST_FOLDER"], "live.blend")


def find_hero():
    return bpy.data.objects["Performer"]


def is_live(live):
    return alive().live is live


def check_ended(live, before, *words):
    """Check that the session is over, the user was told why, and nothing of it is left."""
    yield from check_left_nothing(live, before)
    said = alive().end_message
    print("   ", said, flush=True)
    assert all(word in said for word in words), said


def save():
    """The saved file holds the state before the session."""
    before, place = read_traces(), find_hero().location.copy()
    live = yield from started()
    event("W", unicode="w")
    yield from ticked(live, 20)
    event("W", "RELEASE")
    call(bpy.ops.wm.save_as_mainfile, filepath=FILE)
    yield from check_ended(live, before, "saved")
    assert (find_hero().location - place).length < 1e-5


def recover_after(load):
    """A recording survives closing the file, and is recovered in the file it was made in."""
    before = read_traces()
    live = yield from started()
    yield from recorded(live, 40)
    load()
    yield 1.0
    yield from check_ended(live, before, "file", "recover the recording")
    assert len(alive().interrupted) == 1
    if "Performer" not in bpy.data.objects:
        call(bpy.ops.wm.open_mainfile, filepath=FILE)
        yield 1.0
    assert not find_hero().motion_matching.takes
    assert call(bpy.ops.motion_matching.recover_take) == {"FINISHED"}
    take = find_hero().animation_data.action
    assert take.name.startswith("Recovered ")
    assert take.frame_range[1] - take.frame_range[0] >= 38
    assert not alive().interrupted
    call(bpy.ops.wm.revert_mainfile)
    yield 1.0


def reopen():
    yield from recover_after(lambda: call(bpy.ops.wm.open_mainfile, filepath=FILE))


def revert():
    yield from recover_after(lambda: call(bpy.ops.wm.revert_mainfile))


def start_new_file():
    yield from recover_after(
        lambda: call(bpy.ops.wm.read_homefile, app_template="", use_factory_startup=True)
    )


def switch_workspaces():
    """A session continues in other workspaces, also in one without a 3D view."""
    before = read_traces()
    live = yield from started()
    window = view()[0]
    first = window.workspace
    for name in ("Animation", "Shading", "Scripting"):
        window.workspace = bpy.data.workspaces[name]
        yield 0.5
        yield from ticked(live, 10)
        assert is_live(live), alive().end_message
    for area in window.screen.areas:
        if area.type == "VIEW_3D":
            area.type = "TEXT_EDITOR"
    yield from ticked(live, 10)
    assert is_live(live), alive().end_message
    window.workspace = first
    yield 0.5
    tap("ESC")
    yield from check_ended(live, before)


def change_areas():
    """A session continues if its area is maximised, becomes another editor, or is closed."""
    before = read_traces()
    call(bpy.ops.screen.area_split, direction="VERTICAL", factor=0.5)
    yield 0.5
    live = yield from started()
    for _ in range(2):
        call(bpy.ops.screen.screen_full_area)
        yield 0.5
        yield from ticked(live, 10)
        assert is_live(live), alive().end_message
    _, area, _ = view()
    area.type = "IMAGE_EDITOR"
    yield from ticked(live, 10)
    area.type = "VIEW_3D"
    count = len(view()[0].screen.areas)
    call(bpy.ops.screen.area_close)
    yield 0.5
    assert len(view()[0].screen.areas) == count - 1
    event("W", unicode="w")
    yield from ticked(live, 20)
    event("W", "RELEASE")
    assert is_live(live), alive().end_message
    tap("ESC")
    yield from check_ended(live, before)


def choose_scene():
    before = read_traces()
    live = yield from started()
    window = view()[0]
    window.scene = bpy.data.scenes.new("Other")
    yield from check_ended(live, before, "scene")
    window.scene = bpy.data.scenes["Scene"]
    yield 0.3


def close_window():
    """A recording in a second window becomes a take when that window closes."""
    before = read_traces()
    first = bpy.context.window_manager.windows[0]
    call(bpy.ops.wm.window_new_main)
    yield 1.0
    second = next(window for window in bpy.context.window_manager.windows if window != first)
    area = next(area for area in second.screen.areas if area.type == "VIEW_3D")
    with bpy.context.temp_override(window=second, area=area, region=area.regions[-1]):
        bpy.ops.motion_matching.start("INVOKE_DEFAULT")
    yield from until(lambda: alive().live)
    live = alive().live
    second.event_simulate(
        type="SPACE",
        value="PRESS",
        unicode=" ",
        x=area.x + area.width // 2,
        y=area.y + area.height // 2,
    )
    yield from until(lambda: live.session.is_recording)
    yield from ticked(live, 20)
    with bpy.context.temp_override(window=second):
        bpy.ops.wm.window_close()
    yield from check_ended(live, before, "window", "Recorded")
    assert live.takes


def scenario():
    yield from create_performer()
    for part in (
        save,
        reopen,
        revert,
        start_new_file,
        switch_workspaces,
        change_areas,
        choose_scene,
        close_window,
    ):
        print(part.__name__, flush=True)
        yield from part()


run(scenario)

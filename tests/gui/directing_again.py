"""In a window: a baked script is followed with a click, a jump of that is replaced with another
click, both are undone, and a long solve that Esc ends keeps its best take so far.

If SCREEN_FILE names the screen, pictures are in the folder `directing_again` beside the other
results.
"""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
import directed
from directed import find_hero
from drive import (
    FOLDER,
    alive,
    call,
    click,
    empty_file,
    load_module,
    look_at_performer,
    redrawn,
    region_of,
    run,
    tap,
    until,
    view,
    worked,
)

FILM = FOLDER / "directing_again"
SECONDS = 12.0
LONG = 4800  # frames of a solve that there is time to end


def take_picture(name):
    yield from directed.take_picture(FILM / f"{name}.png")


def list_takes():
    return [take.action.name for take in find_hero().motion_matching.takes]


def undo(count):
    """Undo the last click, which leaves so many takes."""
    call(bpy.ops.ed.undo)
    yield from until(lambda: len(list_takes()) == count, 30.0)
    yield from redrawn("UI")


def follow():
    """Follow the baked script with a click on *Re-solve Path*; return the jumps of the take."""
    yield from click("motion_matching.bake_again")
    yield from worked()
    yield from until(lambda: len(list_takes()) == 2)
    action = find_hero().motion_matching.takes[1].action
    assert load_module("scene.direct.stored_shots").is_directed(action)
    return load_module("app.direct.jumps").list_jumps(action)


def replace_a_jump():
    """Replace the jump at the playhead with a click on *Replace Jump*."""
    width = region_of(view()[1], "UI").width
    yield from click("motion_matching.replace_jump", at=round(0.7 * width))
    yield from worked()
    yield from until(lambda: len(list_takes()) == 3)
    return load_module("app.direct.jumps").list_jumps(find_hero().motion_matching.takes[2].action)


def end_early():
    """Solve for minutes, and press Esc as soon as there is a take."""
    settings = find_hero().motion_matching
    settings.director.use_range, settings.director.frame_end = True, LONG
    bpy.context.scene.frame_set(60)
    call(bpy.ops.motion_matching.add_mark, where="CHARACTER")
    yield from redrawn("UI")
    before = len(list_takes())
    yield from click("motion_matching.direct")
    yield from until(lambda: alive().progress and "So Far" in alive().progress[0], 200.0)
    yield from take_picture("3_best_so_far")
    tap("ESC")
    yield from until(lambda: alive().work is None, 200.0)
    assert len(list_takes()) == before + 1
    yield from take_picture("4_ended_early")


def scenario():
    FILM.mkdir(exist_ok=True)
    yield from empty_file("director", "jumps")
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from worked()
    look_at_performer()
    call(bpy.ops.motion_matching.bake_script, "EXEC_DEFAULT", script="square", seconds=SECONDS)
    yield from until(lambda: len(list_takes()) == 1)
    call(bpy.ops.ed.undo_push, message="Bake Script")  # which clicks do by themselves
    yield from redrawn("UI")
    jumps = yield from follow()
    assert jumps
    jump = jumps[len(jumps) // 2]
    bpy.context.scene.frame_set(jump.frame)
    yield from take_picture("1_followed")
    others = yield from replace_a_jump()
    assert (jump.second, jump.source, jump.target) not in [
        (each.second, each.source, each.target) for each in others
    ]
    yield from take_picture("2_another")
    yield from undo(2)
    yield from undo(1)
    yield from end_early()


if __name__ == "__main__":
    run(scenario, needs_keys=False)

"""In a window: Preview is clicked, a mark is dragged with the mouse, and the way follows it before
it is let go; the drag is undone, Preview is clicked off, and nothing was baked.

If SCREEN_FILE names the screen, pictures are in the folder `dragging_marks` beside the other
results.
"""

from __future__ import annotations

import os
import sys
import time

import bpy

sys.path.insert(0, os.path.dirname(__file__))
import directed
from directed import MARKS, find_hero, list_marks, look_at_marks
from drive import (
    FOLDER,
    alive,
    call,
    click,
    drawn,
    empty_file,
    event,
    load_module,
    look_at_performer,
    redrawn,
    run,
    tap,
    until,
    worked,
)

FILM = FOLDER / "dragging_marks"
STEPS, WAIT = 12, 0.05  # of a drag, and seconds between two


def take_picture(name):
    yield from directed.take_picture(FILM / f"{name}.png")


def add_marks():
    place = load_module("engine.control.performer").Placement
    for frame, (x, y), yaw in MARKS:
        load_module("app.marks.marks").add_mark(find_hero(), frame, place(x, y, yaw))
    bpy.context.scene.frame_set(1)


def is_dragging():
    [window] = bpy.context.window_manager.windows
    return any(each.bl_idname == "TRANSFORM_OT_translate" for each in window.modal_operators)


def drag(dx, dy):
    """Grab what is selected, and move the mouse; return the ways that were shown meanwhile."""
    ways = [alive().mark_preview.way]
    tap("G", unicode="g")
    yield from until(is_dragging)
    for step in range(1, STEPS + 1):
        event("MOUSEMOVE", "NOTHING", dx * step // STEPS, dy * step // STEPS)
        yield WAIT
        if alive().mark_preview.way is not ways[-1]:
            ways.append(alive().mark_preview.way)
    yield from until(lambda: is_shown(list_marks()[1]))
    return [*ways, alive().mark_preview.way]


def is_shown(mark):
    """Return whether the way is that of where a mark is now."""
    preview = alive().mark_preview
    x, y = preview.way.marks[1] - mark.matrix_world.translation.xy
    return preview.work is None and abs(x) + abs(y) < 1e-4


def scenario():
    FILM.mkdir(exist_ok=True)
    yield from empty_file("director")
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from worked()
    look_at_performer()
    look_at_marks()
    add_marks()
    yield from redrawn("UI")
    yield from click("motion_matching.preview_marks")
    yield from worked()
    yield from until(lambda: alive().mark_preview and alive().mark_preview.way)
    assert alive().mark_preview.describe() == "3 of 3 Met"
    yield from take_picture("1_on")

    mark = list_marks()[1]
    load_module("app.marks.marks").choose(find_hero(), mark)
    assert bpy.context.view_layer.objects.active == mark
    call(bpy.ops.ed.undo_push, message="Marks")  # those that no click has added
    yield from redrawn()
    event("MOUSEMOVE", "NOTHING")
    yield 0.2
    before, actions = mark.location.copy(), len(bpy.data.actions)
    begun, redraws = time.monotonic(), drawn["WINDOW"]
    ways = yield from drag(160, 60)
    seconds = time.monotonic() - begun
    print(
        f"{len(ways)} ways and {drawn['WINDOW'] - redraws} redraws in {seconds:.1f} s", flush=True
    )
    assert is_dragging(), "the way is there before the mark is let go"
    assert len(ways) >= 3
    assert (mark.location - before).length > 0.3
    yield from take_picture("2_dragged")
    tap("RET")
    yield from until(lambda: not is_dragging())
    assert len(bpy.data.actions) == actions
    assert not find_hero().motion_matching.takes

    call(bpy.ops.ed.undo)  # the drag is one step, and the preview none
    yield 0.3
    mark = list_marks()[1]
    assert (mark.location - before).length < 1e-5
    yield from until(lambda: is_shown(list_marks()[1]))
    yield from redrawn("UI")
    yield from click("motion_matching.end_mark_preview")
    yield from until(lambda: alive().mark_preview is None)
    yield from take_picture("3_off")


if __name__ == "__main__":
    run(scenario, needs_keys=False)

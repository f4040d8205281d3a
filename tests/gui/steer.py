"""From an empty file: add the performer, build, start, steer, turn the view, record, stop; a take
is there.
"""

from __future__ import annotations

import itertools
import math
import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    alive,
    call,
    check_left_nothing,
    click,
    drawn,
    empty_file,
    event,
    load_module,
    look_at_performer,
    read_traces,
    recorded,
    redrawn,
    run,
    tap,
    ticked,
    until,
    view,
    worked,
)

SECONDS = 10  # length of the recording


def watch_status():
    """Note each check whether the database is stale: one takes as long as many ticks."""
    status, found = load_module("app.database.status"), []
    refresh = status.refresh
    status.refresh = lambda obj: found.append(obj.name) or refresh(obj)
    return found


def measure_way(live, before):
    """Return how far the character went since `before`, in total and along the view."""
    heading = load_module("ui.play.navigation").compute_heading(view()[1].spaces.active.region_3d)
    x, y = (now - then for now, then in zip(live.position, before, strict=True))
    return math.hypot(x, y), x * math.sin(heading) - y * math.cos(heading)


def orbit():
    event("MIDDLEMOUSE")
    yield 0.1
    for step in range(8):
        event("MOUSEMOVE", "NOTHING", dx=-12 * step)
        yield 0.03
    event("MIDDLEMOUSE", "RELEASE", dx=-84)
    yield 0.1


def pan():
    event("MIDDLEMOUSE", shift=True)
    yield 0.1
    for step in range(8):
        event("MOUSEMOVE", "NOTHING", dy=4 * step, shift=True)
        yield 0.03
    event("MIDDLEMOUSE", "RELEASE", dy=28)
    yield 0.1


def walk_and_stop(live):
    """Ahead is where the view looks, also after turning the view while the key is held."""
    seen = view()[1].spaces.active.region_3d
    place, pictures = live.position, drawn["WINDOW"]
    event("W", unicode="w")
    yield from ticked(live, 72)
    length, ahead = measure_way(live, place)
    print(
        f"went {length:.2f} m, {ahead:.2f} m of it ahead, in {drawn['WINDOW'] - pictures} pictures"
    )
    assert ahead > 1.5
    assert ahead > 0.95 * length
    assert drawn["WINDOW"] - pictures >= 3
    assert math.dist(seen.view_location[:2], live.position) < 1.5, "the view does not follow"

    before, distance = seen.view_rotation.copy(), seen.view_distance
    yield from orbit()
    turned = before.rotation_difference(seen.view_rotation).angle
    height = seen.view_location.z
    yield from pan()
    event("WHEELUPMOUSE")
    yield 0.2
    print(f"turned the view by {turned:.2f}, moved it up by {seen.view_location.z - height:.2f}")
    assert turned > 0.3
    assert seen.view_location.z != height
    assert seen.view_distance < distance

    yield from ticked(live, 60)
    place = live.position
    yield from ticked(live, 45)
    length, ahead = measure_way(live, place)
    print(f"went {length:.2f} m, {ahead:.2f} m of it ahead of the turned view")
    assert ahead > 0.9
    assert ahead > 0.95 * length
    event("W", "RELEASE")
    yield from ticked(live, 60)
    place = live.position
    yield from ticked(live, 30)
    assert math.dist(place, live.position) < 0.15, "no key is held, but the character keeps moving"


def check_shortcuts_are_blocked(live):
    """Undo, file shortcuts and letters do nothing while live."""
    names = set(bpy.data.objects.keys())
    for kind in ("Z", "S", "O", "N", "Q"):
        tap(kind, ctrl=True)
    tap("X", unicode="x")
    tap("G", unicode="g")
    yield from ticked(live, 5)
    assert alive().live is live
    assert set(bpy.data.objects.keys()) == names


def record(live):
    """Run ten seconds: ahead, then to the left."""
    half = round(SECONDS * live.database.fps / 2)
    tap("R", unicode="r")
    event("W", unicode="w")
    start = live.position
    yield from recorded(live, half)
    event("A", unicode="a")
    event("W", "RELEASE")
    yield from ticked(live, half)
    event("A", "RELEASE")
    tap("SPACE", unicode=" ")
    yield from until(lambda: not live.session.is_recording)
    return start, live.position


def check_take(obj, live, start, stop):
    """The take starts and ends where the recording did."""
    action = obj.animation_data.action
    assert [take.action for take in obj.motion_matching.takes] == [action]
    assert live.takes == [action.name]
    first, last = (int(frame) for frame in action.frame_range)
    assert first == bpy.context.scene.frame_current
    # a slow machine makes several ticks per redraw
    seconds = (last - first) * bpy.context.scene.render.fps_base / bpy.context.scene.render.fps
    assert SECONDS - 0.1 <= seconds <= SECONDS + 5.0, seconds
    hips = obj.pose.bones[live.database.role_names["hips"]]
    places = []
    for frame in (first, (first + last) // 2, last):
        bpy.context.scene.frame_set(frame)
        places.append((obj.matrix_world @ hips.head)[:2])
    length = sum(math.dist(a, b) for a, b in itertools.pairwise(places))
    print(f"recorded {seconds:.1f} s, {length:.1f} m")
    assert math.dist(places[0], start) < 1.0
    assert math.dist(places[-1], stop) < 1.0
    assert length > 15.0
    bpy.context.scene.frame_set(first)


def check_undo(name):
    """Undo removes the take, and redo restores it."""
    call(bpy.ops.ed.undo)
    yield 0.5
    obj = bpy.data.objects["Performer"]
    assert not obj.motion_matching.takes
    assert name not in bpy.data.actions
    call(bpy.ops.ed.redo)
    yield 0.5
    obj = bpy.data.objects["Performer"]
    assert [take.action.name for take in obj.motion_matching.takes] == [name]
    assert obj.animation_data.action.name == name
    assert alive().live is None


def scenario():
    yield from empty_file()
    yield from click("motion_matching.add_demo_performer")
    yield from worked()
    look_at_performer()
    yield from redrawn("UI")
    yield from click("motion_matching.build")
    yield from worked()
    obj, before = bpy.context.object, read_traces()
    assert not (obj.animation_data and obj.animation_data.action)
    yield from click("motion_matching.start")
    yield from until(lambda: alive().live)
    live = alive().live
    event("MOUSEMOVE", "NOTHING")
    yield from ticked(live, 10)
    found = watch_status()
    yield from walk_and_stop(live)
    yield from check_shortcuts_are_blocked(live)
    ends = yield from record(live)
    yield from ticked(live, 5)
    assert len(found) <= 1, "ticks count as changes of the sources"  # one is due at the start
    tap("ESC")
    yield from check_left_nothing(live, before)
    check_take(obj, live, *ends)
    spent = sorted(alive().get_cache(load_module("ui.play.drawing").HudCache).draw_seconds)
    print(f"drawing took {1000 * spent[len(spent) // 2]:.2f} ms")
    yield from check_undo(obj.animation_data.action.name)


run(scenario)

"""In a window: marks are added with clicks and solved, one is moved and solved again, keys by hand
stay above, and the saved file is opened and solved once more.

If SCREEN_FILE names the screen, pictures are in the folder `directing` beside the other results.
"""

from __future__ import annotations

import os
import sys

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
import directed
from directed import MARKS, find_hero, list_marks, look_at_marks
from drive import (
    FOLDER,
    alive,
    call,
    click,
    empty_file,
    event,
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

PIN = (60, (0.5, -1.8, 1.0))
MOST_CLICKS = 15
FILM = FOLDER / "directing"

clicks: list[str] = []


def count(what):
    clicks.append(what)
    print(f"click {len(clicks)}: {what}", flush=True)


def press(operator, part=1 / 3):
    yield from click(operator, at=round(part * region_of(view()[1], "UI").width))
    count(operator)


def take_picture(name):
    yield from directed.take_picture(FILM / f"{len(clicks):02}_{name}.png")


def list_outcomes():
    marks, outcomes = load_module("app.marks.marks"), load_module("app.marks.outcomes")
    return [(outcomes.get_outcome(each), marks.mark_of(each).reason) for each in list_marks()]


def measure_misses():
    """Return how far in metres the character is from each mark on its frame."""
    marks, hero = load_module("app.marks.marks"), find_hero()
    misses = []
    for mark in list_marks():
        bpy.context.scene.frame_set(marks.get_frame(mark))
        place = hero.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        misses.append((place - mark.matrix_world.translation).xy.length)
    return misses


def is_marked(frame):
    return any(mark.motion_matching.mark.frame == frame for mark in list_marks())


def add_marks():
    cursor = bpy.context.scene.cursor
    for frame, place, yaw in MARKS:
        bpy.context.scene.frame_set(frame)
        count(f"the playhead at {frame}")
        cursor.location, cursor.rotation_euler = (*place, 0.0), (0.0, 0.0, yaw)
        count("the 3D cursor")
        yield from press("motion_matching.add_mark")
        yield from until(lambda frame=frame: is_marked(frame))
    assert {mark.name for mark in list_marks()} <= set(bpy.context.scene.timeline_markers.keys())
    # the panels stay those of the character while a mark is the active object
    assert bpy.context.view_layer.objects.active == list_marks()[-1]
    yield from take_picture("marked")


def add_wall_and_pin():
    frame, place = PIN
    wall = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(wall)
    mesh = bpy.data.meshes.new("Table")
    corners = [(x, y, z) for z in (0.0, 0.95) for x, y in ((0, 0), (1.2, 0), (1.2, 0.5), (0, 0.5))]
    sides = [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (4, 5, 6, 7)]
    mesh.from_pydata([(x + 0.6, y - 2.0, z) for x, y, z in corners], [], sides)
    wall.objects.link(bpy.data.objects.new("Table", mesh))
    find_hero().motion_matching.obstacles = wall
    count("the obstacles")
    bpy.context.scene.frame_set(frame)
    bpy.context.scene.cursor.location = place
    call(bpy.ops.motion_matching.add_pin, limb="left_hand")
    count("a pin")
    list_marks()[0].motion_matching.mark.hold = 1.2
    count("how long to stand there")
    yield from redrawn("UI")


def cancel_solving():
    """Esc ends it, and nothing has changed."""
    before = len(bpy.data.actions)
    yield from click("motion_matching.direct")
    yield from until(lambda: alive().progress)
    tap("ESC")
    yield from until(lambda: alive().work is None, 30.0)
    assert len(bpy.data.actions) == before
    assert not find_hero().motion_matching.takes
    yield from redrawn("UI")


def solve(takes, counted=False):
    yield from click("motion_matching.direct")
    if counted:
        count("motion_matching.direct")
    yield from worked()
    yield from until(lambda: len(find_hero().motion_matching.takes) == takes)
    assert [outcome for outcome, _ in list_outcomes()] == ["met"] * 3, list_outcomes()
    misses = measure_misses()
    print(f"misses the marks by {max(misses):.4f} m", flush=True)
    assert max(misses) < 0.01, misses
    outcomes = load_module("app.marks.outcomes")
    assert outcomes.get_state(find_hero()) == ("CHECKMARK", "Solved"), outcomes.get_state(
        find_hero()
    )


def move_a_mark():
    """Move the mark in the middle with the keys G, X and a number, as any object."""
    mark = list_marks()[1]
    load_module("app.marks.marks").choose(find_hero(), mark)
    assert bpy.context.view_layer.objects.active == mark
    before = mark.location.x
    yield from redrawn()
    event("MOUSEMOVE", "NOTHING")
    yield 0.2
    for key, letter in (("G", "g"), ("X", "x"), ("ONE", "1"), ("RET", "")):
        tap(key, **({"unicode": letter} if letter else {}))
        yield 0.2
    assert abs(mark.location.x - before - 1.0) < 1e-4, mark.location.x
    assert list_outcomes()[1][0] == "changed"


def add_hand_key():
    """A key on an action of its own, above the track of the director."""
    hero = find_hero()
    bpy.context.view_layer.objects.active = hero
    bone = hero.pose.bones["Head"]
    action = bpy.data.actions.new("By Hand")
    hero.animation_data.action = action
    hero.animation_data.action_blend_type = "COMBINE"
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = (0.95, 0.3, 0.0, 0.0)
    bone.keyframe_insert("rotation_quaternion", frame=100)
    bpy.context.scene.frame_set(100)
    return action


def scenario():
    FILM.mkdir(exist_ok=True)
    yield from empty_file("director")
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from worked()
    look_at_performer()
    look_at_marks()
    yield from redrawn("UI")
    yield from add_marks()
    yield from add_wall_and_pin()
    yield from cancel_solving()
    hero = find_hero()
    hero.motion_matching.use_nla = True
    yield from solve(1, counted=True)
    assert len(clicks) <= MOST_CLICKS, clicks
    bpy.context.scene.frame_set(70)
    yield from take_picture("solved")
    yield from move_a_mark()
    yield from take_picture("moved")
    edited = add_hand_key()
    yield from solve(2)
    assert hero.animation_data.action == edited
    assert [track.name for track in hero.animation_data.nla_tracks] == ["Directed"]
    bpy.context.scene.frame_set(160)
    yield from take_picture("solved_again")

    path = str(FOLDER / "directed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 1.0
    hero = find_hero()
    bpy.context.view_layer.objects.active = hero
    assert [outcome for outcome, _ in list_outcomes()] == ["met"] * 3
    yield from redrawn("UI")
    before = read_path(hero)
    yield from click("motion_matching.direct_again")
    yield from worked()
    yield from until(lambda: len(find_hero().motion_matching.takes) == 3)
    assert np.allclose(read_path(hero), before, atol=1e-5)
    yield from take_picture("reopened")


def read_path(hero):
    """Return where the character is (F, 3) in frames of the take."""
    places = []
    for frame in range(1, 241, 20):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        places.append(hero.evaluated_get(graph).matrix_world.translation[:])
    return np.array(places)


if __name__ == "__main__":
    run(scenario, needs_keys=False)

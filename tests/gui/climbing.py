"""In a window: the demo performer with stairs, the ground of its sources, and a shot upstairs.

If PICTURES names a folder, pictures of the screen are in it.
"""

from __future__ import annotations

import math
import os
import sys

import bpy
import numpy as np
from mathutils import Euler

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    alive,
    call,
    click,
    empty_file,
    event,
    load_module,
    redrawn,
    run,
    take_screenshot,
    tap,
    until,
    view,
    worked,
)
from preview import MUCH, count_difference, keep_picture

USED = ("idle", "walk_speeds", "walk_starts_and_stops", "walk_curves", "stairs_up_17")
RISER, TREAD, STEPS, BEGIN = 0.175, 0.29, 6, 1.2
MARKS = (1, (0.0, 0.0)), (200, (0.6, -5.0))


def get_settings():
    return bpy.data.objects["Performer"].motion_matching


def look(at, distance, turn):
    """Look down at a point (3,), turned by some degrees about Z from the front."""
    seen = view()[1].spaces.active.region_3d
    seen.view_perspective, seen.view_distance, seen.view_location = "PERSP", distance, at
    seen.view_rotation = Euler((math.radians(68.0), 0.0, math.radians(turn))).to_quaternion()
    event("MOUSEMOVE", "NOTHING")


def add_stairs():
    """Add stairs that rise along -Y to a platform, of boxes in one mesh."""
    points, faces = [], []
    for step in range(STEPS):
        near, length = -BEGIN - step * TREAD, TREAD if step < STEPS - 1 else TREAD + 3.5
        first = len(points)
        points += [
            (x, y, z)
            for z in (0.0, (step + 1) * RISER)
            for x, y in ((-1.5, near - length), (1.5, near - length), (1.5, near), (-1.5, near))
        ]
        corners = (
            (3, 2, 1, 0),
            (4, 5, 6, 7),
            (0, 1, 5, 4),
            (1, 2, 6, 5),
            (2, 3, 7, 6),
            (3, 0, 4, 7),
        )
        faces += [[first + corner for corner in face] for face in corners]
    mesh = bpy.data.meshes.new("Stairs")
    mesh.from_pydata(points, [], faces)
    collection = bpy.data.collections.new("Set")
    collection.objects.link(bpy.data.objects.new("Stairs", mesh))
    bpy.context.scene.collection.children.link(collection)
    bpy.context.view_layer.update()
    return collection


def add_performer():
    """The menu offers it; its sources are few, so that a build is quick."""
    call(bpy.ops.wm.call_menu, name="VIEW3D_MT_armature_add")
    yield from keep_picture("menu.xwd")
    tap("ESC")
    yield 0.3
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT", climbs=True)
    yield from worked()
    for source in get_settings().sources:
        source.enabled = source.action.name in USED


def preview_ground():
    """The ground of a source on stairs is seen below it, and is gone once it is level."""
    settings = get_settings()
    names = [source.action.name for source in settings.sources]
    settings.source_index = names.index("stairs_up_17")
    look((0.0, -3.3, 0.8), 5.0, 80.0)
    yield from click("motion_matching.preview_source")
    yield from until(lambda: alive().source_preview)
    yield from worked()
    bpy.context.scene.frame_set(110)
    event("MOUSEMOVE", "NOTHING")
    climbing = yield from take_screenshot()
    assert alive().source_preview.shown.ground.told.startswith("stairs: 17.5 cm a step")
    yield from keep_picture("ground.xwd")
    source = settings.sources[settings.source_index]
    source.ground = "LEVEL"
    yield from until(lambda: alive().source_preview.shown.ground is None)
    level = yield from take_screenshot()
    assert count_difference(climbing, level) > MUCH
    source.ground = "FOUND"
    yield from until(lambda: alive().source_preview.shown.ground)
    tap("ESC")
    yield from until(lambda: alive().source_preview is None)


def build():
    """Clips that climb bring the feature Height, which the panel lists on a click."""
    items, is_current = get_settings().features.items, load_module("app.database.status").is_current
    for name in ("features.xwd", "height.xwd"):
        yield from click("motion_matching.build")
        yield from worked()
        yield from until(lambda: is_current(bpy.data.objects["Performer"]))
        yield from redrawn("UI")
        yield from keep_picture(name)
        if name == "features.xwd":
            yield from click("motion_matching.add_feature")
            yield from until(lambda: any(item.kind == "trajectory_height" for item in items))


def direct_upstairs():
    """The way of a shot up the stairs lies on them, and so do the marks."""
    settings, scene = get_settings(), bpy.context.scene
    settings.obstacles = add_stairs()
    look((0.0, -2.4, 0.5), 8.0, 145.0)
    for frame, place in MARKS:
        scene.frame_set(frame)
        scene.cursor.location = (*place, 0.0)
        call(bpy.ops.motion_matching.add_mark)
    plain = yield from take_screenshot()
    call(bpy.ops.motion_matching.preview_marks, "INVOKE_DEFAULT")
    yield from until(lambda: alive().mark_preview and alive().mark_preview.way, 300.0)
    shown = yield from take_screenshot()
    assert count_difference(plain, shown) > MUCH
    way = alive().mark_preview.way
    assert all(way.met)
    assert np.allclose(way.heights[:, 0], (0.0, STEPS * RISER), atol=1e-4)
    yield from keep_picture("upstairs.xwd")
    call(bpy.ops.motion_matching.direct, "INVOKE_DEFAULT")
    yield from worked()
    yield from until(lambda: len(settings.takes) == 1)
    scene.frame_set(130)
    yield from keep_picture("directed.xwd")


def scenario():
    yield from empty_file("database", "source", "features", "director")
    yield from add_performer()
    yield from preview_ground()
    yield from build()
    yield from direct_upstairs()


if __name__ == "__main__":
    run(scenario, needs_keys=False)

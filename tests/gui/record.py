"""Record pictures of the manual: a live session and a take that move, and stills of panels.

In a checkout, with the extension installed in a Blender whose window fills a screen of 960 x 640 by
`Xvfb -fbdir`:

    SCREEN_FILE=…/Xvfb_screen0 blender --factory-startup --enable-event-simulate \\
        -P tests/gui/record.py -- live FOLDER
    magick -delay 8 -loop 0 FOLDER/*.ppm -resize 640x -quality 75 docs/images/live.webp

and the same with `take`. Time goes on by one picture after each picture, so the machine may be
slow. `empty`, `rig`, `asking` and `warning` are stills: one picture, to be converted to PNG.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler, Matrix

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(1, os.path.dirname(sys.path[0]))  # traces, which the driver needs
from drive import (
    alive,
    call,
    empty_file,
    event,
    recorded,
    redrawn,
    run,
    started,
    tap,
    ticked,
    until,
    view,
    worked,
)

FPS = 12
SCREEN = Path(os.environ["SCREEN_FILE"])  # in the format XWD
WHAT, FOLDER = sys.argv[-2], Path(sys.argv[-1])

# seconds, a key, and whether it is pressed or released
KEYS = (
    (0.4, "W", "PRESS"),
    (1.5, "SPACE", "PRESS"),
    (1.6, "D", "PRESS"),
    (2.4, "D", "RELEASE"),
    (2.6, "R", "PRESS"),
    (4.0, "A", "PRESS"),
    (4.0, "W", "RELEASE"),
    (5.2, "S", "PRESS"),
    (5.2, "A", "RELEASE"),
    (6.6, "S", "RELEASE"),
)
SECONDS = 8.0


def take_picture(number):
    """Save what the screen shows of the 3D view once it is drawn."""
    yield from redrawn()
    yield 0.1
    area = view()[1]
    screen = SCREEN.read_bytes()
    header = np.frombuffer(screen, ">u4", 25)
    height, line = int(header[5]), int(header[12])
    rows = np.frombuffer(screen, np.uint8, line * height, int(header[0] + 12 * header[19])).reshape(
        height, -1, 4
    )
    top = height - area.y - area.height
    pixels = rows[top : top + area.height, area.x : area.x + area.width, 2::-1]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{number:03}.ppm").write_bytes(
        b"P6 %d %d 255\n" % (area.width, area.height) + pixels.tobytes()
    )


def look_from(distance, middle, tilt, heading):
    """Put the view somewhere: metres, and radians from straight down and about the vertical."""
    space = view()[1].spaces.active
    seen = space.region_3d
    aside = 0.2 * distance  # the sidebar covers the right of the view
    seen.view_distance = distance
    seen.view_location = (
        middle[0] + aside * math.cos(heading),
        middle[1] + aside * math.sin(heading),
        middle[2],
    )
    seen.view_rotation = Euler((tilt, 0.0, heading)).to_quaternion()
    space.show_gizmo = space.show_region_toolbar = space.show_region_tool_header = False
    space.overlay.show_cursor = space.overlay.show_bones = False
    bpy.context.preferences.system.viewport_aa = "8"


def add_performer(*panels):
    yield from empty_file(*panels)
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from worked()
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from worked()
    bpy.context.object.select_set(False)  # no outline
    yield from redrawn("UI")


def live():
    yield from add_performer("play")
    bpy.context.object.motion_matching.play.show_text = True
    look_from(4.8, (0.0, 0.0, 0.85), 1.3, 0.6)
    session = yield from started()
    clock, tick, count_ticks = [session._now], session.tick, session.pace.add_ticks
    session.tick = lambda _, heading: tick(clock[0], heading)
    # what else the machine does is no reason for a warning in the picture
    session.pace.add_ticks = lambda now, ticks, seconds: count_ticks(
        now, ticks, min(seconds, 0.009 * ticks)
    )
    coming = list(KEYS)
    for number in range(round(SECONDS * FPS)):
        while coming and coming[0][0] <= number / FPS:
            _, key, value = coming.pop(0)
            event(key, value)
        count = len(session.session._history.intents)
        clock[0] += 1.0 / FPS
        yield from until(lambda least=count + 1: len(session.session._history.intents) > least)
        yield from take_picture(number)
    tap("ESC")
    yield from until(lambda: alive().live is None)


def take():
    yield from add_performer("takes")
    obj, scene = bpy.context.object, bpy.context.scene
    options = {"script": "flips", "gait": "walk", "seconds": SECONDS + 1.0}
    for name, value in options.items():
        setattr(obj.motion_matching.script, name, value)
    call(bpy.ops.motion_matching.bake_script, **options)
    obj.select_set(True)
    call(bpy.ops.object.paths_calculate, display_type="RANGE", range="SCENE")
    obj.select_set(False)
    path, shown = obj.motion_path, obj.animation_visualization.motion_path
    path.use_custom_color, path.line_thickness = True, 2
    path.color = path.color_post = (1.0, 0.6, 0.15)
    shown.show_frame_numbers = shown.show_keyframe_highlight = shown.show_keyframe_numbers = False
    shown.frame_step = 100  # no dots
    points = np.array([point.co for point in path.points])
    look_from(5.0, (*(points.min(0) + points.max(0))[:2] / 2, 0.85), 1.3, 1.2)
    for number in range(round(SECONDS * FPS)):
        scene.frame_set(round(1 + scene.render.fps * (1.0 + number / FPS)))
        yield from take_picture(number)


def empty():
    yield from empty_file()
    yield from take_picture(0)


def rig():
    """A performer in centimetres whose scale is not applied."""
    yield from empty_file("character", "roles")
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from worked()
    obj = bpy.context.object
    obj.animation_data_clear()
    for data in (obj.data, *(child.data for child in obj.children)):
        data.transform(Matrix.Scale(100.0, 4))
    obj.scale = (0.01, 0.01, 0.01)
    yield from redrawn("UI")
    yield 1.0  # the panel looks at the rig
    yield from take_picture(0)


def asking():
    """Live, asking for a tag that frames have and for one that none has."""
    yield from add_performer("play")
    settings = bpy.context.object.motion_matching
    walk = next(source for source in settings.sources if source.name == "walk_curves")
    walk.tags = "sneak"
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from worked()
    settings.play.show_text = True
    settings.play.tags = "sneak, swim"
    live = yield from started()
    event("W", "PRESS")
    yield from ticked(live, 60)
    yield from take_picture(0)


def warning():
    """Live, faster than the clips go."""
    yield from add_performer("play")
    settings = bpy.context.object.motion_matching
    settings.controller.run_speed = 6.5
    live = yield from started()
    event("W", "PRESS")
    event("R", "PRESS")
    yield from recorded(live, 120)
    yield from take_picture(0)


PICTURES = {
    "live": live,
    "take": take,
    "empty": empty,
    "rig": rig,
    "asking": asking,
    "warning": warning,
}
run(PICTURES[WHAT], needs_keys=WHAT in ("live", "asking", "warning"))

"""Record pictures of the manual: a live session and a take that move, and stills of panels.

In a checkout, with the extension installed in a Blender whose window fills a screen of 960 x 640 by
`Xvfb -fbdir`:

    SCREEN_FILE=…/Xvfb_screen0 blender --factory-startup --enable-event-simulate \\
        -P tests/gui/record.py -- live FOLDER
    magick -delay 8 -loop 0 FOLDER/*.ppm -resize 640x -quality 75 docs/images/live.webp

and the same with `take`, `director_film` and `stairs`. Time goes on by one picture after each picture, so the machine may be
slow. All others are stills with the names of their files. They need a screen of 1060 x 2000, with
`controller` of 1060 x 2400, and are saved as the manual has them:

    SCREEN_FILE=…/Xvfb_screen0 blender --factory-startup --enable-event-simulate \\
        -P tests/gui/record.py -- rig docs/images

Two stills show paths: `mapping` that of its files, which lie where MOTION_MATCHING_TEST_FOLDER says,
and `preferences` that of Blender's user folder, which BLENDER_USER_RESOURCES names.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(1, os.path.dirname(sys.path[0]))  # traces, which the driver needs
from drive import (
    PACKAGE,
    alive,
    call,
    count_ticks,
    empty_file,
    event,
    find_motion_capture,
    load_module,
    redrawn,
    region_of,
    run,
    scroll_sidebar,
    started,
    tap,
    until,
    view,
)
from rigify_human import add_meshes, build, generate_rig
from screen import read_screen, save_png

FPS = 12
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
PANELS = slice(8, -30)  # pixels of the sidebar, between its edge and its tabs
PANEL_GAP = 12  # pixels between two panels in one still
PAPER = 48  # the grey behind them
EXTENSIONS = slice(28, 436), slice(None)  # its pixels with the extensions
PREFERENCES = slice(240, 1226), slice(176, 1048)  # pixels of an area with the settings alone
HEADER = 26  # pixels of the header of a part of a panel
ROOMS = (
    *("character", "database", "play", "director", "takes", "retarget"),
    *("controller", "insight", "advanced"),  # the first two only if they are in use, or shown
)


# ---------------------------------------------------------------- pictures


def crop_to(place):
    """What the screen shows of an area or a region."""
    screen = read_screen()
    top = len(screen) - place.y - place.height
    return screen[top : top + place.height, place.x : place.x + place.width]


def wait_for_work():
    """Wait for what takes its time, also on a machine that is busy."""
    yield 0.1
    yield from until(lambda: not alive().progress, 600.0)


def wait_for_drawing():
    yield from redrawn()
    yield from redrawn("UI")
    yield 0.1


def take_picture(number):
    """Save what the screen shows of the 3D view once it is drawn, as a part of a film."""
    yield from redrawn()
    yield 0.1
    pixels = crop_to(view()[1])
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{number:03}.ppm").write_bytes(
        b"P6 %d %d 255\n" % (pixels.shape[1], pixels.shape[0]) + pixels.tobytes()
    )


def save_still(pixels):
    """Save a still as PNG."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    save_png(pixels, FOLDER / f"{WHAT}.png")


def save_view():
    """Save the 3D view with its sidebar as a still."""
    yield from wait_for_drawing()
    save_still(crop_to(view()[1]))


def save_panels(*names, part=False):
    """Save panels side by side as a still, or with `part` only those parts of them that are open."""
    yield from wait_for_drawing()
    sidebar = crop_to(region_of(view()[1], "UI"))[:, PANELS]
    found = find_panels(sidebar)
    rooms = [found[name] for name in names]
    save_columns(
        sidebar, [rows for room in rooms for rows in find_parts(sidebar, room)] if part else rooms
    )


def save_columns(sidebar, parts):
    """Save rows of the sidebar, each from one to another, side by side as a still."""
    height = max(bottom - top for top, bottom in parts)
    gap = np.full((height, PANEL_GAP, 3), PAPER, np.uint8)
    columns = []
    for top, bottom in parts:
        below = ((0, height - bottom + top), (0, 0), (0, 0))
        columns += [gap, np.pad(sidebar[top:bottom], below, constant_values=PAPER)]
    save_still(np.hstack(columns[1:]))


def find_panels(sidebar):
    """Return the rows of each panel, by the colour along their left edge."""
    panels = {name: getattr(bpy.types, f"MOTION_MATCHING_PT_{name}") for name in ROOMS}
    names = [name for name, panel in panels.items() if panel.poll(bpy.context)]
    return dict(zip(names, find_runs(sidebar[:, 4, 0] != PAPER)[-len(names) :], strict=True))


def find_parts(sidebar, rows):
    """Return the rows of the open parts of a panel, with their headers."""
    top, bottom = rows
    is_part = sidebar[top:bottom, 4, 0] < sidebar[top + 8, 4, 0] - 4
    return [(top + start - HEADER, top + end) for start, end in find_runs(is_part)]


def find_runs(mask):
    """Return the starts and ends of the runs of a mask that are more than lines."""
    runs = np.flatnonzero(np.diff(np.pad(mask.astype(int), 1))).reshape(-1, 2)
    return runs[np.diff(runs)[:, 0] > 8].tolist()


# ---------------------------------------------------------------- what they show


def arrange_areas(height, *kept):
    """Give the 3D view a height, and close the areas beside and below it that are not kept.

    What lies above the view is not in the picture.
    """
    window = view()[0]
    window.cursor_warp(window.width - 1, window.height - 1)
    for kind in ("OUTLINER", "PROPERTIES", "DOPESHEET_EDITOR"):
        if kind in kept:
            continue
        area = next(area for area in window.screen.areas if area.type == kind)
        with bpy.context.temp_override(window=window, area=area):
            bpy.ops.screen.area_close()
        yield 0.2
    area = view()[1]
    with bpy.context.temp_override(window=window, area=area, region=view()[2]):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=height / area.height)
    yield 0.2
    upper = max((one for one in window.screen.areas if one.type == "VIEW_3D"), key=lambda a: a.y)
    upper.type = "INFO"
    yield 0.2


def widen_sidebar(pixels):
    """Drag the edge of the sidebar, for longer labels."""
    bpy.context.preferences.inputs.use_mouse_continuous = False
    window, area, _ = view()
    sidebar = region_of(area, "UI")
    x, y = sidebar.x, sidebar.y + sidebar.height // 2
    for kind, value, dx in (
        ("MOUSEMOVE", "NOTHING", 0),
        ("LEFTMOUSE", "PRESS", 0),
        ("MOUSEMOVE", "NOTHING", pixels // 2),
        ("MOUSEMOVE", "NOTHING", pixels),
        ("LEFTMOUSE", "RELEASE", pixels),
    ):
        window.event_simulate(type=kind, value=value, x=x - dx, y=y)
        yield 0.2


def turn_view(distance, middle, tilt, heading):
    """Put the view somewhere: metres, and radians from straight down and about the vertical."""
    seen = view()[1].spaces.active.region_3d
    seen.view_distance, seen.view_location = distance, middle
    seen.view_rotation = Euler((tilt, 0.0, heading)).to_quaternion()
    bpy.context.preferences.system.viewport_aa = "8"


def look_from(distance, middle, tilt, heading, aside=0.2):
    """Put the view somewhere, with its middle left of the sidebar, and hide its tools."""
    space = view()[1].spaces.active
    aside *= distance  # the sidebar covers the right of the view
    x, y, z = middle
    place = (x + aside * math.cos(heading), y + aside * math.sin(heading), z)
    turn_view(distance, place, tilt, heading)
    space.show_gizmo = space.show_region_toolbar = space.show_region_tool_header = False
    space.overlay.show_cursor = space.overlay.show_bones = False


def arrange_panels(*panels, is_built=True, height=1900):
    """Add the performer, with room for tall panels and nothing behind them."""
    bpy.context.preferences.system.use_region_overlap = False
    yield from arrange_areas(height)
    yield from add_performer(*panels, is_built=is_built)
    yield from widen_sidebar(40)


def add_performer(*panels, is_built=True):
    yield from empty_file(*panels)
    call(bpy.ops.motion_matching.add_demo_performer, "INVOKE_DEFAULT")
    yield from wait_for_work()
    if is_built:
        call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
        yield from wait_for_work()
    bpy.context.object.select_set(False)  # no outline
    yield from redrawn("UI")


def start_clocked():
    """Start a session whose time stands still; the value is what makes it go on."""
    live = yield from started()
    clock, tick, add_ticks = [live._now], live.tick, live.pace.add_ticks
    live.tick = lambda _, heading: tick(clock[0], heading)
    # what else the machine does is no reason for a warning in the picture
    live.pace.add_ticks = lambda now, count, seconds: add_ticks(
        now, count, min(seconds, 0.009 * count)
    )

    def go_on(seconds=1.0 / FPS):
        for _ in range(round(seconds * FPS)):
            count = count_ticks(live)
            clock[0] += 1.0 / FPS
            yield from until(lambda least=count + 1: count_ticks(live) > least)

    return go_on


def bake(script, seconds, gait="walk"):
    options = {"script": script, "gait": gait, "seconds": seconds}
    for name, value in options.items():
        setattr(bpy.context.object.motion_matching.script, name, value)
    call(bpy.ops.motion_matching.bake_script, **options)


def choose_source(name):
    """Make a source the active one, and return its settings."""
    settings = bpy.context.object.motion_matching
    settings.source_index = [source.name for source in settings.sources].index(name)
    return settings.sources[settings.source_index]


# ---------------------------------------------------------------- films


def live():
    yield from add_performer("play")
    bpy.context.object.motion_matching.play.show_text = True
    look_from(4.8, (0.0, 0.0, 0.85), 1.3, 0.6)
    go_on = yield from start_clocked()
    coming = list(KEYS)
    for number in range(round(SECONDS * FPS)):
        while coming and coming[0][0] <= number / FPS:
            _, key, value = coming.pop(0)
            event(key, value)
        yield from go_on()
        yield from take_picture(number)
    tap("ESC")
    yield from until(lambda: alive().live is None)


def take():
    yield from add_performer("takes")
    obj, scene = bpy.context.object, bpy.context.scene
    bake("flips", SECONDS + 1.0)
    points = show_path(obj)
    look_from(5.0, (*(points.min(0) + points.max(0))[:2] / 2, 0.85), 1.3, 1.2)
    for number in range(round(SECONDS * FPS)):
        scene.frame_set(round(1 + scene.render.fps * (1.0 + number / FPS)))
        yield from take_picture(number)


def show_path(obj):
    """Draw the way of the assigned action, and return its points (F, 3)."""
    obj.select_set(True)
    call(bpy.ops.object.paths_calculate, display_type="RANGE", range="SCENE")
    obj.select_set(False)
    path, shown = obj.motion_path, obj.animation_visualization.motion_path
    path.use_custom_color, path.line_thickness = True, 2
    path.color = path.color_post = (1.0, 0.6, 0.15)
    shown.show_frame_numbers = shown.show_keyframe_highlight = shown.show_keyframe_numbers = False
    shown.frame_step = 100  # no dots
    return np.array([point.co for point in path.points])


def add_marks(*marks):
    """Add marks, each a frame, a place and a heading; the last one is active."""
    scene = bpy.context.scene
    for frame, place, heading in marks:
        scene.frame_set(frame)
        scene.cursor.location, scene.cursor.rotation_euler = (*place, 0.0), (0.0, 0.0, heading)
        call(bpy.ops.motion_matching.add_mark)


def solve(obj):
    call(bpy.ops.motion_matching.direct, "INVOKE_DEFAULT")
    yield from wait_for_work()
    bpy.context.view_layer.objects.active = obj


def add_boxes(name, *boxes):
    """Add a collection of boxes, each a least and a most corner."""
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (1, 5, 7, 3), (0, 2, 6, 4)]
    for low, high in boxes:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(list(itertools.product(*zip(low, high, strict=True))), [], sides)
        collection.objects.link(bpy.data.objects.new(name, mesh))
    return collection


def film_director():
    """Three marks, the second one for the left hand at a railing, and a wall to go round."""
    yield from add_performer("director")
    obj, scene = bpy.context.object, bpy.context.scene
    add_marks((90, (1.0, -3.3), 0.9), (150, (3.1, -3.6), math.pi / 2), (230, (5.6, -2.2), 2.4))
    obj.motion_matching.obstacles = add_boxes("Wall", ((-0.7, -1.7, 0.0), (0.5, -1.5, 1.0)))
    add_boxes("Railing", ((1.9, -3.62, 0.86), (4.3, -3.55, 0.92)))
    hand = load_module("app.marks.marks").list_marks(obj)[1]
    hand.location.z, hand.motion_matching.mark.hold = 0.95, 0.8
    hand.motion_matching.mark.part, hand.motion_matching.mark.use_height = "left_hand", True
    yield from solve(obj)
    show_path(obj)
    obj.motion_matching.director.mark_index = 1  # the panel shows the settings of the hand
    look_from(7.5, (2.1, -2.4, 0.5), 1.2, math.pi - 0.15)
    for number in range(round(10.0 * FPS)):
        scene.frame_set(round(1 + scene.render.fps * number / FPS))
        yield from take_picture(number)


def film_stairs():
    """Up four steps, a stand on the platform, and down a slope of steps on its other side."""
    yield from add_performer("director")
    obj, scene = bpy.context.object, bpy.context.scene
    widths = [0.8 - 0.01 * k for k in range(4)]  # or their sides would flicker
    up = [((-x, -4.6, 0.0), (x, -1.5 - 0.4 * k, 0.17 * (k + 1))) for k, x in enumerate(widths)]
    down = [
        ((-x, -4.6 - 0.4 * (3 - k), 0.0), (x, -4.5, 0.17 * (k + 1)))
        for k, x in enumerate(widths[:3])
    ]
    obj.motion_matching.obstacles = add_boxes("Stairs", *up, *down)
    add_marks((110, (0.0, -3.9), 0.0), (230, (0.0, -7.4), 0.0))
    marks = load_module("app.marks.marks").list_marks(obj)
    marks[0].motion_matching.mark.hold = 1.0
    yield from solve(obj)
    look_from(5.5, (0.0, -4.2, 0.9), 1.3, math.pi / 2 - 0.3)
    for number in range(round(2.0 * FPS), round(8.2 * FPS)):
        scene.frame_set(round(1 + scene.render.fps * number / FPS))
        yield from take_picture(number)


# ---------------------------------------------------------------- stills


def empty():
    """The upper right of the view."""
    yield from arrange_areas(876)
    yield from empty_file()
    yield from wait_for_drawing()
    save_still(crop_to(view()[1])[:396, -532:])


def performer():
    """The performer of the demo, not built yet."""
    yield from arrange_areas(664)
    yield from add_performer("database", is_built=False)
    bpy.context.object.select_set(True)
    turn_view(6.5, (0.0, 0.0, 0.8), 1.1, 0.8)
    yield 3.0  # the strip looks at the sources
    yield from save_view()


def directed():
    """Marks and a pin in the view with the way of their take, beside the panel."""
    yield from arrange_areas(876)
    yield from add_performer("director")
    obj, scene = bpy.context.object, bpy.context.scene
    yield from widen_sidebar(60)
    add_marks((60, (0.3, -1.5), 0.0), (150, (0.9, -3.8), 0.9), (230, (3.2, -5.0), 1.2))
    mark = bpy.context.object
    yield from solve(obj)
    show_path(obj)
    mark.select_set(True)
    bpy.context.view_layer.objects.active = mark
    scene.frame_set(110)
    look_from(8.0, (1.4, -2.7, 0.6), 1.05, 0.5)
    yield from save_view()


def baked():
    """The figure of eight that the strip bakes."""
    yield from arrange_areas(876)
    yield from add_performer("takes")
    bpy.context.object.select_set(True)
    call(bpy.ops.motion_matching.bake_script, "INVOKE_DEFAULT")
    yield from wait_for_work()
    bpy.context.scene.frame_set(80)
    turn_view(7.5, (1.0, 1.0, 0.8), 1.1, 0.8)
    yield from save_view()


def rig():
    """A performer in centimetres whose scale is not applied."""
    yield from arrange_areas(848)
    yield from add_performer("character", "roles", is_built=False)
    obj = bpy.context.object
    obj.animation_data_clear()
    for data in (obj.data, *(child.data for child in obj.children)):
        data.transform(Matrix.Scale(100.0, 4))
    obj.scale = (0.01, 0.01, 0.01)
    obj.select_set(True)
    for mode in ("EDIT", "OBJECT"):  # the pose takes over the new rest pose
        call(bpy.ops.object.mode_set, mode=mode)
    turn_view(6.0, (0.0, 0.0, 0.95), 1.4, 0.25)
    yield from redrawn("UI")
    status = load_module("app.database.status")
    yield from until(lambda: status.get_status(obj).kind != "unknown")  # the panel looks at the rig
    yield from redrawn("UI")
    yield from save_view()


def mapping():
    """A walk of another skeleton, previewed on Rigify's human."""
    yield from arrange_areas(1264)
    yield from empty_file("database", "source", "mapping")
    rig = generate_rig()
    add_meshes(rig)
    folder, files = find_motion_capture()
    names = [{"name": file.name} for file in files[4:]]
    call(bpy.ops.motion_matching.add_files, directory=str(folder), files=names)
    rig.motion_matching.source_index = 1
    yield 2.0  # the panel looks at the sources
    call(bpy.ops.motion_matching.preview_source, "INVOKE_DEFAULT")
    yield from wait_for_work()
    bpy.context.scene.frame_set(90)
    preview = alive().source_preview
    x, y, _ = preview.body.interpolate(90 - preview.first)[preview.body.hips]
    rig.select_set(False)
    look_from(6.0, (x + 0.3, y, 0.6), 1.2, 0.6, aside=0.25)
    yield from widen_sidebar(90)
    yield from save_view()


def asking():
    """Live, asking for a tag that frames have and for one that none has."""
    yield from arrange_areas(634)
    yield from add_performer("play", is_built=False)
    settings = bpy.context.object.motion_matching
    choose_source("walk_curves").tags = "sneak"
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from wait_for_work()
    settings.play.show_text = True
    settings.play.tags = "sneak, swim"
    look_from(4.8, (0.0, 0.0, 0.85), 1.3, 0.6)
    go_on = yield from start_clocked()
    event("W", "PRESS")
    yield from go_on(3.0)
    yield from save_view()


def warning():
    """Live, faster than the clips go."""
    yield from arrange_areas(656)
    yield from add_performer("play")
    controller = bpy.context.object.motion_matching.controller
    controller.speeds_from_data, controller.run = False, (6.5, 3.0, 2.5)
    look_from(4.8, (0.0, 0.0, 0.85), 1.3, 0.6)
    go_on = yield from start_clocked()
    event("W", "PRESS")
    event("R", "PRESS")
    yield from go_on(1.0)
    event("SPACE", "PRESS")
    yield from go_on(4.0)
    call(bpy.ops.motion_matching.unfold_warnings)
    yield from save_view()


def steer_recording():
    """Start a session that records three seconds of a run."""
    bpy.context.object.motion_matching.play.show_text = True
    look_from(4.8, (0.0, 0.0, 0.85), 1.3, 0.6)
    go_on = yield from start_clocked()
    tap("SPACE")
    event("W", "PRESS")
    event("R", "PRESS")
    yield from go_on(2.0)
    event("D", "PRESS")
    yield from go_on(1.0)


def recording():
    """Live, while it records."""
    yield from arrange_areas(640)
    yield from add_performer("play")
    yield from steer_recording()
    yield from save_view()


def proxy():
    """Live on a rig that is too slow, while it records."""
    yield from arrange_areas(640)
    yield from empty_file("play")
    rig = generate_rig()
    add_meshes(rig)
    yield from build()
    rig.select_set(False)
    look_from(4.8, (0.0, 0.0, 0.85), 1.3, 0.6)
    go_on = yield from start_clocked()
    tap("SPACE")
    event("W", "PRESS")
    yield from go_on(2.0)
    event("D", "PRESS")
    yield from go_on(1.0)
    yield from save_view()


def recorded():
    """The take of a recording."""
    yield from arrange_areas(640)
    yield from add_performer("takes")
    yield from steer_recording()
    tap("ESC")
    yield from until(lambda: alive().live is None)
    bpy.context.scene.frame_set(48)
    look_from(6.0, (*bpy.context.object.matrix_world.translation[:2], 0.85), 1.3, 0.6)
    yield from save_view()


def play_and_takes():
    """Both panels with their parts."""
    yield from arrange_panels("play", "layers", "takes", "bake_options")
    bake("figure_eight", 8.0)
    yield from save_panels("play", "takes")


def batch():
    """What a job exports, after it was."""
    yield from arrange_panels("takes", "batch")
    settings = bpy.context.object.motion_matching
    settings.script.script = "random"
    settings.job.use_bvh = True
    settings.job.folder = str(FOLDER / "job")
    call(bpy.ops.motion_matching.export_job, "INVOKE_DEFAULT")
    yield from wait_for_work()
    settings.job.folder = ""
    yield from save_panels("takes")


def database():
    """The strip, the database and its chosen source."""
    yield from arrange_panels("database", "source")
    choose_source("walk_curves")
    yield from wait_for_drawing()
    sidebar = crop_to(region_of(view()[1], "UI"))[:, PANELS]
    save_still(sidebar[: find_panels(sidebar)["database"][1]])


def databases():
    """Two databases of one character."""
    yield from arrange_panels("database", "databases")
    settings = bpy.context.object.motion_matching
    call(bpy.ops.motion_matching.add_database, label="Everything")
    call(bpy.ops.motion_matching.add_database, label="Walking")
    for source in settings.sources:
        source.enabled = "run" not in source.name
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from wait_for_work()
    yield from save_panels("database")


def controller():
    """The settings of motion matching."""
    parts = "speeds", "search", "blending", "look", "displacement", "feet", "as_published"
    yield from arrange_panels("controller", *parts, height=2300)
    yield from wait_for_drawing()
    sidebar = crop_to(region_of(view()[1], "UI"))[:, PANELS]
    top, bottom = find_panels(sidebar)["controller"]
    middle, _ = find_parts(sidebar, (top, bottom))[parts.index("look")]
    save_columns(sidebar, [(top, middle), (middle, bottom)])


def train():
    settings = bpy.context.object.motion_matching
    settings.controller.method, settings.training.quality = "FIELD", 2
    call(bpy.ops.motion_matching.train, "INVOKE_DEFAULT")
    yield from wait_for_work()


def motion_field():
    """A field that was trained."""
    yield from arrange_areas(880)
    yield from add_performer("controller", "training")
    yield from train()
    turn_view(6.5, (0.6, 0.6, 0.5), 1.1, 0.8)
    yield from save_view()


def neighbours():
    """A live field, and where its neighbours would lead."""
    yield from arrange_areas(1070)
    yield from add_performer("controller", "neighbours")
    yield from train()
    play = bpy.context.object.motion_matching.play
    play.show_text = play.show_ghosts = True
    look_from(3.6, (0.0, 0.0, 0.85), 1.3, 0.6)
    go_on = yield from start_clocked()
    event("W", "PRESS")
    yield from go_on(3.0)
    yield from save_view()


def tags():
    """Ranges of a walk, in the panel and over the keys."""
    yield from arrange_areas(600, "DOPESHEET_EDITOR")
    yield from add_performer("database", "tags", is_built=False)
    obj, scene = bpy.context.object, bpy.context.scene
    obj.select_set(True)
    source = choose_source("walk_curves")
    moved = obj.animation_data_create()
    moved.action, moved.action_slot = source.action, source.action.slots[0]
    scene.frame_set(72)
    call(bpy.ops.motion_matching.propose_tags, "INVOKE_DEFAULT")
    yield from wait_for_work()
    for kind, first, last in (("prefer", 30, 90), ("no_use", 200, 214), ("FREE", 60, 140)):
        scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = (
            True,
            first,
            last,
        )
        call(bpy.ops.motion_matching.add_tag, kind=kind, label="sneak")
    scene.use_preview_range = False
    scroll_sidebar(9)
    turn_view(5.0, (0.6, 0.6, 0.8), 1.2, 0.6)
    yield from wait_for_drawing()
    save_still(read_screen()[-view()[1].y - view()[1].height :])


def pose_map():
    """The map of the poses of the clips, while the performer walks."""
    yield from arrange_areas(720)
    yield from add_performer("insight", "pose_map")
    call(bpy.ops.motion_matching.map_poses, "INVOKE_DEFAULT")
    yield from wait_for_work()
    bpy.context.object.motion_matching.play.show_map = True
    look_from(4.0, (0.0, 0.0, 0.5), 1.3, 0.6)
    go_on = yield from start_clocked()
    event("W", "PRESS")
    yield from go_on(1.5)
    yield from save_view()


def features():
    yield from arrange_panels("database", "features")
    yield from save_panels("database", part=True)


def building():
    """Sources are being read, with the Timeline and the status bar."""
    yield from arrange_areas(560, "DOPESHEET_EDITOR")
    yield from add_performer("database", is_built=False)
    bpy.context.object.select_set(True)
    bpy.context.object.motion_matching.contact_speed = random.uniform(0.14, 0.16)  # never built
    bpy.context.object.pose.bones["Head"].constraints.new("LIMIT_ROTATION")  # takes longer to read
    turn_view(6.5, (0.0, 0.0, 0.8), 1.1, 0.8)
    yield 12.0  # until the status bar says no more that the performer was added
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from until(lambda: alive().progress and alive().progress[0].startswith("Reading"))
    yield from until(lambda: alive().progress[1] > 0.3 and " left" in alive().progress[0])
    yield from wait_for_drawing()
    area = view()[1]
    save_still(read_screen()[-area.y - area.height :])


def thresholds():
    """Ranges that were proposed for a source, and the thresholds."""
    yield from arrange_panels("database", "tags", "thresholds")
    choose_source("idle_and_turns_in_place")
    call(bpy.ops.motion_matching.propose_tags, "INVOKE_DEFAULT")
    yield from wait_for_work()
    yield from save_panels("database", part=True)


def simulation_bone():
    """The path of a walk, moved aside by hand from a frame on."""
    yield from arrange_areas(876)
    yield from add_performer("database", "simulation_bone", is_built=False)
    yield from widen_sidebar(40)
    obj, scene = bpy.context.object, bpy.context.scene
    obj.select_set(True)
    source = choose_source("walk_curves")
    moved = obj.animation_data_create()
    moved.action, moved.action_slot = source.action, source.action.slots[0]
    scene.frame_set(150)
    obj.motion_matching.show_path = True
    call(bpy.ops.motion_matching.edit_path, "INVOKE_DEFAULT")
    yield from wait_for_work()
    action = source.path.animation_data.action
    curves = action.layers[0].strips[0].channelbags[0].fcurves
    for point in next(curve for curve in curves if curve.data_path == "location").keyframe_points:
        point.co.y += 0.6 * min(max(point.co.x - 110.0, 0.0) / 60.0, 1.0)
    scene.frame_set(150)
    yield 2.0  # the path is read again
    ground_paths = load_module("ui.database.ground_paths")
    x, y = ground_paths.get_cache().snapshot.tracks["computed"].positions[149]
    turn_view(7.0, (x + 0.8, y - 0.2, 0.2), 1.0, 0.65)
    yield from save_view()


def compare():
    """Takes with and without the foot lock."""
    yield from arrange_panels("takes", "compare")
    obj = bpy.context.object
    settings = obj.motion_matching
    bake("figure_eight", 8.0)
    settings.controller.foot_lock = False
    bake("figure_eight", 8.0)
    bake("flips", 6.0)
    settings.take_index, settings.compare_with = 0, settings.takes[1].action
    settings.takes[0].is_kept = True
    call(bpy.ops.motion_matching.compare_takes, "INVOKE_DEFAULT")
    yield from wait_for_work()
    yield from save_panels("takes")


def beside():
    """A take, and beside it the same performance by a motion field."""
    yield from arrange_areas(956)
    yield from add_performer("takes", "compare")
    bake("square", 8.0)
    obj = bpy.context.object
    settings, scene = obj.motion_matching, bpy.context.scene
    obj.animation_data.action = settings.takes[0].action
    settings.compare_by = "METHOD"
    for operator in ("compare_takes", "play_beside"):
        call(getattr(bpy.ops.motion_matching, operator), "INVOKE_DEFAULT")
        yield from wait_for_work()
    scene.frame_set(85)
    x, y = obj.matrix_world.translation[:2]
    look_from(5.0, (x + 0.6, y, 0.85), 1.35, 0.45)
    yield from save_view()


def coverage():
    """Strands and charts of the demo clips, beside the controller."""
    yield from arrange_areas(748)
    yield from add_performer("insight", "coverage")
    call(bpy.ops.motion_matching.measure_coverage, "INVOKE_DEFAULT")
    yield from wait_for_work()
    look_from(15.0, (2.5, 0.0, 0.0), 0.95, 1.1, aside=0.0)
    yield from save_view()


def bend(action, first, seconds=1.0):
    """Bend the spine of an action forward from a frame on, and back, and fling its arms up."""
    length = round(seconds * bpy.context.scene.render.fps)
    curves = action.layers[0].strips[0].channelbags[0].fcurves
    for bone, axis, angle in (("Spine", 1, 65.0), ("LeftArm", 3, 70.0), ("RightArm", 3, -70.0)):
        path = f'pose.bones["{bone}"].rotation_quaternion'
        parts = [curves.find(path, index=index).keyframe_points for index in range(4)]
        for number in range(length):
            keys = [points[first + number] for points in parts]
            half = 0.5 * math.radians(angle) * math.sin(math.pi * number / length) ** 2
            turn = Quaternion((math.cos(half), 0.0, 0.0, 0.0))
            turn[axis] = math.sin(half)
            for key, value in zip(keys, Quaternion([k.co.y for k in keys]) @ turn, strict=True):
                key.co.y = value


def odd():
    """Stumbles among the runs, one of which is previewed."""
    yield from arrange_areas(982)
    yield from add_performer("insight", "odd_postures", is_built=False)
    for name, firsts in {"run_curves": (90, 190, 330), "run_corners": (110, 260)}.items():
        for first in firsts:
            bend(choose_source(name).action, first)
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from wait_for_work()
    yield 1.0
    status = load_module("app.database.status").get_status(bpy.context.object)
    chosen = status.odd.moments[0]
    middle = (chosen.first + chosen.last) // 2
    call(bpy.ops.motion_matching.go_to_posture, source=chosen.source, frame=middle)
    yield from wait_for_work()
    call(bpy.ops.motion_matching.unfold_warnings)
    preview = alive().source_preview
    x, y, _ = preview.body.interpolate(middle - preview.first)[preview.body.hips]
    bpy.context.object.hide_set(True)
    look_from(5.0, (x, y, 0.9), 1.2, 0.6)
    yield from save_view()


def frame():
    """A take just before it jumps."""
    yield from arrange_areas(1092)
    yield from add_performer("insight", "frame_inspector")
    settings = bpy.context.object.motion_matching
    bake("flips", 9.0)
    settings.insight.inspect = "take"
    call(bpy.ops.motion_matching.inspect_frame, "INVOKE_DEFAULT")
    yield from wait_for_work()
    part, watched = alive().inspector.parts[0]
    jumps = np.flatnonzero(np.diff(watched.take.frames) != 1)
    tick = jumps[np.searchsorted(jumps, 4.2 * watched.take.fps)]
    bpy.context.scene.frame_set(round(part.frame + tick))
    yield 1.0
    yield from until(lambda: alive().inspector.inspection)
    x, y, *_ = alive().inspector.inspected.position
    look_from(4.2, (x, y, 0.75), 1.2, 0.6, aside=0.02)
    yield 0.5
    yield from wait_for_drawing()
    save_still(crop_to(view()[1])[28:, 320:])


def open_preferences(section):
    """Show a section of the preferences above the view, and return its area."""
    yield from arrange_areas(300)
    yield from empty_file()
    area = next(area for area in view()[0].screen.areas if area.type == "INFO")
    area.ui_type = "PREFERENCES"
    bpy.context.preferences.active_section = section
    return area


def installed():
    """The extension among those installed."""
    area = yield from open_preferences("EXTENSIONS")
    repos = list(bpy.context.preferences.extensions.repos)
    index = next(k for k, repo in enumerate(repos) if repo.module == "user_default")
    bpy.ops.extensions.package_show_set(pkg_id="motion_matching", repo_index=index)
    yield 3.0
    save_still(crop_to(area)[EXTENSIONS])


def preferences():
    """The settings of the extension, with a key that has two tasks."""
    area = yield from open_preferences("ADDONS")
    bpy.context.window_manager.addon_search = "Motion Matching"
    bpy.ops.preferences.addon_expand(module=PACKAGE)
    keymaps, actions = load_module("ui.keymaps"), load_module("ui.preferences").STEER
    yield from until(lambda: any(keymaps.iterate_items(actions)))
    items = keymaps.iterate_items(actions)
    next(item for item in items if item.properties.action == "push").type = "SPACE"
    yield 2.0
    save_still(crop_to(area)[PREFERENCES])


KEYED = (
    "live",
    "asking",
    "live_warning",
    "live_recording",
    "live_proxy",
    "live_take",
    "neighbours",
    "insight_map",
)
PICTURES = {
    "live": live,
    "take": take,
    "director_film": film_director,
    "stairs": film_stairs,
    "first_take_1_empty": empty,
    "first_take_2_performer": performer,
    "first_take_3_take": baked,
    "director": directed,
    "live_recording": recording,
    "live_proxy": proxy,
    "live_take": recorded,
    "play_and_takes": play_and_takes,
    "batch": batch,
    "databases": databases,
    "controller": controller,
    "features": features,
    "motion_field": motion_field,
    "neighbours": neighbours,
    "tags": tags,
    "insight_map": pose_map,
    "rig": rig,
    "mapping": mapping,
    "asking": asking,
    "live_warning": warning,
    "database": database,
    "building": building,
    "thresholds": thresholds,
    "simulation_bone": simulation_bone,
    "compare_takes": compare,
    "compare_beside": beside,
    "insight_coverage": coverage,
    "insight_frame": frame,
    "insight_odd_postures": odd,
    "installed": installed,
    "preferences": preferences,
}
run(PICTURES[WHAT], needs_keys=WHAT in KEYED)

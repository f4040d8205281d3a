"""In a window: the first hour of a user who comes with motion capture of their own, in clicks.

Each step is clicked as a user would, and counted; the film of it, one picture a step, is in the
folder `first_hour` beside the other results if SCREEN_FILE names the screen, as for `record.py`.
"""

from __future__ import annotations

import os
import shutil
import sys

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    FOLDER,
    Scenario,
    click,
    empty_file,
    find_motion_capture,
    redrawn,
    region_of,
    run,
    until,
    view,
    worked,
)
from screen import SCREEN, read_screen, save_png

MOST_CLICKS = 8  # from an empty file to a take
FILM = FOLDER / "first_hour"

clicks: list[str] = []


def count(what: str) -> None:
    clicks.append(what)
    print(f"click {len(clicks)}: {what}")


def press(operator: str, part: float = 1 / 3) -> Scenario:
    """Click the button of an operator in the sidebar, at a part of its width, and count it."""
    yield from click(operator, at=round(part * region_of(view()[1], "UI").width))
    count(operator)


def take_picture(name: str) -> Scenario:
    """Save what the window shows."""
    yield from redrawn()
    yield from redrawn("UI")
    yield 0.3
    if SCREEN:
        save_png(read_screen(), FILM / f"{len(clicks):02}_{name}.png")


def find_browser():
    """Return the window and the area of the open file browser, if there is one."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "FILE_BROWSER":
                return window, area
    return None


def choose_files(folder, files):
    """Go to a folder in the open file browser, select files of it, and confirm."""
    yield from until(find_browser)
    window, area = find_browser()
    yield from until(lambda: area.spaces.active.params)
    area.spaces.active.params.directory = os.fsencode(folder)
    count("the path of the folder")
    yield 1.0
    with bpy.context.temp_override(window=window, area=area):
        area.spaces.active.activate_file_by_relative_path(relative_path=files[0].name)
    count("a file")
    region = next(region for region in area.regions if region.type == "WINDOW")
    x, y = region.x + region.width // 2, region.y + region.height // 2
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type="A", value=value, x=x, y=y)
    count("all files")
    yield from take_picture("files")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.file.execute("INVOKE_DEFAULT")
    count("Import Motion Capture")


def import_own_motion():
    yield from empty_file()
    yield from take_picture("empty")
    _, files = find_motion_capture()
    yield from press("motion_matching.import_motion")
    folder = FOLDER / "captures"
    folder.mkdir()
    for file in files:
        shutil.copy(file, folder)
    yield from choose_files(folder, files)
    yield from until(lambda: bpy.context.object and not find_browser())
    yield from worked()
    obj = bpy.context.object
    assert obj.type == "ARMATURE"
    assert len(obj.motion_matching.sources) >= len(files)
    yield from take_picture("imported")
    return obj


def measure_heights(obj):
    """Return the lowest and the highest point of the bones, in metres."""
    points = np.array(
        [obj.matrix_world @ point for b in obj.pose.bones for point in (b.head, b.tail)]
    )
    return points[:, 2].min(), points[:, 2].max()


def measure_way(obj):
    """Return how far the hips go over the ground within the scene's frame range, in metres."""
    scene, hips = bpy.context.scene, obj.motion_matching.roles.hips or obj.pose.bones[0].name
    places = []
    for frame in range(scene.frame_start, scene.frame_end + 1, 5):
        scene.frame_set(frame)
        places.append((obj.matrix_world @ obj.pose.bones[hips].head).xy[:])
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


def build_and_bake(obj):
    """Build and bake with the buttons of the strip."""
    settings = obj.motion_matching
    yield from press("motion_matching.build")
    yield from until(lambda: settings.built_key, 300.0)
    yield from worked()
    yield from take_picture("built")
    yield from press("motion_matching.bake_script", part=2 / 3)
    yield from until(lambda: settings.takes, 300.0)
    yield from worked()
    yield from take_picture("baked")


def scenario():
    FILM.mkdir(exist_ok=True)
    obj = yield from import_own_motion()
    lowest, highest = measure_heights(obj)
    print(f"rests from {lowest:.3f} to {highest:.3f} m")
    assert abs(lowest) < 0.05 * highest, "it does not stand on the ground"
    yield from build_and_bake(obj)
    way = measure_way(obj)
    print(f"goes {way:.2f} m in {len(clicks)} clicks")
    assert way > 2.0
    assert len(clicks) <= MOST_CLICKS, clicks


run(scenario, needs_keys=False)

"""In a window: from a Rigify character to a take on its controls in three clicks, then an edit.

The clicks are to select the rig, to add files (chosen in the file browser), and to bake. The take
is edited as an animator would, saved, and opened again.
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
    call,
    click,
    confirm_files,
    empty_file,
    find_browser,
    find_motion_capture,
    load_module,
    redrawn,
    region_of,
    run,
    select_files,
    until,
    view,
    worked,
)
from rigify_human import generate_rig
from screen import SCREEN, read_screen, save_png

RAISED = 0.1  # metres, by which the animator lifts a foot
clicks: list[str] = []


def take_picture(name):
    yield from redrawn()
    yield from redrawn("UI")
    yield 0.5
    if SCREEN:
        save_png(read_screen(), FOLDER / f"own_rig_{len(clicks)}_{name}.png")


def add_rig():
    """Add Rigify's human, and leave it unselected beside nothing else."""
    rig = generate_rig()
    call(bpy.ops.object.select_all, action="DESELECT")
    bpy.context.view_layer.objects.active = None
    return rig


def find_rig():
    """Return the only armature of the file."""
    return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")


def add_files(folder, files):
    """Click Add Files, choose them in the browser, and wait until their bones are mapped."""
    yield from click("motion_matching.add_files", at=2 * region_of(view()[1], "UI").width // 3)
    clicks.append("Add Files")
    yield from select_files(folder, files[0])
    confirm_files()
    obj, status = bpy.context.object, load_module("app.database.status")
    yield from until(lambda: not find_browser() and len(obj.motion_matching.sources) == len(files))
    yield from until(lambda: len(status.get_status(obj).states) == len(files))
    states = status.get_status(obj).states.values()
    print(sorted({state.text for state in states}))
    assert {state.kind for state in states} == {"mapped"}


def bake(settings):
    yield from click("motion_matching.bake_script", at=2 * region_of(view()[1], "UI").width // 3)
    clicks.append("Bake Script")
    yield from until(lambda: settings.takes, 300.0)
    yield from worked()


def read_heads(obj, frames, names):
    """Return where bones (F, B, 3) are at frames, in metres."""
    heads = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        heads.append([tuple(obj.matrix_world @ obj.pose.bones[name].head) for name in names])
    return np.array(heads)


def edit_a_foot(obj):
    """Lift the left foot's control at a frame, as an animator does; return where, and the foot."""
    scene, foot = bpy.context.scene, obj.pose.bones["foot_ik.L"]
    middle = int(obj.animation_data.action.frame_range[1]) // 2
    before = read_heads(obj, [middle], ["DEF-foot.L", "DEF-foot.R", "DEF-spine"])[0]
    scene.frame_set(middle)
    matrix = foot.matrix.copy()
    matrix.translation.z += RAISED
    foot.matrix = matrix
    foot.keyframe_insert("location", frame=middle)
    after = read_heads(obj, [middle], ["DEF-foot.L", "DEF-foot.R", "DEF-spine"])[0]
    print(f"foot lifted by {100 * (after - before)[0, 2]:.1f} cm at frame {middle}")
    assert abs((after - before)[0, 2] - RAISED) < 0.03, "the foot does not follow its control"
    assert np.abs((after - before)[1:]).max() < 1e-3, "something else has moved"
    return middle, after[0]


def scenario():
    yield from empty_file("database", "takes")
    rig = add_rig()
    yield from take_picture("rig")
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    clicks.append("the rig")
    yield from redrawn("UI")
    _, files = find_motion_capture()
    folder = FOLDER / "captures"
    folder.mkdir()
    for file in files:
        shutil.copy(file, folder)
    yield from add_files(folder, files)
    yield from take_picture("files")
    settings = rig.motion_matching
    yield from bake(settings)
    yield from take_picture("take")
    print(clicks)
    assert len(clicks) == 3
    frames = range(1, int(rig.animation_data.action.frame_range[1]) + 1, 4)
    path = read_heads(rig, frames, ["DEF-spine"])[:, 0]
    way = float(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum())
    print(f"the hips go {way:.1f} m")
    assert way > 2.0
    frame, foot = edit_a_foot(rig)
    yield from take_picture("edit")
    file = str(FOLDER / "own_rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file, load_ui=False)
    yield 1.0
    again = read_heads(find_rig(), [frame], ["DEF-foot.L"])[0, 0]
    assert np.abs(again - foot).max() < 1e-4, "the file opens with another pose"


run(scenario, needs_keys=False)

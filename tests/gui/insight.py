"""Insight and a path edited by hand, in a window: opened in their panels, drawn in the view,
undone.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    alive,
    call,
    check_left_nothing,
    click,
    drag,
    empty_file,
    event,
    load_module,
    look_at_performer,
    read_traces,
    redrawn,
    run,
    started,
    take_screenshot,
    tap,
    until,
    worked,
)

NOISE, MUCH = 20, 100  # pixels that may change by themselves, and that a drawing covers at least
FRAME = 60


def get_settings():
    """Return the performer's settings; undo replaces the object."""
    return bpy.data.objects["Performer"].motion_matching


# ---------------------------------------------------------------- in the view


def count_changed_pixels(owner, name):
    """Count the pixels that a toggle changes once the view is at rest."""
    shots = []
    for shown in (True, False, False):
        setattr(owner(), name, shown)
        yield from redrawn()  # the first redraw creates the drawing
        shots.append((yield from take_screenshot()))
    setattr(owner(), name, True)
    count, noise = (int((np.abs(a - b).max(axis=-1) > 8).sum()) for a, b in pairwise(shots))
    print(f"   {name} draws {count} pixels, and {noise} change on their own")
    assert noise < NOISE
    return count


# ---------------------------------------------------------------- Insight


def measure_coverage():
    """Measure coverage with its button; its strands and charts are drawn."""
    yield from click("motion_matching.measure_coverage")
    yield from until(lambda: alive().coverage_reports)
    yield from worked()
    layers = "show_strands", "show_simulation", "show_coverage", "show_histograms"
    for name in layers:
        assert (yield from count_changed_pixels(lambda: get_settings().insight, name)) > MUCH
    for name in layers:
        setattr(get_settings().insight, name, False)


def inspect_frames():
    """Inspect the current frame with a button, and the next ones with a key."""
    get_settings().source_index = [source.name for source in get_settings().sources].index(
        "walk_curves"
    )
    bpy.context.scene.frame_set(FRAME)
    yield from click("motion_matching.inspect_frame")
    yield from until(lambda: alive().inspector and alive().inspector.inspection)
    first = alive().inspector.inspected.frame
    assert (yield from count_changed_pixels(lambda: get_settings().insight, "show_features")) > MUCH
    event("MOUSEMOVE", "NOTHING")
    for _ in range(3):
        tap("RIGHT_ARROW")
    yield from until(lambda: bpy.context.scene.frame_current == FRAME + 3)
    yield from until(lambda: alive().inspector.inspected.frame == first + 3)
    yield from until(
        lambda: alive().inspector.inspection and alive().inspector.inspection.frame == first + 3
    )
    assert alive().inspector.inspection.candidates
    assert not alive().inspector.problem


def map_poses():
    """Make the pose map with its button; the inspected frame is marked on it."""
    yield from click("motion_matching.map_poses")
    drawing = load_module("ui.insight.drawing")
    yield from until(lambda: alive().pose_maps)
    yield from worked()
    assert (yield from count_changed_pixels(lambda: get_settings().insight, "show_map")) > MUCH
    [found] = alive().pose_maps.values()
    performer, inspected = bpy.data.objects["Performer"], alive().inspector.inspected.frame
    assert drawing.get_marked_frames(performer, found)[0] == [inspected]
    assert call(bpy.ops.motion_matching.stop_inspecting) == {"FINISHED"}
    yield from until(lambda: alive().inspector is None)
    assert drawing.get_marked_frames(bpy.data.objects["Performer"], found)[0] == []


def follow_on_the_map():
    """While live, the map shows the played frames."""
    before = read_traces()
    get_settings().play.show_map = True
    live = yield from started()
    event("W", unicode="w")
    [found] = alive().pose_maps.values()
    find_marked = load_module("ui.insight.drawing").get_marked_frames

    def get_marked():
        return find_marked(bpy.data.objects["Performer"], found)[0]

    yield from until(lambda: len(set(get_marked())) > 5)  # each redraw shows its last one
    event("W", "RELEASE")
    assert max(get_marked()) < len(found.poses.mds)
    tap("ESC")
    yield from check_left_nothing(live, before)


# ---------------------------------------------------------------- a path by hand


def undo():
    event("MOUSEMOVE", "NOTHING")
    tap("Z", ctrl=True)
    yield 0.1


def get_snapshot():
    """Return the drawn paths, or None."""
    return load_module("ui.database.ground_paths").get_cache().snapshot


def read_track(name, differs_from=None, like=None):
    """Wait until a path is drawn that differs from one or equals another; return its positions (F,
    2).
    """

    def is_there():
        track = get_snapshot().tracks.get(name) if get_snapshot() else None
        return (
            track is not None
            and (differs_from is None or not np.allclose(track.positions, differs_from, atol=1e-4))
            and (like is None or np.allclose(track.positions, like, atol=1e-4))
        )

    yield from until(is_there)
    return get_snapshot().tracks[name].positions.copy()


def smooth_path():
    """Dragging a slider changes the drawn path, and undo restores it."""
    get_settings().show_path = True
    bpy.ops.ed.undo_push(message="before")
    begun = yield from read_track("smoothed")
    window = get_settings().simulation_bone.position_window
    yield from drag("motion_matching.simulation_bone.position_window", 60)
    yield from until(lambda: get_settings().simulation_bone.position_window > window)
    print(
        f"   dragged from {window:.2f} s to {get_settings().simulation_bone.position_window:.2f} s"
    )
    yield from read_track("smoothed", differs_from=begun)
    yield from undo()
    yield from until(lambda: get_settings().simulation_bone.position_window == window)
    yield from read_track("smoothed", like=begun)


def edit_path_by_hand():
    """The path becomes an empty that can be moved, keyed and undone; then the computed path
    returns.
    """
    yield from click("motion_matching.edit_path")
    yield from until(lambda: get_settings().sources[get_settings().source_index].use_path)
    yield from worked()
    computed = yield from read_track("by hand")
    yield from click("motion_matching.select_path")
    yield from until(lambda: bpy.context.object.type == "EMPTY")
    bpy.context.scene.frame_set(FRAME)
    place = bpy.context.object.location.copy()
    event("MOUSEMOVE", "NOTHING")
    tap("G", unicode="g")
    yield 0.1
    event("MOUSEMOVE", "NOTHING", dx=120)
    yield 0.1
    event("LEFTMOUSE", "PRESS", dx=120)
    event("LEFTMOUSE", "RELEASE", dx=120)
    yield from until(lambda: (bpy.context.object.location - place).length > 0.05)
    event("MOUSEMOVE", "NOTHING")
    tap("I", unicode="i")
    edited = yield from read_track("by hand", differs_from=computed)
    moved = np.linalg.norm(edited - computed, axis=1)
    print(
        f"   moved by hand by {moved.max():.2f} m at {int((moved > 1e-3).sum())} of {len(moved)} "
        "frames"
    )
    assert moved.max() > 0.05
    assert np.median(moved) < 1e-3
    yield from undo()  # the key
    yield from undo()  # the move
    yield from read_track("by hand", like=computed)
    yield from click("motion_matching.computed_path")
    yield from until(lambda: not get_settings().sources[get_settings().source_index].use_path)
    get_settings().show_path = False
    yield from until(lambda: get_snapshot() is None)


def scenario():
    bpy.context.preferences.inputs.use_mouse_continuous = False  # there is no real mouse to warp
    yield from empty_file(
        "database", "simulation_bone", "insight", "coverage", "frame_inspector", "pose_map"
    )
    yield from click("motion_matching.add_demo_performer")
    yield from worked()
    look_at_performer()
    blocks = sorted(bpy.data.objects.keys()), sorted(bpy.data.actions.keys())
    before = read_traces()
    for part in (
        measure_coverage,
        inspect_frames,
        map_poses,
        smooth_path,
        edit_path_by_hand,
        follow_on_the_map,
    ):
        print(part.__name__, flush=True)
        yield from part()
    assert (sorted(bpy.data.objects.keys()), sorted(bpy.data.actions.keys())) == blocks
    assert read_traces() == before


run(scenario)

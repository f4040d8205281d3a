"""What a live session notes for drawing at each tick, all layers on. Loads Blender; drawing itself
needs a window.
"""

from __future__ import annotations

import time
from typing import Any

import bpy
import numpy as np

import motion_matching
from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.engine.control.method import Method
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.takes import takes
from motion_matching.live.inputs.keyboard import Keyboard
from motion_matching.live.inputs.steering import SteeringInput
from motion_matching.scene.rig.armature import create_armature
from motion_matching.ui.play import drawing as play_drawing
from motion_matching.ui.play import layers

from .bench_search import Row

REACH = 1_000.0  # microseconds


def run(database: Database, quick: bool) -> list[Row]:
    """Rows of a snapshot, for a character that runs with every layer shown: by motion matching, and
    by a motion field.
    """
    rows, settings = [], takes.make_default_settings(database)
    for item, kind in (("HUD", MotionMatching), ("HUD, field", MotionField)):
        method = kind(database, settings)
        motion_matching.register()
        try:
            spent = _snapshots(database, method, 200 if quick else 1_000)
        finally:
            motion_matching.unregister()
        bones = f"{database.skeleton.bone_count} bones"
        rows.append(
            Row(
                bones,
                database.frame_count,
                item,
                float(np.median(spent)),
                float(np.percentile(spent, 99)),
                REACH,
            )
        )
    return rows


def _snapshots(database: Database, method: Method, count: int) -> list[float]:
    """Microseconds that each snapshot takes."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obj = create_armature(database.skeleton, "Bench HUD")
    for name in layers.PROPERTIES:
        setattr(obj.motion_matching.play, name, True)
    settings, keyboard, spent = takes.make_default_settings(database), Keyboard(), []
    snapshot = play_drawing.build_snapshot

    def timed(*arguments: Any) -> play_drawing.Snapshot:
        start = time.perf_counter()
        found = snapshot(*arguments)
        spent.append(1e6 * (time.perf_counter() - start))
        return found

    live = performing.start(obj, database, method, settings, keyboard, SteeringInput(keyboard), 0.0)
    play_drawing.build_snapshot = timed
    try:
        for key in ("W", "R"):
            keyboard.handle(key, "PRESS")
        for tick in range(count):
            live.tick((tick + 1) / database.fps, tick / 300)
        assert runtime.live is live, live.ending
    finally:
        play_drawing.build_snapshot = snapshot
        host.end()
    return spent

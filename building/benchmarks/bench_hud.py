"""What a live session prepares for drawing at each tick, all layers on. Loads Blender; drawing
itself needs a window.
"""

from __future__ import annotations

import time
from typing import Any

import bpy

import motion_matching
from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.engine.control.method import Method
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.takes import takes
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.scene.rig.armature import create_armature
from motion_matching.ui.play import drawing as play_drawing
from motion_matching.ui.play import layers

from .bench_search import Row
from .bench_tick import make_row

REACH = 1_000.0  # microseconds


def run(database: Database, quick: bool) -> list[Row]:
    """Measure snapshots of a running character with every layer shown, by motion matching and by a
    motion field.
    """
    rows, settings = [], takes.make_default_settings(database)
    for item, kind in (("HUD", MotionMatching), ("HUD, field", MotionField)):
        method = kind(database, settings)
        motion_matching.register()
        try:
            spent = _time_snapshots(database, method, 200 if quick else 1_000)
        finally:
            motion_matching.unregister()
        rows.append(make_row(database, item, spent, REACH))
    return rows


def _time_snapshots(database: Database, method: Method, count: int) -> list[float]:
    """Return the microseconds of each snapshot."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obj = create_armature(database.skeleton, "Bench HUD")
    for name in layers.PROPERTIES:
        setattr(obj.motion_matching.play, name, True)
    settings, keyboard, spent = takes.make_default_settings(database), Keyboard(), []
    snapshot = play_drawing.build_snapshot

    def build_timed(*arguments: Any) -> play_drawing.Snapshot:
        start = time.perf_counter()
        found = snapshot(*arguments)
        spent.append(1e6 * (time.perf_counter() - start))
        return found

    live = performing.start(obj, database, method, settings, keyboard, SteeringInput(keyboard), 0.0)
    play_drawing.build_snapshot = build_timed
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

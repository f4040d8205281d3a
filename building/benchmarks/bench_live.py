"""A live session without drawing: its tick, the pose that it writes, and ten minutes of recording.
Loads Blender.
"""

from __future__ import annotations

import time
from dataclasses import replace

import bpy
import numpy as np

from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.database import Database
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.takes import takes
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.live.recorder import RecordingPlan
from motion_matching.live.session import Session
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing.pose_writer import PoseWriter

from .bench_search import Row
from .bench_tick import FRAMES, make_row
from .data import Recordings, add_fingers

BONES = 65
RATE = 60  # ticks a second of a recording's minutes
MINUTES = 10
TICK_REACH, POSE_REACH, FLUSH_REACH = 2_000.0, 200.0, 10_000.0  # microseconds
GROWTH = 1.3  # of a flush's and a tick's median, from the first minute to the last
_KEYS = ("W", "A", "S", "D")


def run(recordings: Recordings, quick: bool) -> list[Row]:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    database = build_database(recordings)
    stage = _Stage(database)
    try:
        ticks, poses = stage.time_ticks(300 if quick else 3_000)
        rows = [
            make_row(database, "tick", ticks, TICK_REACH),
            make_row(database, "pose", poses, POSE_REACH),
        ]
        minutes = 1 if quick else MINUTES
        flushes, ticks = stage.time_recording(minutes)
        part = len(flushes) // minutes
        first, last = flushes[:part], flushes[-part:]
        row = make_row(database, f"flush, minute {minutes}", last, FLUSH_REACH)
        rows += [
            replace(row, other="flush, minute 1", ratio=_compute_ratio(last, first), limit=GROWTH),
            make_row(database, "flush, minute 1", first, FLUSH_REACH),
        ]
        part = len(ticks) // minutes
        row = make_row(database, f"tick that is recorded, minute {minutes}", ticks[-part:], None)
        rows.append(
            replace(
                row,
                other="minute 1",
                ratio=_compute_ratio(ticks[-part:], ticks[:part]),
                limit=GROWTH,
            )
        )
    finally:
        stage.session.stop()
    return rows


def build_database(recordings: Recordings) -> Database:
    """Build a database of as many frames as there are, on a body with fingers."""
    return add_fingers(recordings.build_database(recordings.find_recipe(FRAMES)), BONES)


class _Stage:
    """A session on a bare armature, steered by keys in all directions."""

    def __init__(self, database: Database) -> None:
        settings = takes.make_default_settings(database)
        performer = Performer(MotionMatching(database, settings), settings)
        obj = create_armature(database.skeleton, "Bench")
        writer = PoseWriter(
            obj, database.skeleton, root=RootTarget.OBJECT, hips=database.role_names["hips"]
        )
        self.keyboard, self.dt = Keyboard(), 1.0 / database.fps
        self.session = Session(performer, SteeringInput(self.keyboard), writer)
        self._count = 0
        self.session.start(0.0)

    def _tick(self) -> float:
        """Return the microseconds of one tick and all that belongs to it; the keys change once a
        second.
        """
        if self._count % RATE == 0:
            self.keyboard.release_all()
            self.keyboard.handle(_KEYS[self._count // RATE % len(_KEYS)], "PRESS")
        self._count += 1
        now = (
            self._count + 0.5
        ) * self.dt  # between two ticks, so that rounding neither adds nor removes one
        start = time.perf_counter()
        report = self.session.tick(now)
        spent = 1e6 * (time.perf_counter() - start)
        assert report.ticks == 1, f"{report.ticks} ticks were made instead of one"
        return spent

    def time_ticks(self, count: int) -> tuple[list[float], list[float]]:
        """Return the microseconds of ticks, and of writing the pose of each once more."""
        ticks, poses = [], []
        for _ in range(count):
            ticks.append(self._tick())
            start = time.perf_counter()
            self.session.writer.show_again()
            poses.append(1e6 * (time.perf_counter() - start))
        return ticks, poses

    def time_recording(self, minutes: int) -> tuple[list[float], list[float]]:
        """Return the microseconds of flushes and of whole ticks during a recording."""
        self.session.record(RecordingPlan("Bench", 1.0, 1.0))
        flushes, ticks = [], []
        recorder = self.session._recorder
        assert recorder is not None
        flush = recorder.flush

        def flush_timed() -> int:
            start = time.perf_counter()
            touched = flush()
            if touched:
                flushes.append(1e6 * (time.perf_counter() - start))
            return touched

        recorder.flush = flush_timed  # type: ignore[method-assign]
        for _ in range(60 * RATE * minutes):
            ticks.append(self._tick())
        self.session.discard_recording()
        return flushes, ticks


def _compute_ratio(last: list[float], first: list[float]) -> float:
    return float(np.median(last) / np.median(first))

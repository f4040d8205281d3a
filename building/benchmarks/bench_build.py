"""From BVH files to a database with features, and a large database saved and loaded."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database import database as databases
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.takes import takes

from .bench_search import Row
from .data import Recordings

BUILD_REACH = 35_000.0  # microseconds for 1,000 frames
LOAD_REACH = 200_000.0  # microseconds
LOADED_FRAMES = 400_000


def run(recordings: Recordings, quick: bool) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return _measure_building(recordings, Path(folder), quick) + _measure_storing(
            recordings, Path(folder), quick
        )


def _measure_building(recordings: Recordings, folder: Path, quick: bool) -> list[Row]:
    sources = recordings.write_files(folder)
    rows = []
    for item, mirror in (("BVH to database, 1,000 frames", False), ("the same, mirrored", True)):
        work = partial(build, sources, BuildSettings(mirror=mirror))
        frames = work()[0].frame_count  # also loads late imports
        spent = [1000 * s / frames for s in _time(work, 1 if quick else 5)]
        rows.append(_make_row(frames, item, spent, BUILD_REACH))
    return rows


def _measure_storing(recordings: Recordings, folder: Path, quick: bool) -> list[Row]:
    database = recordings.build_database(recordings.find_recipe(10_000 if quick else LOADED_FRAMES))
    frames, path = database.frame_count, folder / "database.npz"
    repeats = 3 if quick else 5

    def play() -> None:
        loaded = databases.load(path)
        settings = takes.make_default_settings(loaded)
        Performer(MotionMatching(loaded, settings), settings).step(Intent())

    return [
        _make_row(frames, "save", _time(lambda: databases.save(database, path), repeats)),
        _make_row(frames, "load", _time(lambda: databases.load(path), repeats), LOAD_REACH),
        _make_row(frames, "load, index, first tick", _time(play, repeats)),
    ]


def _time(work: Callable[[], object], repeats: int) -> list[float]:
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return spent


def _make_row(frames: int, item: str, seconds: list[float], reach: float | None = None) -> Row:
    return Row("", frames, item, statistics.median(seconds) * 1e6, max(seconds) * 1e6, reach)

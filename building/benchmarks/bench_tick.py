"""The performer's tick with a search at every tick, beside the same tick written with loops over
bones; and how much longer than usual ticks take as the settings are by default.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from motion_matching.engine.blending.jump import Seam
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import takes

from .bench_search import Row
from .data import Recordings, add_fingers
from .naive_tick import NaiveTick

FRAMES = 50_000
MANY_BONES = 65
SCRIPTS = ("random", "figure_eight")
REACH = 150.0  # microseconds, with feet
LIMIT = 0.06  # of the loops' time with 65 bones
REWEIGHT_REACH = 50_000.0  # microseconds
VERIFIED_TICKS = 300
TOLERANCE = 1e-3  # metres, and components of quaternions
ROUND = 60  # ticks that each plays per turn
METHODS = {"matching": MotionMatching, "field": MotionField}
GAITS = ("walk", "run")
REPEATS = 3  # of a performance, whose ticks count with the least of their times
# of the median, what ticks take on average, and all but one in ten, and in a hundred
MEAN_LIMIT, MOST_LIMIT, PERCENTILE_LIMIT = 1.2, None, 3.0
# what the loops over bones do not know: they never stand, catch up, run faster into a turn, avoid
# odd postures, let go of the root's rest while a foot stands, or wait for a jump to fade
_PLAIN = {
    "foot_lock": False,
    "idle": False,
    "catch_up": 0.0,
    "turning_speed": 1.0,
    "posture_weight": 0.0,
    "root_halflife": 0.0,
    "wait": False,
}


def run(recordings: Recordings, quick: bool) -> list[Row]:
    """Raise AssertionError if the two versions of a tick come to different poses."""
    database = recordings.build_database(recordings.find_recipe(FRAMES))
    seconds = 4.0 if quick else 60.0
    many = add_fingers(database, MANY_BONES)
    return [
        *_measure(database, seconds, None),
        *_measure(many, seconds, LIMIT),
        _measure_reweighting(database),
        *(row for name in METHODS for row in _measure_spread(database, name, seconds)),
    ]


def _measure(database: Database, seconds: float, limit: float | None) -> list[Row]:
    """Measure both versions of the tick, and the shipped tick with a search at every tick."""
    whole = takes.make_default_settings(database).with_changes({"search_interval": 0.0})
    settings = whole.with_changes(_PLAIN)
    performer = Performer(MotionMatching(database, settings), settings)
    with_feet = Performer(MotionMatching(database, whole), whole)
    ours, theirs, feet = (list[float]() for _ in range(3))
    for script in SCRIPTS:
        intents = takes.prepare_performance(
            database, settings, script, gait="run", seconds=seconds, seed=1
        ).intents
        loops = NaiveTick(database, settings, performer.reset((0.0, 0.0), 0.0).frame)
        _verify(performer, loops, intents[:VERIFIED_TICKS])
        with_feet.reset((0.0, 0.0), 0.0)
        for start in range(0, len(intents), ROUND):
            some = intents[start : start + ROUND]
            ours += _time(performer.step, some)
            theirs += _time(loops.step, some)
            feet += _time(with_feet.step, some)
    loops_row = make_row(database, "loops over bones", theirs)
    rows = make_row(database, "tick without feet", ours), make_row(database, "tick", feet, REACH)
    beside = [
        replace(row, other=loops_row.item, ratio=row.median / loops_row.median, limit=limit)
        for row in rows
    ]
    return [loops_row, *beside]


def _measure_spread(database: Database, name: str, seconds: float) -> list[Row]:
    """Measure how far ticks of a method are from their median, and what previews of jumps take."""
    settings = takes.make_default_settings(database)
    ticks, previews = list[float](), list[float]()
    for gait in GAITS:
        # a script that repeats itself would play the same few clips again and again
        performance = takes.prepare_performance(
            database, settings, "random", gait=gait, seconds=seconds, seed=1
        )
        runs = [_perform(database, name, performance) for _ in range(REPEATS)]
        for spent, least in zip((ticks, previews), zip(*runs, strict=True), strict=True):
            spent += np.min(least, axis=0).tolist()
    tick = make_row(database, f"{name}: tick", ticks)
    rows = [tick]
    for what, time_of, limit in (
        ("mean", np.mean(ticks), MEAN_LIMIT),
        ("90 %", np.percentile(ticks, 90), MOST_LIMIT),
        ("99 %", np.percentile(ticks, 99), PERCENTILE_LIMIT),
    ):
        row = replace(tick, item=f"{name}: {what}", median=float(time_of))
        rows.append(replace(row, other="median", ratio=row.median / tick.median, limit=limit))
    row = make_row(database, f"{name}: preview of a jump", previews)
    return [*rows, replace(row, other="tick", ratio=row.median / tick.median)]


def _perform(
    database: Database, name: str, performance: Performance
) -> tuple[list[float], list[float]]:
    """Return the microseconds of all ticks and previews of a performance, nothing known before."""
    unknown = replace(database)  # whose limits are measured anew
    settings = takes.make_default_settings(unknown)
    performer = Performer(METHODS[name](unknown, settings), settings, performance.ground)
    measure, previews = performer._measure_seams, list[float]()

    def measure_timed(seams: Sequence[Seam]) -> np.ndarray:
        start = time.thread_time()
        hardest = measure(seams)
        previews.append((time.thread_time() - start) * 1e6)
        return hardest

    performer._measure_seams = measure_timed  # type: ignore[method-assign]
    performer.begin(performance)
    # other processes would decide what the slowest ticks take
    return _time(performer.step, performance.intents, time.thread_time), previews


def make_row(database: Database, item: str, times: list[float], reach: float | None = None) -> Row:
    """Make a row of times in microseconds on a database, which is named by its bones."""
    bones = f"{database.skeleton.bone_count} bones"
    return Row.from_times(bones, database.frame_count, item, times, reach)


def _verify(performer: Performer, loops: NaiveTick, intents: tuple[Intent, ...]) -> None:
    for tick, intent in enumerate(intents):
        pose = performer.step(intent).pose
        positions, rotations = loops.step(intent)
        apart = max(
            np.abs(pose[:3].T - positions).max(), _measure_rotations_apart(pose[3:].T, rotations)
        )
        if apart > TOLERANCE:
            raise AssertionError(
                f"The tick and the loops over bones are {apart:.2g} apart at tick {tick}"
            )


def _measure_rotations_apart(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of a component of quaternions (B, 4), whatever their signs."""
    return float(np.minimum(np.abs(a - b).max(axis=1), np.abs(a + b).max(axis=1)).max())


def _time(
    step: Callable[[Intent], object],
    intents: tuple[Intent, ...],
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the microseconds of every tick."""
    spent = []
    for intent in intents:
        start = clock()
        step(intent)
        spent.append((clock() - start) * 1e6)
    return spent


def _measure_reweighting(database: Database, repeats: int = 7) -> Row:
    """Measure from a changed weight to the end of the next tick, which searches with it."""
    settings = takes.make_default_settings(database).with_changes({"search_interval": 0.0})
    performer = Performer(MotionMatching(database, settings), settings)
    weights = [feature.weight for feature in database.schema.features]
    spent = []
    for k in range(1, repeats + 1):
        changed = settings.with_changes({"weights": [weights[0] * (1 + 0.1 * k), *weights[1:]]})
        start = time.perf_counter()
        performer.apply(changed)
        performer.step(Intent(move=(0.0, -1.0)))
        spent.append((time.perf_counter() - start) * 1e6)
    return make_row(database, "weights changed", spent, REWEIGHT_REACH)

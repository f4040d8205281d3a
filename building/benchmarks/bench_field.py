"""Motion fields: exact neighbours beside a full scan, and the greedy tick."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.method import Goal, Motion
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.field.integration import compute_action_weights, integrate
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.field.states.neighbours import Neighbours, compute_similarity_weights
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes

from .bench_search import Row
from .bench_tick import SCRIPTS
from .data import FEATURES, Recordings

K = 15
SIZES = {"6.4k": 6_400, "20k": 20_000, "50k": 50_000}
REACH = {  # microseconds: one query, those of all actions together, and the greedy tick
    "6.4k": (100.0, 660.0, 350.0), "20k": (230.0, 900.0, 330.0), "50k": (460.0, 1640.0, 620.0),
}  # fmt: skip
LIMIT = 0.5  # of a full scan's time


def run(recordings: Recordings, quick: bool) -> list[Row]:
    """Raise AssertionError if neighbours differ from those of the full scan."""
    rows = []
    for name in ("6.4k",) if quick else SIZES:
        database = build_database(recordings, SIZES[name])
        played = _play(database, 3.0 if quick else 20.0)
        single, together, tick = REACH[name]
        rows += _measure_neighbours(name, played, single, together)
        rows.append(Row.from_times(name, len(played.features), "greedy tick", played.ticks, tick))
    return rows


def build_database(recordings: Recordings, frames: int) -> Database:
    """Build a database of so many frames of clips, or by the plainest recipe that gives as many."""
    clips, count = [], 0.0
    for clip in recordings.clips:
        if count >= frames:
            break
        clips.append(clip)
        count += clip.duration * 30.0
    if count < frames:
        return recordings.build_database(recordings.find_recipe(frames))
    settings = BuildSettings(fps=30.0, mirror=False, schema=load_schema(FEATURES))
    return build([Source(clip=clip) for clip in clips], settings)[0]


class _Play(NamedTuple):
    """Features (S, F) of the states of a field, and for every tick of a steered character: its
    microseconds, the features (1, F) whose neighbours it searched for, and those (k, F) of where
    its actions lead.
    """

    features: np.ndarray
    ticks: list[float]
    queries: list[np.ndarray]
    results: list[np.ndarray]


def _play(database: Database, seconds: float) -> _Play:
    """Time the method's tick, without the springs and feet that any method has."""
    settings = takes.make_default_settings(database)
    field = MotionField(database, settings)
    performer = Performer(field, settings)
    advance, nearest = field.advance, Neighbours.find_nearest
    spent: list[float] = []
    searched: list[np.ndarray] = []
    poses: list[np.ndarray] = []

    def advance_timed(goal: Goal) -> Motion:
        start = time.perf_counter()
        motion = advance(goal)
        spent.append((time.perf_counter() - start) * 1e6)
        poses.append(motion.pose)
        return motion

    def find_recorded(
        self: Neighbours, features: np.ndarray, k: int, apart: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        searched.append(features)
        return nearest(self, features, k, apart)

    field.advance = advance_timed  # type: ignore[method-assign]
    Neighbours.find_nearest = find_recorded  # type: ignore[method-assign]
    try:
        for script in SCRIPTS:
            for intent in takes.prepare_performance(
                database, settings, script, gait="walk", seconds=seconds, seed=1
            ).intents:
                performer.step(intent)
    finally:
        Neighbours.find_nearest = nearest  # type: ignore[method-assign]
    features = field.metric.compute_state_features(field.states)
    neighbours = Neighbours(features)
    # a tick begins at the pose of the tick before
    queries = searched[1:]
    results = [
        _compute_results(field, neighbours, pose, query)
        for pose, query in zip(poses, queries, strict=False)
    ]
    return _Play(features, spent, queries, results)


def _compute_results(
    field: MotionField, neighbours: Neighbours, pose: np.ndarray, query: np.ndarray
) -> np.ndarray:
    """Compute features (k, F) of what all actions among the nearest lead to, from a pose with
    features (1, F).
    """
    around, distances = (found[0] for found in neighbours.find_nearest(query, K))
    led = integrate(
        field.states,
        pose,
        around,
        compute_action_weights(compute_similarity_weights(distances)),
        0.1,
    )
    return field.metric.compute_features(led.pose, led.velocity)


def _measure_neighbours(name: str, played: _Play, single: float, together: float) -> list[Row]:
    neighbours = Neighbours(played.features)
    terms = played.features.reshape(len(played.features), -1, 3)

    def scan(query: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        distances = np.sqrt(((terms - query.reshape(-1, 3)) ** 2).sum(axis=2)).sum(axis=1)
        best = distances.argpartition(K)[:K]
        best = best[distances[best].argsort()]
        return best, distances[best]

    def time_searches(queries: Iterable[np.ndarray]) -> list[float]:
        return [_time(lambda q=query: neighbours.find_nearest(q, K))[0] for query in queries]

    ones, alls = time_searches(played.queries), time_searches(played.results)
    scans, unrelated = [], []
    for number in np.random.default_rng(0).permutation(len(played.queries))[::10]:
        query = played.queries[number]
        spent, expected = _time(lambda q=query: scan(q[0]))
        scans.append(spent)
        # after a scan, whose data has taken the cache
        spent, found = _time(lambda q=query: neighbours.find_nearest(q, K))
        unrelated.append(spent)
        if not np.allclose(found[1][0], expected[1], rtol=1e-4, atol=1e-5):
            raise AssertionError("Neighbours are not the ones that a full scan finds")
    states = len(terms)
    one = Row.from_times(name, states, f"{K} neighbours", ones, single)
    full = Row.from_times(name, states, "full scan", scans, None)
    return [
        replace(one, other=full.item, ratio=one.median / full.median, limit=LIMIT),
        Row.from_times(name, states, f"{K} neighbours, unrelated", unrelated, None),
        Row.from_times(name, states, f"{K} neighbours of {K} results", alls, together),
        full,
    ]


def _time(
    work: Callable[[], tuple[np.ndarray, np.ndarray]],
) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    start = time.perf_counter()
    result = work()
    return (time.perf_counter() - start) * 1e6, result

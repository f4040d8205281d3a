"""Search in ways that the Nucl.ai talk tells of, beside the exact search.

Among the nearest trajectories first, and for the winner that the same input had before.
"""

from __future__ import annotations

import argparse
import math
import textwrap
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns
from motion_matching.engine.control.method import Goal, Motion
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.takes import takes

from .manual_parts import publish
from .running import add_part_arguments
from .sets import find_sets

SETS = ("generated", "bandai", "lafan1")
# presets of features, and how their differences add up
FEATURES = {
    "default": ("default", "squared"),
    "nucl_ai": ("nucl_ai", "squared"),
    "by length": ("nucl_ai", "absolute"),
}
NEAREST = 500  # trajectories
_SPEED, _TURN = 0.25, math.radians(11.0)  # m/s and radians within which inputs are the same
DOCUMENT = CHECKOUT / "docs" / "articles.md"
_LEFT = ("set", "features")
_HEADINGS = (
    *_LEFT,
    "searches",
    "the best found",
    "after a change",
    "cost otherwise",
    "exact, ms",
    "in two stages, ms",
    "remembered",
    "best again",
    "worse than playing on",
)
Measures = dict[str, Any]


class _Query(NamedTuple):
    values: np.ndarray
    frame: int
    key: tuple[int, ...] = ()  # what is asked for: the velocity and turn at the end of the path


class _WatchedMatching(MotionMatching):
    """Motion matching that notes the queries of its searches."""

    noted: list[_Query]

    def reset(self) -> Motion:
        self.noted = []
        return super().reset()

    def _search(self, goal: Goal, frame: int, *rest: Any) -> int:
        best = super()._search(goal, frame, *rest)
        assert self._last is not None
        self.noted.append(_Query(self._last.query, frame, find_key(goal)))
        return best


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_part_arguments(parser, SETS)


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured; write the manual if all sets are."""
    names = [name for name in chosen.sets or SETS if name in find_sets()]
    rows = []
    for name in names:
        motion_set, source = find_sets()[name]
        database = motion_set.build(source)
        for features, (preset, difference) in FEATURES.items():
            schema = replace(load_schema(preset), difference=difference)
            given = database.with_schema(schema)
            found = measure(given, 60.0 * chosen.minutes, chosen.seed)
            rows.append(list_cells(name, features, found))
            print(*rows[-1], sep="  ", flush=True)
    part = format_part(rows, chosen.minutes)
    publish(DOCUMENT, "search", part, complete=names == list(SETS))
    return 0


def measure(database: Database, seconds: float, seed: int, nearest: int = NEAREST) -> Measures:
    """Perform a random walk; search anew for all its queries, in two stages and exactly.

    Returns the number of searches, the share of them in which both find the same frame, and the
    median times of both in seconds, and what `compare_remembered` does. `changed` is the share if each query asks for the path of
    another one, as if the goal had changed, and `ratio` the median ratio of costs where both differ
    then.
    """
    settings = takes.make_default_settings(database)
    performance = takes.prepare_performance(
        database, settings, "random", gait="walk", seconds=seconds, seed=seed
    )
    made: list[_WatchedMatching] = []

    def watch(data: Database, chosen: PerformerSettings) -> MotionMatching:
        made.append(_WatchedMatching(data, chosen))
        return made[-1]

    takes.perform(database, settings, performance, controller=watch)
    method, noted = made[-1], made[-1].noted
    found = compare_searches(method, noted, nearest)
    changed = compare_searches(method, exchange_paths(method, noted, seed), nearest)
    remembered = compare_remembered(method, noted)
    return found | remembered | {"changed": changed["found"], "ratio": changed["ratio"]}


def find_key(goal: Goal) -> tuple[int, ...]:
    """Return what a goal asks for, in steps of speed and turn."""
    if not goal.trajectory:
        return ()
    end = goal.trajectory[-1]
    return round(end.vx / _SPEED), round(end.vy / _SPEED), round(end.yaw / _TURN)


def compare_remembered(method: MotionMatching, noted: Sequence[_Query]) -> Measures:
    """Return how the winner that the same input had before does.

    `remembered` is the number of searches whose input was there before, `again` the share of them
    in which that winner is the best, and `worse` that in which it costs more than playing on.
    """
    winners: dict[tuple[int, ...], int] = {}
    again, worse = [], []
    for query in noted:
        best, _ = method._index.find_nearest(query.values, current=query.frame, **method._around)
        if (winner := winners.get(query.key)) is not None:
            frames = np.array([winner, query.frame])
            kept, playing = measure_costs(method, query.values, frames)
            again.append(winner == best)
            worse.append(bool(kept > playing))
        winners[query.key] = best
    count = len(again)
    shares = (float(np.mean(each)) if count else 0.0 for each in (again, worse))
    return dict(zip(("remembered", "again", "worse"), (count, *shares), strict=True))


def measure_costs(method: MotionMatching, values: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Return what frames (K,) cost (K,) for the values (D,) of a query."""
    costs = method._differences.split_all(method._rows[frames] - values).sum(axis=1)
    return np.asarray(costs + method._bias[frames])


def exchange_paths(method: MotionMatching, noted: Sequence[_Query], seed: int) -> list[_Query]:
    """Return queries whose paths are those of others."""
    order = np.random.default_rng(seed).permutation(len(noted))
    path, result = find_path_columns(method), []
    for query, other in zip(noted, order.tolist(), strict=True):
        values = np.where(path, noted[other].values, query.values)
        result.append(query._replace(values=values))
    return result


def compare_searches(method: MotionMatching, noted: Sequence[_Query], nearest: int) -> Measures:
    """Return how searches in two stages compare with exact ones for some queries."""
    allowed = np.flatnonzero(method.database.find_candidates(method._settings.search.end_guard))
    path = find_path_columns(method)
    tree = cKDTree(method._rows[allowed][:, path])
    same, ratios, exact_times, times = [], [], [], []
    for query in noted:
        began = time.perf_counter()
        best, cost = method._index.find_nearest(query.values, current=query.frame, **method._around)
        exact_times.append(time.perf_counter() - began)
        began = time.perf_counter()
        _, found = tree.query(query.values[path], min(nearest, len(allowed)))
        frames = keep_enterable(method, allowed[found], query.frame)
        costs = measure_costs(method, query.values, frames)
        times.append(time.perf_counter() - began)
        same.append(bool(len(frames)) and int(frames[costs.argmin()]) == best)
        if len(frames) and not same[-1] and cost > 0.0:
            ratios.append(float(costs.min()) / cost)
    return {
        "searches": len(same),
        "found": float(np.mean(same)),
        "ratio": float(np.median(ratios)) if ratios else 1.0,
        "exact": float(np.median(exact_times)),
        "two_stages": float(np.median(times)),
    }


def find_path_columns(method: MotionMatching) -> np.ndarray:
    """Return which numbers (D,) of a query are of the path."""
    schema, varies = method.database.schema, method.features.normalization.varies
    kinds = [[f.definition.is_path] * f.dimensions for f in schema.features]
    return np.concatenate(kinds)[varies]


def keep_enterable(method: MotionMatching, frames: np.ndarray, current: int) -> np.ndarray:
    """Return the frames that are not among the surroundings of the current one."""
    return frames[np.abs(frames - current) >= method._around["surroundings"]]


def list_cells(name: str, preset: str, measures: Measures) -> tuple[str, ...]:
    """Return a row of the table of the manual."""
    return (
        name,
        preset,
        f"{measures['searches']}",
        f"{100.0 * measures['found']:.0f} %",
        f"{100.0 * measures['changed']:.0f} %",
        f"{measures['ratio']:.2f}",
        f"{1e3 * measures['exact']:.2f}",
        f"{1e3 * measures['two_stages']:.2f}",
        f"{measures['remembered']}",
        f"{100.0 * measures['again']:.0f} %",
        f"{100.0 * measures['worse']:.0f} %",
    )


def format_part(rows: Sequence[tuple[str, ...]], minutes: float) -> str:
    """Return what the manual says of the rows."""
    text = (
        "*by length* adds up lengths of the same differences as `nucl_ai`. "
        f"The searches of a random walk of {minutes:g} min, among the {NEAREST} frames whose paths "
        "are nearest (by scipy's cKDTree) and exactly; *after a change*, each of them asks for the "
        "path of another one. *cost otherwise* is how many times as much a frame costs then that "
        "is found instead of the best. *remembered* are searches for a velocity and turn that were "
        f"asked for before, within {_SPEED:g} m/s and {math.degrees(_TURN):.0f}°: *best again* is how "
        "often the winner of that time is the best, *worse than playing on* how often it costs more."
    )
    table = format_columns(list(zip(_HEADINGS, *rows, strict=True)), _LEFT)
    origin = f"Written by `python3 build.py study search`.\n{describe_machine()}"
    return "\n\n".join((origin, textwrap.fill(text, 118), table)) + "\n"

"""How long a search takes, and how much less it would without one of the features."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from motion_matching.engine.database.database import Database, load
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.matching.differences import Differences
from motion_matching.engine.matching.fitted_features import FittedFeatures
from motion_matching.engine.matching.flips import get_weights
from motion_matching.engine.matching.search import FrameIndex
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.takes.takes import make_default_settings

Array = np.ndarray
_QUERIES = 48
_PASSES = 3  # of which the fastest counts: others use the processor too


@dataclass(frozen=True)
class SearchTimes:
    """Median `seconds` of a search, how many `numbers` each feature has in it, and `saved` shares.

    `saved` says which share of the time a search takes less without a feature; below 0 it takes
    more, as other features tell frames apart later. A feature alone saves all.
    """

    seconds: float
    numbers: tuple[int, ...]
    saved: tuple[float, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("database", type=Path, help="a database made by 'build'")


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once the times are printed."""
    database = load(chosen.database)
    times = measure_search_times(database, make_default_settings(database))
    print(f"A search takes {1e3 * times.seconds:.2g} ms. The share of it that each feature takes:")
    for feature, count, saved in zip(
        database.schema.features, times.numbers, times.saved, strict=True
    ):
        print(f"{feature.label:36} {count:3} numbers {saved:6.0%}")
    return 0


def measure_search_times(database: Database, settings: PerformerSettings) -> SearchTimes:
    """Time searches right after the goal changes: poses with the path of another frame.

    Each feature needs an index without it, so this takes about as long as starting that many
    sessions. Raises DatabaseError if no frame may be entered.
    """
    fitted = FittedFeatures(database).fit(settings)
    weights = get_weights(settings.search, database)
    schema, used = database.schema.with_weights(weights), fitted.normalization.varies
    scale = fitted.normalization.compute_scale(schema.weights)
    features = (fitted.values - fitted.normalization.mean[:, None]) * scale[:, None]
    of_path = np.repeat(
        [f.definition.is_path for f in schema.features],
        [f.dimensions for f in schema.features],
    )
    allowed = database.find_candidates(settings.search.end_guard)
    if not allowed.any():
        raise DatabaseError(
            "No frame of the database may be entered; lower the end guard or add longer clips."
        )
    rng = np.random.default_rng(0)
    current, other = rng.choice(np.flatnonzero(allowed), (2, _QUERIES))
    queries = np.where(of_path[:, None], features[:, other], features[:, current]).T

    def make_index(left: Array, without: int = -1) -> FrameIndex:
        kept = tuple(f for number, f in enumerate(schema.features) if number != without)
        inside = np.concatenate(
            [np.full(f.dimensions, k != without) for k, f in enumerate(schema.features)]
        )
        dims = np.flatnonzero(left[inside])
        differences = Differences(replace(schema, features=kept), dims)
        bias = np.asarray(database.bias, np.float32)
        return differences.make_index(features[np.flatnonzero(left)], allowed, bias)

    whole, result = make_index(used), []
    numbers = [int(used[rows].sum()) for rows in schema.slices]
    seconds = _time(whole, queries[:, used], whole, queries[:, used])[0]
    for number, rows in enumerate(schema.slices):
        left = used.copy()
        left[rows] = False
        if not left.any() or not numbers[number]:
            result.append(1.0 if numbers[number] else 0.0)
            continue
        pair = _time(whole, queries[:, used], make_index(left, number), queries[:, left])
        result.append(1.0 - pair[1] / pair[0])
    return SearchTimes(seconds, tuple(numbers), tuple(result))


def _time(one: FrameIndex, first: Array, two: FrameIndex, second: Array) -> tuple[float, float]:
    """Return the median seconds of the same queries (Q, D) on two indexes, taken in turns."""
    seconds = np.empty((_PASSES, 2, len(first)))
    for each in seconds:
        for k, queries in enumerate(zip(first, second, strict=True)):
            for side, index in enumerate((one, two)):
                started = time.perf_counter()
                index.find_nearest(queries[side])
                each[side, k] = time.perf_counter() - started
    median = np.median(seconds.min(axis=0), axis=1)
    return float(median[0]), float(median[1])

"""The exact search beside scipy's cKDTree and a full scan, on the same hard queries in the same
rounds.

A hard query is the pose of one frame with the goal of another, as when the stick is flipped. All
masks are on: range ends, the surroundings of the current frame, and the cost of the continuing pose
as the bound. Every answer of the index is compared with brute force in float64.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from motion_matching.engine.matching.search import FrameIndex

Array = np.ndarray
Search = Callable[[int], float]  # number of a query -> cost of its answer

SURROUNDINGS = 20
TOLERANCE = 1e-5  # in distance: of the distance itself, and of the root mean square of the features
ROUNDS = 10
FULL_SCANS = 40  # queries that a full scan is timed with
KD_TREE_FRAMES = 60_000_000  # frames times queries that the kd-tree is timed with
MASK_SHARE = 0.3
MASK_RUN = 250  # frames in a row that carry the tag or do not


@dataclass(frozen=True)
class Reach:
    """Targets for one size: microseconds, and ratios of medians within a run."""

    frames: int
    microseconds: float
    to_kd_tree: float | None
    to_full_scan: float
    build_seconds: float | None = None
    reweighted_seconds: float | None = None


REACHES = (
    Reach(10_000, 40, 0.8, 0.25),
    Reach(50_000, 70, 0.55, 0.06, 0.1, 0.05),
    Reach(200_000, 120, 0.15, 0.03),
    Reach(400_000, 155, 0.1, 0.01, 1.0),
    Reach(1_000_000, 350, None, 0.01),
)
MASKED_RATIO = 2.2
SUBSET_RATIO = 1.2


@dataclass(frozen=True)
class Row:
    """One measurement, in microseconds.

    `ratio` is the median divided by that of `other`; `passed` is False only for a missed ratio.
    `reach` is an absolute target, which depends on the machine.
    """

    database: str
    frames: int
    item: str
    median: float
    percentile99: float
    reach: float | None = None
    other: str = ""
    ratio: float | None = None
    limit: float | None = None

    @classmethod
    def from_times(
        cls,
        database: str,
        frames: int,
        item: str,
        times: Sequence[float],
        reach: float | None = None,
    ) -> Row:
        """Make a row of the median and 99th percentile of times in microseconds."""
        median, percentile99 = float(np.median(times)), float(np.percentile(times, 99))
        return cls(database, frames, item, median, percentile99, reach)

    @property
    def passed(self) -> bool:
        return self.ratio is None or self.limit is None or self.ratio <= self.limit


def run(
    databases: Mapping[str, tuple[Array, Array]],
    queries: int = 1000,
    rng: np.random.Generator | None = None,
    goal: slice = slice(15, None),
) -> list[Row]:
    """Measure databases of normalised, weighted features (D, N) and candidates (N,).

    `goal` is where the trajectory lies among the dimensions. Raises AssertionError if an answer is
    not the nearest.
    """
    rng = rng or np.random.default_rng(0)
    return [
        row
        for name, (features, candidates) in databases.items()
        for row in _measure(
            name, features, candidates, HardQueries(features, candidates, queries, goal, rng), rng
        )
    ]


class HardQueries:
    """Queries (Q, D), the current frame of each (Q,), and the cost of its continuing pose (Q,)."""

    def __init__(
        self, features: Array, candidates: Array, count: int, goal: slice, rng: np.random.Generator
    ) -> None:
        usable = np.flatnonzero(candidates)
        self.current, other = rng.choice(usable, (2, count))
        self.queries = np.ascontiguousarray(features[:, self.current].T)
        self.queries[:, goal] = features[goal, other].T
        differences = self.queries.astype(np.float64) - features[:, self.current].T
        self.bounds = (differences**2).sum(axis=1)

    def __len__(self) -> int:
        return len(self.queries)


def _measure(
    name: str, features: Array, candidates: Array, hard: HardQueries, rng: np.random.Generator
) -> list[Row]:
    frames = features.shape[1]
    reach = min(REACHES, key=lambda r: abs(math.log(r.frames / frames)))
    rows = []

    index, seconds = _time(lambda: FrameIndex(features, candidates), repeats=3)
    rows.append(
        Row(
            name,
            frames,
            "build",
            seconds * 1e6,
            seconds * 1e6,
            _to_microseconds(reach.build_seconds),
        )
    )
    _, seconds = _time(lambda: index.reweight(features), repeats=3)
    rows.append(
        Row(
            name,
            frames,
            "reweight",
            seconds * 1e6,
            seconds * 1e6,
            _to_microseconds(reach.reweighted_seconds),
        )
    )

    runs = np.arange(frames) // MASK_RUN
    mask = (rng.permutation(runs[-1] + 1) < MASK_SHARE * (runs[-1] + 1))[runs]
    prepared, subset = index.prepare_mask(mask), index.restrict(mask)

    def search_index(index: FrameIndex, **more: object) -> Search:
        def search(i: int) -> float:
            return index.find_nearest(
                hard.queries[i], current=int(hard.current[i]), bound=float(hard.bounds[i]),
                surroundings=SURROUNDINGS, **more,
            )[1]  # fmt: skip

        return search

    searches = {
        "index": (search_index(index), len(hard)),
        "masked": (search_index(index, mask=prepared), len(hard)),
        "subset": (search_index(subset), len(hard)),
        "cKDTree": (
            _search_kd_tree(features, candidates, hard),
            min(len(hard), max(100, KD_TREE_FRAMES // frames)),
        ),
        "full scan": (_search_full_scan(features, candidates, hard), min(len(hard), FULL_SCANS)),
    }
    expected = brute_force(features, candidates, hard)
    scale = float(
        np.sqrt(np.mean(np.square(features[:, :: max(1, frames // 10_000)], dtype=np.float64)))
    )
    for method, (search, count) in searches.items():
        wanted = (
            brute_force(features, candidates & mask, hard)
            if method in ("masked", "subset")
            else expected
        )
        _verify(name, method, np.array([search(i) for i in range(count)]), wanted[:count], scale)

    times = _time_in_turns(searches)
    medians = {method: float(np.median(spent)) for method, spent in times.items()}

    def compare(method: str, other: str, limit: float | None, reach: float | None = None) -> Row:
        spent = times[method]
        ratio = medians[method] / medians[other]
        return Row(
            name,
            frames,
            method,
            medians[method],
            float(np.percentile(spent, 99)),
            reach,
            other,
            ratio,
            limit,
        )

    rows.append(compare("index", "cKDTree", reach.to_kd_tree, reach.microseconds))
    rows.append(compare("index", "full scan", reach.to_full_scan, reach.microseconds))
    rows.append(compare("masked", "index", MASKED_RATIO))
    rows.append(compare("subset", "index", SUBSET_RATIO))
    for other in ("cKDTree", "full scan"):
        rows.append(Row.from_times(name, frames, other, times[other]))
    return rows


def _search_kd_tree(features: Array, candidates: Array, hard: HardQueries) -> Search:
    """Search with scipy's kd-tree at its best: float64 rows of the candidates only, leaves of 32,
    bounded by the continuing pose.

    A tree cannot exclude the surroundings: only if the first answer lies there, more are requested.
    """
    from scipy.spatial import cKDTree

    usable = np.flatnonzero(candidates)
    tree = cKDTree(features[:, usable].T.astype(np.float64), leafsize=32)

    def search(i: int) -> float:
        query, current, bound = hard.queries[i], hard.current[i], hard.bounds[i]
        reach = math.sqrt(bound)
        distance, found = tree.query(query, distance_upper_bound=reach)
        if found == len(usable):
            return bound
        if abs(usable[found] - current) >= SURROUNDINGS:
            return distance * distance
        # one more than the surroundings can hold
        distances, found = tree.query(query, k=2 * SURROUNDINGS, distance_upper_bound=reach)
        there = found < len(usable)
        far = np.abs(usable[found[there]] - current) >= SURROUNDINGS
        return float(distances[there][far][0] ** 2) if far.any() else bound

    return search


def _search_full_scan(features: Array, candidates: Array, hard: HardQueries) -> Search:
    """Search every frame, as in a first version."""
    rows = np.ascontiguousarray(features.T)
    excluded = np.where(candidates, 0, np.inf).astype(np.float32)

    def search(i: int) -> float:
        current = hard.current[i]
        costs = ((rows - hard.queries[i]) ** 2).sum(1)
        costs += excluded
        costs[max(current - SURROUNDINGS + 1, 0) : current + SURROUNDINGS] = np.inf
        return min(float(costs[costs.argmin()]), hard.bounds[i])

    return search


def brute_force(features: Array, allowed: Array, hard: HardQueries, chunk: int = 4096) -> Array:
    """Compute the smallest cost (Q,) over all frames in float64, as |x|² - 2 x·q + |q|² around the
    mean.
    """
    mean = features.mean(axis=1, dtype=np.float64)
    queries = hard.queries - mean
    lengths = np.einsum("ij,ij->i", queries, queries)
    best = hard.bounds.copy()
    for start in range(0, features.shape[1], chunk):
        x = features[:, start : start + chunk] - mean[:, None]
        costs = -2 * queries @ x
        costs += np.where(allowed[start : start + chunk], np.einsum("ij,ij->j", x, x), np.inf)
        costs += lengths[:, None]
        first = np.maximum(hard.current - SURROUNDINGS + 1 - start, 0)
        stop = hard.current + SURROUNDINGS - start
        for i in np.flatnonzero((stop > 0) & (first < x.shape[1])):
            costs[i, first[i] : stop[i]] = np.inf
        np.minimum(best, costs.min(axis=1), out=best)
    return np.maximum(best, 0.0)


def _verify(name: str, method: str, costs: Array, expected: Array, scale: float) -> None:
    distance, wanted = np.sqrt(np.maximum(costs, 0.0)), np.sqrt(expected)
    wrong = np.flatnonzero(np.abs(distance - wanted) > TOLERANCE * (wanted + scale))
    if len(wrong):
        i = wrong[0]
        raise AssertionError(
            f"{name}: {method} is wrong in {len(wrong)} of {len(costs)} queries; "
            f"query {i} has the distance {distance[i]:.7g} instead of {wanted[i]:.7g}"
        )


def _time_in_turns(searches: Mapping[str, tuple[Search, int]]) -> dict[str, Array]:
    """Return the microseconds of every query by method; methods take turns, so that a busy machine
    slows all alike.
    """
    times: dict[str, list[float]] = {method: [] for method in searches}
    for turn in range(ROUNDS):
        for method, (search, count) in searches.items():
            for i in range(turn * count // ROUNDS, (turn + 1) * count // ROUNDS):
                start = time.perf_counter()
                search(i)
                times[method].append((time.perf_counter() - start) * 1e6)
    return {method: np.array(spent) for method, spent in times.items()}


def _time(work: Callable[[], FrameIndex], repeats: int) -> tuple[FrameIndex, float]:
    """Return the result and the median of its seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, float(np.median(seconds))


def _to_microseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e6

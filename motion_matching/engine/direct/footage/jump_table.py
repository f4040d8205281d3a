"""Find where each frame of a database can jump to: the cheapest frames of different kinds.

It takes seconds to build, depends on the database alone, and is kept beside it in a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...blending.jump_price import RATE, compute_prices
from ...errors import DatabaseError
from ...files import array_files, own_files
from ...progress import ReportShare
from ..numbers import NUMBERS
from ..objective import COSTS
from .footage import Footage

_KIND = np.array(NUMBERS.kind_size)
BARRED = COSTS.barred
_VERSION = 1
_ARRAYS: dict[str, tuple[Any, tuple[Any, ...]]] = {  # name: (type, shape); N frames, K jumps
    "key": (np.uint8, ("L",)),
    "targets": (np.int32, ("N", "K")),
    "prices": (np.float32, ("N", "K")),
}


@dataclass(frozen=True)
class JumpTable:
    """`targets` (N, K) of jumps from each of N frames, and the prices (N, K) of these jumps."""

    targets: np.ndarray
    prices: np.ndarray


def build_table(footage: Footage, progress: ReportShare | None = None) -> JumpTable:
    """Find the jumps of all frames. `progress` may raise to cancel."""
    for share, table in build_table_steps(footage):
        result = table
        if progress:
            progress(share)
    return result


def build_table_steps(footage: Footage) -> Iterator[tuple[float, JumpTable]]:
    """Yield the share done and the table, which is whole after the last slice."""
    from scipy.spatial import cKDTree

    count = footage.frame_count
    points = _compute_points(footage)
    allowed = _find_targets(footage)
    if not len(allowed):
        raise DatabaseError(
            "No frame of the database may be entered, so nothing can be directed with it; tag less "
            "of it as 'no_use' or 'no_entry', or add longer clips."
        )
    tree = cKDTree(points[allowed], leafsize=NUMBERS.tree_leaf)
    kinds = _label_kinds(footage)
    pool = min(NUMBERS.jumps_priced, len(allowed))
    kept = min(NUMBERS.jumps_kept, len(allowed))
    table = JumpTable(
        np.zeros((count, kept), np.int32), np.full((count, kept), COSTS.barred, np.float32)
    )
    for first in range(0, count, NUMBERS.jumps_at_once):
        frames = np.arange(first, min(first + NUMBERS.jumps_at_once, count))
        _, found = tree.query(points[frames], pool, eps=NUMBERS.tree_slack)
        targets = allowed[found.reshape(len(frames), pool)]
        chosen, prices = _choose(footage, frames, targets, kinds, kept)
        table.targets[frames] = chosen
        table.prices[frames] = prices
        yield (first + len(frames)) / count, table


def _find_targets(footage: Footage) -> np.ndarray:
    """Return the frames (T,) that jumps may lead to, at most a given number per second."""
    every = max(round(footage.fps / NUMBERS.entered_rate), 1)
    in_turn = np.arange(footage.frame_count) % every == 0
    allowed = np.flatnonzero(footage.candidates & in_turn)
    return allowed if len(allowed) else np.flatnonzero(footage.candidates)


def price_jumps(footage: Footage, left: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Return the prices (...) of jumps from frames `left` (...) `to` others (...)."""
    return compute_prices(
        footage.places[left] - footage.places[to],
        footage.speeds[left] - footage.speeds[to],
        footage.weights,
        footage.contacts[left],
        footage.contacts[to],
    )


def find_runner_up(
    footage: Footage, table: JumpTable, left: int, to: int
) -> tuple[int, float] | None:
    """Return the cheapest alternative jump from a frame, and its extra price in metre-seconds.

    Jumps to the same moment as `to` do not count. A negative one is cheaper, but leads elsewhere.
    None if the table has no other.
    """
    targets = table.targets[left].astype(np.int64)
    prices = table.prices[left]
    near = np.abs(targets - to) < NUMBERS.same_moment * footage.fps
    ranges = footage.database.range_of_frame
    prices = np.where(near & (ranges[targets] == ranges[to]), COSTS.barred, prices)
    best = int(np.argmin(prices))
    if prices[best] >= COSTS.barred:
        return None
    own = float(price_jumps(footage, np.array([left]), np.array([to]))[0])
    return int(targets[best]), footage.scale.to_world(float(prices[best]) - own, "m·s")


def count_earlier(keys: np.ndarray) -> np.ndarray:
    """Count the equal entries before each one in its row of keys (R, C)."""
    order = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=1)
    begins = np.ones(ordered.shape, bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    at = np.arange(keys.shape[1])
    rank = at - np.maximum.accumulate(np.where(begins, at, 0), axis=1)
    result = np.empty_like(rank)
    np.put_along_axis(result, order, rank, axis=1)
    return result


def _choose(
    footage: Footage, frames: np.ndarray, targets: np.ndarray, kinds: np.ndarray, kept: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the targets (F, K) of frames that are kept, and their prices."""
    cell = max(round(NUMBERS.clip_cell * footage.fps), 1)
    prices = price_jumps(footage, np.broadcast_to(frames[:, None], targets.shape), targets)
    prices[np.abs(targets - frames[:, None]) < 2 * cell] = COSTS.barred
    targets, prices = _sort(targets, prices, prices)
    prices = np.where(count_earlier(targets // cell) < 1, prices, COSTS.barred)
    targets, prices = _sort(targets, prices, prices)
    crowded = count_earlier(kinds[targets]) >= NUMBERS.jumps_of_a_kind
    targets, prices = _sort(targets, prices, np.where(crowded, prices + COSTS.crowded, prices))
    return targets[:, :kept], prices[:, :kept]


def _sort(
    targets: np.ndarray, prices: np.ndarray, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(keys, axis=1, kind="stable")
    return np.take_along_axis(targets, order, axis=1), np.take_along_axis(prices, order, axis=1)


def _compute_points(footage: Footage) -> np.ndarray:
    """Return points (N, D) whose distances are about as large as the prices of jumps.

    The article compares the sum of places and velocities. The places alone are added, so that two
    large errors do not cancel.
    """
    scale = np.repeat(np.sqrt(footage.weights), 3)
    count = footage.frame_count
    sums = 2.0 / RATE * footage.places + footage.speeds / RATE**2
    parts = (sums, COSTS.places_alone / RATE * footage.places)
    values = np.hstack([part.reshape(count, -1) * scale for part in parts]).astype(np.float32)
    some = (values - values.mean(axis=0))[:: max(count // 5000, 1)]
    axes = np.linalg.svd(some, full_matrices=False)[2][: NUMBERS.tree_axes]
    return np.ascontiguousarray(values @ axes.T)


def _label_kinds(footage: Footage) -> np.ndarray:
    """Label (N,) each frame by where it leads; similar futures share a label."""
    future = footage.compute_ahead(round(NUMBERS.kind_ahead * footage.fps))
    x, y, turn = np.round(future / _KIND).astype(np.int64).T
    return np.asarray(x + 1_000 * y + 1_000_000 * turn)


# ---------------------------------------------------------------- files


def get_table_path(database: Path) -> Path:
    """Return where the table of a database's file is kept: beside it."""
    return database.with_name(f"{database.stem}.jumps.npz")


def load_or_build_table(
    footage: Footage, path: Path, progress: ReportShare | None = None
) -> JumpTable:
    """Return the table of footage from its file, or build it, and keep it if `can_keep_table`."""
    table = load_table(footage, path)
    if table is None:
        table = build_table(footage, progress)
        if can_keep_table(path):
            with suppress(DatabaseError):
                save_table(table, footage, path)
    return table


def can_keep_table(path: Path) -> bool:
    """Return whether a table may be written to a file: it may not replace one of another kind."""
    return own_files.is_free(path, own_files.JUMPS)


def compute_key(footage: Footage) -> str:
    """Return a text that differs for footage with other jumps."""
    digest = hashlib.sha256(f"{_VERSION} {footage.fps} {footage.weights.tolist()}".encode())
    for array in (footage.track, footage.places, footage.contacts, footage.candidates):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(footage.left.tobytes())
    return digest.hexdigest()


def save_table(table: JumpTable, footage: Footage, path: Path) -> None:
    """Write a table as `.npz`. Raises DatabaseError if that fails."""
    key = np.frombuffer(compute_key(footage).encode(), np.uint8)
    arrays = {"key": key, "targets": table.targets, "prices": table.prices}
    array_files.save_arrays(path, arrays, DatabaseError)


def load_table(footage: Footage, path: Path) -> JumpTable | None:
    """Return the table of footage in a file; None if it is missing or of other data.

    Also None if it is damaged, with targets that are not frames, or negative prices.
    """
    known = np.frombuffer(compute_key(footage).encode(), np.uint8)
    allowed = _find_targets(footage)
    sizes = {"N": footage.frame_count, "L": len(known), "K": min(NUMBERS.jumps_kept, len(allowed))}
    try:
        arrays = array_files.map_arrays(path, DatabaseError)
        found = array_files.expect_arrays(arrays, _ARRAYS, sizes, path, DatabaseError)
    except DatabaseError:
        return None
    targets = found["targets"]
    prices = found["prices"]
    is_same = np.array_equal(found["key"], known)
    is_sound = np.isin(targets, allowed).all() and (prices >= 0.0).all()
    return JumpTable(targets, prices) if is_same and is_sound else None

"""When each foot stands: ranges of frames that an animator can edit before a bake is repeated."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .. import files, json_files
from ..errors import SettingsError
from ..json_files import EntryError, expect_list, expect_number, expect_object, expect_pair
from ..maths.runs import find_runs
from .performance import FARTHEST, HIGHEST_RATE, LONGEST_TAKE

FORMAT = "motion-matching contacts"
# seconds and metres: a foot in the air for a shorter time that lands nearer has not made a step
_STEP, _SAME = 0.2, 0.15
_FLICKER = 0.07  # seconds: a shorter contact does not count
_FLICKER_AFTER_TRIM = 0.13  # seconds: the same for a contact that was cut as the foot was dragged
_FARTHEST = 1.75  # radii within which a foot that has the time to step there stands all the same
_REPLANT = 0.22  # seconds that a foot takes to step to another position in the middle of a contact


@dataclass(frozen=True)
class ContactRange:
    """A toe stands in frames `start` to `stop` - 1, at `point` (x, y) or where the motion is."""

    leg: int
    start: int
    stop: int
    point: tuple[float, float] | None = None


def find_contact_ranges(
    contacts: np.ndarray, toes: np.ndarray, fps: float, radius: float
) -> list[ContactRange]:
    """Return the ranges of contacts (T, L), by leg and time, of toes (T, L, 3) before locking.

    Gaps that are no steps are closed, and flicker is left out. Where a toe is dragged along by
    more than `radius` metres, as in a turn on the spot, the range is split, and the foot steps in
    between; ends of a range that are farther away than that are cut off.
    """
    result, gap = [], max(round(_REPLANT * fps), 1)
    for leg in range(contacts.shape[1]):
        path = toes[:, leg, :2]
        weights = contacts[:, leg].astype(np.float64)
        runs = _find_clean_runs(contacts[:, leg], path, fps)
        parts = [part for run in runs for part in _split(*run, path, weights, radius, gap)]
        earliest = len(path)
        for k, part in enumerate(parts):
            latest = parts[k + 1][0] - gap if k + 1 < len(parts) else 0
            if trimmed := _trim(*part, earliest, latest, path, radius, fps):
                result.append(ContactRange(leg, *trimmed))
                earliest = trimmed[1] + gap
    return result


def build_contact_mask(ranges: Iterable[ContactRange], frames: int, legs: int) -> np.ndarray:
    """Return which toes stand at which frame, (T, L)."""
    result = np.zeros((frames, legs), bool)
    for r in ranges:
        result[r.start : r.stop, r.leg] = True
    return result


def _find_clean_runs(on: np.ndarray, path: np.ndarray, fps: float) -> list[tuple[int, int]]:
    """Return the runs of contacts (T,), with gaps that are no steps, and without flicker."""
    closed, runs = on.copy(), find_runs(on)
    positions = [np.median(path[start:stop], axis=0) for start, stop in runs]
    for k, (start, stop) in enumerate(zip(runs[:-1, 1], runs[1:, 0], strict=True)):
        away = math.dist(positions[k], positions[k + 1])
        if stop - start <= round((_STEP if away < _SAME else _FLICKER) * fps):
            closed[start:stop] = True
    return [(a, b) for a, b in find_runs(closed).tolist() if b - a >= round(_FLICKER * fps)]


def _split(
    start: int, stop: int, path: np.ndarray, weights: np.ndarray, radius: float, gap: int
) -> list[tuple[int, int]]:
    """Split a range where the toe is dragged, where two mean positions explain most of it.

    The foot steps where it moves, and rather where it is off the ground, at `weights` (T,) of 0.
    """
    own = weights[start:stop, None]
    if not own.any():
        return []
    part = path[start:stop] - np.average(path[start:stop], axis=0, weights=own[:, 0])
    count = len(part)
    away = np.linalg.norm(own * part, axis=1)
    if count < 3 * gap or away.max() <= radius:
        return [(start, stop)]
    if _is_hardly_away(own * (part - np.median(part, axis=0)), radius, gap):
        return [(start, stop)]  # a step would hold fewer frames
    # sums of 1, x, y and x² + y² over the frames before each
    terms = own * np.column_stack([np.ones(count), part, np.sum(part**2, axis=1)])
    sums = np.vstack([np.zeros(4), np.cumsum(terms, axis=0)])
    first = np.arange(gap, count - 2 * gap + 1)
    before, after = sums[first], sums[-1] - sums[first + gap]
    # a frame that is stepped over counts as one that is held as far away as a foot may be
    cost = radius**2 * (sums[first + gap] - before)[:, 0]
    for side in (before, after):
        cost += side[:, 3] - np.sum(side[:, 1:3] ** 2, axis=1) / np.maximum(side[:, 0], 1e-9)
    cut = start + int(first[np.argmin(cost)])
    return [
        *_split(start, cut, path, weights, radius, gap),
        *_split(cut + gap, stop, path, weights, radius, gap),
    ]


def _is_hardly_away(part: np.ndarray, radius: float, gap: int) -> bool:
    """Return whether `part` (T, 2) is within `radius`, but for few frames at one of its ends."""
    away = np.linalg.norm(part, axis=1)
    out = np.flatnonzero(away > radius)
    if not len(out):
        return True
    at_end = len(out) in (out[-1] + 1, len(part) - out[0])
    return len(out) <= gap and at_end and bool(away.max() <= _FARTHEST * radius)


def _trim(
    start: int, stop: int, earliest: int, latest: int, path: np.ndarray, radius: float, fps: float
) -> tuple[int, int] | None:
    """Return the range without ends too far from its median position; None if little is left.

    A foot that has the time to step there, from `earliest` or until `latest`, stands all the same.
    """
    away = np.linalg.norm(path[start:stop] - np.median(path[start:stop], axis=0), axis=1)
    near = np.flatnonzero(away <= radius)
    if not len(near):
        return None
    within = np.flatnonzero(away <= _FARTHEST * radius)
    first = max(start + int(within[0]), min(start + int(near[0]), earliest))
    last = min(start + int(within[-1]) + 1, max(start + int(near[-1]) + 1, latest))
    is_cut = last - first < stop - start
    return None if is_cut and last - first < _FLICKER_AFTER_TRIM * fps else (first, last)


# ---------------------------------------------------------------- files


def save(ranges: Sequence[ContactRange], legs: Sequence[str], fps: float, path: Path | str) -> None:
    """Write ranges as JSON, one per line, with the legs' names. Raises SettingsError."""
    lines = []
    for r in ranges:
        entry: dict[str, Any] = {"leg": legs[r.leg], "start": r.start, "stop": r.stop}
        if r.point is not None:
            entry["point"] = list(r.point)
        lines.append(f"  {json.dumps(entry)}")
    body = ",\n".join(lines)
    text = f'{{\n "format": "{FORMAT}",\n "fps": {fps:g},\n "ranges": [\n{body}\n ]\n}}\n'
    files.write_text(path, text, SettingsError)


def load(path: Path | str, legs: Sequence[str], fps: float) -> list[ContactRange]:
    """Read ranges that `save` wrote, converted to the rate `fps`. Raises SettingsError."""
    data = json_files.read(path, "contact file")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SettingsError(f"{path} does not hold contacts; give one that --save-contacts wrote.")
    with json_files.name_file(f"contact file {path}"):
        rate = fps / expect_number(data.get("fps"), "'fps'", 1, HIGHEST_RATE)
        entries = enumerate(expect_list(data.get("ranges"), "'ranges'"), 1)
        ranges = [_range_from_dict(entry, legs, rate, f"range {n}") for n, entry in entries]
    return check_ranges(ranges, legs, f"the ranges of {path}")


def check_ranges(
    ranges: Iterable[ContactRange], legs: Sequence[str], what: str
) -> list[ContactRange]:
    """Return the ranges sorted by leg and time. Raises SettingsError if two overlap."""
    ranges = sorted(ranges, key=lambda r: (r.leg, r.start))
    for r, later in pairwise(ranges):
        if r.leg == later.leg and later.start < r.stop:
            raise SettingsError(
                f"{what[0].upper()}{what[1:]} plant the {legs[r.leg]} foot twice at frame "
                f"{later.start}; end one range before the next."
            )
    return ranges


def _range_from_dict(entry: Any, legs: Sequence[str], rate: float, where: str) -> ContactRange:
    leg = expect_object(entry, where).get("leg")
    if leg not in legs:
        raise EntryError(f"'leg' of {where} is {reprlib.repr(leg)}; use one of {', '.join(legs)}")
    start, stop = (
        expect_number(entry.get(name), f"'{name}' of {where}", 0, LONGEST_TAKE * HIGHEST_RATE)
        for name in ("start", "stop")
    )
    if stop <= start:
        raise EntryError(f"{where} stops at frame {stop:g}, before it starts; correct its frames")
    point, first = entry.get("point"), round(start * rate)
    if point is not None:
        point = expect_pair(point, f"'point' of {where}", FARTHEST)
    return ContactRange(legs.index(leg), first, max(round(stop * rate), first + 1), point)

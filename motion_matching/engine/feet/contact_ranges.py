"""Find and store foot contacts: ranges of frames that an animator can edit and bake again."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SettingsError
from ..files import file_paths, json_files
from ..files.json_files import EntryError, expect_list, expect_number, expect_object, expect_pair
from ..maths.along_time import find_runs
from ..performance.performance import FARTHEST, HIGHEST_RATE, LONGEST_TAKE
from ..units import measured
from .dragging import Drag, find_place, find_places
from .numbers import NUMBERS

FORMAT = "motion-matching contacts"
STEP_LENGTH = NUMBERS.step_length


@measured(point="m")
@dataclass(frozen=True)
class ContactRange:
    """A toe stands in frames `start` to `stop` - 1, at `point` (x, y) or where the motion is."""

    leg: int
    start: int
    stop: int
    point: tuple[float, float] | None = None


def find_contact_ranges(
    contacts: np.ndarray, toes: np.ndarray, fps: float, radius: float, hardest: float = np.inf
) -> list[ContactRange]:
    """Return the ranges of contacts (T, L), by leg and time, of toes (T, L, 3) before locking.

    Gaps that are no steps are closed, and flicker is left out. Where a toe is dragged along by
    more than `radius` metres, as in a turn on the spot, the range is split, and the foot steps in
    between, no faster than `hardest` allows; see `Drag`. Ends of a range that are too far away are
    cut off.
    """
    result = []
    stands = contacts.copy()
    for leg in range(contacts.shape[1]):
        path = toes[:, leg, :2]
        own = contacts[:, leg]
        others = np.asarray(np.delete(stands, leg, axis=1).any(axis=1))
        drag = Drag(path, own, others, fps, radius, hardest)
        runs = _find_clean_runs(own, path, fps)
        parts = [part for run in runs for part in _split(*run, drag)]
        earliest = len(path)
        ranges = []
        for k, part in enumerate(parts):
            latest = parts[k + 1][0] - drag.gap if k + 1 < len(parts) else 0
            if trimmed := _trim(*part, earliest, latest, drag):
                ranges.append(ContactRange(leg, *trimmed))
                earliest = trimmed[1] + drag.gap
        stands[:, leg] = build_contact_mask(ranges, *stands.shape)[:, leg]
        result += ranges
    return result


def place_toes(
    ranges: Iterable[ContactRange],
    contacts: np.ndarray,
    toes: np.ndarray,
    radius: float,
    quickest: float,
) -> np.ndarray:
    """Return where (T, L, 2) toes at x, y stand in ranges, within `radius` metres if they can.

    Where contacts (T, L) go on between two of them, and the step is longer than `quickest` metres
    times its squared frames, it is as short as can be. Other plants stay where they are.
    """
    result = toes[..., :2].copy()
    groups = list[list[ContactRange]]()
    for r in sorted(ranges, key=lambda r: (r.leg, r.start)):
        before = groups[-1][-1] if groups else r
        on = contacts[before.stop : r.start, r.leg]
        if before.leg == r.leg and len(on) and on.mean() > 0.5:
            groups[-1].append(r)
        elif r.start < len(toes):
            groups.append([r])
    for group in groups:
        paths = [toes[r.start : r.stop, r.leg, :2] for r in group]
        most = [quickest * (b.start - a.stop) ** 2 for a, b in pairwise(group)]
        for r, place in zip(group, find_places(paths, radius, np.array(most)), strict=True):
            result[r.start : r.stop, r.leg] = place
    return result


def build_contact_mask(ranges: Iterable[ContactRange], frames: int, legs: int) -> np.ndarray:
    """Return which toes stand at which frame, (T, L)."""
    result = np.zeros((frames, legs), bool)
    for r in ranges:
        result[r.start : r.stop, r.leg] = True
    return result


def _find_clean_runs(on: np.ndarray, path: np.ndarray, fps: float) -> list[tuple[int, int]]:
    """Return the runs of contacts (T,), with gaps that are no steps, and without flicker."""
    closed = on.copy()
    runs = find_runs(on)
    positions = [np.median(path[start:stop], axis=0) for start, stop in runs]
    for k, (start, stop) in enumerate(zip(runs[:-1, 1], runs[1:, 0], strict=True)):
        away = math.dist(positions[k], positions[k + 1])
        if stop - start <= round(
            (NUMBERS.shortest_step if away < STEP_LENGTH else NUMBERS.flicker) * fps
        ):
            closed[start:stop] = True
    return [(a, b) for a, b in find_runs(closed).tolist() if b - a >= round(NUMBERS.flicker * fps)]


def _split(start: int, stop: int, drag: Drag) -> list[tuple[int, int]]:
    """Split a range where the toe is dragged, if it is long enough for a step."""
    own = drag.stands[start:stop, None]
    if not own.any():
        return []
    if stop - start < 3 * drag.gap or drag.fits(start, stop):
        return [(start, stop)]
    away = own * (drag.path[start:stop] - np.median(drag.path[start:stop], axis=0))
    if _is_hardly_away(away, drag.radius, drag.gap):
        return [(start, stop)]  # a step would hold fewer frames
    return drag.split(start, stop)


def _is_hardly_away(part: np.ndarray, radius: float, gap: int) -> bool:
    """Return whether `part` (T, 2) is within `radius`, but for few frames at one of its ends."""
    away = np.linalg.norm(part, axis=1)
    out = np.flatnonzero(away > radius)
    if not len(out):
        return True
    at_end = len(out) in (out[-1] + 1, len(part) - out[0])
    return len(out) <= gap and at_end and bool(away.max() <= NUMBERS.farthest_stand * radius)


def _trim(start: int, stop: int, earliest: int, latest: int, drag: Drag) -> tuple[int, int] | None:
    """Return the range without ends too far from where it stands; None if little is left.

    A foot that has the time to step there, from `earliest` or until `latest`, stands all the same.
    """
    path = drag.path[start:stop]
    place, fits = find_place(path, drag.radius)
    if not fits:
        place = np.median(path, axis=0)
    away = np.linalg.norm(path - place, axis=1)
    near = np.flatnonzero(away <= drag.radius)
    if not len(near):
        return None
    within = np.flatnonzero(away <= NUMBERS.farthest_stand * drag.radius)
    first = max(start + int(within[0]), min(start + int(near[0]), earliest))
    last = min(start + int(within[-1]) + 1, max(start + int(near[-1]) + 1, latest))
    is_cut = last - first < stop - start
    return None if is_cut and last - first < NUMBERS.flicker_when_cut * drag.fps else (first, last)


# ---------------------------------------------------------------- files


def save(ranges: Sequence[ContactRange], legs: Sequence[str], fps: float, path: Path | str) -> None:
    """Write ranges as JSON, one per line, with the legs' names. Raises SettingsError."""
    lines = []
    for r in ranges:
        entry: dict[str, Any] = {"leg": legs[r.leg], "start": r.start, "stop": r.stop}
        if r.point is not None:
            entry["point"] = list(r.point)
        lines.append(f"  {json_files.to_text(entry)}")
    body = ",\n".join(lines)
    text = f'{{\n "format": "{FORMAT}",\n "fps": {fps:g},\n "ranges": [\n{body}\n ]\n}}\n'
    file_paths.write_text(path, text, SettingsError)


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
    point = entry.get("point")
    first = round(start * rate)
    if point is not None:
        point = expect_pair(point, f"'point' of {where}", FARTHEST)
    return ContactRange(legs.index(leg), first, max(round(stop * rate), first + 1), point)

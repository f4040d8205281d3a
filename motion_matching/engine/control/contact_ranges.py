"""Which foot stands when: ranges of frames that an animator can edit before a bake is repeated."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .. import files
from ..errors import SettingsError

FORMAT = "motion-matching contacts"
_STEP = 0.2  # seconds: a foot that is off the ground for less has not made a step
_FLICKER = 0.07  # seconds: a contact shorter than this is none
_HURRIED = (
    0.13  # seconds: the same for what is left of a contact in which the foot was dragged along
)
_REPLANT = 0.25  # seconds that a foot takes to step to another place in the midst of a contact


@dataclass(frozen=True)
class ContactRange:
    """A leg's toe stands from frame `start` until before frame `stop`, at `point` (x, y) where that is given.

    Frames count from 0, the first of the take; without a point the toe stands where the motion has it.
    """

    leg: int
    start: int
    stop: int
    point: tuple[float, float] | None = None


def contact_ranges(
    contacts: np.ndarray, toes: np.ndarray, fps: float, radius: float
) -> list[ContactRange]:
    """Ranges from contacts (T, L) and the places (T, L, 3) of toes before they are locked, in the order of legs and time.

    Gaps too short for a step are closed, and flicker is left out. Where the toe is dragged along by more than `radius`
    metres about its place, as while a character turns on the spot, the range is split and the foot steps in between; ends
    of a range that are further away than that are cut off.
    """
    result = []
    for leg in range(contacts.shape[1]):
        place = toes[:, leg, :2]
        for start, stop in _cleaned(contacts[:, leg], fps):
            for part in _split(start, stop, place, radius, max(round(_REPLANT * fps), 1)):
                if kept := _within(*part, place, radius, fps):
                    result.append(ContactRange(leg, *kept))
    return result


def planted(ranges: Iterable[ContactRange], frames: int, legs: int) -> np.ndarray:
    """Which toes stand when, (T, L)."""
    result = np.zeros((frames, legs), bool)
    for r in ranges:
        result[r.start : r.stop, r.leg] = True
    return result


def stretches(on: np.ndarray) -> list[tuple[int, int]]:
    """Starts and stops of the runs of True in (T,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _cleaned(on: np.ndarray, fps: float) -> list[tuple[int, int]]:
    closed = on.copy()
    for start, stop in stretches(~on):
        if start > 0 and stop < len(on) and stop - start <= round(_STEP * fps):
            closed[start:stop] = True
    return [(a, b) for a, b in stretches(closed) if b - a >= round(_FLICKER * fps)]


def _split(
    start: int, stop: int, place: np.ndarray, radius: float, gap: int
) -> list[tuple[int, int]]:
    """Parts of a range in each of which the toe stays near one place, with gaps to step from one to the next.

    A part is cut where the two places that it falls into explain most of its movement.
    """
    part = place[start:stop] - place[start:stop].mean(axis=0)
    count = len(part)
    if count < 3 * gap or np.linalg.norm(part, axis=1).max() <= radius:
        return [(start, stop)]
    before = np.arange(gap, count - gap + 1)
    sums = np.cumsum(part, axis=0)[before - 1]
    # the sums of squares about both means, but for a constant; the whole sums to zero
    spread = -np.sum(sums**2, axis=1) * (1.0 / before + 1.0 / (count - before))
    cut = start + int(before[np.argmin(spread)]) - gap // 2
    return [*_split(start, cut, place, radius, gap), *_split(cut + gap, stop, place, radius, gap)]


def _within(
    start: int, stop: int, place: np.ndarray, radius: float, fps: float
) -> tuple[int, int] | None:
    """The range without ends that are too far from its place; None where hardly any is left."""
    away = np.linalg.norm(place[start:stop] - np.median(place[start:stop], axis=0), axis=1)
    near = np.flatnonzero(away <= radius)
    if not len(near):
        return None
    first, last = start + int(near[0]), start + int(near[-1]) + 1
    cut = last - first < stop - start
    return None if cut and last - first < _HURRIED * fps else (first, last)


# ---------------------------------------------------------------- files


def save(ranges: Sequence[ContactRange], legs: Sequence[str], fps: float, path: Path | str) -> None:
    """Write ranges as JSON, a line for each, with the names of the legs; SettingsError where that fails."""
    lines = []
    for r in ranges:
        entry: dict[str, Any] = {"leg": legs[r.leg], "start": r.start, "stop": r.stop}
        if r.point is not None:
            entry["point"] = list(r.point)
        lines.append(f"  {json.dumps(entry)}")
    body = ",\n".join(lines)
    text = f'{{\n "format": "{FORMAT}",\n "fps": {fps:g},\n "ranges": [\n{body}\n ]\n}}\n'
    with files.replacing(path, SettingsError) as temporary:
        temporary.write_text(text, encoding="utf-8")


def load(path: Path | str, legs: Sequence[str], fps: float) -> list[ContactRange]:
    """Ranges from a file that `save` wrote, edited or not; SettingsError names what is wrong with it.

    Frames of another rate than `fps` are brought to it.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as cause:
        raise SettingsError(
            f"The contacts {path} cannot be read ({cause.strerror}); check the name."
        ) from cause
    except ValueError as cause:
        raise SettingsError(
            f"The contacts {path} are not JSON ({cause}); correct them, or save them again."
        ) from cause
    if (
        not isinstance(data, dict)
        or data.get("format") != FORMAT
        or not isinstance(data.get("ranges"), list)
    ):
        raise SettingsError(
            f"{path} does not hold contacts; give a file that --save-contacts wrote."
        )
    if not _is_number(data.get("fps")) or not data["fps"] > 0:
        raise SettingsError(
            f"The contacts {path} have no frame rate 'fps' above zero; save them again."
        )
    ranges = [_read(entry, legs, fps / data["fps"], path) for entry in data["ranges"]]
    return checked(ranges, legs, f"the contacts {path}")


def checked(ranges: Iterable[ContactRange], legs: Sequence[str], what: str) -> list[ContactRange]:
    """The ranges by leg and time; SettingsError, which begins with `what` they are, where two of a leg overlap."""
    ranges = sorted(ranges, key=lambda r: (r.leg, r.start))
    for r, later in pairwise(ranges):
        if r.leg == later.leg and later.start < r.stop:
            sentence = f"{what} plant the {legs[r.leg]} foot twice at frame {later.start}; end one range before the next."
            raise SettingsError(sentence[0].upper() + sentence[1:])
    return ranges


def _read(entry: Any, legs: Sequence[str], rate: float, path: Path | str) -> ContactRange:
    if not isinstance(entry, dict) or entry.get("leg") not in legs:
        raise SettingsError(
            f"The contacts {path} have a range {json.dumps(entry)} without a known leg; use one of "
            f"{', '.join(legs)}."
        )
    start: Any = entry.get("start")
    stop: Any = entry.get("stop")
    point: Any = entry.get("point")
    if not (_is_number(start) and _is_number(stop) and 0 <= start < stop):
        raise SettingsError(
            f"The contacts {path} have a range {json.dumps(entry)} that does not stop after its start; "
            "correct its frames."
        )
    if point is not None and not (
        isinstance(point, list) and len(point) == 2 and all(map(_is_number, point))
    ):
        raise SettingsError(
            f"The contacts {path} have a range {json.dumps(entry)} whose point is not two numbers in "
            "metres; correct it, or leave it out."
        )
    first = round(start * rate)
    place = None if point is None else (float(point[0]), float(point[1]))
    return ContactRange(legs.index(entry["leg"]), first, max(round(stop * rate), first + 1), place)


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(value))
    )

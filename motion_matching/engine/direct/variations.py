"""Find clearly different takes of a shot, by seeds: they play other frames, or go another way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..control.rollout import Take
from ..database.database import Database
from ..errors import SettingsError
from ..progress import ReportShare, report_part
from .director import TAKE_STATES, Directed, Director
from .numbers import NUMBERS
from .shot.shot import MOST_VARIATIONS, Shot


class Difference(NamedTuple):
    """The share of time with different frames in two takes, and the metres between their ways."""

    frames: float
    apart: float


def measure_difference(a: Take, b: Take, database: Database) -> Difference:
    """Return how much two takes of equal length differ. Ways are compared tick by tick."""
    near = np.abs(a.frames.astype(int) - b.frames) <= NUMBERS.same_moment_shown * database.fps
    near &= database.range_of_frame[a.frames] == database.range_of_frame[b.frames]
    apart = np.linalg.norm(a.character[:, :2] - b.character[:, :2], axis=1)
    return Difference(1.0 - float(near.mean()), float(apart.mean()))


def find_variations(
    director: Director,
    shot: Shot,
    count: int,
    feet: str | None = None,
    states: int = TAKE_STATES,
    progress: ReportShare | None = None,
) -> Iterator[Directed]:
    """Yield up to `count` finished takes of a shot, none like another; the first is its own.

    Each meets as much as the first, with a different seed in its shot. Reports have `variation`:
    the seed, and the difference from the most similar take before it, `frames` and `apart` as in
    `Difference`. There are fewer if further seeds give no different ones. Raises SettingsError for
    a count that cannot be, and as `Director.direct`.
    """
    if not 1 <= count <= MOST_VARIATIONS:
        raise SettingsError(
            f"{count} variations are asked for; give a whole number from 1 to {MOST_VARIATIONS}."
        )
    database = director.footage.database
    found: list[Directed] = []
    for tried, seed in enumerate(range(shot.seed, shot.seed + NUMBERS.seeds_tried * count)):
        if len(found) == count:
            break
        whole = count + tried - len(found)
        report = report_part(progress, tried / whole, 1.0 / whole)
        done = director.make(shot.with_seed(seed), feet, states, report)
        least = Difference(0.0, 0.0)
        if found:
            takes = [each.take for each in found]
            listed = [measure_difference(done.take, take, database) for take in takes]
            least = min(listed, key=lambda each: _rate(each, director))
            is_worse = done.report["reached"] < found[0].report["reached"]
            if is_worse or _rate(least, director) < 1.0:
                continue
        told = {"seed": seed, "frames": round(least.frames, 4), "apart": round(least.apart, 4)}
        found.append(replace(done, report=done.report | {"variation": told}))
        yield found[-1]


def _rate(difference: Difference, director: Director) -> float:
    """Return how large a difference is; from 1 on, people see another take."""
    size = director.footage.scale.length
    return max(
        difference.frames / NUMBERS.other_frames, difference.apart / (NUMBERS.ways_apart * size)
    )

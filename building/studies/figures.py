"""The figures that motion is to reach, and how near a row of takes comes to each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .quality import Measures

Row = tuple[str, ...]  # set, gait, script and method; data and target of retargeting
_ANSWERS = {"walk": 1.0, "run": 0.9}  # seconds
_PATHS = {"walk": 0.03, "run": 0.05}  # metres


class Figure(NamedTuple):
    """A measure and its bound, None where it has none; written as `factor` times the measure."""

    title: str
    bound: str
    key: str
    limit: Callable[[Row, Measures], float | None]
    factor: float = 1.0
    digits: int = 2
    least: bool = False

    def compute_excess(self, row: Row, measures: Measures) -> float | None:
        """Return how far a row is beyond its bound, below 0 if it keeps to it; None without one."""
        value, limit = measures[self.key], self.limit(row, measures)
        if value is None or limit is None:
            return None
        return float(limit - value if self.least else value - limit)

    def compute_ratio(self, row: Row, measures: Measures) -> float | None:
        """Return the share of the bound that is used, None without one or if that is 0.

        Of a share that is to reach a bound, what is missing to 1 is compared.
        """
        value, limit = measures[self.key], self.limit(row, measures)
        if value is None or limit is None:
            return None
        if self.least:
            value, limit = 1.0 - value, 1.0 - limit
        return float(value / limit) if limit > 0 else None

    def format(self, value: float) -> str:
        return f"{self.factor * value:.{self.digits}f}"


def fix(limit: float) -> Callable[[Row, Measures], float | None]:
    """Return a limit that is the same for all rows."""
    return lambda row, measures: limit


def _scale(key: str, times: float = 1.0) -> Callable[[Row, Measures], float | None]:
    """Return a limit that is so many times another measure, if that is known."""
    return lambda row, measures: None if measures[key] is None else times * measures[key]


def _limit_answer(row: Row, measures: Measures) -> float | None:
    return _ANSWERS[row[1]] if row[2] == "turns" else None


FIGURES = (
    Figure("pops in 10 minutes, live", "0", "pops_live", fix(0.0), digits=1),
    Figure("pops in 10 minutes, baked", "0", "pops_baked", fix(0.0), digits=1),
    Figure("knee rate, live", "the data's most", "knees_live", fix(1.0)),
    Figure("knee rate, baked", "the data's most", "knees_baked", fix(1.0)),
    Figure("skate by height, live, cm/s", "1.2 times the frames played", "height_live", _scale("height_played", 1.2), 100, 1),
    Figure("skate by height, baked, cm/s", "the frames played", "height_baked", _scale("height_played"), 100, 1),
    Figure("skate on contacts, live, cm/s", "1.2 times the frames played", "contacts_live", _scale("contacts_played", 1.2), 100, 1),
    Figure("skate on contacts, baked, cm/s", "the frames played", "contacts_baked", _scale("contacts_played"), 100, 1),
    Figure("skate, baked to live, in any take", "1", "baked_to_live", fix(1.0)),
    Figure("slips in a minute, live", "6", "slips_live", fix(6.0), digits=1),
    Figure("slips in a minute, baked", "6", "slips_baked", fix(6.0), digits=1),
    Figure("contacts held, live", "at least 0.97", "held_live", fix(0.97), digits=3, least=True),
    Figure("contacts held, baked", "at least 0.99", "held_baked", fix(0.99), digits=3, least=True),
    Figure("legs crossed, live, %", "the sources", "crossed_live", _scale("crossed_sources"), 100, 1),
    Figure("legs crossed, baked, %", "the sources", "crossed_baked", _scale("crossed_sources"), 100, 1),
    Figure("standing, feet apart, live, cm", "the sources", "apart_live", _scale("apart_sources"), 100, 0),
    Figure("standing, feet apart, baked, cm", "the sources", "apart_baked", _scale("apart_sources"), 100, 0),
    Figure("standing, heel up, live, %", "the sources", "heel_live", _scale("heel_sources"), 100, 1),
    Figure("standing, heel up, baked, %", "the sources", "heel_baked", _scale("heel_sources"), 100, 1),
    Figure("nine tenths after a turn, s", "1 walking, 0.9 running", "answer", _limit_answer),
    Figure("path, cm", "3 walking, 5 running", "path", lambda row, _: _PATHS[row[1]], 100, 1),
    Figure("acceleration of a field, 99 %", "1.2 times matching's", "acceleration_to_matching", fix(1.2)),
)  # fmt: skip
BY_KEY: Mapping[str, Figure] = {figure.key: figure for figure in FIGURES}

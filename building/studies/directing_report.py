"""The study of directed shots as a page of the manual."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns

from .directing import ShotJob
from .figures import Figure, Row
from .quality import Measures
from .report import format_figures
from .sets import SETS

DOCUMENT = CHECKOUT / "docs" / "direct-quality.md"
_WHO = ("direct", "causal")
_OF_MARKS = ("told", "untold", "place_missed", "place_met", "heading_met")


def _scale(key: str, times: float, least: float = 0.0) -> Any:
    return lambda row, measures: None if row[2] == "causal" else max(times * measures[key], least)


def _only_direct(limit: float) -> Any:
    return lambda row, measures: None if row[2] == "causal" else limit


FIGURES = (
    Figure("asked for and reached, %", "all", "reached", _only_direct(1.0), 100, 0, least=True),
    Figure("missed and not told, %", "0", "untold", _only_direct(0.0), 100, 1),
    Figure("place at marks met, most, cm", "1", "place_met", _only_direct(0.01), 100),
    Figure("heading at marks met, most, °", "2", "heading_met", _only_direct(np.radians(2.0)), 180 / np.pi, 1),
    Figure("led aside, most, m/s", "0.1", "lead", lambda row, m: 0.1 if row[1:] == ("marks", "direct") else None),
    Figure("turned, most, rad/s", "1", "turn", lambda row, m: 1.0 if row[1:] == ("marks", "direct") else None),
    Figure("path, mean, cm", "1", "path", _only_direct(0.01), 100),
    Figure("path, in 95 %, cm", "2.5", "path_usual", _only_direct(0.025), 100, 1),
    Figure("path, most, cm", "10", "path_most", _only_direct(0.1), 100, 1),
    Figure("path, heading in 95 %, °", "9", "path_facing", _only_direct(np.radians(9.0)), 180 / np.pi, 1),
    Figure("slide on contacts, cm/s", "the frames played, or 1", "contacts", _scale("contacts_played", 1.0, 0.01), 100),
    Figure("skate by height", "1.05 times the frames played", "height", _only_direct(1.05)),
    Figure("skate ratio", "1.05 times the frames played", "ratio", _only_direct(1.05)),
    Figure("fastest skate", "1.05 times the frames played", "max_vel", _only_direct(1.05)),
    Figure("acceleration, most", "the frames played", "acceleration", _only_direct(1.0)),
    Figure("knee rate", "the data's most", "knees", _only_direct(1.0)),
    Figure("jumps a second", "1", "jumps", _only_direct(1.0)),
    Figure("price, beside causal", "0.25", "price_ratio", _only_direct(0.25)),
    Figure("s of one core for a second", "0.06", "cpu", _only_direct(0.06), 1, 3),
)  # fmt: skip
_BY_KEY = {figure.key: figure for figure in FIGURES}


class _Column(NamedTuple):
    heading: str
    key: str
    text: str
    factor: float = 1.0
    digits: int = 2


_COLUMNS = (
    _Column("reached", "reached", "the share of marks and paths that are met, in %", 100, 1),
    _Column("missed", "told", "the share of marks that are told as missed, with the reason, in %", 100, 1),
    _Column("by", "place_missed", "how far their places are missed on average, in cm", 100, 1),
    _Column("place", "place", "the mean distance from the places of all marks, in cm", 100),
    _Column("met", "place_met", "the most of those that are met", 100),
    _Column("turned", "heading_met", "the most that their headings are off, in degrees", 180 / np.pi, 1),
    _Column("heading", "heading", "the mean angle from the headings of marks, in degrees", 180 / np.pi, 1),
    _Column("path", "path", "the mean distance from a timed path, in cm", 100),
    _Column("95 %", "path_usual", "95 % of the distances are below that", 100, 1),
    _Column("jumps", "jumps", "jumps a second"),
    _Column("price", "price", "what they cost each second, in cm", 100),
    _Column("slide", "contacts", "`foot_skate_from_contacts` of the baked take, in cm/s", 100),
    _Column("played", "contacts_played", "the same of the frames played", 100),
    _Column("height", "height", "`foot_skate_from_height`, beside that of the frames played"),
    _Column("ratio", "ratio", "`foot_skate_ratio`, likewise"),
    _Column("acceleration", "acceleration", "the largest acceleration of a joint, likewise; the most of all takes"),
    _Column("knees", "knees", "how fast a knee bends or stretches at most, beside the sources; likewise"),
    _Column("held", "held", "the share of contacts in which the toe is held", 1, 3),
    _Column("lead", "lead", "how far the body was led aside at most, in m/s"),
    _Column("turn", "turn", "and turned, in rad/s"),
    _Column("s", "cpu", "seconds of one core for each second of the take", 1, 3),
)  # fmt: skip
_INTRODUCTION = (
    "How well [scenes](scenes.md) are directed, beside the causal controller that is told the same "
    "way a second ahead, as it comes. Scenes are seeded: *marks* are legs of 1.5 to 4 s one after "
    "the other, half of them pieces of clips and the others arcs at speeds of the data, with "
    "stands between where the data stands; *path* is a winding path of 30 s that is asked for at "
    "every moment. A mark that would need larger corrections than what is not seen counts as missed, "
    "and the report says so and why. What misses its bound is bold."
)

_MISSED = (
    "**Reached.** Legs are drawn one by one, so some marks ask for a turn there and back within two "
    "steps, or for a run between two stands. Where the search, and three more around the mark, find "
    "nothing within the bounds of the closing, the mark is told as missed. Most that are missed are "
    "stands in which a foot goes on for more than 10 cm: the place is met, and the report says how "
    "far the foot goes. The search is not exhaustive: another seed may find a way.",
    "**Acceleration.** Two of 180 takes, both of Bandai-Namco's clips, have a tick in which a joint "
    "goes a third harder than in the frames played.",
    "**Price.** Marks every few seconds at given headings need a jump about each second. Each costs "
    "about as much as one of the causal controller, which makes three times as many, and misses the "
    "places of marks by centimetres to decimetres.",
    "**Time.** Feet are planted by one problem that weighs all of them, which takes longer than "
    "placing one after the other; the time was measured beside other work.",
)


def combine_rows(results: Mapping[ShotJob, Measures]) -> dict[Row, Measures]:
    """Combine the shots of each set and kind: the mean, or the most of what should never be."""
    rows: dict[Row, list[Measures]] = {}
    for job in sorted(results, key=lambda job: (list(SETS).index(job.set), job.kind, job.number)):
        for who in _WHO:
            rows.setdefault((job.set, job.kind, who), []).append(results[job])
    return {row: _combine(measured, row[2]) for row, measured in rows.items()}


def _combine(measured: Sequence[Measures], who: str) -> Measures:
    takes = [shot[who] for shot in measured]
    baked, played = ([take[kind] for take in takes] for kind in ("baked", "played"))
    places = [away for take in takes for away in take.get("place", ())]
    headings = [away for take in takes for away in take.get("heading", ())]
    paths = [take["path"] for take in takes if "path" in take]
    asked = sum(shot["report"]["asked"] for shot in measured)
    prices = {name: _average(shot[name]["price"] for shot in measured) for name in _WHO}
    row: Measures = {
        "place": _average(places),
        "heading": _average(headings),
        "path": _average(path["place_error"] for path in paths),
        "path_usual": max((path["place_error_p95"] for path in paths), default=None),
        "path_most": max((path["place_error_max"] for path in paths), default=None),
        "path_facing": max((path["facing_error"] for path in paths), default=None),
        "jumps": _average(take["jumps"] for take in takes),
        "price": prices[who],
        "contacts": _average(take["foot_skate_from_contacts"] for take in baked),
        "contacts_played": _average(take["foot_skate_from_contacts"] for take in played),
        "held": _average(take["contacts_locked"] for take in baked),
        "knees": max(take["baked"]["knee_rate_max"] / take["sources"]["knee_rate_max"] for take in takes),
        **_compare(baked, played),
        **dict.fromkeys(("reached", "lead", "turn", "cpu", "price_ratio", *_OF_MARKS)),
    }  # fmt: skip
    if who == "direct":
        row |= {
            "reached": sum(shot["report"]["reached"] for shot in measured) / asked,
            "lead": max(shot["report"]["lead_max"] for shot in measured),
            "turn": max(shot["report"]["turn_max"] for shot in measured),
            "cpu": sum(shot["cpu"] for shot in measured)
            / sum(shot["seconds"] for shot in measured),
            "price_ratio": prices["direct"] / prices["causal"],
            **_part_marks(measured),
        }
    return row


def _part_marks(measured: Sequence[Measures]) -> Measures:
    """Return how far directed takes are from marks that are met, and what of the others is told."""
    marks = [
        (away, turned, told)
        for shot in measured
        if "place" in shot["direct"]
        for away, turned, told in zip(
            shot["direct"]["place"],
            shot["direct"]["heading"],
            shot["report"]["marks"],
            strict=True,
        )
    ]
    if not marks:
        return {}
    met = [(away, turned) for away, turned, told in marks if told["reached"]]
    missed = [(away, told["reason"]) for away, _, told in marks if not told["reached"]]
    return {
        "told": sum(bool(reason) for _, reason in missed) / len(marks),
        "untold": sum(not reason for _, reason in missed) / len(marks),
        "place_missed": _average(away for away, _ in missed),
        "place_met": max((away for away, _ in met), default=None),
        "heading_met": max((turned for _, turned in met), default=None),
    }


def _compare(baked: Sequence[Measures], played: Sequence[Measures]) -> Measures:
    """Return measures of baked takes beside those of the frames that they play."""

    def divide(key: str) -> list[float]:
        return [a[key] / max(b[key], 1e-9) for a, b in zip(baked, played, strict=True)]

    return {
        "height": _average(divide("foot_skate_from_height")),
        "ratio": _average(divide("foot_skate_ratio")),
        "max_vel": _average(divide("foot_skate_max_vel")),
        "acceleration": max(divide("acceleration_max")),
    }


def _average(values: Iterable[float]) -> float | None:
    listed = list(values)
    return float(np.mean(listed)) if listed else None


def format_page(rows: Mapping[Row, Measures], shots: int, paths: int, first: int = 0) -> str:
    """Return the page of a study of so many shots and paths of each set, from a number on."""
    names = dict.fromkeys(row[0] for row in rows)
    parts = [
        "# Directed scenes",
        f"Written by `python3 build.py study director --shots {shots} --first {first}`.\n{describe_machine()}",
        textwrap.fill(_INTRODUCTION, 118),
        f"{shots} scenes of marks and {paths} paths of each set, from number {first} on:",
        "\n".join(f"- `{name}`: {SETS[name].text}" for name in names),
        "## Figures to reach",
        "*worst* is of the row furthest beyond its bound, *of the bound* its share of that, and "
        "*reached* counts\nthe rows that keep to it.",
        format_figures(rows, FIGURES),
        "## What the columns mean",
        "\n".join(
            "\n".join(
                textwrap.wrap(f"- *{column.heading}*: {column.text}", 118, subsequent_indent="  ")
            )
            for column in _COLUMNS
        ),
        "## All rows",
        _format_rows(rows),
        "## Why figures are missed",
        *(textwrap.fill(text, 118) for text in _MISSED),
    ]
    return "\n\n".join(parts) + "\n"


def _format_rows(rows: Mapping[Row, Measures]) -> str:
    which = [
        (name, *(row[place] for row in rows)) for place, name in enumerate(("set", "kind", "who"))
    ]
    cells = [
        (column.heading, *(_format_cell(column, row, rows[row]) for row in rows))
        for column in _COLUMNS
    ]
    return format_columns([*which, *cells], ("set", "kind", "who"))


def _format_cell(column: _Column, row: Row, measures: Measures) -> str:
    value = measures[column.key]
    if value is None:
        return ""
    text = f"{column.factor * value:.{column.digits}f}"
    figure = _BY_KEY.get(column.key)
    missed = figure and (figure.compute_excess(row, measures) or 0.0) > 0.0
    return f"**{text}**" if missed else text

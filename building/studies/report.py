"""The study of quality as a page of the manual."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns

from .figures import BY_KEY, FIGURES, Figure, Row
from .quality import TRAINING, Measures
from .sets import SETS

DOCUMENT = CHECKOUT / "docs" / "quality.md"
_LEFT = ("set", "gait", "script", "method", "figure", "bound", "where", "who", "set of ours")


class _Column(NamedTuple):
    heading: str
    key: str
    factor: float = 1.0
    digits: int = 1


class _Table(NamedTuple):
    title: str
    text: str
    columns: tuple[_Column, ...]


def _make_columns(name: str, key: str, kinds: str, *form: float) -> tuple[_Column, ...]:
    return tuple(_Column(f"{name} {kind}", f"{key}_{kind}", *form) for kind in kinds.split())  # type: ignore[arg-type]


_TABLES = (
    _Table(
        "Pops and knees",
        "A pop is a moment at which any joint accelerates in the world by more than 1.2 times the "
        "most in the frames that the take plays; they are counted in ten minutes. *most* is the "
        "largest acceleration in m/s² of all takes of a row. *knees* is how fast a knee bends or "
        "stretches at most, as a share of the most in the sources.",
        (
            *_make_columns("pops", "pops", "live baked"),
            *_make_columns("most", "acceleration", "live baked played", 1, 0),
            *_make_columns("knees", "knees", "live baked", 1, 2),
        ),
    ),
    _Table(
        "Feet",
        "The four measures of Kimodo's benchmark, of toes: `foot_skate_from_height` and "
        "`foot_skate_from_contacts` in cm/s, `foot_skate_ratio` in % and `foot_skate_max_vel` in "
        "cm/s; then the share of source contacts in which the toe is held, and the most that a "
        "take's skate, by height or on contacts, is of the same take's before its feet were baked.",
        (
            *_make_columns("height", "height", "live baked played", 100),
            *_make_columns("contacts", "contacts", "live baked played", 100),
            *_make_columns("ratio", "ratio", "live baked played", 100),
            *_make_columns("max vel", "max_vel", "live baked played", 100, 0),
            *_make_columns("held", "held", "live baked", 1, 3),
            _Column("baked to live", "baked_to_live", 1, 2),
        ),
    ),
    _Table(
        "Slips",
        "A slip is a toe that stands (a source contact, below 5 cm) and goes faster than 20 cm/s for "
        "0.1 s, or 5 cm or more before it is lifted. *slips* are counted in a minute, and *way* is how far "
        "in cm the toe goes in one on average. Standing toes of the clips hardly ever slip: see *played*.",
        (
            *_make_columns("slips", "slips", "live baked played"),
            *_make_columns("way", "slip_way", "live baked played", 100),
        ),
    ),
    _Table(
        "Legs and standing",
        "*crossed* is the share of time in % in which an ankle is past the other by more than 5 "
        "cm. Standing is half a second or more below 0.1 m/s: *apart* is how far the ankles are "
        "from each other at most in 95 % of it, in cm, and *heel* the share in % with an ankle 5 cm "
        "or more above where it stands. Takes that stand for less than 5 s tell nothing of it. "
        "*crouched* is the share of time in % with the hips below three quarters of their median "
        "height in the sources.",
        (
            *_make_columns("crossed", "crossed", "live baked played sources", 100),
            *_make_columns("apart", "apart", "live baked sources", 100, 0),
            *_make_columns("heel", "heel", "live baked sources", 100),
            *_make_columns("crouched", "crouched", "live sources", 100),
        ),
    ),
    _Table(
        "Turns, path and acceleration",
        "*answer* is the median time in s from a turn by 90° or more to nine tenths of the new "
        "full speed, of so many *turns*, and *speed* the share reached of the desired speed (of "
        "the data's if that is less) where the goal is steady. *path* is the mean distance in cm "
        "to where the goals lead an object that never waits, counted anew each minute. *99 %* is "
        "that percentile of the largest acceleration of any joint, live, in m/s², which the last "
        "column compares with matching's.",
        (
            _Column("answer", "answer", 1, 2),
            _Column("turns", "turns", 1, 0),
            _Column("speed", "speed", 1, 2),
            _Column("path", "path", 100),
            _Column("freezes", "freezes", 1, 0),
            _Column("99 %", "acceleration_p99", 1, 0),
            _Column("to matching", "acceleration_to_matching", 1, 2),
        ),
    ),
)
# Holden's demo in C++, compiled without its window, on the poses, simulation bone and contacts of
# a database of eight clips from LAFAN1 (5.6 minutes, mirrored, 60 fps), at the speeds of the data.
_DEMO = {
    "walk": ("16.6", "12.1", "36", "146", "1.20", "6.4"),
    "run": ("33.2", "30.4", "95", "200", "0.93", "7.6"),
}
_DEMO_TEXT = (
    "[Holden's C++ demo](https://github.com/orangeduck/Motion-Matching) was compiled without its "
    "window and steered by the same stick on a database made of eight clips of LAFAN1, 5.6 minutes "
    "and their mirror images at 60 frames a second, at the speeds of that data. MANN's skate is of "
    "`random`, the time after a turn of 126 random turns; contact slide, accelerations and path "
    "are means of a minute each of five scripts, `random` among them. The measures are the same, "
    "the clips are not: compare sizes, not digits. The demo bakes nothing; pops, crossed legs, "
    "standing and Kimodo's measures were not taken of it. Its rate of 60 shows sharper "
    "accelerations than the 30 of most sets here."
)
_MISSED = (
    "**Slide on contacts, live.** The bound is measured in frames that count as contacts because "
    "their toes hardly move, so it is near zero. A live foot that a jump lets land elsewhere than "
    "its clip comes to rest within a tenth of a second, and gives way where the steering turns the "
    "body faster than the clip; nine tenths of the slide lie within 0.3 s of a jump. A bake knows "
    "what comes, and keeps the bound in most rows.",
    "**Contacts held, baked.** In sharp turns at a run, a toe that stayed would ask of its leg more "
    "than the hardest acceleration of the frames played, or the fastest knee of the sources. The "
    "bake lets the toe slip for some frames instead.",
    "**Slide on contacts, baked.** Where a turn at a run jumps every tenth of a second, the same "
    "contact is played over and over while the body goes on for a metre. No leg reaches that far: "
    "the foot steps in between, or lands late.",
    "**Legs crossed.** The frames played, such as steps aside, cross legs more often than all of the "
    "sources do; takes cross them less often than these frames, and baked ones hardly ever.",
    "**Standing.** A character that has stopped steps into a stance of its data for a second, with "
    "a foot in the air, and these seconds count; a bake lifts it by as little as its step is short. "
    "Where the data never stands, a pose out of a step is held.",
    "**Answers.** A character answers as fast as its simulation object, which walks aside and back "
    "no faster than the data, and runs 1.4 times as fast, while it still turns to where it goes. "
    "*Speed in Turns* of 1.7 answers a little sooner, and keeps less to its path. Sets without a run "
    "of their own are measured at their walk, against the bound of a run.",
    "**Path of fields.** A field plays what leads along the object's way within *Look Ahead*. Where no clip near "
    "its pose does, as at `bandai`'s runs and with the dogs, it strays until the object waits for it.",
    "**Slips, live.** On sets of people nearly all are landings: a foot that a jump takes off its clip comes down "
    "later than the clip's, and goes 5 to 15 cm within the two to four ticks before it stands.",
    "**Pops and knees, live.** Toes and ankles move no harder than the clips do around the frames "
    "played, which a take need not play itself: with the landings of `straight` at 120 frames a "
    "second, a jump shortly before a landing moves the foot harder than these frames. What is left "
    "elsewhere are single ticks of a knee that swings about a leg folded small, as in a squat, or "
    "that folds lest its foot sinks into the floor. A bake evens them out.",
)
_DEMO_COLUMNS = (
    _Column("MANN's skate, cm/s", "mann_live", 100),
    _Column("contact slide, cm/s", "contacts_live", 100),
    _Column("99 % acceleration, m/s²", "acceleration_p99", 1, 0),
    _Column("most, m/s²", "acceleration_live", 1, 0),
    _Column("answer, s", "answer", 1, 2),
    _Column("path, cm", "path", 100),
)


def format_page(rows: Mapping[Row, Measures], minutes: float, seeds: int) -> str:
    """Return the page of a study."""
    names = dict.fromkeys(row[0] for row in rows)
    introduction = (
        f"Takes of {minutes:g} min, {seeds} of each kind, of the scripts `random` and `turns`, at a walk and at a run, by motion matching and by a motion field (trained at the quality "
        f"*{TRAINING.title()}* for direction and speed), with the default settings of each set. "
        "*live* is the take as performed, *baked* with its feet planted, *played* the very frames "
        "of the clips that it plays, and *sources* all clips. What misses its bound is bold."
    )
    parts = [
        "# Motion quality",
        f"Written by `python3 build.py study quality`.\n{describe_machine()}",
        textwrap.fill(introduction, 118),
        "\n".join(f"- `{name}`: {SETS[name].text}" for name in names),
        "## Figures to reach\n",
        "*worst* is of the row furthest beyond its bound, *of the bound* its share of that (of contacts\n"
        "held, what is missing to 1 is compared), and *reached* counts the rows that keep to it.",
        format_figures(rows),
    ]
    for table in _TABLES:
        parts += [f"## {table.title}", textwrap.fill(table.text, 118), _format_table(table, rows)]
    parts += ["## Why figures are missed", *(textwrap.fill(text, 118) for text in _MISSED)]
    parts += ["## Beside Holden's C++ demo", textwrap.fill(_DEMO_TEXT, 118), _format_demo(rows)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def format_figures(rows: Mapping[Any, Measures], figures: Sequence[Figure] = FIGURES) -> str:
    """Return a table of the figures to reach: the worst row of each, and how many reach it."""
    lines = [line for figure in figures if (line := _format_figure(figure, rows))]
    headings = ("figure", "bound", "worst", "of the bound", "where", "reached")
    return format_columns(list(zip(headings, *lines, strict=True)), _LEFT)


def _format_figure(figure: Figure, rows: Mapping[Any, Measures]) -> tuple[str, ...] | None:
    """Return the cells of a figure, None if no row has it."""
    excesses = {row: figure.compute_excess(row, measures) for row, measures in rows.items()}
    known = {row: excess for row, excess in excesses.items() if excess is not None}
    if not known:
        return None
    worst = max(known, key=lambda row: known[row])
    ratio, value = figure.compute_ratio(worst, rows[worst]), figure.format(rows[worst][figure.key])
    return (
        figure.title,
        figure.bound,
        f"**{value}**" if known[worst] > 0 else value,
        "" if ratio is None else f"{ratio:.2f}",
        " ".join(worst),
        f"{sum(excess <= 0 for excess in known.values())} of {len(known)}",
    )


def _format_table(table: _Table, rows: Mapping[Row, Measures]) -> str:
    which = [
        (name, *(row[place] for row in rows))
        for place, name in enumerate(("set", "gait", "script", "method"))
    ]
    cells = [
        (column.heading, *(_format_cell(column, row, rows[row]) for row in rows))
        for column in table.columns
    ]
    return format_columns([*which, *cells], _LEFT)


def _format_cell(column: _Column, row: Row, measures: Measures) -> str:
    value = measures[column.key]
    if value is None:
        return ""
    text = f"{column.factor * value:.{column.digits}f}"
    figure = BY_KEY.get(column.key)
    missed = figure and (figure.compute_excess(row, measures) or 0.0) > 0
    return f"**{text}**" if missed else text


def _format_demo(rows: Mapping[Row, Measures]) -> str:
    """Return the demo's figures beside those of matching: skate and speed of the fitting script."""
    lines: list[Sequence[str]] = []
    for gait, figures in _DEMO.items():
        lines.append(("C++ demo", "", gait, *figures))
        for name in dict.fromkeys(row[0] for row in rows):
            which = {script: (name, gait, script, "matching") for script in ("random", "turns")}
            if which["random"] not in rows:
                continue
            cells = [
                _format_plain(column, rows[which["turns" if column.key == "answer" else "random"]])
                for column in _DEMO_COLUMNS
            ]
            lines.append(("ours, live", name, gait, *cells))
    headings = ("who", "set of ours", "gait", *(column.heading for column in _DEMO_COLUMNS))
    return format_columns(list(zip(headings, *lines, strict=True)), _LEFT)


def _format_plain(column: _Column, measures: Measures) -> str:
    value = measures[column.key]
    return "" if value is None else f"{column.factor * value:.{column.digits}f}"

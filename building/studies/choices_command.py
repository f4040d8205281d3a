"""The command of the study of choices: parts of the manual's pages that tell of them."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from building.benchmarks.report import describe_machine, format_columns

from . import choices, spots
from .choices import SPOTS, TABLES, Cast, ChoiceJob
from .manual_parts import publish
from .quality import Measures
from .sets import OTHERS, find_set, find_sets

_LEFT = ("set", "gait", "with")
Row = tuple[str, str, str]


class _Column(NamedTuple):
    heading: str
    text: str
    factor: float = 1.0
    digits: int = 2


COLUMNS: Mapping[str, _Column] = {
    "answer": _Column("answer, s", "from a turn by 90° or more to nine tenths of the new speed, the median"),
    "head": _Column("head, s", ""),
    "path": _Column("path, cm", "mean distance to where an object that never waits goes, anew each minute", 100, 1),
    "waits": _Column("waits, cm", "how far the object is off its way at most, as it waited", 100, 1),
    "speed": _Column("speed", "the share of the speed asked for, where the goal is steady"),
    "heading": _Column("heading, °", "mean angle to the heading asked for", 1, 0),
    "apart": _Column("apart, cm/s", "how fast the character and its motion drift apart, on average", 100, 1),
    "jumps": _Column("jumps", "in a second"),
    "contacts": _Column("slide, cm/s", "of toes on contacts", 100, 1),
    "price": _Column("price, cm", "what jumps cost the eye in a second", 100, 2),
    "pops": _Column("pops", "moments in ten minutes at which a joint accelerates by more than 1.2 times the most in the frames played", 1, 1),
    "freezes": _Column("freezes", "how often the character stands although it is asked to go", 1, 0),
    "hardest": _Column("hardest", "acceleration of any joint, of the most in the frames played"),
    "rests": _Column("rests, cm", "how far from the spot it comes to rest, on average", 100, 1),
    "beyond": _Column("beyond, cm", "how far it goes beyond the spot, on average", 100, 1),
    "longer": _Column("longer", f"the time until it is within {spots.THERE:g} m for good, as a multiple of a straight way at full speed, the median"),
    "odd": _Column("odd, %", "share of frames with an odd posture", 100, 1),
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", nargs="+", choices=TABLES, help="which; all")
    parser.add_argument("--sets", nargs="+", choices=list_sets(TABLES), help="which; all")
    parser.add_argument("--minutes", type=float, default=1.0, help="of each take (%(default)g)")
    parser.add_argument("--seeds", type=int, default=2, help="takes of each kind (%(default)s)")
    parser.set_defaults(workers=1)


def list_sets(tables: Iterable[str]) -> tuple[str, ...]:
    """Return the sets of tables, each once."""
    return tuple(dict.fromkeys(name for table in tables for name in TABLES[table].sets))


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured; write each table whose sets all are."""
    machine, tables = describe_machine(), tuple(chosen.tables or TABLES)
    here = {*find_sets(), *OTHERS}
    sets = [name for name in chosen.sets or list_sets(tables) if name in here]
    rows: dict[str, dict[Row, Measures]] = {table: {} for table in tables}
    last = {table: [name for name in sets if name in TABLES[table].sets][-1:] for table in tables}
    for name in sets:
        motion_set, source = find_set(name)
        cast = Cast(motion_set.build(source))
        for table in (table for table in tables if name in TABLES[table].sets):
            rows[table] |= measure_rows(table, name, cast, 60.0 * chosen.minutes, chosen.seeds)
            if last[table] == [name]:
                text = describe_table(table, chosen.minutes, chosen.seeds)
                part = format_part(table, rows[table], f"{machine}\n\n{text}")
                complete = set(TABLES[table].sets) <= set(sets)
                publish(TABLES[table].document, f"choices {table}", part, complete=complete)
    return 0


def measure_rows(
    table: str, name: str, cast: Cast, seconds: float, seeds: int
) -> dict[Row, Measures]:
    """Perform the takes of a table with a set, and print each row as it is done."""
    jobs: dict[Row, list[ChoiceJob]] = {}
    for job in choices.list_jobs(table, cast.loaded, seeds):
        jobs.setdefault((name, job.gait, job.choice), []).append(job)
    rows = {}
    for row, own in jobs.items():
        rows[row] = choices.combine([each for job in own for each in cast.measure(job, seconds)])
        print(*row, *list_cells(table, rows[row]), sep="  ", flush=True)
    return rows


def list_cells(table: str, measures: Measures) -> tuple[str, ...]:
    """Return what a row of the table says."""
    columns = [(measures[key], COLUMNS[key]) for key in TABLES[table].columns]
    return tuple(
        "" if value is None else f"{column.factor * value:z.{column.digits}f}"
        for value, column in columns
    )


def format_part(table: str, rows: Mapping[Row, Measures], text: str) -> str:
    """Return what the manual says of a table: where it is from, a text about it, and its rows."""
    headings = (*_LEFT, *(COLUMNS[key].heading for key in TABLES[table].columns))
    cells = [(*row, *list_cells(table, measures)) for row, measures in rows.items()]
    body = format_columns(list(zip(headings, *cells, strict=True)), _LEFT)
    return f"Written by `python3 build.py study choices --tables {table}`.\n{text}\n\n{body}\n"


def describe_table(table: str, minutes: float, seeds: int) -> str:
    """Return what a table compares, in which takes, and what its columns are."""
    chosen = TABLES[table]
    columns = [COLUMNS[key] for key in chosen.columns]
    told = "; ".join(f"*{c.heading.partition(',')[0]}*: {c.text}" for c in columns if c.text)
    each = "of each script" if len(chosen.scripts) > 1 else "of them"
    scripts = ", ".join(f"`{script}`" for script in chosen.scripts)
    takes = f"Takes of {minutes:g} min of {scripts} as performed, {seeds} {each} to a row. "
    text = f"{chosen.text} {'' if SPOTS in chosen.scripts else takes}{told}."
    return textwrap.fill(text, 118)

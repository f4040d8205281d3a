"""Measurements as tables for people: printed, and written to docs/bench.md."""

from __future__ import annotations

import os
import platform
import subprocess
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy

from .bench_search import Row

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENT = CHECKOUT / "docs" / "bench.md"
_HEADINGS = (
    "database",
    "frames",
    "measured",
    "median",
    "99 %",
    "to reach",
    "beside",
    "ratio",
    "at most",
)
_LEFT = ("database", "measured", "beside")

_INTRODUCTION = """\
# Benchmarks

Written by `python3 build.py bench`.
{machine}

Everything runs on one thread; libraries of linear algebra are held to one as well. What is compared takes turns in one
run, so that a busy machine slows both alike: the ratios of medians are what counts, and one that is missed fails the
run. Times depend on the machine; what they are to reach was set on a quiet one. Of a few repeats, "99 %" is the slowest.
"""


@dataclass(frozen=True)
class Section:
    """Measurements of one kind, and what to know about them."""

    title: str
    text: str
    rows: Sequence[Row]

    def to_markdown(self) -> str:
        paragraphs = [
            p if p.startswith("- ") else textwrap.fill(p, 118) for p in self.text.split("\n\n")
        ]
        return "\n\n".join([f"## {self.title}", *paragraphs, format_table(self.rows)]) + "\n"


def format_table(rows: Sequence[Row]) -> str:
    """Format rows as an aligned Markdown table, without empty columns."""
    columns = list(zip(_HEADINGS, *map(_format_cells, rows), strict=True))
    return format_columns([column for column in columns if any(column[1:])], _LEFT)


def format_columns(columns: Sequence[Sequence[str]], left: Sequence[str]) -> str:
    """Format columns, each with its heading first, as an aligned Markdown table.

    Those with a heading in `left` are aligned to the left.
    """
    padded = [_pad(column, column[0] in left) for column in columns]
    lines = ["| " + " | ".join(cells) + " |" for cells in zip(*padded, strict=True)]
    return "\n".join(lines)


def _format_cells(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
    return (
        row.database, f"{row.frames:,}", row.item, format_duration(row.median), format_duration(row.percentile99),
        "" if row.reach is None else format_duration(row.reach), row.other,
        ratio if row.passed else f"**{ratio}**", "" if row.limit is None else f"{row.limit:g}",
    )  # fmt: skip


def _pad(column: Sequence[str], left: bool) -> list[str]:
    """Pad a column's cells to one width, with Markdown's line below the heading."""
    width = max(map(len, column))
    cells = [cell.ljust(width) if left else cell.rjust(width) for cell in column]
    return [cells[0], "-" * width if left else "-" * (width - 1) + ":", *cells[1:]]


def format_duration(microseconds: float) -> str:
    """Format a time with about three digits."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds:.3g} µs"


def list_missed(sections: Sequence[Section]) -> list[str]:
    """Return a sentence for every ratio that was missed."""
    return [
        f"{section.title}: {row.database} {row.item} takes {row.ratio:.3f} of the time of "
        f"{row.other}; it may be {row.limit:g}."
        for section in sections
        for row in section.rows
        if not row.passed
    ]


def write(sections: Sequence[Section]) -> None:
    DOCUMENT.parent.mkdir(exist_ok=True)
    parts = [
        _INTRODUCTION.format(machine=describe_machine()),
        *(section.to_markdown() for section in sections),
    ]
    DOCUMENT.write_text("\n".join(parts), encoding="utf-8")


def describe_machine() -> str:
    """Say in two sentences where and with what was measured."""
    return (
        f"Measured on {_find_processor()} ({os.cpu_count()} cores, {platform.system()}) with Python "
        f"{platform.python_version()}, numpy {np.__version__} and scipy {scipy.__version__}, at "
        f"commit {_find_commit()}."
    )


def _find_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _find_commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        # what is written about figures changes none
        changed = git("status", "--porcelain", "--", ".", ":!docs")
        return git("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"

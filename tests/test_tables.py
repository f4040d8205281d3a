"""The manual's tables of settings are written from the settings, and up to date."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import pytest

from building import tables
from motion_matching.engine.settings import describe, tune


@dataclass(frozen=True)
class Sample:
    speed: float = describe(1.5, "Speed", "How fast it goes", "m/s")
    angle: float = describe(math.radians(45), "Angle", "How far it turns | both ways", "rad")
    rate: float = describe(math.pi, "Rate", "How fast it turns", "rad/s")
    part: float = describe(0.25, "Part", "How much of it", "share")
    count: int = describe(15, "Count", "How many")
    locked: bool = describe(True, "Locked", "Whether it holds")
    method: str = describe("speed", "Method", "How it is found", choices={"speed": ("Speed", "")})
    height: float | None = describe(None, "Height", "Where it ends", "m")
    hidden: float = 3.0


TABLE = """\
| setting | panel | default | what it does |
|---|---|---|---|
| `speed` | *Speed* | 1.5 m/s | How fast it goes |
| `angle` | *Angle* | 45° | How far it turns \\| both ways |
| `rate` | *Rate* | 180°/s | How fast it turns |
| `part` | *Part* | 0.25 | How much of it |
| `count` | *Count* | 15 | How many |
| `locked` | *Locked* | on | Whether it holds |
| `method` | *Method* | `speed` | How it is found |
| `height` | *Height* |  | Where it ends |"""


def test_each_described_setting_gets_a_row():
    assert tables.make_table(Sample) == TABLE


def test_writing_replaces_only_the_tables(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(tables.MODULES, "Sample", "")
    monkeypatch.setattr(tables, "_find_settings", lambda name: Sample)
    page = "before\n<!-- table: Sample -->\n\nold\n\n<!-- end of table -->\nafter\n"
    filled = tables.fill_tables(page)
    assert filled == f"before\n<!-- table: Sample -->\n\n{TABLE}\n\n<!-- end of table -->\nafter\n"
    assert tables.fill_tables(filled) == filled


def test_tables_written_by_hand_are_kept():
    page = "<!-- table: KINDS -->\n\n| kind |\n|---|\n| walk |\n\n<!-- end of table -->\n"
    assert tables.fill_tables(page) == page


def test_settings_without_descriptions_get_no_table():
    @dataclass
    class Plain:
        speed: float = 1.0

    assert tables.make_table(Plain) == ""


def test_each_tuned_number_gets_a_row_in_its_rooms_section():
    @dataclass(frozen=True)
    class Numbers:
        """What is tuned here."""

        pace: float = tune(1.0 / 3.0, "s", "as | a step takes")
        turn: float = tune(math.radians(30.0), "rad", "seen at once")
        counts: tuple[int, ...] = tune((16, 25_000), "1", "few, then more")

    head = "| number | value | why |\n|---|---|---|\n"
    rows = "| `pace` | 0.333333 s | as \\| a step takes |\n"
    rows += "| `turn` | 30° | seen at once |\n| `counts` | 16, 25,000 | few, then more |"
    section = f"## engine/feet\n\nWhat is tuned here.\n\n{head}{rows}"
    assert tables.make_number_tables({"engine/feet": Numbers()}) == section


def test_the_manuals_tables_are_up_to_date():
    stale = [file.name for file, old, new in tables.list_written() if old != new]
    assert stale == [], "run `python -m building.tables`"


def test_figures_quoted_from_a_table_are_those_of_the_table():
    """`in 60 of 64 rows of [Motion quality]` follows the page that a study writes."""
    articles, quality = (
        (tables.DOCS / name).read_text(encoding="utf-8") for name in ("articles.md", "quality.md")
    )
    quoted = re.findall(r"in (\d+ of \d+) rows of\s+\[Motion quality\]", articles)
    row = r"^\| skate on contacts, baked, cm/s .*\| *(\d+ of \d+) \|$"
    reached = re.findall(row, quality, re.MULTILINE)
    assert quoted == reached
    assert len(quoted) == 1

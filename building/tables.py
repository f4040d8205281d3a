"""Write the tables of settings and tuned numbers in the manual from where they are defined.

`python -m building.tables` replaces what stands between `<!-- table: ClassName -->` and
`<!-- end of table -->` in the pages of `docs`; with `--check` it only reports which pages are out
of date. The table of a class without described settings is left as it was written. The table
`numbers` has a section for each room with a `numbers.py`.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from motion_matching.engine.settings import get_descriptions

DOCS = Path(__file__).resolve().parents[1] / "docs"
PACKAGE = DOCS.parent / "motion_matching"
MODULES = {  # of the settings that have a table
    "AutoTagSettings": "database.tags.thresholds",
    "BuildSettings": "building.build",
    "ContactSettings": "motion.settings",
    "PerformerSettings": "performance.settings",
    "RetargetSettings": "retargeting.settings",
    "SimulationBoneSettings": "motion.settings",
    "TrainingSettings": "field.training.quality",
}
_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
_DEGREES = {"rad": "°", "rad/s": "°/s"}


def make_table(settings: type) -> str:
    """Return a Markdown table with a row for each described setting; nothing without any."""
    defaults = {f.name: f.default for f in fields(settings)}
    rows = [
        f"| `{name}` | *{d.label}* | {format_default(defaults[name], d.unit)} | {_escape(d.help)} |"
        for name, d in get_descriptions(settings).items()
    ]
    if not rows:
        return ""
    return "\n".join(["| setting | panel | default | what it does |", "|---|---|---|---|", *rows])


def format_default(value: Any, unit: str) -> str:
    """Return a default as a reader expects it: angles in degrees, numbers with their unit."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if is_dataclass(value):
        return f"{', '.join(f'{number:.4g}' for number in vars(value).values())} {unit}".rstrip()
    if not isinstance(value, (int, float)):
        return f"`{value}`"
    if unit in _DEGREES:
        return f"{math.degrees(value):.4g}{_DEGREES[unit]}"
    return f"{value:.4g} {unit}" if unit not in ("", "share") else f"{value:.4g}"


def list_numbers() -> dict[str, Any]:
    """Return the tuned numbers of each room that has some, by its path in the package."""
    files = sorted(PACKAGE.rglob("numbers.py"), key=lambda file: file.parts)
    rooms = [file.parent.relative_to(PACKAGE) for file in files]
    return {
        room.as_posix(): importlib.import_module(
            ".".join(("motion_matching", *room.parts, "numbers"))
        ).NUMBERS
        for room in rooms
    }


def make_number_tables(rooms: Mapping[str, Any]) -> str:
    """Return a Markdown section for each room, with a row for each of its tuned numbers."""
    parts = []
    for room, numbers in rooms.items():
        rows = [
            f"| {f.name} | {_format_number(f.default)} | {_format_unit(f.metadata['unit'])} "
            f"| {_escape(f.metadata['why'])} |"
            for f in fields(numbers)
        ]
        head = [f"## {room}", "", type(numbers).__doc__, ""]
        parts.append(
            "\n".join([*head, "| number | value | unit | why |", "|---|---|---|---|", *rows])
        )
    return "\n\n".join(parts)


def _format_number(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_format_number, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _format_unit(unit: str) -> str:
    return "" if unit == "1" else unit


def fill_tables(text: str) -> str:
    """Return a page with its tables written anew."""

    def fill(match: re.Match[str]) -> str:
        begin, name, end = match.groups()
        if name == "numbers":
            return f"{begin}\n{make_number_tables(list_numbers())}\n\n{end}"
        table = make_table(_find_settings(name)) if name in MODULES else ""
        return f"{begin}\n{table}\n\n{end}" if table else match[0]

    return _TABLE.sub(fill, text)


def _find_settings(name: str) -> type:
    module = importlib.import_module(f"motion_matching.engine.{MODULES[name]}")
    settings: type = getattr(module, name)
    return settings


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write all pages anew, or with `--check` return 1 if one is out of date."""
    stale, outcome = 0, "its tables are out of date" if arguments else "tables written"
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        filled = fill_tables(text)
        if filled != text:
            stale = 1
            print(f"docs/{page.name}: {outcome}")
            if not arguments:
                page.write_text(filled, encoding="utf-8")
    return stale if arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

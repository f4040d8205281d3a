"""Write the tables of settings and tuned numbers in the manual from where they are defined.

The schema of batches is written with them, from the options of commands.

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
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from motion_matching.engine.database.features import kinds
from motion_matching.engine.performance import scripts
from motion_matching.engine.settings import get_defaults, get_descriptions, list_rooms
from motion_matching.engine.takes import take_files

from . import job_schema

DOCS = Path(__file__).resolve().parents[1] / "docs"
PACKAGE = DOCS.parent / "motion_matching"
MODULES = {  # of the settings that have a table
    "AsPublished": "performance.settings",
    "AutoTagSettings": "database.tags.thresholds",
    "BuildSettings": "building.build",
    "ContactSettings": "motion.contacts",
    "PerformerSettings": "performance.settings",
    "RetargetSettings": "retargeting.settings",
    "SimulationBoneSettings": "motion.simulation_bone",
    "TrainingSettings": "field.training.quality",
}
SHARED = {  # by rooms
    "engine/direct/objective.py": "COSTS",
    "engine/motion/margins.py": "MARGINS",
    "engine/motion/rest.py": "AT_REST",
}
_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
_DEGREES = {"rad": "°", "rad/s": "°/s"}


def make_table(settings: type) -> str:
    """Return Markdown tables with a row for each described setting, one for each room."""
    tables = [
        f"### {label}\n\n{_make_room_table(room)}" if label else _make_room_table(room)
        for label, room in list_rooms(settings).items()
    ]
    return "\n\n".join(tables)


def _make_room_table(settings: Any) -> str:
    """Return a Markdown table with a row for each described setting; nothing without any."""
    defaults = get_defaults(settings)
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


def make_list_of_kinds(name: str) -> str:
    """Return a Markdown table with a row for each kind of feature, or for each script."""
    first, about, found = "script", "what it asks for", dict[str, Any](scripts.SCRIPTS)
    if name == "FeatureKind":
        first, about, found = "kind", "what it compares", {k.name: k for k in kinds.KINDS}
    rows = [f"| `{k}` | *{v.label}* | {_escape(v.help)} |" for k, v in found.items()]
    return "\n".join([f"| {first} | panel | {about} |", "|---|---|---|", *rows])


def make_array_table() -> str:
    """Return a Markdown table with a row for each array in files of takes."""
    rows = [
        f"| `{name}` | {np.dtype(kind.dtype).name} | {', '.join(map(str, kind.shape))} "
        f"| {kind.unit} | {_escape(kind.meaning)} |"
        for name, kind in {**take_files.ARRAYS, **take_files.GROUND_ARRAYS}.items()
    ]
    head = ["| array | type | shape | unit | what it holds |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def list_numbers() -> dict[str, Any]:
    """Return the tuned numbers of each room that has some, and those that rooms share, by path."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        path, is_own = file.relative_to(PACKAGE), file.name == "numbers.py"
        name = "NUMBERS" if is_own else SHARED.get(path.as_posix())
        if name is not None:
            place = path.with_suffix("")
            module = importlib.import_module(".".join((PACKAGE.name, *place.parts)))
            found[(path.parent if is_own else place).as_posix()] = getattr(module, name)
    return dict(sorted(found.items()))


def make_number_tables(rooms: Mapping[str, Any]) -> str:
    """Return a Markdown section for each room, with a row for each of its tuned numbers."""
    return "\n\n".join(_make_number_table(room, numbers) for room, numbers in rooms.items())


def _make_number_table(room: str, numbers: Any) -> str:
    rows = [
        f"| `{f.name}` | {_format_number(f.default, f.metadata['unit'])} "
        f"| {_escape(f.metadata['why'])} |"
        for f in fields(numbers)
    ]
    head = f"## {room}\n\n{type(numbers).__doc__}\n\n| number | value | why |\n|---|---|---|"
    return "\n".join([head, *rows])


def _format_number(value: Any, unit: str) -> str:
    if unit in _DEGREES:
        return f"{math.degrees(value):.4g}{_DEGREES[unit]}"
    values = value if isinstance(value, tuple) else (value,)
    shown = ", ".join(f"{v:,}" if isinstance(v, int) else f"{v:.6g}" for v in values)
    return shown if unit == "1" else f"{shown} {unit}"


def fill_tables(text: str) -> str:
    """Return a page with its tables written anew."""

    def fill(match: re.Match[str]) -> str:
        begin, name, end = match.groups()
        if name == "numbers":
            return f"{begin}\n{make_number_tables(list_numbers())}\n\n{end}"
        if name in ("FeatureKind", "ScriptKind"):
            table = make_list_of_kinds(name)
        elif name == "ArrayKind":
            table = make_array_table()
        else:
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
    """Write pages and schema anew, or with `--check` return 1 if one is out of date."""
    stale, outcome = 0, "is out of date" if arguments else "written"
    for file, old, new in list_written():
        if old != new:
            stale = 1
            print(f"{file.relative_to(DOCS.parent)}: {outcome}")
            if not arguments:
                file.write_text(new, encoding="utf-8")
    return stale if arguments else 0


def list_written() -> Iterator[tuple[Path, str, str]]:
    """Yield pages with tables, and the schema of batches: as they are, and as they should be."""
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        yield page, text, fill_tables(text)
    schema = job_schema.FILE
    yield schema, schema.read_text("utf-8") if schema.exists() else "", job_schema.write_schema()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Read a batch: rows, each of which is a command of the command line, and how they need each other.

No numpy here: what writes a batch for a farm needs to know its rows alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..commands.options import COMMANDS, Option, list_options
from ..engine.errors import SettingsError
from ..engine.files.file_paths import fold
from ..engine.files.json_files import EntryError, expect_list, expect_object, name_file, read
from . import products, row_values
from .row_values import Values

_KNOWN = ("$schema", "defaults", "rows", "products")
_OF_ROWS = ("command", "name")  # keys that are no options
_READ_IN_FOLDERS = (".bvh",)  # endings of what a command reads in a folder that a row names
_MOST_VARIATIONS = 1000  # a guard; the command itself says what it does at most
_NUMBERS = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")


@dataclass(frozen=True, eq=False)
class Row:
    """A command to run: its words on the command line, the files it reads, and those it writes.

    `reports` are JSON files among those.

    `words` have paths as the current folder sees them, `arguments` texts by option as the batch
    writes them, wherever its folder is. `needs` are the numbers of rows that write what is read.
    """

    number: int
    name: str
    command: str
    arguments: Mapping[str, Sequence[str]]
    words: tuple[str, ...]
    reads: tuple[Path, ...]
    writes: tuple[Path, ...]
    reports: tuple[Path, ...] = ()
    needs: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"row {self.number} ({self.name})"

    @property
    def state_file(self) -> Path:
        """The file beside the first output that says how the row stands."""
        return self.writes[0].with_name(f"{self.writes[0].name}.row.json")

    @property
    def log_file(self) -> Path:
        """The file beside the first output that holds what the command printed."""
        return self.writes[0].with_name(f"{self.writes[0].name}.row.log")

    @property
    def own_files(self) -> tuple[Path, ...]:
        """All files that it writes: its outputs, its state and its log."""
        return (*self.writes, self.state_file, self.log_file)


class JobStage(NamedTuple):
    """Rows of one command that may run at the same time, and the stages that have to be before.

    `needs` are indices among the stages.
    """

    command: str
    rows: tuple[Row, ...]
    needs: tuple[int, ...]


@dataclass(frozen=True)
class Job:
    """A batch: the file that describes it, and its rows, numbered from one."""

    path: Path
    rows: tuple[Row, ...]

    def choose(self, text: str) -> tuple[Row, ...]:
        """Return the rows of numbers such as "1-5,9". SettingsError for one that is not there."""
        numbers = parse_numbers(text)
        if numbers[-1] > len(self.rows):
            raise SettingsError(
                f"--only {text} asks for row {numbers[-1]}, and {self.path} has {len(self.rows)}; "
                "give numbers up to that."
            )
        return tuple(self.rows[number - 1] for number in numbers)

    def find_user(self, path: Path) -> str:
        """Return which row has a file, such as "row 2 (walk) writes"; empty for none."""
        folders = dict[Path, str]()
        wanted = _identify(path, folders)
        for row in self.rows:
            for does, files in (("reads", row.reads), ("writes", row.own_files)):
                if any(_identify(file, folders) == wanted for file in files):
                    return f"{row} {does}"
        return ""

    @cached_property
    def stages(self) -> tuple[JobStage, ...]:
        """The rows in layers: each needs only those before it, and has rows of one command."""
        levels = _find_levels(self.rows)
        layers = dict[tuple[int, int], list[Row]]()
        order = list(COMMANDS)
        for row in self.rows:
            layers.setdefault((levels[row.number], order.index(row.command)), []).append(row)
        made = [tuple(layers[key]) for key in sorted(layers)]
        stage_of = {row.number: index for index, rows in enumerate(made) for row in rows}
        return tuple(JobStage(rows[0].command, rows, _find_stages(rows, stage_of)) for rows in made)


def _find_stages(rows: Iterable[Row], stage_of: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(sorted({stage_of[number] for row in rows for number in row.needs}))


def parse_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a text such as "1-5,9" or "1-9:2", sorted. SettingsError for others."""
    numbers = set[int]()
    for part in text.split(","):
        match = _NUMBERS.fullmatch(part.strip())
        first, last, step = (int(group or 0) for group in match.groups()) if match else (0, 0, 0)
        last = last or first
        if not 1 <= first <= last <= products.MOST_ROWS or (match and match[3] and not step):
            raise SettingsError(f"--only {text} gives no numbers of rows; write it as in 1-5,9.")
        numbers.update(range(first, last + 1, step or 1))
    return tuple(sorted(numbers))


def load_job(path: Path | str) -> Job:
    """Read a batch from a JSON file, and check it as a whole.

    Raises SettingsError, which names the row, for what no command knows, for two rows with one
    output, for an output that its row reads, and for rows that need each other in a circle.
    """
    path = Path(path)
    with name_file(f"batch {path}"):
        data = expect_object(read(path, "batch"), "it", _KNOWN)
        defaults = row_values.normalise_keys(expect_object(data.get("defaults", {}), "'defaults'"))
        options = {name: _list_options(name) for name in COMMANDS}
        _check_defaults(defaults, options)
        rows = [
            _make_row(number, given, defaults, options, path.parent)
            for number, given in enumerate(_list_given(data), 1)
        ]
        if not rows:
            raise EntryError("there are no rows; add some to 'rows' or 'products'")
        rows = _find_needs(path, rows)
        _find_levels(rows)
    return Job(path, tuple(rows))


def _list_options(command: str) -> dict[str, Option]:
    return {option.key: option for option in list_options(command)}


def _list_given(data: Mapping[str, Any]) -> Iterator[Values]:
    """Yield the rows as they are written, and those of all products."""
    for number, given in enumerate(expect_list(data.get("rows", []), "'rows'"), 1):
        yield row_values.normalise_keys(expect_object(given, f"row {number}"))
    for number, given in enumerate(expect_list(data.get("products", []), "'products'"), 1):
        where = f"product {number}"
        yield from products.expand_product(expect_object(given, where), where)


def _check_defaults(defaults: Values, options: Mapping[str, Mapping[str, Option]]) -> None:
    """Raise EntryError for a default that no command knows."""
    known = set(_OF_ROWS).union(*options.values())
    for key in defaults:
        if key not in known:
            raise EntryError(f"'defaults' has '{key}', which no command knows; correct it")


# ---------------------------------------------------------------- rows


def _make_row(
    number: int,
    given: Values,
    defaults: Values,
    options: Mapping[str, Mapping[str, Option]],
    folder: Path,
) -> Row:
    """Return a row from what is written of it. EntryError, which names it, for what is wrong."""
    name = given.get("name", "")
    try:
        if not isinstance(name, str):
            raise EntryError(f"'name' is {json.dumps(name)}; give a text")
        command = given.get("command", defaults.get("command"))
        if command not in options:
            said = "is missing" if command is None else f"is {json.dumps(command)}"
            raise EntryError(f"'command' {said}; give one of {', '.join(options)}")
        known = options[command]
        usual = {key: value for key, value in defaults.items() if key in known}
        values = products.merge(usual, {k: v for k, v in given.items() if k not in _OF_ROWS})
        row_values.check_keys(values, known, command)
        return _place_row(number, name, command, _read_values(values, known, number), folder)
    except EntryError as cause:
        raise EntryError(f"row {number}{f' ({name})' if name else ''}: {cause}") from None


def _read_values(
    values: Values, known: Mapping[str, Option], number: int
) -> dict[Option, list[str]]:
    """Return the texts of all options that a row gives, in the order of their table."""
    outputs = {key for key, option in known.items() if row_values.is_output(option)}
    named = {key: value for key, value in values.items() if key not in outputs}
    found = {}
    for key, option in known.items():
        if key in values:
            texts = row_values.read_texts(option, values[key])
            found[option] = [
                row_values.fill_places(text, named, number)
                if row_values.names_file(option, text)
                else text
                for text in texts
            ]
    return found


def _place_row(
    number: int, name: str, command: str, given: Mapping[Option, list[str]], folder: Path
) -> Row:
    """Return a row of texts by option, with its files in the folder of the batch."""
    positionals, words = list[str](), list[str]()
    reads, writes, reports = list[Path](), list[Path](), list[Path]()
    for option, texts in given.items():
        files = [folder / text for text in texts if row_values.names_file(option, text)]
        (writes if row_values.is_output(option) else reads).extend(files)
        reports += files if option.key == "report" else []
        placed = [
            str(folder / text) if row_values.names_file(option, text) else text for text in texts
        ]
        if option.is_positional:
            positionals += placed
        else:
            words += _write_option(option, placed)
    if not writes:
        outputs = ", ".join(o.key for o in list_options(command) if row_values.is_output(o))
        raise EntryError(f"it writes nothing; give it one of {outputs}")
    arguments = {option.key: texts for option, texts in given.items()}
    all_writes, all_reports = (
        tuple(_number_variations(arguments, paths)) for paths in (writes, reports)
    )
    name = name or writes[0].stem
    all_words = (command, *words, *(("--", *positionals) if positionals else ()))
    return Row(number, name, command, arguments, all_words, tuple(reads), all_writes, all_reports)


def _write_option(option: Option, texts: Sequence[str]) -> list[str]:
    """Return the words of an option and its values."""
    name = option.names[-1]
    if option.kind == "switch":
        return [name] * len(texts)
    if option.kind == "paths":  # all of them behind its name
        return [name, *(f"./{text}" if text.startswith("-") else text for text in texts)]
    return [f"{name}={text}" for text in texts]


def _number_variations(
    arguments: Mapping[str, Sequence[str]], writes: Iterable[Path]
) -> Iterator[Path]:
    """Yield the files that are written: the director numbers those of its variations."""
    texts = arguments.get("variations")
    count = min(max(int(texts[0]), 1), _MOST_VARIATIONS) if texts else 0
    for path in writes:
        numbered = (path.with_stem(f"{path.stem}_{number}") for number in range(1, count + 1))
        yield from numbered if count else (path,)


# ---------------------------------------------------------------- what rows need


def _find_needs(path: Path, rows: Sequence[Row]) -> list[Row]:
    """Return the rows with what each needs.

    Raises EntryError if two write one file, if one writes what it reads, or the batch itself.
    """
    folders = dict[Path, str]()
    written = _list_written(path, rows, folders)
    inside = dict[str, set[int]]()  # rows by the folders above what they write for builds to read
    for file, number in written.items():
        if file.endswith(_READ_IN_FOLDERS):
            for above in _list_above(file):
                inside.setdefault(above, set()).add(number)
    return [replace(row, needs=_find_needed(row, written, inside, folders)) for row in rows]


def _list_written(path: Path, rows: Sequence[Row], folders: dict[Path, str]) -> dict[str, int]:
    """Return the number of the row that writes a file, by the file. EntryError for two of them."""
    written = {_identify(path, folders): 0}
    for row in rows:
        for file in row.own_files:
            other = written.setdefault(_identify(file, folders), row.number)
            if other != row.number:
                whose = f"as row {other} does" if other else "which is this batch itself"
                raise EntryError(f"{row} writes {file}, {whose}; choose another name")
        if len({_identify(file, folders) for file in row.writes}) < len(row.writes):
            raise EntryError(f"{row} writes one file twice; choose another name")
    return written


def _find_needed(
    row: Row,
    written: Mapping[str, int],
    inside: Mapping[str, set[int]],
    folders: dict[Path, str],
) -> tuple[int, ...]:
    """Return the numbers of the rows that write what a row reads. EntryError if it does itself."""
    needed = set[int]()
    for path in row.reads:
        file = _identify(path, folders)
        if written.get(file) == row.number:
            raise EntryError(f"{row} writes {path}, which it reads too; choose another name")
        needed |= {written[name] for name in (file, *_list_above(file)) if name in written}
        needed |= inside.get(file, set())
    return tuple(sorted(needed - {row.number, 0}))


def _identify(path: Path, folders: dict[Path, str]) -> str:
    """Return a text that is equal for all names of a file; `folders` keeps what is found.

    Names that differ in case alone are taken for one: on some systems they are.
    """
    if os.path.islink(path):
        path = Path(os.path.realpath(path))
    if path.parent not in folders:
        folders[path.parent] = os.path.realpath(path.parent)
    whole = os.path.normpath(os.path.join(folders[path.parent], path.name))
    return fold(whole)


def _list_above(file: str) -> Iterator[str]:
    """Yield the folders above a file."""
    while (above := os.path.dirname(file)) != file:
        yield above
        file = above


def _find_levels(rows: Iterable[Row]) -> dict[int, int]:
    """Return how many layers of rows are before each, by its number. EntryError for a circle."""
    levels = dict[int, int]()
    waiting = list(rows)
    while waiting:
        ready = [row for row in waiting if all(number in levels for number in row.needs)]
        if not ready:
            names = " and ".join(map(str, waiting[:2]))
            raise EntryError(f"{names} need what the other writes; change what they read")
        for row in ready:
            levels[row.number] = 1 + max((levels[number] for number in row.needs), default=-1)
        waiting = [row for row in waiting if row.number not in levels]
    return levels

"""Read JSON that people write, and write it; an error names file, entry and remedy in a sentence.

The `expect_*` functions return an entry of the right kind or raise EntryError. Their `where` names
the entry, such as "'fps'" or "box 2 of 'obstacles'"; `name_file` adds the name of the file.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import SettingsError
from ..settings import is_number
from .file_paths import open_at_once
from .written import without_negative_zeros

_LARGEST_FILE = 256 * 1024**2  # bytes; an hour of performance takes 10 MB


class EntryError(ValueError):
    """Report a wrong entry and the remedy, without the file's name and a full stop."""


def read(path: Path | str, kind: str) -> Any:
    """Return the content of a JSON file. `kind` names the file in errors, such as 'source list'.

    Raises SettingsError if the file does not exist, cannot be read or is not JSON.
    """
    try:
        with open(path, "rb", opener=open_at_once) as stream:
            text = stream.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise SettingsError(f"The {kind} {path} does not exist; check its name.") from None
    except (OSError, ValueError) as cause:
        raise SettingsError(f"The {kind} {path} cannot be read as JSON: {cause}.") from cause
    if len(text) > _LARGEST_FILE:
        raise SettingsError(f"The {kind} {path} is far too large; give another file.")
    return parse(text.removeprefix(b"\xef\xbb\xbf"), f"{kind} {path}")  # some editors' mark


def parse(text: str | bytes, name: str) -> Any:
    """Return the content of JSON text, in UTF-8 if it is bytes.

    Raises SettingsError if it is not JSON, nested too deeply, or does not fit into memory.
    """
    try:
        return json.loads(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError as cause:
        raise SettingsError(
            f"The {name} cannot be read as JSON: it is nested too deeply."
        ) from cause
    except MemoryError as cause:
        raise SettingsError(f"The {name} does not fit into memory; give a smaller one.") from cause
    except ValueError as cause:
        raise SettingsError(f"The {name} cannot be read as JSON: {cause}.") from cause


def to_text(data: Any, indent: int | None = None) -> str:
    """Return content as JSON text, in which no zero is negative."""
    return json.dumps(without_negative_zeros(data), indent=indent)


@contextmanager
def name_file(name: str) -> Iterator[None]:
    """Turn an EntryError into a SettingsError that names the file, such as 'source list a.json'."""
    try:
        yield
    except EntryError as cause:
        raise SettingsError(f"In the {name}, {cause}.") from cause


def check_keys(data: Mapping[str, Any], known: Collection[str], where: str) -> None:
    """Raise EntryError if an object has an entry that is not among the known ones."""
    if unknown := sorted(set(data).difference(known)):
        names = ", ".join(sorted(known))
        raise EntryError(f"{where} has the unknown entry '{unknown[0]}'; known ones are {names}")


def expect_object(
    value: Any, where: str, known: Collection[str] | None = None
) -> Mapping[str, Any]:
    """Return an object whose entries are all named in `known`."""
    if not isinstance(value, Mapping):
        raise _reject(value, where, "an object")
    if known is not None:
        check_keys(value, known, where)
    return value


def expect_list(value: Any, where: str, length: int | None = None) -> Sequence[Any]:
    """Return a list, of this length if one is given."""
    if not isinstance(value, (list, tuple)) or length not in (None, len(value)):
        raise _reject(value, where, f"a list of {length}" if length else "a list")
    return value


def expect_text(value: Any, where: str) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise _reject(value, where, "a name")
    return value


def expect_name(value: Any, where: str) -> str:
    """Return a text that is not empty and can be shown: without halves of characters."""
    try:
        expect_text(value, where).encode("utf-8")
    except UnicodeEncodeError:
        raise _reject(value, where, "a name that is whole Unicode characters") from None
    return str(value)


def expect_flag(value: Any, where: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise _reject(value, where, "true or false")
    return value


def expect_number(value: Any, where: str, least: float, most: float) -> float:
    """Return a number within limits."""
    if not is_number(value) or not least <= value <= most:
        raise _reject(value, where, f"a number from {least:g} to {most:g}")
    return float(value)


def expect_whole_number(value: Any, where: str, least: int) -> int:
    """Return a whole number of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise _reject(value, where, f"a whole number from {least}")
    return value


def expect_pair(value: Any, where: str, limit: float) -> tuple[float, float]:
    """Return two numbers from -limit to limit."""
    name = f"a number of {where}"
    x, y = (expect_number(v, name, -limit, limit) for v in expect_list(value, where, 2))
    return x, y


def _reject(value: Any, where: str, expected: str) -> EntryError:
    """Return the error for an entry with this value instead of the expected."""
    return EntryError(f"{where} is {reprlib.repr(value)}; give {expected}")

"""Read what a row of a batch asks of a command, as words of the command line. No numpy here.

A row is a JSON object: its keys are the long options and positionals of a command, with dashes or
underscores, and its values are numbers, texts, lists, or true and false for switches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from ..commands.options import OUTPUTS, Option
from ..engine.files.file_paths import to_file_name
from ..engine.files.json_files import EntryError
from ..engine.settings import is_number

Values = Mapping[str, Any]

_ENDINGS = (".json", ".npz", ".blend")  # of values that name a preset or a file
_KNOWN = (*_ENDINGS, ".bvh", ".fbx", ".glb", ".gltf", ".vrma")  # of values that name a file
_PLACE = re.compile(r"\{([\w-]+)\}")


def normalise_keys(given: Values) -> dict[str, Any]:
    """Return an object with underscores in its keys. EntryError if one is there twice."""
    found = dict[str, Any]()
    for name, value in given.items():
        key = name.lstrip("-").replace("-", "_")
        if key in found:
            raise EntryError(f"'{key}' is there twice; leave one out")
        found[key] = value
    return found


def check_keys(values: Values, options: Mapping[str, Option], command: str) -> None:
    """Raise EntryError for a key that a command does not know, or lacks."""
    for key in values:
        if key not in options:
            alike = get_close_matches(key, options, 1)
            advice = f"did you mean '{alike[0]}'" if alike else f"known are {', '.join(options)}"
            raise EntryError(f"'{command}' has no option '{key}'; {advice}")
    for key, option in options.items():
        if option.is_required and key not in values:
            raise EntryError(f"'{command}' needs '{key}'; add it")


# ---------------------------------------------------------------- values


def read_texts(option: Option, value: Any) -> list[str]:
    """Return the texts of an option's value, as on the command line; none for a switch that is off.

    Raises EntryError for a value of another kind.
    """
    if option.kind == "switch":
        if not isinstance(value, bool):
            raise _reject(option, value, "true or false")
        return [""] if value else []
    return _READERS[option.kind](option, value)


def _read_choice(option: Option, value: Any) -> list[str]:
    if value not in option.choices:
        raise _reject(option, value, f"one of {', '.join(option.choices)}")
    return [str(value)]


def _read_text(option: Option, value: Any) -> list[str]:
    if isinstance(value, str) and value:
        return [value]
    numbers = value if isinstance(value, list) else [value]
    if numbers and all(map(is_number, numbers)):
        return [",".join(map(repr, numbers))]
    raise _reject(option, value, "a text")


def _read_path(option: Option, value: Any) -> list[str]:
    if not isinstance(value, str) or not value:
        raise _reject(option, value, "the name of a file")
    return [value]


def _read_whole(option: Option, value: Any) -> list[str]:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _reject(option, value, "a whole number")
    return [str(value)]


def _read_number(option: Option, value: Any) -> list[str]:
    if not is_number(value):
        raise _reject(option, value, "a number")
    return [repr(value)]


def _read_list(option: Option, value: Any) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise _reject(option, value, "a text or a list of texts")
    return texts


def _read_names(option: Option, value: Any) -> list[str]:
    return [",".join(_read_list(option, value))]


def _read_changes(option: Option, value: Any) -> list[str]:
    if not isinstance(value, Mapping):
        return _read_list(option, value)
    return [f"{name}={_format_setting(setting)}" for name, setting in value.items()]


def _format_setting(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(map(is_number, value)):
        return ",".join(map(repr, value))
    return json.dumps(value)


_READERS: Mapping[str, Callable[[Option, Any], list[str]]] = {
    "choice": _read_choice,
    "text": _read_text,
    "texts": _read_list,
    "path": _read_path,
    "paths": _read_list,
    "names": _read_names,
    "changes": _read_changes,
    "whole": _read_whole,
    "number": _read_number,
}


def _reject(option: Option, value: Any, expected: str) -> EntryError:
    shown = json.dumps(value)
    shown = shown if len(shown) <= 60 else f"{shown[:40]} … {shown[-15:]}"
    return EntryError(f"'{option.key}' is {shown}; give {expected}")


# ---------------------------------------------------------------- files


def names_file(option: Option, text: str) -> bool:
    """Return whether a text of an option names a file; presets and scripts have no ending."""
    if option.kind in ("path", "paths"):
        return True
    may = "FILE" in option.value or option.value == "PRESET"
    return may and "=" not in text and text.lower().endswith(_ENDINGS)


def is_output(option: Option) -> bool:
    """Return whether an option names what a command writes."""
    return option.key in OUTPUTS and option.kind == "path"


# ---------------------------------------------------------------- placeholders


def fill_places(text: str, values: Values, number: int) -> str:
    """Return a file's name with values of the row in place of `{key}`, and its number of `{row}`.

    Raises EntryError for a key that the row does not give.
    """

    def fill(match: re.Match[str]) -> str:
        key = match[1].replace("-", "_")
        if key == "row":
            return str(number)
        if key not in values:
            known = ", ".join(sorted({*values, "row"}))
            raise EntryError(f"'{text}' names {match[0]}, which is not given; given are {known}")
        return _name_value(values[key])

    return _PLACE.sub(fill, text)


def _name_value(value: Any) -> str:
    """Return a value as a part of a file's name: of a path its stem."""
    return to_file_name("-".join(_list_words(value)))


def _list_words(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield f"{name}={'-'.join(_list_words(each))}"
    elif isinstance(value, list):
        for each in value:
            yield from _list_words(each)
    elif isinstance(value, str):
        path = PurePath(value)
        yield path.stem if "/" in value or path.suffix.lower() in _KNOWN else value
    else:
        yield json.dumps(value)

"""Settings that describe themselves: label, unit, limits and help beside each default.

Blender's properties, the checks, the help of the command line and the tables of the manual all read
these descriptions. No numpy here: panels and the command line's help read them before anything is
computed.
"""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from .errors import SettingsError

UNITS = ("", "s", "m", "m/s", "rad", "rad/s", "share")  # share: a part of a whole, 0 to 1
LARGEST = (
    1000.0  # of a number without a limit of its own: more is a mistake, and far more overflows
)


@dataclass(frozen=True)
class Description:
    """What is said of a setting: its label, one sentence of help without a full stop, its unit and
    its limits.

    Values from `least` to `most` are accepted, any number where these are infinite; a slider goes
    from `soft_least` to `soft_most`. `choices` are the values of a text, each with its label and
    help.
    """

    label: str
    help: str
    unit: str = ""
    least: float = 0.0
    most: float = LARGEST
    soft_least: float | None = None
    soft_most: float | None = None
    choices: Mapping[str, tuple[str, str]] | None = None


def describe(
    default: Any,
    label: str,
    help: str,
    unit: str = "",
    *,
    least: float = 0.0,
    most: float | None = None,
    soft_least: float | None = None,
    soft_most: float | None = None,
    choices: Mapping[str, tuple[str, str]] | None = None,
) -> Any:
    """Return a dataclass field with a default and its description. Shares end at 1, other numbers
    at 1000.

    With `dataclasses.MISSING` as its default, the field is a number that has to be given.
    """
    if most is None:
        most = 1.0 if unit == "share" else LARGEST
    description = Description(label, help, unit, least, most, soft_least, soft_most, choices)
    return field(default=default, metadata={"description": description})


def get_descriptions(settings: Any) -> dict[str, Description]:
    """Return the descriptions of a settings class, or of an instance of it, by field name."""
    return {
        f.name: f.metadata["description"] for f in fields(settings) if "description" in f.metadata
    }


def check(settings: Any, noun: str = "setting") -> None:
    """Check every described field by its default's type, limits and choices; groups of settings
    check themselves.

    Raises SettingsError, which names the first setting that is wrong and what it takes. `noun` says
    in it what kind of setting it is, such as "contact setting".
    """
    for name, default, description in _iterate(settings):
        value = getattr(settings, name)
        if (expected := _find_fault(value, default, description)) is not None:
            raise SettingsError(f"The {noun} '{name}' is {reprlib.repr(value)}; give {expected}.")


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number that fits a float; true and false are not
    numbers.
    """
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


def is_whole_number(value: Any) -> bool:
    """Return whether a value is a finite number without a fraction."""
    return is_number(value) and value == math.floor(value)


def _iterate(settings: Any) -> Iterator[tuple[str, Any, Description]]:
    for f in fields(settings):
        if "description" in f.metadata:
            yield f.name, f.default, f.metadata["description"]


def _find_fault(value: Any, default: Any, description: Description) -> str | None:
    """Return what a setting takes, if it does not take this value."""
    if description.choices is not None:
        return (
            None
            if value in tuple(description.choices)
            else f"one of {', '.join(description.choices)}"
        )
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(default, str):
        return None if isinstance(value, str) else "a text"
    if is_dataclass(default) or (default is None and value is None):
        return None
    whole = isinstance(default, int)
    if (is_whole_number if whole else is_number)(
        value
    ) and description.least <= value <= description.most:
        return None
    limits = (
        f" from {description.least:g} to {description.most:g}"
        if math.isfinite(description.most)
        else ""
    )
    return f"a {'whole ' if whole else ''}number{limits}"

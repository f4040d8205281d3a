"""Define settings that describe themselves: label, unit, limits and help with each default.

Blender's properties, the checks, the help of the command line and the tables of the manual read
these descriptions. No numpy here: panels and command-line help read them before anything is
computed.
"""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from .errors import SettingsError

LARGEST = 1000.0  # for settings without a limit; more is a mistake, and far more overflows


@dataclass(frozen=True)
class Description:
    """Describe a setting: its label, one sentence of help without a full stop, unit and limits.

    The unit is 's', 'm', 'm/s', 'rad', 'rad/s', 'share' (a part of a whole, 0 to 1), '%' or empty.
    Values from `least` to `most` are accepted; a slider goes from `soft_least` to `soft_most`.
    `choices` are the values of a text, each with its label and help.
    """

    label: str
    help: str
    unit: str = ""
    least: float = 0.0
    most: float = LARGEST
    soft_least: float | None = None
    soft_most: float | None = None
    choices: Mapping[str, tuple[str, str]] | None = None


def describe(default: Any, label: str, help: str, unit: str = "", **limits: Any) -> Any:
    """Return a dataclass field with a default and its description.

    `limits` are the other fields of `Description`; shares end at 1. With `dataclasses.MISSING` as
    its default, the field is a number that has to be given.
    """
    if unit == "share":
        limits.setdefault("most", 1.0)
    return field(
        default=default, metadata={"description": Description(label, help, unit, **limits)}
    )


def tune(default: float | tuple[float, ...], unit: str, why: str) -> Any:
    """Return a field of a number, or a few, that no user changes, with the reason for its value."""
    return field(default=default, metadata={"unit": unit, "why": why})


class Room:
    """Base of settings that belong together: they check themselves. Raises SettingsError."""

    def __post_init__(self) -> None:
        check(self)


def room(default: Any, label: str) -> Any:
    """Return a dataclass field of a room of settings."""
    return field(default=default, metadata={"room": label})


def list_rooms(settings: Any) -> dict[str, Any]:
    """Return the rooms of a settings class by label; without any, the class as its only one."""
    found = {f.metadata["room"]: f.default for f in fields(settings) if "room" in f.metadata}
    return found or {"": settings}


def get_defaults(settings: Any) -> dict[str, Any]:
    """Return the defaults of a settings class, or of its rooms, by field name."""
    return {f.name: f.default for room in list_rooms(settings).values() for f in fields(room)}


def get_descriptions(settings: Any) -> dict[str, Description]:
    """Return the descriptions of a settings class, or of its rooms, by field name."""
    found = (each for room in list_rooms(settings).values() for each in fields(room))
    return {f.name: f.metadata["description"] for f in found if "description" in f.metadata}


def check(settings: Any, noun: str = "setting") -> None:
    """Check every described field by its default's type, limits and choices.

    Groups of settings check themselves. Raises SettingsError, which names the first wrong setting
    and its valid values; `noun` is the kind of setting in it, such as "contact setting".
    """
    defaults = get_defaults(settings)
    for name, description in get_descriptions(settings).items():
        value = getattr(settings, name)
        if expected := _find_fault(value, defaults[name], description):
            raise SettingsError(f"The {noun} '{name}' is {reprlib.repr(value)}; give {expected}.")


def check_names(changes: Mapping[str, Any], settings: Any, noun: str = "setting") -> None:
    """Raise SettingsError for the name of a setting that a class, or its instance, lacks."""
    known = sorted(get_defaults(settings))
    for name in changes:
        if name not in known:
            raise SettingsError(f"There is no {noun} '{name}'; known ones are {', '.join(known)}.")


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number that fits a float, and neither true nor false."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max


def is_whole_number(value: Any) -> bool:
    """Return whether a value is a finite number without a fraction."""
    return is_number(value) and value == math.floor(value)


def _find_fault(value: Any, default: Any, description: Description) -> str:
    """Return the valid values of a setting, if this one is not valid."""
    if description.choices is not None:
        choices = tuple(description.choices)
        return "" if value in choices else f"one of {', '.join(choices)}"
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(default, str):
        return "" if isinstance(value, str) else "a text"
    if is_dataclass(default) or (default is None and value is None):
        return ""
    least = description.least
    most = description.most
    whole = isinstance(default, int)
    is_right = is_whole_number if whole else is_number
    if is_right(value) and least <= value <= most:
        return ""
    limits = f" from {least:.12g} to {most:.12g}" if math.isfinite(most) else ""
    return f"a {'whole ' if whole else ''}number{limits}"

"""State the units of fields, by which a `Scale` converts values, without loading numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Columns(NamedTuple):
    """Units along an axis of an array, or of the numbers of a tuple."""

    units: tuple[str, ...]
    axis: int = -1


PLACE = Columns(("m", "m", "rad"))
GROUND_MOTION = Columns(("m/s", "m/s", "rad/s"))
BONE = Columns((*["m"] * 3, *[""] * 4))
BONE_VELOCITY = Columns((*["m/s"] * 3, *["rad/s"] * 3))
# (..., 7 or 6, B)
POSE = BONE._replace(axis=-2)
VELOCITY = BONE_VELOCITY._replace(axis=-2)
Unit = str | Columns | Mapping[str, str]  # the last one of the values of a mapping


def measured(**units: Unit) -> Callable[[type[T]], type[T]]:
    """Return a decorator that states the units of fields of a dataclass or a named tuple.

    Settings state them with their descriptions. Fields of measured values need no unit.
    """

    def mark(cls: type[T]) -> type[T]:
        cls.field_units = units  # type: ignore[attr-defined]
        return cls

    return mark

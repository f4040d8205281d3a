"""Convert between the world and body units, in which every creature is as large as people.

A creature `length` times as large moves alike if its lengths are divided by that, and its times by
the root of it. Tuned numbers are those of people, so all that moves a body works in body units:
values are converted where they enter and leave, and nowhere else.

Source: Alexander and Jayes 1983, A dynamic similarity hypothesis for the gaits of quadrupedal
mammals (equal Froude numbers).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from .settings import get_descriptions
from .units import Columns, Unit

T = TypeVar("T")
_POWERS = MappingProxyType(  # of the length and of the time in a unit
    {
        "m": (1, 0),
        "s": (0, 1),
        "m/s": (1, -1),
        "m/s²": (1, -2),
        "m·s": (1, 1),
        "1/s": (0, -1),
        "rad/s": (0, -1),
        "rad/s²": (0, -2),
    }
)


@dataclass(frozen=True)
class Scale:
    """How large and how slow a creature is, relative to people."""

    length: float = 1.0
    time: float = 1.0

    @classmethod
    def from_size(cls, size: float) -> Scale:
        """Return the scale of a creature whose lengths are `size` times those of people."""
        return cls(size, math.sqrt(size))

    @property
    def is_of_people(self) -> bool:
        """Whether there is nothing to convert."""
        return self.length == self.time == 1.0

    def get_factor(self, unit: str) -> float:
        """Return what a value in body units is multiplied by for the world; 1 for angles."""
        length, time = _POWERS.get(unit, (0, 0))
        return self.length**length * self.time**time

    def to_body(self, value: T, unit: Unit | None = None) -> T:
        """Return a value of the world in body units: it has a unit, or its fields have.

        Sequences of such values are converted as well; all else is returned as it is.
        """
        return Scale(1.0 / self.length, 1.0 / self.time).to_world(value, unit)

    def to_world(self, value: T, unit: Unit | None = None) -> T:
        """Return a value in body units as one of the world; the inverse of `to_body`."""
        return value if self.is_of_people else self._scale(value, unit)

    def _scale(self, value: Any, unit: Unit | None) -> Any:
        if unit == "":
            return value
        if isinstance(value, (int, float, np.ndarray)):
            return value * self._get_factors(value, unit) if unit else value
        if isinstance(value, Mapping) and isinstance(unit, Mapping):
            return {name: self._scale(each, unit.get(name)) for name, each in value.items()}
        if isinstance(value, (tuple, list)) and (unit or not hasattr(value, "_fields")):
            return self._scale_items(value, unit)
        units = find_units(type(value))
        if units is None:
            return value
        changes = {
            name: self._scale(getattr(value, name), units.get(name)) for name in list_fields(value)
        }
        if isinstance(value, tuple):
            return type(value)(**changes)
        return replace(value, **changes)

    def _get_factors(self, value: Any, unit: Unit) -> Any:
        """Return the factor of a number, or the factors of an array that have its type."""
        if isinstance(unit, str):
            return self.get_factor(unit)
        assert isinstance(unit, Columns)
        factors = np.array([self.get_factor(each) for each in unit.units], value.dtype)
        return factors.reshape(-1, *[1] * (-1 - unit.axis))

    def _scale_items(self, value: Any, unit: Unit | None) -> Any:
        units: Iterable[Any] = [unit] * len(value)
        if isinstance(unit, Columns) and value and isinstance(value[0], (int, float)):
            units = unit.units
        items = (self._scale(each, own) for each, own in zip(value, units, strict=True))
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def find_units(cls: type) -> Mapping[str, Unit] | None:
    """Return the units of the fields of a class by name; None if nothing of it is measured."""
    own: Mapping[str, Unit] | None = getattr(cls, "field_units", None)
    if not is_dataclass(cls):
        return own
    described = {name: each.unit for name, each in get_descriptions(cls).items()}
    return {**described, **(own or {})} if described or own is not None else None


def list_fields(value: Any) -> list[str]:
    """Return the names of the fields that make a dataclass or a named tuple."""
    return [f.name for f in fields(value) if f.init] if is_dataclass(value) else value._fields

"""Describe what marks ask for, each field of a `Mark` once: for files, sizes, checks and panels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ...settings import Description, get_defaults, get_descriptions


@dataclass(frozen=True)
class MarkGoal(Description):
    """Description of a field of marks; label and help are those of its first property in Blender.

    The unit is 'own' for values whose fields have units, and 'direction' for those without length.

    - `default`: that of the field; None leaves a value free
    - `entry`: how files write it, a key of `shot_file`'s readers; empty: as its unit or type says
    - `by`: names of its properties in Blender: a switch, as use_place, the value, or both of them;
      with a switch alone, the empty of a mark says the value; empty: the name of the field
    - `initial`: what the value's property is at first, if not the default of the field
    - `steers`: only marks that lead ask for it; `parts`: only marks for these
    - `rival`: what two marks at one time contradict each other in, if they differ in it
    - `words`: how lists of marks show it, with {} for the value
    """

    default: Any = None
    entry: str = ""
    by: str = ""
    initial: Any = None
    steers: bool = False
    parts: tuple[str, ...] = ()
    rival: str = ""
    words: str = ""

    @property
    def properties(self) -> list[str]:
        """Names of its properties in Blender."""
        return self.by.split()

    @property
    def is_placed(self) -> bool:
        """Whether the empty of a mark says its value."""
        return self.properties[-1].startswith("use_")


def goal(default: Any, label: str, help: str, unit: str = "", **more: Any) -> Any:
    """Return a dataclass field with a default and its `MarkGoal`, whose other fields are `more`."""
    return field(default=default, metadata={"description": MarkGoal(label, help, unit, **more)})


def list_goals(cls: type) -> Mapping[str, MarkGoal]:
    """Return the goals of a class by field name, with the defaults and names of these."""
    goals: Any = get_descriptions(cls)
    for name, default in get_defaults(cls).items():
        goals[name] = replace(goals[name], default=default, by=goals[name].by or name)
    return MappingProxyType(goals)

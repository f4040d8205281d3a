"""Custom properties, in which the file of a stranger, or a script, may hold anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...engine.files.json_files import EntryError, expect_list, expect_number
from .animation.curves import build_bone_path

ANY_BONE = "*"  # as the owner of a switch: whichever bone, or the object, has the property
_MOST = 1e30  # of a number


def has(owner: Any, name: str) -> bool:
    """Return whether a block has a custom property; Blender's types know no `in`."""
    return name in owner.keys()  # noqa: SIM118


def read(owner: Any, name: str) -> Any:
    """Return a custom property as plain data, to be checked with `engine.files.json_files`.

    Groups become dicts, arrays lists, and blocks stay. What is missing or no text is None.
    """
    try:
        return _to_plain(owner.get(name))
    except (UnicodeError, SystemError):  # bytes that are no text
        return None


class Switch(NamedTuple):
    """A custom property of a bone, or of the object if `bone` is "", and a value that it has."""

    bone: str
    name: str
    value: float

    def find_owner(self, obj: bpy.types.Object) -> Any:
        """Return the bone, or the object, that has the property; None if there is none."""
        bones = obj.pose.bones
        own = bones.get(self.bone) if self.bone else obj
        owners = (*bones, obj) if self.bone == ANY_BONE else (own,)
        return next((o for o in owners if o is not None and has(o, self.name)), None)

    def build_path(self, owner: Any) -> str:
        """Return the data path of the property on its owner."""
        own = f'["{bpy.utils.escape_identifier(self.name)}"]'
        is_bone = isinstance(owner, bpy.types.PoseBone)
        return f"{build_bone_path(owner.name)}{own}" if is_bone else own

    def read(self, obj: bpy.types.Object) -> Switch:
        """Return the property with the value that it has now."""
        owner = self.find_owner(obj)
        return self if owner is None else self._replace(value=float(owner[self.name]))

    def set(self, obj: bpy.types.Object) -> None:
        """Set the property to the value in its own type, if it exists."""
        owner = self.find_owner(obj)
        if owner is not None and owner[self.name] != self.value:
            owner[self.name] = type(owner[self.name])(self.value)


def set_switches(obj: bpy.types.Object, switches: Iterable[Switch]) -> None:
    """Set the properties that exist, each in its own type."""
    for switch in switches:
        switch.set(obj)
    obj.update_tag()


def expect_rows(values: Any, width: int, count: int | None = None) -> np.ndarray:
    """Return numbers as rows (N, width), `count` of them if given. EntryError for anything else."""
    numbers = [expect_number(v, "a number", -_MOST, _MOST) for v in expect_list(values, "a list")]
    if len(numbers) % width or count not in (None, len(numbers) // width):
        raise EntryError(f"a list has {len(numbers)} numbers; give rows of {width}")
    return np.array(numbers, np.float32).reshape(-1, width)


def _to_plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return {name: _to_plain(each) for name, each in value.items()}
    if hasattr(value, "to_list"):
        return value.to_list()
    return [_to_plain(each) for each in value] if isinstance(value, list) else value

"""Edit items of lists that may come from a linked file.

In a library override, Blender finds those again by their names: each name is given once, and stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import bpy

from ..engine.errors import SettingsError
from ..engine.files import json_files
from ..engine.names import to_readable

if TYPE_CHECKING:
    from bpy.types import bpy_prop_collection_idprop as Items  # noqa: N812  # a class

    from ..ui.properties import MotionMatchingSettings

Item = TypeVar("Item")


def add(items: Items[Item], name: str) -> Item:
    """Add an item of that name to the end of a list. A name that another item has gets a number."""
    named: Any = items
    name = to_readable(name)
    taken = {item.name for item in named}
    number = 0
    free = name
    while free in taken:
        number += 1
        free = f"{name}.{number:03d}"
    item = named.add()
    item.name = free
    return item


def remove(items: Items[Any], index: int, what: str) -> None:
    """Remove an item of a list. SettingsError if it comes from a linked file."""
    try:
        items.remove(index)
    except TypeError:
        text = f"{what} comes from a linked file, and can be removed only there."
        raise SettingsError(text) from None


def read_names(text: str) -> list[str] | None:
    """Return the names of a list that is stored as JSON; None if others edited the text."""
    try:
        names = json_files.expect_list(json_files.parse(text or "[]", "names"), "the text")
        return [json_files.expect_text(name, "a name") for name in names]
    except (SettingsError, json_files.EntryError):
        return None


def clamp_index(items: Items[Any], index: int) -> int:
    """Return an index that a list has, the nearest; 0 if it is empty."""
    return max(0, min(index, len(items) - 1))


@dataclass(frozen=True)
class ActiveItem:
    """The active item of a list: its list by the group that holds it and by name, the property of
    that group that is its index, and the item in words.
    """

    owner: Any
    items: str
    index: str
    words: str

    def remove(self) -> None:
        """Remove it; the next one becomes active. SettingsError if it comes from a linked file."""
        items = getattr(self.owner, self.items)
        index = getattr(self.owner, self.index)
        remove(items, index, self.words)
        setattr(self.owner, self.index, clamp_index(items, index))

    def move(self, direction: str) -> bool:
        """Move it "UP" or "DOWN"; return whether that is possible. SettingsError as above."""
        items = getattr(self.owner, self.items)
        index = getattr(self.owner, self.index)
        to = index + (1 if direction == "DOWN" else -1)
        if not 0 <= to < len(items):
            return False
        try:
            items.move(index, to)
        except TypeError:
            text = f"{self.words} comes from a linked file, and can be moved only there."
            raise SettingsError(text) from None
        setattr(self.owner, self.index, to)
        return True


def get_active(items: Items[Item], index: int) -> Item | None:
    """Return the active item of a list, or None."""
    return items[index] if 0 <= index < len(items) else None


def get_active_take(obj: bpy.types.Object) -> bpy.types.Action | None:
    """Return the action of the take that is active in the list of an armature, or None."""
    settings = settings_of(obj)
    take = get_active(settings.takes, settings.take_index)
    return take.action if take else None


def has_active(items: Items[Item], index: int) -> bool:
    """Return whether a list has an active item, without Blender going through those before it."""
    return 0 <= index < len(items)


def is_changed(group: Any, names: Iterable[str]) -> bool:
    """Return whether any of these properties of a group is not at its default."""
    return any(_differs(getattr(group, name), group.bl_rna.properties[name]) for name in names)


def _differs(value: Any, description: Any) -> bool:
    if description.type in ("COLLECTION", "POINTER"):
        return bool(value)
    if getattr(description, "is_array", False):
        return tuple(value) != tuple(description.default_array)
    return bool(value != description.default)


def settings_of(obj: bpy.types.Object | bpy.types.ID) -> MotionMatchingSettings:
    """Return the settings of a character, given its armature object."""
    owner: Any = obj
    return owner.motion_matching


def armature_of(obj: bpy.types.Object) -> bpy.types.Armature:
    """Return the armature of an armature object."""
    armature: Any = obj.data
    return armature


def to_plain_value(value: Any) -> Any:
    """Return a property's value without the noise of its 32 bits."""
    return round(value, 6) if isinstance(value, float) else value

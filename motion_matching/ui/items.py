"""Items of lists that a library override may hold some of.

Blender finds those of the linked file again by their names: a name is given once, to one item of a list, and stays.
"""

from __future__ import annotations

from typing import Any

from ..engine.errors import SettingsError


def added(items: Any, name: str) -> Any:
    """A new item at the end of a list, of that name or, where another has it, of that name with a number."""
    taken = {item.name for item in items}
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}.{number:03d}"
    item = items.add()
    item.name = free
    return item


def move(items: Any, place: int, to: int, what: str) -> None:
    """Move an item of a list. SettingsError where it comes with a linked file: Blender keeps those in their order."""
    try:
        items.move(place, to)
    except TypeError:
        raise SettingsError(
            f"{what} comes with the linked file, and moves only where it is moved there."
        ) from None


def remove(items: Any, place: int, what: str) -> None:
    """Take an item off a list. SettingsError where it comes with a linked file: Blender does not let go of those."""
    try:
        items.remove(place)
    except TypeError:
        raise SettingsError(
            f"{what} comes from the linked file, and goes only where it is removed there."
        ) from None

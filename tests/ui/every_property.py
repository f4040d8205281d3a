"""Settings with every property set to a value that is not its default. Runs inside Blender."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

Leaf = tuple[str, Any]
_MADE = {
    "Action": lambda name: bpy.data.actions.new(name),
    "Object": lambda name: bpy.data.objects.new(name, bpy.data.curves.new(name, "CURVE")),
    "Collection": lambda name: bpy.data.collections.new(name),
}


def list_properties(group: Any) -> list[Any]:
    """Return the properties of a group that can be set, without Blender's own."""
    return [
        prop
        for prop in group.bl_rna.properties
        if (prop.identifier != "rna_type" and not prop.is_readonly)
        or (prop.type in ("COLLECTION", "POINTER") and prop.identifier != "rna_type")
    ]


def is_group(prop: Any) -> bool:
    base = prop.fixed_type.base if prop.type == "POINTER" else None
    return base is not None and base.identifier == "PropertyGroup"


def fill(group: Any, seed: int = 0, named: bool = True) -> None:
    """Set all properties of a group and its members by their types; empty lists get two items.

    Another seed gives other values. Unless `named`, items keep their names, by which lists match
    them.
    """
    for again in (False, True):  # a later property may reset an earlier one
        for number, prop in enumerate(list_properties(group), seed):
            name = prop.identifier
            if prop.type == "COLLECTION":
                found = getattr(group, name)
                for _ in range(0 if found else 2):
                    found.add()
                for place in range(len(found)):
                    fill(found[place], number + 10 * place, named)
            elif is_group(prop):
                if not again:
                    fill(getattr(group, name), number, named)
            elif named or name != "name":
                setattr(group, name, _choose_value(prop, number))


def add_items(group: Any) -> None:
    """Add an item to every list in a group, with values that are not the defaults."""
    for number, prop in enumerate(list_properties(group), 5):
        found = getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            for place in range(len(found)):
                add_items(found[place])
            fill(found.add(), number)
            found[-1].name = "added"
        elif is_group(prop):
            add_items(found)


def _choose_value(prop: Any, number: int) -> Any:
    """Return a value of a property that is not its default."""
    kind = prop.type
    if kind == "POINTER":
        block = f"{prop.fixed_type.identifier} {number}"
        made = _MADE[prop.fixed_type.identifier]
        return _find_block(prop.fixed_type.identifier, block) or made(block)
    if kind == "STRING":
        return f"Größe '{number}' // {prop.identifier}"[: prop.length_max or None]
    if kind == "ENUM":
        others = [item.identifier for item in prop.enum_items if item.identifier != prop.default]
        return others[number % len(others)]
    if prop.is_array:
        return [
            _choose_number(prop, default, number + index)
            for index, default in enumerate(prop.default_array)
        ]
    return _choose_number(prop, prop.default, number)


def _choose_number(prop: Any, default: Any, number: int) -> Any:
    if prop.type == "BOOLEAN":
        return not default
    low, high = max(prop.hard_min, default - 40), min(prop.hard_max, default + 40)
    if prop.type == "INT":
        value = low + (7 * number) % max(high - low, 1)
        return value if value != default else high
    value = low + (high - low) * (0.09 + 0.17 * (number % 5))
    return value if abs(value - default) > 1e-4 else high


def _find_block(kind: str, name: str) -> Any:
    blocks: Any = {
        "Action": bpy.data.actions,
        "Object": bpy.data.objects,
        "Collection": bpy.data.collections,
    }[kind]
    return next((block for block in blocks if block.name == name), None)


def list_leaves(group: Any, path: str = "") -> Iterator[Leaf]:
    """Yield every value in a group by its path; for a data-block its kind and name."""
    for prop in list_properties(group):
        name, value = prop.identifier, getattr(group, prop.identifier)
        where = f"{path}{name}"
        if prop.type == "COLLECTION":
            yield f"len({where})", len(value)
            for place, item in enumerate(value):
                yield from list_leaves(item, f"{where}[{place}].")
        elif is_group(prop):
            yield from list_leaves(value, f"{where}.")
        elif prop.type == "POINTER":
            yield where, value and (value.bl_rna.identifier, value.name)
        elif getattr(prop, "is_array", False):
            yield where, tuple(value)
        else:
            yield where, value


def list_kinds(group: Any) -> set[str]:
    """Return the class names of a group and of all groups in it."""
    found = {type(group).__name__}
    for prop in list_properties(group):
        value = getattr(group, prop.identifier)
        for inner in value if prop.type == "COLLECTION" else [value] if is_group(prop) else []:
            found |= list_kinds(inner)
    return found


def find_defaults(group: Any, path: str = "") -> set[str]:
    """Return the paths of values at their defaults, which a round trip cannot test."""
    found: set[str] = set()
    for prop in list_properties(group):
        name, value = prop.identifier, getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            if not value:
                found.add(path + name)
            for place, item in enumerate(value):
                found |= find_defaults(item, f"{path}{name}[{place}].")
        elif is_group(prop):
            found |= find_defaults(value, f"{path}{name}.")
        elif prop.type == "POINTER":
            found |= set() if value else {path + name}
        elif getattr(prop, "is_array", False):
            found |= {path + name} if tuple(value) == tuple(prop.default_array) else set()
        elif value == prop.default:
            found.add(path + name)
    return found


def find_differences(one: Any, other: Any) -> dict[str, tuple[Any, Any]]:
    """Return the values in which two states of settings differ."""
    return {
        path: (one.get(path), other.get(path))
        for path in sorted({*one, *other})
        if one.get(path) != other.get(path)
    }

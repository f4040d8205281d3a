"""Settings in a file that was opened or appended from: reset to their defaults where damaged.

Blender keeps whatever a file holds for a property: bytes that are no text, at which Python raises
an error wherever they are read; numbers beyond the limits, or none; choices that there are not; and
blocks of another kind. Repaired once, they need no care in panels, polls and handlers. What earlier
versions stored in another way is brought up to date.
"""

from __future__ import annotations

import math
from typing import Any

import bpy

from .marks.outcomes import update_pin
from .property_access import settings_of

_ROUNDING = 1e-6  # by which a number in 32 bits may be beyond a limit, as a part of it


def repair_all() -> None:
    """Repair the settings of all objects of the file that have any, and bring them up to date."""
    for obj in bpy.data.objects:
        if obj.is_property_set("motion_matching"):
            repair(settings_of(obj))
            if obj.type == "EMPTY" and settings_of(obj).mark.kind == "PIN":
                update_pin(obj)


def repair(group: Any) -> None:
    """Reset the properties of a group, and of the groups in it, whose values they cannot have."""
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name == "rna_type" or not group.is_property_set(name):
            continue
        if prop.type == "COLLECTION":
            for item in getattr(group, name):
                repair(item)
        elif prop.type == "POINTER" and prop.fixed_type.base.identifier == "PropertyGroup":
            repair(getattr(group, name))
        elif not _is_sound(group, prop):
            group.property_unset(name)


def _is_sound(group: Any, prop: Any) -> bool:
    """Return whether a property that is set has a value of its kind."""
    try:
        value = getattr(group, prop.identifier)
    except UnicodeDecodeError:
        return False
    if prop.type == "ENUM":
        return value in prop.enum_items
    if prop.type == "POINTER":
        return value is None or isinstance(value, getattr(bpy.types, prop.fixed_type.identifier))
    if prop.type in ("FLOAT", "INT"):
        numbers = value if prop.is_array else (value,)
        return all(_is_within(number, prop.hard_min, prop.hard_max) for number in numbers)
    return True


def _is_within(number: float, least: float, most: float) -> bool:
    """Return whether a number is finite, and within limits but for rounding."""
    if not math.isfinite(number):
        return False
    return least - _ROUNDING * abs(least) <= number <= most + _ROUNDING * abs(most)

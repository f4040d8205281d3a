"""Typed access to what Blender's types leave open: settings, bones and values of properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    from ..ui.properties import MotionMatchingSettings


def settings_of(obj: bpy.types.Object | bpy.types.ID) -> MotionMatchingSettings:
    """Return the settings of a character, given its armature object."""
    owner: Any = obj
    settings: MotionMatchingSettings = owner.motion_matching
    return settings


def armature_of(obj: bpy.types.Object) -> bpy.types.Armature:
    """Return the armature of an armature object."""
    armature: Any = obj.data
    result: bpy.types.Armature = armature
    return result


def to_plain_value(value: Any) -> Any:
    """Return a property's value without the noise of its 32 bits."""
    return round(value, 6) if isinstance(value, float) else value

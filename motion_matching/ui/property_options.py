"""What properties of a character share: how overrides change them, what a change means, and their plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from . import ground_paths, status

OVERRIDE: Any = {"override": {"LIBRARY_OVERRIDABLE"}}
MANY: Any = {"override": {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}}


def make_groups(group: Any) -> None:
    """Make the groups within a group of properties, which reading them does: an override keeps of its changes when it is
    opened again only those in groups that the linked file has."""
    for prop in group.bl_rna.properties:
        if prop.type == "POINTER" and prop.fixed_type.identifier.startswith("MotionMatching"):
            make_groups(getattr(group, prop.identifier))


def chosen(self: Any, context: bpy.types.Context) -> None:
    """Another source or take is the active one."""
    from . import inspector

    inspector.look()
    ground_paths.soon()


def changed(self: Any, context: bpy.types.Context) -> None:
    """A database may no longer be the one that these settings ask for."""
    status.forget()


def suggesting(names: Callable[[Any, bpy.types.Context, str], list[str]]) -> Any:
    """Options of a text that suggests names while it is typed; with them, Blender 4.2 crashes at its end."""
    return {"search": names} if bpy.app.version >= (4, 5, 0) else {}


def seen(self: Any, context: bpy.types.Context) -> None:
    """Another path is to be seen in the 3D view."""
    ground_paths.soon()


def plain(value: Any) -> Any:
    """A property's value without the noise of its 32 bits."""
    return round(value, 6) if isinstance(value, float) else value

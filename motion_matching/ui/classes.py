"""List all classes to register in Blender, each after the classes that it points to."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import bpy

# as in the sidebar
_ROOMS = (
    *("strip", "character", "database", "features", "tags", "play"),
    *("director", "takes", "jobs", "retarget", "controller", "insight"),
)
_MODULES = (
    *("preferences", "play.properties", "insight.properties", "tags.properties"),
    *("database.properties", "features.properties", "controller.properties"),
    *("takes.properties", "jobs.properties", "director.properties", "retarget.properties"),
    *("properties", "presets"),
    *("database.operators_sources", "database.operators_import"),
    *(f"{room}.operators" for room in _ROOMS),
    *("play.grips", "play.gizmos", "menus"),
    *(f"{room}.panel" for room in _ROOMS),
    *("database.mapping", "controller.panel_labels"),
)


def get_classes(module: ModuleType) -> list[type]:
    """Return the classes that a module defines for Blender, in their order; mixins are left out."""
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    own = [cls for cls in classes if cls.__module__ == module.__name__]
    return [cls for cls in own if issubclass(cls, bpy.types.bpy_struct)]


ALL: tuple[type, ...] = tuple(
    cls for name in _MODULES for cls in get_classes(import_module(f".{name}", __package__))
)

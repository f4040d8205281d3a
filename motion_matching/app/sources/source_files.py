"""Find the files of sources: at their paths, or where they moved along with the Blender file.

Paths are stored as absolute ones, so that saving elsewhere, linking and appending lead to the same
files. How each is reached from the Blender file is noted when that is saved.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ...engine.bvh import bvh_text
from ...engine.errors import MotionDataError
from ..character.characters import get_axes
from ..property_access import settings_of


def find_file(source: Any) -> Path | None:
    """Return the file of a source, or None for an action."""
    if source.kind != "FILE":
        return None
    path = _resolve_path(source, source.filepath)
    if source.beside and not os.path.isfile(path):
        # other systems write it in their own way
        moved = _resolve_path(source, bpy.path.native_pathsep(source.beside))
        if os.path.isfile(moved):
            return moved
    return path


def get_reading(source: Any) -> dict[str, Any]:
    """Return how the file of a source is read, as `bvh.load` takes it: axes, scale and root."""
    axes = get_axes(settings_of(source.id_data))
    return axes | {"root": source.character} if source.character else axes


def list_performers(source: Any) -> list[str]:
    """Return the performers in the file of a source; none if it cannot be read."""
    try:
        return bvh_text.list_performers(find_file(source) or Path())
    except MotionDataError:
        return []


def choose_character(path: Path, name: str) -> str:
    """Return the character to read from a BVH file: a name counts in files that hold several.

    Raises MotionDataError if the file cannot be read.
    """
    return name if name and len(bvh_text.list_performers(path)) > 1 else ""


def _resolve_path(source: Any, path: str) -> Path:
    """Return a path of a source, which may be relative to the Blender file of the source."""
    owner = source.id_data
    reference = owner.override_library.reference if owner.override_library else owner
    return Path(os.path.normpath(bpy.path.abspath(path, library=reference.library)))


def store_relative_paths(path: str) -> None:
    """Store how files are reached from where the Blender file is saved; not for linked sources."""
    if not path:
        return
    for obj in bpy.data.objects:
        if obj.type == "ARMATURE" and not (obj.library or obj.override_library):
            for source in settings_of(obj).sources:
                _store_relative_path(source, os.path.dirname(os.path.abspath(path)))


def _store_relative_path(source: Any, folder: str) -> None:
    file = find_file(source)
    if file and os.path.isfile(file):
        beside = ""
        with suppress(ValueError):  # it is on another drive
            beside = bpy.path.relpath(str(file), start=folder)
        if source.beside != beside:
            source.beside = beside

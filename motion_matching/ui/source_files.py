"""Where the files of sources are: at their paths, or where they went along with the Blender file.

Paths are kept whole, so that saving elsewhere, linking and appending lead to the same files; how each is reached from the
Blender file is noted when that is saved.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from . import callbacks


def file_of(source: Any) -> Path | None:
    """The file of a source, or None where it is an action."""
    if source.kind != "FILE":
        return None
    path = _whole(source, source.filepath)
    if source.beside and not path.is_file():
        moved = _whole(
            source, bpy.path.native_pathsep(source.beside)
        )  # other systems write it in their own way
        if moved.is_file():
            return moved
    return path


def _whole(source: Any, path: str) -> Path:
    """A path of a source, which may be as seen from the Blender file that the source is saved in."""
    owner = source.id_data
    reference = owner.override_library.reference if owner.override_library else owner
    return Path(os.path.normpath(bpy.path.abspath(path, library=reference.library)))


@persistent
def _before_saving(path: str, *_: Any) -> None:
    """Note how files are reached from where the Blender file is saved; linked sources are known from their own."""
    if not path:
        return
    for obj in bpy.data.objects:
        if obj.type == "ARMATURE" and not (obj.library or obj.override_library):
            for source in obj.motion_matching.sources:
                _note(source, os.path.dirname(os.path.abspath(path)))


def _note(source: Any, folder: str) -> None:
    file = file_of(source)
    if file and file.is_file():
        beside = ""
        with suppress(ValueError):  # it is on another drive
            beside = bpy.path.relpath(str(file), start=folder)
        if source.beside != beside:
            source.beside = beside


def _handlers() -> callbacks.Handlers:
    return ((bpy.app.handlers.save_pre, _before_saving),)


def start() -> None:
    """Note where files are whenever the Blender file is saved."""
    callbacks.listen(_handlers())


def stop() -> None:
    """Note it no more."""
    callbacks.unlisten(_handlers())

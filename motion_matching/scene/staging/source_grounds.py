"""Read the grounds that sources name as objects of Blender files, for a build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import bpy

from ...engine.control.ground import Ground
from ...engine.database.sources import GroundObject, Source
from ...engine.errors import SettingsError
from ..blender.files import open_blend
from .ground import read_object_floor


def list_files(sources: Sequence[Source]) -> list[Path]:
    """Return the Blender files that hold grounds of sources, each once."""
    grounds = (source.ground for source in sources)
    return list(dict.fromkeys(one.file for one in grounds if isinstance(one, GroundObject)))


def read_grounds(sources: Sequence[Source]) -> list[Source]:
    """Return the sources with their grounds, as they are on the first frame of their scenes.

    A Blender file is opened in place of the one that is open. Raises SettingsError for an object
    that is missing or not shown, MotionDataError if a file cannot be opened.
    """
    floors: dict[GroundObject, Ground] = {}
    for file in list_files(sources):
        open_blend(file)
        scene = bpy.context.scene
        scene.frame_set(scene.frame_start)
        for source in sources:
            wanted = source.ground
            if isinstance(wanted, GroundObject) and wanted.file == file and wanted not in floors:
                floors[wanted] = _read(wanted, source.name)
    return [
        replace(source, ground=floors[source.ground])
        if isinstance(source.ground, GroundObject)
        else source
        for source in sources
    ]


def _read(wanted: GroundObject, source: str) -> Ground:
    try:
        return read_object_floor(wanted.name)
    except SettingsError as error:
        raise SettingsError(
            f"The ground of the source '{source}' cannot be read from {wanted.file}. {error}"
        ) from None

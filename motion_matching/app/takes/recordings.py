"""Recordings that were cut off, and what is left of them on the disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ... import app, live, scene  # whose modules load on use: Blender starts with `refresh`
from ...engine.errors import MotionMatchingError
from ...engine.files import own_files
from ...engine.performance import performance
from ...live import recovery
from ..runtime import runtime

if TYPE_CHECKING:
    from ...live.recovery import Origin
    from ...scene.writing.recording import RecordedTicks


def get_folder() -> Path:
    """Return where recordings are stored while they are made. DatabaseError if there is none."""
    return scene.library.library.get_folder().with_name("recordings")


def refresh() -> None:
    """Find out which recordings were cut off."""
    try:
        runtime.interrupted = tuple(recovery.find_unfinished(get_folder()))
    except MotionMatchingError:
        runtime.interrupted = ()


def find_foremost() -> Path:
    """Return the newest cut-off recording of an armature that is here, if possible of this file.

    A steered path counts as here in its file. If nothing is here, return the oldest.
    """
    origins = [(path, recovery.read_origin(path)) for path in reversed(runtime.interrupted)]
    here = [(path, origin) for path, origin in origins if origin and _is_here(origin)]
    default = here[0][0] if here else runtime.interrupted[0]
    return next((path for path, origin in here if origin.file == bpy.data.filepath), default)


def recover(path: Path) -> bpy.types.Action:
    """Write a cut-off recording as a take of its armature, by name, or as path of a new empty.

    Raises MotionMatchingError if the armature is missing or the recording cannot be read; the file
    stays then.
    """
    origin, ticks = recovery.read(path)
    if origin.alone:
        empty = scene.staging.marker_writer.create_marker(origin.armature)
        try:
            action = scene.writing.recording.write_take(empty, ticks)
        except MotionMatchingError:
            bpy.data.objects.remove(empty)
            raise
    else:
        obj = _find_armature(origin.armature)
        if obj is None:
            file = f"the file '{origin.file}'" if origin.file else "its file"
            text = f"The recording was made with armature '{origin.armature}'"
            raise MotionMatchingError(
                f"{text}, which is not in this file, or is linked; open {file} first, or make a "
                "library override."
            )
        action = scene.writing.recording.write_take(obj, _rename(ticks))
        app.takes.take_list.list_take(obj, action)
    own_files.remove(path)
    refresh()
    return action


def _rename(ticks: RecordedTicks) -> RecordedTicks:
    """Name ticks after their gait, because a recovery file does not hold the input's name."""
    performed = performance.from_json(ticks.performance, "The interrupted recording")
    gait = live.inputs.devices.steering.name_gait(performed.intents[ticks.lead_in :])
    return replace(ticks, name=app.takes.take_list.find_free_name(f"Recovered {gait}"))


def _is_here(origin: Origin) -> bool:
    if origin.alone:
        return origin.file == bpy.data.filepath
    return _find_armature(origin.armature) is not None


def _find_armature(name: str) -> bpy.types.Object | None:
    """Return the armature object of a name in this file; what a linked one plays is not saved."""
    named = (obj for obj in bpy.data.objects if obj.name == name and obj.type == "ARMATURE")
    return next((obj for obj in named if obj.library is None), None)

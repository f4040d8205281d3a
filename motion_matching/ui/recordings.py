"""Takes in the list of a character, and recordings that were cut off, with what is left of them on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..engine.errors import MotionMatchingError
from . import items, status

if TYPE_CHECKING:
    from ..live.recovery import Origin

left: tuple[Path, ...] = ()  # recordings that were cut off, as they were found last


def folder() -> Path:
    """Where recordings are kept while they are made. DatabaseError where Blender has no folder for it."""
    from ..scene import library

    return library.folder().with_name("recordings")


def look() -> None:
    """Find out which recordings were cut off."""
    global left
    from ..live import recovery

    try:
        left = tuple(recovery.left_over(folder()))
    except MotionMatchingError:
        left = ()


def foremost() -> Path:
    """Of the recordings that were cut off, the newest of an armature that is here, of this file if there is one.

    A steered path counts as here in its file. Where there is none for this file, the oldest.
    """
    from ..live import recovery

    origins = [(path, recovery.origin_of(path)) for path in reversed(left)]
    here = [(path, origin) for path, origin in origins if origin and _is_here(origin)]
    return next(
        (path for path, origin in here if origin.file == bpy.data.filepath),
        here[0][0] if here else left[0],
    )


def recover(path: Path) -> bpy.types.Action:
    """Write a recording that was cut off as a take of the armature that it was made with, found by its name, or as the
    path of a new empty.

    MotionMatchingError where the armature is not there, or the recording cannot be read; then it is kept.
    """
    from ..live import recovery
    from ..scene import marker, recording

    origin, ticks = recovery.read(path)
    if origin.alone:
        empty = marker.new_marker(origin.armature)
        try:
            action = recording.write_take(empty, ticks)
        except MotionMatchingError:
            bpy.data.objects.remove(empty)
            raise
    else:
        obj = _armature(origin.armature)
        if obj is None:
            file = f"the file '{origin.file}'" if origin.file else "its file"
            raise MotionMatchingError(
                f"The recording was made with armature '{origin.armature}', which is not in this "
                f"file; open {file} first."
            )
        action = recording.write_take(obj, ticks)
        list_take(obj, action)
    path.unlink(missing_ok=True)
    look()
    return action


def _is_here(origin: Origin) -> bool:
    """Whether what a recording was made with is in this file."""
    return (
        origin.file == bpy.data.filepath if origin.alone else _armature(origin.armature) is not None
    )


def _armature(name: str) -> bpy.types.Object | None:
    """The armature object of that name in this file."""
    obj: bpy.types.Object | None = bpy.data.objects.get(name)
    return obj if obj is not None and obj.type == "ARMATURE" else None


def list_take(
    obj: bpy.types.Object, action: bpy.types.Action, seconds: float | None = None
) -> None:
    """List a take of a character, or note its new length, which is that of its keys unless given."""
    settings, scene = obj.motion_matching, bpy.context.scene
    place = next(
        (place for place, take in enumerate(settings.takes) if take.action == action), None
    )
    listed = items.added(settings.takes, action.name) if place is None else settings.takes[place]
    start, stop = action.frame_range[0], action.frame_range[1]
    listed.action = action
    listed.seconds = (
        (stop - start + 1.0) * scene.render.fps_base / scene.render.fps
        if seconds is None
        else seconds
    )
    settings.take_index = len(settings.takes) - 1 if place is None else place
    status.redraw()


def discard_take(obj: bpy.types.Object, place: int) -> None:
    """Take a take off the list of a character, and delete its action, its strips and what was kept of its performance.

    SettingsError for one that comes with a linked file.
    """
    from ..scene import recording

    settings = obj.motion_matching
    action = settings.takes[place].action
    items.remove(settings.takes, place, f"The take '{settings.takes[place].name}'")
    if place < settings.take_index or settings.take_index == len(settings.takes):
        settings.take_index = max(0, settings.take_index - 1)
    if action and not action.library:
        recording.remove_take(obj, action)
    status.redraw()

"""The takes that a character lists: named, added, and deleted."""

from __future__ import annotations

import re

import bpy

from ...scene.blender.animation.actions import get_scene_fps, keep_in_file, pin_moving_group
from ...scene.blender.handle import fit_name
from ...scene.direct import stored_shots
from ...scene.writing import recording
from .. import callbacks, property_access
from ..property_access import settings_of

_NUMBER = re.compile(r"(?: (\d{2,3})|\.(\d{3}))$")  # at the end of a take's name
_NUMBER_BYTES = 4


def find_free_name(name: str) -> str:
    """Return a name for a new take: with the next number, if there are actions of that name.

    A number that the name has already does not count.
    """
    stem = fit_name(_NUMBER.sub("", name) or name, _NUMBER_BYTES)
    taken = [_read_number(action.name, stem) for action in bpy.data.actions]
    last = max(taken, default=0)
    return f"{stem} {last + 1:02d}" if last else stem


def _read_number(name: str, stem: str) -> int:
    """Return the number of a name among those with a stem, from 1 for the stem alone; else 0."""
    if not name.startswith(stem):
        return 0
    if name == stem:
        return 1
    match = _NUMBER.fullmatch(name, len(stem))
    if not match:
        return 0
    return int(match[1]) if match[1] else int(match[2]) + 1  # Blender's own begin at .001


def list_take(
    obj: bpy.types.Object, action: bpy.types.Action, seconds: float | None = None
) -> None:
    """List a take of a character, or update its length, which is that of its keys unless given."""
    settings = settings_of(obj)
    actions = [listed.action for listed in settings.takes]
    index = actions.index(action) if action in actions else len(actions)
    if seconds is None:
        start, stop = action.frame_range[0], action.frame_range[1]
        seconds = (stop - start + 1.0) / get_scene_fps(bpy.context.scene)
    is_new = index == len(actions)
    if is_new:
        pin_moving_group(action)
    listed = property_access.add(settings.takes, action.name) if is_new else settings.takes[index]
    listed.action = action
    listed.seconds = seconds
    settings.take_index = index
    callbacks.redraw()


def discard_take(obj: bpy.types.Object, index: int) -> str:
    """Remove a take from the list of a character, with its action, strips and performance.

    Returns why its action stays, if that is so: something else uses it, or it was not made here.
    Raises SettingsError if the take comes from a linked file.
    """
    settings = settings_of(obj)
    action = settings.takes[index].action
    property_access.remove(settings.takes, index, f"The take '{settings.takes[index].name}'")
    if index < settings.take_index or settings.take_index == len(settings.takes):
        settings.take_index = max(0, settings.take_index - 1)
    callbacks.redraw()
    if not isinstance(action, bpy.types.Action) or action.library:
        return ""
    is_source = any(source.action == action for source in settings.sources)
    if not is_source and recording.remove_take(obj, action):
        return ""
    keep_in_file(action)
    is_made_here = recording.is_take(action) or stored_shots.is_directed(action)
    reason = "something else uses it" if is_made_here else "it is no take"
    return f"The action '{action.name}' stays, because {reason}"

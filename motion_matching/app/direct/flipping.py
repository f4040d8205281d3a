"""Flip through the directed takes of a character, such as variations of one shot."""

from __future__ import annotations

import bpy

from ...scene.blender.animation.actions import assign
from ...scene.direct import own_track, stored_shots
from .. import callbacks
from ..property_access import get_active_take, settings_of


def list_directed(obj: bpy.types.Object) -> list[bpy.types.Action]:
    """Return the actions of an armature's directed takes, in the order of the list."""
    listed = [take.action for take in settings_of(obj).takes]
    return [action for action in listed if stored_shots.is_directed(action)]


def find_next(obj: bpy.types.Object, step: int) -> bpy.types.Action | None:
    """Return the directed take at an offset from the active one, wrapping around at the end."""
    directed = list_directed(obj)
    action = get_active_take(obj)
    if not directed:
        return None
    if action not in directed:
        return directed[0]
    return directed[(directed.index(action) + step) % len(directed)]


def show(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Have an armature play one of its directed takes, and make it the active one.

    On the NLA it takes the place of the take on the director's track. Raises RigError while a strip
    is being edited.
    """
    settings = settings_of(obj)
    if not own_track.show_on_own_track(obj, action):
        assign(obj, action)
    settings.take_index = [take.action for take in settings.takes].index(action)
    callbacks.redraw()


def describe(action: bpy.types.Action) -> str:
    """Return a take's name, and the seed that it was solved with, if that is known."""
    seed = stored_shots.read_seed(action)
    return action.name if seed is None else f"{action.name}, Seed {seed}"

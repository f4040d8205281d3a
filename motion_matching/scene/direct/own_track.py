"""Manage the NLA track of a character's directed takes: each solve replaces the take on it.

Tracks above it, and the active action, are the animator's: keys by hand stay above all solves.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..blender.animation.actions import HAS_SLOTS, add_strip, find_slot, get_untweaked_data
from .stored_shots import is_directed

TRACK = "Directed"
_KEPT = ("blend_type", "extrapolation", "mute", "influence", "use_animated_influence")


def put_on_own_track(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Move a directed take from the new track that it was baked onto to that of earlier ones.

    Without such a track, its own becomes that one.
    """
    data: Any = obj.animation_data
    new = next(t for t in data.nla_tracks if any(s.action == action for s in t.strips))
    own = next((t for t in data.nla_tracks if t != new and _is_own(t)), None)
    if own is None:
        new.name = TRACK
        return
    slot = new.strips[0].action_slot if HAS_SLOTS else None
    start = round(new.strips[0].frame_start)
    data.nla_tracks.remove(new)
    _replace_strip(own, action, start, slot)


def show_on_own_track(obj: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Put a directed take in place of the one that plays on their NLA track, if one does.

    Returns whether it does. Raises RigError in tweak mode.
    """
    data: Any = get_untweaked_data(obj)
    own = next((track for track in data.nla_tracks if _is_own(track)), None)
    if own is None or is_directed(data.action):
        return False
    if own.strips[0].action != action:
        _replace_strip(own, action, round(action.frame_range[0]), find_slot(action, obj))
    return True


def _replace_strip(track: Any, action: bpy.types.Action, start: int, slot: Any) -> None:
    """Replace the strips of a track by one of an action, with the first one's settings."""
    before = {name: getattr(track.strips[0], name) for name in _KEPT}
    for strip in list(track.strips):
        track.strips.remove(strip)
    strip = add_strip(track, action, slot, start)
    for name, value in before.items():
        setattr(strip, name, value)


def _is_own(track: Any) -> bool:
    return len(track.strips) > 0 and all(is_directed(strip.action) for strip in track.strips)

"""The NLA track of a character's directed takes: each solve replaces the take that is on it.

Tracks above it, and the active action, are the animator's: keys by hand stay above all solves.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..blender.actions import HAS_SLOTS
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
    before = {name: getattr(own.strips[0], name) for name in _KEPT}
    for strip in list(own.strips):
        own.strips.remove(strip)
    strip = own.strips.new(action.name, start, action)
    if HAS_SLOTS:
        strip.action_slot = slot
    for name, value in before.items():
        setattr(strip, name, value)


def _is_own(track: Any) -> bool:
    return len(track.strips) > 0 and all(is_directed(strip.action) for strip in track.strips)

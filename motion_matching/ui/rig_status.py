"""What the panel Character shows of a rig: found out outside drawing, where something that it depends on has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from . import callbacks, ground_paths, status

if TYPE_CHECKING:
    from ..scene.rig_check import RigState

_found: dict[
    int, tuple[tuple[Any, ...], RigState]
] = {}  # by the armature's session_uid: what it was found for, and it
_wanted: set[int] = set()


def shown(obj: bpy.types.Object) -> RigState | None:
    """What was found out last about an armature object; has it found out again between redraws where it has changed."""
    _wanted.add(obj.session_uid)
    callbacks.soon(_refresh_wanted)
    known = _found.get(obj.session_uid)
    return known and known[1]


def refresh(obj: bpy.types.Object) -> RigState:
    """Find out how the rig of an armature object is now."""
    from ..scene.rig_check import check
    from . import request

    settings = obj.motion_matching
    choice = None if settings.bones == "AUTO" else settings.bones.lower()
    state = check(obj, choice, request.roles_of(settings))
    _found[obj.session_uid] = _state(obj), state
    return state


def _state(obj: bpy.types.Object) -> tuple[Any, ...]:
    """What a rig depends on, as far as it can be told cheaply."""
    from . import request

    settings = obj.motion_matching
    # a turn about Z is where a character faces, not what it is
    shape = (round(value, 4) for value in (*obj.scale, *obj.matrix_basis[2][:3]))
    bones = tuple(
        (bone.name, bone.parent and bone.parent.name, bone.use_deform) for bone in obj.data.bones
    )
    return (
        settings.bones,
        tuple(request.roles_of(settings).items()),
        bones,
        ground_paths.rest_of(obj),
        obj.data.users,
        obj.parent and obj.parent.session_uid,
        *shape,
    )


def _refresh_wanted() -> None:
    # in Edit Mode nothing is found out
    there = [
        obj
        for obj in bpy.data.objects
        if obj.session_uid in _wanted and obj.type == "ARMATURE" and obj.mode != "EDIT"
    ]
    _wanted.clear()
    changed = [obj for obj in there if _found.get(obj.session_uid, (None,))[0] != _state(obj)]
    for obj in changed:
        refresh(obj)
    if changed:  # else the panels, which ask at every redraw, would be drawn again and again
        status.redraw()


def stop() -> None:
    """Look no more."""
    callbacks.not_soon(_refresh_wanted)
    _wanted.clear()
    _found.clear()

"""Compute the state of a rig for the panel Character: outside drawing, after changes."""

from __future__ import annotations

from typing import Any

import bpy

from ...scene.rig.armature import read_rest_bytes
from ...scene.rig.problems import RigState, check_rig
from .. import callbacks
from ..property_access import armature_of, settings_of
from ..runtime import runtime
from ..strip.warnings import RIG_KIND, describe_rig_problem, forget_resolved
from . import controls
from .characters import get_bone_choice, get_roles


def get_rig_state(obj: bpy.types.Object) -> RigState | None:
    """Return the last known state of an armature object; schedule a refresh if it has changed."""
    runtime.pending_rigs.add(obj.session_uid)
    callbacks.schedule(_refresh_pending)
    known = runtime.rigs.get(obj.session_uid)
    return known and known[1]


def refresh(obj: bpy.types.Object) -> RigState:
    """Compute the state of the rig of an armature object."""
    state = check_rig(obj, get_bone_choice(obj), get_roles(settings_of(obj)))
    runtime.rigs[obj.session_uid] = _get_dependencies(obj), state
    controls.refresh(obj)
    forget_resolved(obj.session_uid, (RIG_KIND,), map(describe_rig_problem, state.problems))
    return state


def _get_dependencies(obj: bpy.types.Object) -> tuple[Any, ...]:
    """Return what the state of a rig depends on, as far as it can be read cheaply."""
    settings = settings_of(obj)
    # a turn about Z is where a character faces, not what it is
    sizes: Any = (obj.scale, obj.matrix_basis[2][:3])
    shape = tuple(round(value, 4) for row in sizes for value in row)
    bones = tuple(
        (bone.name, bone.parent and bone.parent.name, bone.use_deform)
        for bone in armature_of(obj).bones
    )
    return (
        settings.bones,
        tuple(get_roles(settings).items()),
        bones,
        read_rest_bytes(obj),
        obj.data.users,
        obj.parent and obj.parent.session_uid,
        *shape,
    )


def _refresh_pending() -> None:
    pending = runtime.pending_rigs
    runtime.pending_rigs = set()
    changed = [obj for obj in bpy.data.objects if obj.session_uid in pending and _has_changed(obj)]
    known = runtime.rigs.keys()
    if any(obj.session_uid in known for obj in changed):
        runtime.changed("database")  # sources may fit it no longer, or do so now
    for obj in changed:
        refresh(obj)
    if changed:  # else the panels, which ask at every redraw, would be drawn again and again
        callbacks.redraw()


def _has_changed(obj: bpy.types.Object) -> bool:
    """Return whether the state of a rig has to be computed; in Edit Mode it never is."""
    if obj.type != "ARMATURE" or obj.mode == "EDIT":
        return False
    known = runtime.rigs.get(obj.session_uid)
    return known is None or known[0] != _get_dependencies(obj)

"""Find the armature objects that are characters: the active one, and where it stands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy

from ... import engine, scene  # whose modules load on use: panels need this one
from ...engine.errors import SettingsError
from ...engine.skeleton.bone_names import ROLES
from ..property_access import settings_of, to_plain_value

if TYPE_CHECKING:
    from ...ui.properties import MotionMatchingSettings


def get_active_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active armature object, or the one that belongs to the active object."""
    return resolve_armature(context.object)


def get_selected_armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the active armature, then the others that are selected or belong to what is."""
    active = get_active_armature(context)
    found = [active, *map(resolve_armature, context.selected_objects)] if active else []
    return list(dict.fromkeys(obj for obj in found if obj))


def get_active_settings(context: bpy.types.Context) -> MotionMatchingSettings:
    """Return the settings of the active armature; there must be one."""
    return settings_of(get_active_armature(context))


def resolve_armature(obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """Return the armature for an object: itself, the one deforming it, or the owner of a path or
    mark.
    """
    if obj is None or obj.type == "ARMATURE":
        return obj
    if obj.type == "EMPTY":
        settings = settings_of(obj)
        for owner in (settings.performer, settings.mark.character):
            if owner and owner.type == "ARMATURE" and owner.users_scene:
                return owner
    return obj.find_armature()


def get_armature(uid: int) -> bpy.types.Object:
    """Return the armature object of a session_uid. SettingsError if it is gone."""
    for obj in bpy.data.objects:
        if obj.session_uid == uid and obj.type == "ARMATURE":
            return obj
    raise SettingsError("The armature was deleted; start again with another one.")


def get_bone_choice(obj: bpy.types.Object) -> str | None:
    """Return which bones make up the skeleton, as sampling takes it: None to have them found."""
    choice = settings_of(obj).bones
    return None if choice == "AUTO" else choice.lower()


def get_roles(settings: Any) -> dict[str, str]:
    """Return the bones by role that were given."""
    return {role: bone for role in ROLES if (bone := getattr(settings.roles, role))}


def get_axes(settings: Any) -> dict[str, Any]:
    """Return how files are read, as `bvh.load` takes it: their axes and scale."""
    scale = to_plain_value(settings.file_scale) or None
    return {"up": settings.up, "forward": settings.forward, "scale": scale}


def get_placement(
    obj: bpy.types.Object, frame: int | None = None
) -> engine.control.performer.Placement:
    """Return where an armature stands and faces: its turn about Z, however it is tilted.

    With a `frame`, where its animation has it then.
    """
    matrix = obj.matrix_world
    placements = scene.staging.placements
    if frame not in (None, bpy.context.scene.frame_current) and placements.is_animated(obj):
        [matrix] = placements.sample_matrices(obj, [frame])
    turn = matrix.to_quaternion()
    yaw = 2.0 * math.atan2(turn.z, turn.w)
    return engine.control.performer.Placement(matrix[0][3], matrix[1][3], yaw)


def get_root_target(obj: bpy.types.Object) -> tuple[scene.rig.root_target.RootTarget | None, str]:
    """Return what carries a character (None: to be found), and its bone if it is one."""
    targets = scene.rig.root_target.RootTarget
    settings = settings_of(obj)
    root = None if settings.root == "AUTO" else targets[settings.root]
    return root, settings.root_bone if root is targets.BONE else ""

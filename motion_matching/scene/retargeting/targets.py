"""The armature that motion is retargeted onto: its skeleton, and whether its bones take keys."""

from __future__ import annotations

from collections.abc import Collection

import bpy

from ...engine.errors import RigError
from ...engine.motion.skeleton import Skeleton
from ..blender.actions import get_untweaked_data
from ..rig.armature import check_armature, read_skeleton
from ..rig.plan import check_follows_keys


def read_target_skeleton(obj: bpy.types.Object, bones: str | None = None) -> Skeleton:
    """Read the skeleton of an armature object that a new action can be given.

    `bones` is as for `read_skeleton`. Raises RigError, which says what to do, if it cannot.
    """
    check_armature(obj)
    what = f"armature '{obj.name}'"
    if obj.library and not obj.override_library:
        raise RigError(
            f"{what} is linked from another file; make a library override of it first (Object > "
            "Library Override > Make)."
        )
    if obj.mode == "EDIT":
        raise RigError(f"{what} is being edited; leave Edit Mode first.")
    if obj.animation_data:
        get_untweaked_data(obj)
    return read_skeleton(obj, bones)


def check_takes_keys(obj: bpy.types.Object, moved: Collection[str], hips: str) -> None:
    """Raise RigError for moved bones that would not follow their keys, or that are locked."""
    names = tuple(bone.name for bone in obj.data.bones if bone.name in moved)
    check_follows_keys(obj, names)
    for name in names:
        pose = obj.pose.bones[name]
        locks = {"rotation": any(pose.lock_rotation)}
        locks["location"] = name == hips and any(pose.lock_location)
        for kind in (kind for kind, is_locked in locks.items() if is_locked):
            raise RigError(
                f"the {kind} of bone '{name}' of armature '{obj.name}' is locked, and the motion "
                "needs it; unlock it in the Item tab of the sidebar."
            )
    if hips in names and obj.data.bones[hips].use_connect:
        raise RigError(
            f"bone '{hips}' of armature '{obj.name}' carries the body but is connected to its "
            "parent; switch Connected off in the bone's Relations."
        )

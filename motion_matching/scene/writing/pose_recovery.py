"""Restore armatures that an undo step or a copy left in a session's pose."""

from __future__ import annotations

import bpy

from .recording import GROWING, is_take
from .saved_pose import SAVED_POSE, SavedPose


def restore_abandoned_poses() -> None:
    """Restore armatures that no session drives any longer; a finished take goes on playing."""
    for obj in bpy.data.objects:
        # no `in`
        if obj.type != "ARMATURE" or obj.library or SAVED_POSE not in obj.keys():  # noqa: SIM118
            continue
        action = obj.animation_data.action if obj.animation_data else None
        if action is not None and GROWING in action.keys():  # noqa: SIM118
            bpy.data.actions.remove(action)  # a recording was still growing
            action = None
        SavedPose.from_property(obj).restore(obj, action is not None and is_take(action))

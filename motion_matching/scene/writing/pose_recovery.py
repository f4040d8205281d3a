"""Restore armatures that an undo step or a copy left in a session's pose."""

from __future__ import annotations

import bpy

from .recording import GROWING, is_take
from .saved_pose import SAVED_POSE, SavedPose


def restore_abandoned_poses() -> None:
    """Restore what a session saved on armatures that it no longer has; one that plays a finished
    take keeps it.
    """
    for obj in bpy.data.objects:
        # no `in`
        if obj.type == "ARMATURE" and obj.library is None and SAVED_POSE in obj.keys():  # noqa: SIM118
            _remove_growing_action(obj)
            action = obj.animation_data.action if obj.animation_data else None
            SavedPose.from_property(obj).restore(obj, action is not None and is_take(action))


def _remove_growing_action(obj: bpy.types.Object) -> None:
    """Remove from the file an action that a recording was still growing on an armature."""
    action = obj.animation_data.action if obj.animation_data else None
    if action is not None and GROWING in action.keys():  # noqa: SIM118  # no `in`
        bpy.data.actions.remove(action)

"""Armatures that carry what a session found on them though none has them: undo steps made while it was live, and copies."""

from __future__ import annotations

import bpy

from .found_pose import NOTED, FoundPose
from .recording import GROWING, is_take


def give_back_all() -> None:
    """Bring back what a session found on armatures that are still without it. One that plays a take goes on doing so."""
    for obj in bpy.data.objects:
        if obj.type == "ARMATURE" and obj.library is None and NOTED in obj.keys():  # noqa: SIM118  # no `in`
            FoundPose.noted(obj).restore(obj, _plays_take(obj))


def _plays_take(obj: bpy.types.Object) -> bool:
    """Whether it plays a take that is finished; an action that was growing is taken out of the file."""
    action = obj.animation_data.action if obj.animation_data else None
    if action is not None and GROWING in action.keys():  # noqa: SIM118  # no `in`
        bpy.data.actions.remove(action)
        return False
    return action is not None and is_take(action)

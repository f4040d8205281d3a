"""Bones that are selected in pose mode: since Blender 5.0 the pose's, before the armature's."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import bpy


def select_bones(obj: bpy.types.Object, names: Collection[str]) -> None:
    """Select these bones of an armature object alone; the first of them becomes active."""
    for bone in obj.pose.bones:
        holder: Any = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name in names
    chosen = next((bone for bone in obj.data.bones if bone.name in names), None)
    if chosen is not None:
        obj.data.bones.active = chosen

"""The built-in performer: the demo's armature with the mannequin, and its clips as actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ...engine.locomotion.humanoid import build_humanoid_skeleton
from ...engine.motion.clip import Clip
from ..blender import playback
from ..rig.armature import create_armature
from ..writing.bake import bake
from ..writing.pose_guard import preserve_pose
from .mannequin import create_mannequin


def add_performer(scene: bpy.types.Scene, name: str = "Performer") -> bpy.types.Object:
    """Add the demo's armature and mannequin at the origin of the current scene.

    In object mode it becomes the active and only selected object, as with Blender's own Add menu.
    """
    skeleton = build_humanoid_skeleton()
    armature: Any = create_armature(skeleton, name, scene.collection)
    try:
        armature.data.display_type = "STICK"
        armature.show_in_front = True
        create_mannequin(armature, skeleton, f"{name} Mannequin")
    except BaseException:
        bpy.data.armatures.remove(armature.data)  # takes the object with it
        raise
    if bpy.context.mode == "OBJECT":
        for other in bpy.context.selected_objects:
            other.select_set(False)
        armature.select_set(True)
        bpy.context.view_layer.objects.active = armature
    return armature


def add_demo_actions(armature: bpy.types.Object, clips: Iterable[Clip]) -> list[bpy.types.Action]:
    """Add clips of the demo as new actions for its armature, from frame 1 at the scene's rate.

    What it plays and its pose stay. Raises RigError, with nothing left behind, if it does not fit.
    """
    created: list[bpy.types.Action] = []
    try:
        with preserve_pose(armature), playback.preserve_animation(armature):
            for clip in clips:
                created.append(bake(clip, armature, name=clip.name))
                created[-1].use_fake_user = True
    except BaseException:
        for action in created:
            bpy.data.actions.remove(action)
        raise
    return created

"""The built-in performer: the demo's armature with the mannequin on it, and its generated clips as actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ..engine.motion.clip import Clip
from ..engine.motion.humanoid import humanoid_skeleton
from . import actions
from .armature import create_armature
from .bake import bake
from .kept_pose import keeping_pose
from .mannequin import create_mannequin


def add_performer(scene: bpy.types.Scene, name: str = "Performer") -> bpy.types.Object:
    """The demo's armature at the origin, with the mannequin as its child; both are linked to the scene's collection.

    The scene must be the current one. In object mode the armature becomes the active and only selected object, as with
    Blender's own Add menu.
    """
    skeleton = humanoid_skeleton()
    armature = create_armature(skeleton, name, scene.collection)
    try:
        armature.data.display_type = "STICK"
        armature.show_in_front = True
        create_mannequin(armature, skeleton, f"{name} Mannequin")
    except BaseException:
        data: Any = armature.data
        bpy.data.armatures.remove(data)  # takes the object with it
        raise
    if bpy.context.mode == "OBJECT":
        for other in bpy.context.selected_objects:
            other.select_set(False)
        armature.select_set(True)
        bpy.context.view_layer.objects.active = armature
    return armature


def add_demo_actions(armature: bpy.types.Object, clips: Iterable[Clip]) -> list[bpy.types.Action]:
    """Clips of the demo as new actions for its armature, kept in the file, from frame 1 at the scene's frame rate.

    What the armature plays stays as it was, and how it is posed. RigError where the armature does not fit; nothing is left
    behind then.
    """
    made: list[bpy.types.Action] = []
    try:
        with keeping_pose(armature), actions.undisturbed(armature):
            for clip in clips:
                made.append(bake(clip, armature, name=clip.name))
                made[-1].use_fake_user = True
    except BaseException:
        for action in made:
            bpy.data.actions.remove(action)
        raise
    return made

"""Create the built-in performer: an armature with the mannequin, and its clips as actions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...engine.building.demo_clips import load_demo_skeleton
from ...engine.motion.clip import Clip
from ..blender.animation import playback
from ..rig.armature import create_armature
from ..rig.fitting import ArmatureState
from ..writing.bake import bake
from .mannequin import create_mannequin
from .placements import find_free_spot

_AROUND = 0.2  # metres of body around its joints


def add_performer(name: str = "Performer") -> bpy.types.Object:
    """Add the demo's armature and mannequin to the active collection, beside what is at the origin.

    In object mode it becomes the active and only selected object, as with Blender's own Add menu.
    """
    skeleton = load_demo_skeleton()
    _, heads = skeleton.compute_rest_world()
    spot = find_free_spot(heads.min(axis=0) - _AROUND, heads.max(axis=0) + _AROUND)
    armature: Any = create_armature(skeleton, name)
    try:
        armature.location.x = spot
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


def start_from(clip: Clip, armature: bpy.types.Object) -> Clip:
    """Return a clip of the demo that starts where its armature stands instead of the origin."""
    positions = clip.positions.copy()
    positions[:, 0] += np.array(armature.location, np.float32)
    return replace(clip, positions=positions)


def add_demo_actions(armature: bpy.types.Object, clips: Iterable[Clip]) -> list[bpy.types.Action]:
    """Add clips of the demo as new actions for its armature, from frame 1 at the scene's rate.

    What it plays and its pose stay. Raises RigError, with nothing left behind, if it does not fit.
    """
    created: list[bpy.types.Action] = []
    try:
        with playback.preserve_pose(armature), playback.preserve_animation(armature):
            standing = ArmatureState.from_object(armature)
            for clip in clips:
                created.append(bake(clip, armature, name=clip.name, standing=standing))
                created[-1].use_fake_user = True
    except BaseException:
        for action in created:
            bpy.data.actions.remove(action)
        raise
    return created

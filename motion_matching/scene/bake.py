"""A clip or take into a new action on an armature object."""

from __future__ import annotations

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.maths import quat
from ..engine.motion.clip import Clip
from . import actions
from .armature import BoneMap, bone_map

STILL = 1e-6  # metres: a bone that moves less relative to its parent gets no location keys


def bake(clip: Clip, obj: bpy.types.Object, *, name: str, frame_start: float = 1) -> bpy.types.Action:
    """Bake a clip into a new action, which is assigned to the object; the clip's first frame falls on `frame_start`.

    The armature's rest pose must be that of the clip's skeleton (see `armature.standing_rest`). Keys lie where the
    clip's frames fall at the scene's frame rate. Every bone gets rotation keys, a bone that moves relative to its
    parent location keys, and one that stays elsewhere than it rests a single one. Other actions, frame, mode and
    selection are left alone; on an error nothing is left behind. RigError where the armature does not fit.
    """
    fitted = bone_map(obj, clip.skeleton)
    _check_rotation_modes(obj, fitted)
    rotations, locations = fitted.to_basis(clip.rotations.astype(np.float64), clip.positions.astype(np.float64))
    turns, shifts = _by_bone(quat.unroll(rotations)), _by_bone(locations)
    frames = frame_start + np.arange(clip.frame_count) * _frames_per_sample(clip.fps)
    moves = np.max(np.ptp(shifts, axis=-1), axis=-1) > STILL
    away = np.max(np.abs(shifts[..., 0]), axis=-1) > STILL
    keyed = moves | away | _displaced(obj, fitted)
    with actions.new_action(name, obj) as action:
        for i, bone in enumerate(fitted.bones):
            path = f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'
            if keyed[i]:
                count = clip.frame_count if moves[i] else 1
                actions.write_channel(action, f"{path}.location", frames[:count], shifts[i, :, :count], bone)
            actions.write_channel(action, f"{path}.rotation_quaternion", frames, turns[i], bone)
    return action


def scene_fps(scene: bpy.types.Scene) -> float:
    """Frames per second of a scene."""
    return scene.render.fps / scene.render.fps_base


def _by_bone(values: np.ndarray) -> np.ndarray:
    """Curves side by side `(B, C, F)` as float32, of frames `(F, B, C)`."""
    return np.ascontiguousarray(values.transpose(1, 2, 0), dtype=np.float32)


def _frames_per_sample(fps: float) -> float:
    ratio = scene_fps(bpy.context.scene) / fps
    # fps_base is a float32: rates that agree but for its rounding are the same, so that keys lie on whole frames
    return 1.0 if abs(ratio - 1.0) < 1e-6 else ratio


def _displaced(obj: bpy.types.Object, fitted: BoneMap) -> np.ndarray:
    """Bones `(B,)` whose location is posed away from zero now and would stay so without a key."""
    return np.array([obj.pose.bones[bone].location.length > STILL for bone in fitted.bones])


def _check_rotation_modes(obj: bpy.types.Object, fitted: BoneMap) -> None:
    for bone in fitted.bones:
        if obj.pose.bones[bone].rotation_mode != "QUATERNION":
            raise RigError(f"bone '{bone}' of armature '{obj.name}' does not rotate by quaternions; "
                           "set its rotation mode to Quaternion (WXYZ).")

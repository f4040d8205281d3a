"""A walking person, and all kinds of armatures that its motion is baked onto."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import bpy
import numpy as np
from mathutils import Euler, Matrix

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.motion.simulation_bone import (
    SimulationBoneSettings,
    attach,
    detach,
    find_track,
)
from motion_matching.scene.rig.armature import create_armature
from tests.demo import generate_clips
from tests.scene.motions import to_matrices

FORWARD = np.array([0.0, -1.0, 0.0])


@cache
def make_walk(frames: int = 60) -> Clip:
    """Return a walk with turns, away from the origin, with a simulation bone as in a take; 30 fps."""
    clip = next(c for c in generate_clips() if c.name == "walk_curves").crop(100, 100 + frames)
    hips, spine = clip.skeleton.index("Hips"), clip.skeleton.index("UpperChest")
    moved = attach(clip, find_track(clip, hips, spine, FORWARD, SimulationBoneSettings()), hips)
    place = quat.from_yaw(np.array(2.0))
    moved.rotations[:, 0] = quat.mul(place, moved.rotations[:, 0])
    moved.positions[:, 0] = quat.mul_vec(place, moved.positions[:, 0]) + np.array([3.0, -2.0, 0.0])
    return moved


def create_person(name: str = "Person", *, root: bool = False) -> bpy.types.Object:
    """Create an armature with the walking person's bones, without a simulation bone, or with a bone
    'Root'.
    """
    obj = create_armature(detach(make_walk()).skeleton, name)
    if root:
        with EditBones(obj) as bones:
            bone = bones.new("Root")
            bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, -0.3, 0.1)
            bones["Hips"].parent = bone
    return obj


def create_parent() -> bpy.types.Object:
    """Create an empty that is moved, rotated and scaled, as a parent."""
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.matrix_world = (
        Matrix.Translation((1, 2, 3))
        @ Euler((0.3, 0.2, 1.0)).to_matrix().to_4x4()
        @ Matrix.Scale(2.5, 4)
    )
    bpy.context.view_layer.update()
    return parent


class EditBones:
    """The edit bones of an armature, within the block."""

    def __init__(self, obj: bpy.types.Object) -> None:
        self._obj = obj

    def __enter__(self) -> bpy.types.ArmatureEditBones:
        bpy.context.view_layer.objects.active = self._obj
        bpy.ops.object.mode_set(mode="EDIT")
        return self._obj.data.edit_bones

    def __exit__(self, *_: object) -> None:
        bpy.ops.object.mode_set(mode="OBJECT")


def place_armature(
    obj: bpy.types.Object,
    *,
    location: Sequence[float] = (0.0, 0.0, 0.0),
    turn: float = 0.0,
    y_up: bool = False,
    scale: float = 1.0,
) -> None:
    """Place an armature; with `y_up` or `scale` its bones change so that it looks the same."""
    lying = Euler((np.pi / 2 if y_up else 0.0, 0.0, 0.0)).to_matrix().to_4x4() @ Matrix.Scale(
        scale, 4
    )
    obj.data.transform(lying.inverted())
    obj.matrix_world = Matrix.Translation(location) @ Matrix.Rotation(turn, 4, "Z") @ lying
    bpy.context.view_layer.update()


def get_ground_transform(obj: bpy.types.Object) -> np.ndarray:
    """Return an object's location and its rotation about Z as a matrix (4, 4)."""
    bpy.context.view_layer.update()
    return np.array(
        Matrix.Translation(obj.matrix_world.translation) @ Matrix.Rotation(_get_yaw(obj), 4, "Z")
    )


def get_rest_matrices(obj: bpy.types.Object, names: Sequence[str]) -> np.ndarray:
    """Return the rest of bones (B, 4, 4) in the world with unit axes, as if the object stood at the
    origin without a turn about Z.
    """
    rests = np.array([obj.data.bones[name].matrix_local for name in names], dtype=np.float64)
    return _unscaled(np.linalg.inv(get_ground_transform(obj)) @ np.array(obj.matrix_world) @ rests)


def evaluate_bones(
    obj: bpy.types.Object, names: Sequence[str], frames: Sequence[float]
) -> np.ndarray:
    """Return the evaluated bones at frames of the scene (F, B, 4, 4), in the world with unit axes."""
    result = np.empty((len(frames), len(names), 4, 4))
    for i, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame))
        found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(found.matrix_world, dtype=np.float64)
        result[i] = [world @ np.array(found.pose.bones[name].matrix) for name in names]
    return _unscaled(result)


def compute_expected_bones(clip: Clip, rests: np.ndarray) -> np.ndarray:
    """Return where a clip puts bones with these rests (F, B, 4, 4), all except its first."""
    skeleton = clip.skeleton
    from_rest = to_matrices(*clip.compute_world()) @ np.linalg.inv(
        to_matrices(*skeleton.compute_rest_world())
    )
    return from_rest[:, skeleton.bone_count - len(rests) :] @ rests


def _get_yaw(obj: bpy.types.Object) -> float:
    rotation = obj.matrix_world.to_quaternion()
    return 2.0 * float(np.arctan2(rotation.z, rotation.w))


def _unscaled(matrices: np.ndarray) -> np.ndarray:
    matrices = matrices.copy()
    matrices[..., :3, :3] /= np.cbrt(np.linalg.det(matrices[..., :3, :3]))[..., None, None]
    return matrices

"""Armatures of the characters that motion is brought onto, as users have them. Runs inside Blender."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
from mathutils import Euler, Matrix

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.writing.bake import bake
from tests.demo import generate_clips
from tests.engine.characters import Character, make_mixamo
from tests.scene.rigs import edit_bones


def add_armature(
    character: Character, name: str, *, unit: float = 1.0, lies: bool = False
) -> bpy.types.Object:
    """Add a character whose bones are `unit` metres long each, as its object's scale undoes.

    If it `lies`, its armature has Y up, and its object is turned by 90 degrees.
    """
    obj = create_armature(character.skeleton, name)
    if lies:
        back = Euler((radians(-90), 0, 0)).to_matrix().to_4x4()

        def lay_down(bones: bpy.types.ArmatureEditBones) -> None:
            for bone in bones:
                bone.transform(Matrix(back))

        edit_bones(obj, lay_down)
        obj.rotation_euler = (radians(90), 0, 0)
    obj.scale = (unit,) * 3
    bpy.context.view_layer.update()
    return obj


def add_mixamo(name: str = "Hero") -> bpy.types.Object:
    """Add a T-pose in centimetres with Y up, under an object that undoes both."""
    return add_armature(make_mixamo(), name, unit=0.01, lies=True)


def make_walk(frames: int = 60) -> Clip:
    """Return the first frames of a generated clip of walking."""
    fps = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    clip = next(clip for clip in generate_clips(fps=fps) if clip.name == "walk_curves")
    return clip.crop(0, frames)


def add_walker(name: str = "Walker", frames: int = 60) -> tuple[bpy.types.Object, bpy.types.Action]:
    """Add an armature that plays some walking."""
    clip = make_walk(frames)
    obj = create_armature(clip.skeleton, name)
    return obj, bake(clip, obj, name="walk")


def select(active: bpy.types.Object, *others: bpy.types.Object) -> None:
    """Select some objects, with one of them active."""
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in (active, *others))
    bpy.context.view_layer.objects.active = active


def read_directions(clip: Clip, ends: list[tuple[str, str]]) -> np.ndarray:
    """Return the unit vectors (F, N, 3) between heads of bones in the world."""
    heads = clip.compute_world()[1].astype(np.float64)
    names = clip.skeleton.names
    ways = [heads[:, names.index(b)] - heads[:, names.index(a)] for a, b in ends]
    return quat.normalize_vectors(np.stack(ways, axis=1))

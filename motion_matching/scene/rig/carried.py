"""Motion for an armature object that its parent, constraints or drivers carry along."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip
from ..blender.evaluation.object_motion import may_move, sample_world
from ..blender.transforms.transforms import Transform, compose, decompose_similarity, invert


def take_off_carrying(
    clip: Clip, obj: bpy.types.Object, standing: Transform, frame_start: int
) -> Clip:
    """Return a clip in the world as it is seen from an object that is carried along.

    It begins at `frame_start` and has the rate of the scene. Keys that show it while the object
    stays where it is `standing` show the clip itself while the object is carried.
    """
    if not may_move(obj, by_itself=False):
        return clip
    frames = [frame_start + frame for frame in range(clip.frame_count)]
    worlds = sample_world(obj, frames, by_itself=False)
    turns, places, _ = decompose_similarity(worlds, obj.name)
    back = compose(standing, invert((turns, places)))
    return move_clip(clip, (back[0][:, None], back[1][:, None]))


def move_clip(clip: Clip, placement: Transform) -> Clip:
    """Return a clip turned and moved as a whole, by one placement or by (F, 1, 4) and (F, 1, 3)."""
    roots = clip.skeleton.parents < 0
    rotations, positions = clip.rotations.copy(), clip.positions.copy()
    local = rotations[:, roots].astype(np.float64), positions[:, roots].astype(np.float64)
    rotations[:, roots], positions[:, roots] = compose(placement, local)
    return replace(clip, rotations=quat.unroll(rotations), positions=positions)

"""Compare what a rig's deform bones do, as Blender evaluates it, with the clip that was baked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.errors import MotionDataError
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip, resample
from ..blender.animation import actions
from ..blender.evaluation.evaluation import EvaluationCopy
from ..blender.transforms.transforms import Y_AXIS, decompose_similarity


class Deviation(NamedTuple):
    """The most by which a bone is off: its head, in centimetres, and its axis, in degrees."""

    cm: float
    degrees: float


def check_baked(
    obj: bpy.types.Object, clip: Clip, frames: Sequence[int], start_frame: int | None = None
) -> dict[str, Deviation]:
    """Evaluate what an armature plays at scene `frames`, and return deviations by deform bone.

    The clip starts at `start_frame`, by default where the action that it plays does. The scene
    stays as it is. Raises MotionDataError if a frame is not in the clip.
    """
    worst = (part.max(axis=0) for part in measure_deviations(obj, clip, frames, start_frame))
    pairs = zip(*(part.tolist() for part in worst), strict=True)
    return dict(zip(clip.skeleton.names, map(Deviation._make, pairs), strict=True))


def measure_deviations(
    obj: bpy.types.Object, clip: Clip, frames: Sequence[int], start_frame: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far heads are off, (F, B) in cm, and bones' axes, (F, B) in degrees."""
    clip = resample(clip, actions.get_scene_fps(bpy.context.scene))
    if start_frame is None:
        action = actions.get_assigned(obj)
        start_frame = int(action.frame_range[0]) if action else 1
    at = np.asarray(frames) - start_frame
    if len(at) == 0 or at.min() < 0 or at.max() >= clip.frame_count:
        raise MotionDataError(
            f"clip '{clip.name}' covers the frames {start_frame} to "
            f"{start_frame + clip.frame_count - 1}; check frames among these."
        )
    names = clip.skeleton.names
    parents = clip.skeleton.parents
    with EvaluationCopy(obj) as copy:
        rotations, positions, worlds = copy.evaluate(list(frames), names, parents)
    turns, shifts, scales = (part[:, None] for part in decompose_similarity(worlds, obj.name))
    local = rotations.astype(np.float64), positions.astype(np.float64)
    rotations, positions = quat.fk(*local, parents)
    heads = shifts + scales[..., None] * quat.mul_vec(turns, positions)
    axes = quat.mul_vec(quat.mul(turns, rotations), Y_AXIS)
    wanted, places = clip.compute_world()
    aims = quat.mul_vec(wanted[at].astype(np.float64), Y_AXIS)
    cosines = np.clip(np.sum(aims * axes, axis=-1), -1.0, 1.0)
    sines = np.linalg.norm(np.cross(aims, axes), axis=-1)
    away = np.linalg.norm(heads - places[at], axis=-1)
    return 100.0 * away, np.degrees(np.arctan2(sines, cosines))

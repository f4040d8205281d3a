"""Read a character's deform bones: their skeleton, and a clip of them in the armature's space."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np

from ...engine.errors import RigError
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip
from ...engine.skeleton.bone_names import join_quoted
from ...engine.skeleton.skeleton import Skeleton
from ..blender.evaluation.evaluation import compute_world_matrix
from ..blender.transforms.transforms import Transform, decompose_similarity
from ..rig.armature import read_skeleton
from .control_rig import ControlRig


def read_skeleton_of(obj: bpy.types.Object, rig: ControlRig) -> Skeleton:
    """Read the skeleton of an armature's deform bones, upright and in metres.

    Each hangs on the nearest one above, or on the bone that the description names. Raises RigError.
    """
    skeleton = read_skeleton(obj, "deform")
    parents = {}
    for bone in rig.parents:
        above = rig.parents[bone]
        while above and above not in skeleton.names:
            above = rig.parents.get(above, "")
        if above and bone in skeleton.names:
            parents[bone] = above
    return _hang_bones(skeleton, parents)


def _hang_bones(skeleton: Skeleton, parents: Mapping[str, str]) -> Skeleton:
    """Return a skeleton some of whose bones hang on others, by name, and rest where they did."""
    above = {
        name: skeleton.names[parent] if parent >= 0 else ""
        for name, parent in zip(skeleton.names, skeleton.parents, strict=True)
    }
    changed = above | dict(parents)
    if changed == above:
        return skeleton
    order: list[str] = []
    while len(order) < len(changed):
        ready = [n for n in changed if n not in order and changed[n] in ("", *order)]
        if not ready:
            raise RigError("the parents of deform bones form a circle; correct the preset.")
        order += ready
    index = {name: i for i, name in enumerate(order)}
    own = [skeleton.index(name) for name in order]
    rotations, positions = (part[own] for part in skeleton.compute_rest_world())
    over = np.array([index.get(changed[name], -1) for name in order])
    turns, places = quat.ik(rotations, positions, over)
    ends = tuple((index[skeleton.names[bone]], tip) for bone, tip in skeleton.end_sites)
    return Skeleton(tuple(order), over, places.astype(np.float32), turns.astype(np.float32), ends)


def compute_deform_poses(obj: bpy.types.Object, clip: Clip) -> dict[str, Transform]:
    """Return rotations (F, 4) and positions (F, 3) by bone in the armature's own space and units.

    The clip is in the world, in metres; the armature counts as it stands now.
    """
    turn, shift, scale = decompose_similarity(compute_world_matrix(obj), obj.name)
    rotations, positions = quat.fk(
        clip.rotations.astype(np.float64), clip.positions.astype(np.float64), clip.skeleton.parents
    )
    rotations = quat.inv_mul(turn, quat.normalize(rotations))
    positions = quat.inv_mul_vec(turn, positions - shift) / scale
    names = clip.skeleton.names
    return {name: (rotations[:, i], positions[:, i]) for i, name in enumerate(names)}


def check_bones(clip: Clip, rig: ControlRig, armature: str) -> None:
    """Raise RigError if a clip lacks deform bones that controls move."""
    missing = [bone for bone in rig.deform_bones if bone not in clip.skeleton.names]
    if missing:
        raise RigError(
            f"the motion has no {join_quoted(missing[:3])}, which controls of '{armature}' move; "
            "retarget it onto the deform bones of this armature first."
        )

"""Attach the simulation bone to a clip as bone 0, the root of all others, and detach it again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import RigError
from ..maths import quat
from .bone_names import make_unique_names
from .clip import Clip
from .simulation_bone import SIMULATION_BONE_NAME, GroundTrack
from .skeleton import Skeleton


def attach(clip: Clip, track: GroundTrack, hips: int) -> Clip:
    """Return the clip with the simulation bone as bone 0, moving along `track`, above all others.

    Bones above the hips, such as a root that stays at the origin, then move with the simulation
    bone; every other bone keeps its motion in the world. At rest the simulation bone is at the
    origin below the hips.
    """
    skeleton = clip.skeleton
    riders = skeleton.get_ancestors(hips)
    rotations, positions = clip.rotations.astype(np.float64), clip.positions.astype(np.float64)
    ground = np.concatenate([track.positions, np.zeros((track.frame_count, 1))], axis=-1)
    turns = quat.from_yaw(track.yaw)
    for bone in _find_bones_below(skeleton, riders):
        rotation, position = skeleton.compute_bone_world(bone, clip.rotations, clip.positions)
        rotations[:, bone] = quat.inv_mul(turns, rotation)
        positions[:, bone] = quat.inv_mul_vec(turns, position - ground)
    rotations[:, riders], positions[:, riders] = quat.IDENTITY, 0.0
    rotations = np.concatenate([turns[:, None], rotations], axis=1)
    positions = np.concatenate([ground[:, None], positions], axis=1)
    return _build_clip(clip, _add_simulation_bone(skeleton, riders, hips), positions, rotations)


def detach(clip: Clip) -> Clip:
    """Return the clip without its simulation bone, as motion capture comes: undo `attach`.

    The children of bone 0 become roots with the motion that they have in the world, so a root bone
    of the source takes over the motion of the simulation bone. Raises RigError if bone 0 is not the
    root of all others.
    """
    skeleton = clip.skeleton
    if list(np.flatnonzero(skeleton.parents < 0)) != [0]:
        raise RigError(
            f"Clip '{clip.name}' has no simulation bone to detach: bone '{skeleton.names[0]}' is "
            "not the root of all others."
        )
    rotations, positions = clip.rotations.astype(np.float64), clip.positions.astype(np.float64)
    rest_rotations, rest_positions = skeleton.rest_rotations.copy(), skeleton.rest_positions.copy()
    for bone in skeleton.get_children(0):
        rotations[:, bone], positions[:, bone] = skeleton.compute_bone_world(
            bone, clip.rotations, clip.positions
        )
        rest_rotations[bone], rest_positions[bone] = skeleton.compute_rest_bone_world(bone)
    parents = np.maximum(skeleton.parents[1:] - 1, -1)
    sites = tuple((bone - 1, offset) for bone, offset in skeleton.end_sites if bone > 0)
    bare = Skeleton(skeleton.names[1:], parents, rest_positions[1:], rest_rotations[1:], sites)
    return _build_clip(clip, bare, positions[:, 1:], rotations[:, 1:])


def _add_simulation_bone(skeleton: Skeleton, riders: list[int], hips: int) -> Skeleton:
    """Return the skeleton with the simulation bone, its rest pose moved to have the hips above."""
    rotations, positions = skeleton.rest_rotations.copy(), skeleton.rest_positions.copy()
    _, hips_position = skeleton.compute_rest_bone_world(hips)
    for bone in _find_bones_below(skeleton, riders):
        rotations[bone], positions[bone] = skeleton.compute_rest_bone_world(bone)
        positions[bone] -= hips_position * [1.0, 1.0, 0.0]
    rotations[riders], positions[riders] = quat.IDENTITY, 0.0
    return Skeleton(
        (make_unique_names([*skeleton.names, SIMULATION_BONE_NAME])[-1], *skeleton.names),
        np.concatenate([[-1], skeleton.parents + 1]).astype(skeleton.parents.dtype),
        np.concatenate([np.zeros((1, 3), positions.dtype), positions]),
        np.concatenate([quat.IDENTITY[None].astype(rotations.dtype), rotations]),
        tuple((bone + 1, offset) for bone, offset in skeleton.end_sites),
    )


def _find_bones_below(skeleton: Skeleton, riders: list[int]) -> list[int]:
    """Return the bones right below the simulation bone and its riders, which keep their motion."""
    above = {-1, *riders}
    parents = skeleton.parents.tolist()
    return [bone for bone, parent in enumerate(parents) if parent in above and bone not in above]


def _build_clip(
    clip: Clip, skeleton: Skeleton, positions: np.ndarray, rotations: np.ndarray
) -> Clip:
    """Return the clip with other bones, in contiguous float32, quaternions on one hemisphere."""
    rotations = np.ascontiguousarray(quat.unroll(quat.normalize(rotations)), dtype=np.float32)
    positions = np.ascontiguousarray(positions, dtype=np.float32)
    return replace(clip, skeleton=skeleton, rotations=rotations, positions=positions)

"""The simulation bone as a bone of its clip: attach it as bone 0, the root of all others, and
detach it again.
"""

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
    """Return the clip with the simulation bone as bone 0, which moves along `track`, and all other
    bones below it.

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
        world_rotations, world_positions = skeleton.compute_bone_world(
            bone, clip.rotations, clip.positions
        )
        rotations[:, bone] = quat.inv_mul(turns, world_rotations)
        positions[:, bone] = quat.inv_mul_vec(turns, world_positions - ground)
    rotations[:, riders], positions[:, riders] = quat.IDENTITY, 0.0
    rotations = np.concatenate([turns[:, None], rotations], axis=1)
    positions = np.concatenate([ground[:, None], positions], axis=1)
    skeleton = _add_simulation_bone(skeleton, riders, hips)
    return _to_storage(replace(clip, skeleton=skeleton, rotations=rotations, positions=positions))


def detach(clip: Clip) -> Clip:
    """Return the clip without its simulation bone, as motion capture comes: the reverse of
    `attach`.

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
    bare = Skeleton(
        skeleton.names[1:],
        np.maximum(skeleton.parents[1:] - 1, -1),
        rest_positions[1:],
        rest_rotations[1:],
        tuple((bone - 1, offset) for bone, offset in skeleton.end_sites if bone > 0),
    )
    return _to_storage(
        replace(clip, skeleton=bare, rotations=rotations[:, 1:], positions=positions[:, 1:])
    )


def _add_simulation_bone(skeleton: Skeleton, riders: list[int], hips: int) -> Skeleton:
    """Return the skeleton with the simulation bone; its rest pose is moved along the ground, hips
    to the origin.
    """
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
    """Return the bones right below the simulation bone and its riders, which keep their motion in
    the world.
    """
    above = {-1, *riders}
    return [
        bone
        for bone, parent in enumerate(skeleton.parents)
        if int(parent) in above and bone not in above
    ]


def _to_storage(clip: Clip) -> Clip:
    """Return the clip in float32, contiguous, with quaternions on one hemisphere along time."""
    rotations = np.ascontiguousarray(quat.unroll(quat.normalize(clip.rotations)), dtype=np.float32)
    return replace(
        clip, rotations=rotations, positions=np.ascontiguousarray(clip.positions, dtype=np.float32)
    )

"""The simulation bone as a bone of its clip: attached as bone 0, the root of everything else, and taken off again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import RigError
from ..maths import quat
from .clip import Clip
from .simulation_bone import NAME, GroundTrack
from .skeleton import Skeleton


def attach(clip: Clip, track: GroundTrack, hips: int) -> Clip:
    """The clip with the simulation bone as bone 0, on the ground in the world, and all else below it.

    Bones above the hips, such as a root that stays at the origin, ride on the simulation bone from here on; every
    other bone keeps its motion in the world. At rest the simulation bone is at the origin below the hips.
    """
    skeleton = clip.skeleton
    riders = skeleton.ancestors(hips)
    rotations, positions = clip.rotations.astype(np.float64), clip.positions.astype(np.float64)
    ground = np.concatenate([track.positions, np.zeros((track.frame_count, 1))], axis=-1)
    turns = quat.from_yaw(track.yaw)
    for bone in _first_below(skeleton, riders):
        world_rotations, world_positions = skeleton.bone_world(bone, clip.rotations, clip.positions)
        rotations[:, bone] = quat.inv_mul(turns, world_rotations)
        positions[:, bone] = quat.inv_mul_vec(turns, world_positions - ground)
    rotations[:, riders], positions[:, riders] = quat.IDENTITY, 0.0
    rotations = np.concatenate([turns[:, None], rotations], axis=1)
    positions = np.concatenate([ground[:, None], positions], axis=1)
    skeleton = _attached(skeleton, riders, hips)
    return _stored(replace(clip, skeleton=skeleton, rotations=rotations, positions=positions))


def detach(clip: Clip) -> Clip:
    """The clip without its simulation bone, as motion capture comes: the reverse of `attach`.

    What was right below bone 0 becomes a root with the motion it has in the world; a root bone of the source, which
    rode on the simulation bone, thus carries its motion. RigError where bone 0 is not the root of everything.
    """
    skeleton = clip.skeleton
    if list(np.flatnonzero(skeleton.parents < 0)) != [0]:
        raise RigError(
            f"Clip '{clip.name}' has no simulation bone to take off: bone '{skeleton.names[0]}' is not "
            "the root of all others."
        )
    rotations, positions = clip.rotations.astype(np.float64), clip.positions.astype(np.float64)
    rest_rotations, rest_positions = skeleton.rest_rotations.copy(), skeleton.rest_positions.copy()
    for bone in skeleton.children(0):
        rotations[:, bone], positions[:, bone] = skeleton.bone_world(
            bone, clip.rotations, clip.positions
        )
        rest_rotations[bone], rest_positions[bone] = _rest_world(skeleton, bone)
    bare = Skeleton(
        skeleton.names[1:],
        np.maximum(skeleton.parents[1:] - 1, -1),
        rest_positions[1:],
        rest_rotations[1:],
        tuple((bone - 1, offset) for bone, offset in skeleton.end_sites if bone > 0),
    )
    return _stored(
        replace(clip, skeleton=bare, rotations=rotations[:, 1:], positions=positions[:, 1:])
    )


def _attached(skeleton: Skeleton, riders: list[int], hips: int) -> Skeleton:
    """The skeleton with the simulation bone; its rest pose moves along the ground, hips to the origin."""
    rotations, positions = skeleton.rest_rotations.copy(), skeleton.rest_positions.copy()
    _, hips_position = _rest_world(skeleton, hips)
    for bone in _first_below(skeleton, riders):
        rotations[bone], positions[bone] = _rest_world(skeleton, bone)
        positions[bone] -= hips_position * [1.0, 1.0, 0.0]
    rotations[riders], positions[riders] = quat.IDENTITY, 0.0
    return Skeleton(
        (_free_name(skeleton.names), *skeleton.names),
        np.concatenate([[-1], skeleton.parents + 1]).astype(skeleton.parents.dtype),
        np.concatenate([np.zeros((1, 3), positions.dtype), positions]),
        np.concatenate([quat.IDENTITY[None].astype(rotations.dtype), rotations]),
        tuple((bone + 1, offset) for bone, offset in skeleton.end_sites),
    )


def _first_below(skeleton: Skeleton, riders: list[int]) -> list[int]:
    """Bones that keep their motion while what they hang from becomes the simulation bone or rides on it."""
    above = {-1, *riders}
    return [
        bone
        for bone, parent in enumerate(skeleton.parents)
        if int(parent) in above and bone not in above
    ]


def _free_name(names: tuple[str, ...]) -> str:
    candidates = [NAME, *(f"{NAME}.{number:03d}" for number in range(1, len(names) + 1))]
    return next(name for name in candidates if name not in names)


def _stored(clip: Clip) -> Clip:
    """Float32, contiguous, quaternions on one hemisphere along time."""
    rotations = np.ascontiguousarray(quat.unroll(quat.normalize(clip.rotations)), dtype=np.float32)
    return replace(
        clip, rotations=rotations, positions=np.ascontiguousarray(clip.positions, dtype=np.float32)
    )


def _rest_world(skeleton: Skeleton, bone: int) -> tuple[np.ndarray, np.ndarray]:
    return skeleton.bone_world(bone, skeleton.rest_rotations, skeleton.rest_positions)

"""Choose the carrier of a character's motion over the ground: object, root bone, hips, or none.

A take's bone 0 is the simulation bone, which a user's armature usually lacks. It and the bones that
only ride on it are carriers; what hangs below them is the body. Everything here is in the frame of
the skeleton's rest pose.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import bpy
import numpy as np

from ...engine.errors import RigError
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip
from ...engine.motion.simulation_bone import SIMULATION_BONE_NAME
from ...engine.skeleton.skeleton import Skeleton
from ..blender.evaluation.object_motion import may_move, sample_world
from ..blender.transforms.transforms import Transform, compose, decompose_similarity, invert
from .armature import find_ground_bones

_STILL = 1e-5  # metres and quaternion components within which a bone only rides on its parent


class RootTarget(Enum):
    """Carrier of the character over the ground; the value is the command line's word."""

    OBJECT = "object"
    BONE = "bone"
    HIPS = "hips"
    IN_PLACE = "in-place"


def find_carriers(clip: Clip, hips: str | None = None) -> list[int]:
    """Return the bones above the hips, from the root on.

    Without a name for the hips, they are the simulation bone, and below it bones with one child
    that lie on the ground or stay still in their parent. Raises RigError if there is no such bone.
    """
    skeleton = clip.skeleton
    if hips is not None:
        if hips not in skeleton.names:
            raise RigError(f"clip '{clip.name}' has no bone '{hips}' for the hips; name another.")
        return skeleton.get_ancestors(skeleton.index(hips))[::-1]
    low = find_ground_bones(skeleton)
    result: list[int] = []
    bone = 0
    while len(children := skeleton.get_children(bone)) > 0:
        is_simulation_bone = bone == 0 and skeleton.names[0] == SIMULATION_BONE_NAME
        parts = clip.rotations[:, bone], clip.positions[:, bone]
        is_still = all(np.ptp(part, axis=0).max() <= _STILL for part in parts)
        rides = bool(result) and len(children) == 1 and is_still
        if not (is_simulation_bone or rides or bone in low):
            break
        result.append(bone)
        bone = max(children, key=lambda child: len(skeleton.get_descendants(child)))
    return result


def extract_ground_motion(clip: Clip) -> Transform:
    """Return bone 0's motion over the ground off its rest: turns (F, 4) and shifts (F, 3)."""
    rest = _to_transform(clip.skeleton.rest_rotations[0], clip.skeleton.rest_positions[0])
    rotations, positions = _to_transform(clip.rotations[:, 0], clip.positions[:, 0])
    turns = quat.unroll(quat.normalize(quat.mul_inv(rotations, rest[0]) * [1.0, 0.0, 0.0, 1.0]))
    return turns, (positions - quat.mul_vec(turns, rest[1])) * [1.0, 1.0, 0.0]


def transfer_root_motion(
    clip: Clip,
    carriers: list[int],
    target: RootTarget,
    alignment: Transform,
    root: tuple[str, Transform] | None = None,
    below: frozenset[str] = frozenset(),
) -> tuple[Clip, Transform | None]:
    """Take the carriers off a clip and give their motion to a target.

    `alignment` leads from the skeleton's rest to the armature's. `root` is the name and the rest of
    the bone for RootTarget.BONE; `below` names the bones that hang on it. Returns the clip, and the
    motion (F) of the object off its rest if that moves.
    """
    skeleton = clip.skeleton
    motion = extract_ground_motion(clip)
    body = [b for b in range(skeleton.bone_count) if b not in carriers]
    first = 0 if root is None else 1  # the root bone comes before them

    def select(array: np.ndarray) -> np.ndarray:
        return np.pad(array[..., body, :], [(0, 0)] * (array.ndim - 2) + [(first, 0), (0, 0)])

    rotations = select(clip.rotations)
    positions = select(clip.positions)
    rest_rotations = select(skeleton.rest_rotations)
    rest_positions = select(skeleton.rest_positions)
    parents = np.array(
        [-1] * first
        + [body.index(int(p)) + first if p in body else -1 for p in skeleton.parents[body]]
    )
    if root is not None:
        rest_rotations[0], rest_positions[0] = root[1]
        rotations[:, 0], positions[:, 0] = compose(invert(alignment), compose(motion, root[1]))
    for at in np.flatnonzero(parents[first:] < 0) + first:
        bone = body[at - first]
        moved, rest = _compute_world(clip, bone)
        hangs = root is not None and skeleton.names[bone] in below
        leaves_motion = hangs or target in (RootTarget.OBJECT, RootTarget.IN_PLACE)
        moved = compose(invert(motion if leaves_motion else alignment), moved)
        if hangs:
            parents[at] = 0
            moved = compose(invert(root[1]), moved)
            rest = compose(invert(root[1]), rest)
        rotations[:, at], positions[:, at] = moved
        rest_rotations[at], rest_positions[at] = rest
    names = (*([root[0]] if root else []), *(skeleton.names[b] for b in body))
    ends = tuple((body.index(b) + first, offset) for b, offset in skeleton.end_sites if b in body)
    bare = Skeleton(names, parents, rest_positions, rest_rotations, ends)
    carried = replace(clip, skeleton=bare, positions=positions, rotations=rotations)
    return carried, motion if target is RootTarget.OBJECT else None


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
    rotations = clip.rotations.copy()
    positions = clip.positions.copy()
    local = rotations[:, roots].astype(np.float64), positions[:, roots].astype(np.float64)
    rotations[:, roots], positions[:, roots] = compose(placement, local)
    return replace(clip, rotations=quat.unroll(rotations), positions=positions)


def reparent(clip: Clip, names: list[str], parents: list[int]) -> Clip:
    """Return the same motion with bones in the order of `names` and below other bones, by index."""
    skeleton = clip.skeleton
    order = [skeleton.index(name) for name in names]
    rotations = clip.rotations[:, order]
    positions = clip.positions[:, order]
    rest_rotations = skeleton.rest_rotations[order]
    rest_positions = skeleton.rest_positions[order]
    for at, (bone, parent) in enumerate(zip(order, parents, strict=True)):
        above = order[parent] if parent >= 0 else -1
        if above == skeleton.parents[bone]:
            continue
        moved, rest = _compute_world(clip, bone)
        if above >= 0:
            over, over_rest = _compute_world(clip, above)
            moved = compose(invert(over), moved)
            rest = compose(invert(over_rest), rest)
        rotations[:, at], positions[:, at] = moved
        rest_rotations[at], rest_positions[at] = rest
    ends = tuple((order.index(bone), offset) for bone, offset in skeleton.end_sites)
    hung = Skeleton(tuple(names), np.array(parents), rest_positions, rest_rotations, ends)
    return replace(clip, skeleton=hung, rotations=rotations, positions=positions)


def _compute_world(clip: Clip, bone: int) -> tuple[Transform, Transform]:
    """Return the motion (F) and the rest of one bone in the world."""
    skeleton = clip.skeleton
    rest = _compose_chain(skeleton, bone, skeleton.rest_rotations, skeleton.rest_positions)
    return _compose_chain(skeleton, bone, clip.rotations, clip.positions), rest


def _compose_chain(
    skeleton: Skeleton, bone: int, rotations: np.ndarray, positions: np.ndarray
) -> Transform:
    """Return where local poses (..., B, 4) and (..., B, 3) have a bone in the world."""
    result = _to_transform(rotations[..., bone, :], positions[..., bone, :])
    for above in skeleton.get_ancestors(bone):
        local = _to_transform(rotations[..., above, :], positions[..., above, :])
        result = compose(local, result)
    return result


def _to_transform(rotations: np.ndarray, positions: np.ndarray) -> Transform:
    return quat.normalize(rotations.astype(np.float64)), positions.astype(np.float64)

"""Where the motion of a character over the ground goes: onto the object, a root bone, the hips, or nowhere.

A take's bone 0 is the simulation bone, which a user's armature usually lacks. It and the bones that only ride on it
are carriers; what hangs below them is the body. Everything here is in the frame of the skeleton's rest pose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ..engine.errors import RigError
from ..engine.maths import quat
from ..engine.motion.clip import Clip
from ..engine.motion.simulation_bone import NAME
from ..engine.motion.skeleton import Skeleton
from .armature import ground_bones

Transform = tuple[np.ndarray, np.ndarray]  # rotations (..., 4) and positions (..., 3), float64

_STILL = 1e-5  # metres and quaternion components within which a bone only rides on its parent


class RootTarget(Enum):
    """What carries the character over the ground; the value is the command line's word."""

    OBJECT = "object"
    BONE = "bone"
    HIPS = "hips"
    IN_PLACE = "in-place"


@dataclass(frozen=True)
class Carried:
    """A clip without carriers, but for a root bone; `object_motion` (F) is what leads the object from where it rests."""

    clip: Clip
    object_motion: Transform | None


def carriers_of(clip: Clip, hips: str | None = None) -> list[int]:
    """Bones above the hips, from the root on. RigError where the clip has no bone of the name `hips`.

    Without a name, they are the simulation bone, and below it bones with one child that lie on the ground or do not
    move relative to their parent.
    """
    skeleton = clip.skeleton
    if hips is not None:
        if hips not in skeleton.names:
            raise RigError(
                f"clip '{clip.name}' has no bone '{hips}' to be the hips; name one of its bones."
            )
        return skeleton.ancestors(skeleton.index(hips))[::-1]
    low = ground_bones(skeleton)
    result: list[int] = []
    bone = 0
    while len(children := skeleton.children(bone)) > 0:
        is_simulation_bone = bone == 0 and skeleton.names[0] == NAME
        rides = bool(result) and len(children) == 1 and _is_still(clip, bone)
        if not (is_simulation_bone or rides or bone in low):
            break
        result.append(bone)
        bone = max(children, key=lambda child: len(_below(skeleton, child)))
    return result


def ground_motion(clip: Clip) -> Transform:
    """The motion of bone 0 over the ground since its rest: turns about Z and shifts with Z = 0, (F, 4) and (F, 3)."""
    rest = _local(clip.skeleton.rest_rotations[0], clip.skeleton.rest_positions[0])
    rotations, positions = _local(clip.rotations[:, 0], clip.positions[:, 0])
    turns = quat.unroll(quat.normalize(quat.mul_inv(rotations, rest[0]) * [1.0, 0.0, 0.0, 1.0]))
    return turns, (positions - quat.mul_vec(turns, rest[1])) * [1.0, 1.0, 0.0]


def carry(
    clip: Clip,
    carriers: list[int],
    target: RootTarget,
    place: Transform,
    root: tuple[str, Transform] | None = None,
    below: frozenset[str] = frozenset(),
) -> Carried:
    """Take the carriers off a clip and give their motion to a target.

    `place` leads from where the skeleton rests to where the armature does. `root` is the name and the rest of the
    bone for RootTarget.BONE, which `below` names the bones that hang on; others keep their motion in the world.
    """
    skeleton, motion = clip.skeleton, ground_motion(clip)
    kept = [b for b in range(skeleton.bone_count) if b not in carriers]
    first = 0 if root is None else 1  # the root bone's place is before them
    rotations, positions = (
        _led_by(array[:, kept], first) for array in (clip.rotations, clip.positions)
    )
    rest_rotations, rest_positions = (
        _led_by(array[None, kept], first)[0]
        for array in (skeleton.rest_rotations, skeleton.rest_positions)
    )
    parents = np.array(
        [-1] * first
        + [kept.index(int(p)) + first if p in kept else -1 for p in skeleton.parents[kept]]
    )
    if root is not None:
        rest_rotations[0], rest_positions[0] = root[1]
        rotations[:, 0], positions[:, 0] = compose(inverse(place), compose(motion, root[1]))
    for at in np.flatnonzero(parents[first:] < 0) + first:
        bone = kept[at - first]
        moved, rest = chain(clip, bone), rest_chain(skeleton, bone)
        hangs = root is not None and skeleton.names[bone] in below
        leaves_motion = hangs or target in (RootTarget.OBJECT, RootTarget.IN_PLACE)
        moved = compose(inverse(motion if leaves_motion else place), moved)
        if hangs:
            parents[at] = 0
            moved, rest = compose(inverse(root[1]), moved), compose(inverse(root[1]), rest)
        rotations[:, at], positions[:, at] = moved
        rest_rotations[at], rest_positions[at] = rest
    names = (*([root[0]] if root else []), *(skeleton.names[b] for b in kept))
    ends = tuple((kept.index(b) + first, offset) for b, offset in skeleton.end_sites if b in kept)
    bare = Skeleton(names, parents, rest_positions, rest_rotations, ends)
    carried = replace(clip, skeleton=bare, positions=positions, rotations=rotations)
    return Carried(carried, motion if target is RootTarget.OBJECT else None)


def rehung(clip: Clip, names: list[str], parents: list[int]) -> Clip:
    """The same motion with the bones in another order and below other bones; `parents` are places in `names`."""
    skeleton = clip.skeleton
    order = [skeleton.index(name) for name in names]
    rotations, positions = clip.rotations[:, order], clip.positions[:, order]
    rest_rotations, rest_positions = skeleton.rest_rotations[order], skeleton.rest_positions[order]
    for at, (bone, parent) in enumerate(zip(order, parents, strict=True)):
        above = order[parent] if parent >= 0 else -1
        if above == skeleton.parents[bone]:
            continue
        moved, rest = chain(clip, bone), rest_chain(skeleton, bone)
        if above >= 0:
            moved = compose(inverse(chain(clip, above)), moved)
            rest = compose(inverse(rest_chain(skeleton, above)), rest)
        rotations[:, at], positions[:, at] = moved
        rest_rotations[at], rest_positions[at] = rest
    ends = tuple((order.index(bone), offset) for bone, offset in skeleton.end_sites)
    hung = Skeleton(tuple(names), np.array(parents), rest_positions, rest_rotations, ends)
    return replace(clip, skeleton=hung, rotations=rotations, positions=positions)


# ---------------------------------------------------------------- transforms


def compose(a: Transform, b: Transform) -> Transform:
    """First b, then a."""
    return quat.mul(a[0], b[0]), a[1] + quat.mul_vec(a[0], b[1])


def inverse(a: Transform) -> Transform:
    """What undoes a."""
    return quat.inv(a[0]), -quat.inv_mul_vec(a[0], a[1])


def chain(clip: Clip, bone: int) -> Transform:
    """World motion (F) of one bone."""
    result = _local(clip.rotations[:, bone], clip.positions[:, bone])
    for above in clip.skeleton.ancestors(bone):
        result = compose(_local(clip.rotations[:, above], clip.positions[:, above]), result)
    return result


def rest_chain(skeleton: Skeleton, bone: int) -> Transform:
    """World rest of one bone."""
    result = _local(skeleton.rest_rotations[bone], skeleton.rest_positions[bone])
    for above in skeleton.ancestors(bone):
        result = compose(
            _local(skeleton.rest_rotations[above], skeleton.rest_positions[above]), result
        )
    return result


def _local(rotations: np.ndarray, positions: np.ndarray) -> Transform:
    return quat.normalize(rotations.astype(np.float64)), positions.astype(np.float64)


def _led_by(array: np.ndarray, count: int) -> np.ndarray:
    """The array (N, B, ...) with room for `count` more bones before the others."""
    return np.concatenate([np.zeros_like(array[:, :count]), array], axis=1) if count else array


def _is_still(clip: Clip, bone: int) -> bool:
    turned = np.ptp(clip.rotations[:, bone], axis=0).max() > _STILL
    return not turned and np.ptp(clip.positions[:, bone], axis=0).max() <= _STILL


def _below(skeleton: Skeleton, bone: int) -> list[int]:
    """The bone and all that hang on it."""
    return [b for b in range(skeleton.bone_count) if b == bone or bone in skeleton.ancestors(b)]

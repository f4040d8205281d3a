"""What goes where when motion plays on an armature: which bones move, what they hang on, what carries the character."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ..engine.errors import RigError
from ..engine.motion.clip import Clip
from ..engine.motion.skeleton import Skeleton
from .armature import CHOOSE
from .fitting import Standing, place_of
from .root_target import RootTarget, Transform, carriers_of, carry, compose, inverse, rehung


@dataclass(frozen=True)
class Plan:
    """The clip as the armature's bones hang, bones that stay at rest, and the object's motion in the world.

    `place` leads from where the clip's skeleton rests to where the armature does. `root` is what carries the
    character; where it is a bone, `root_bone` is its name and `root_rest` its rest in the skeleton's frame.
    """

    clip: Clip
    place: Transform
    resting: list[str]
    object_motion: Transform | None
    root: RootTarget
    root_bone: str | None
    root_rest: Transform | None


def planned(
    clip: Clip, standing: Standing, root: RootTarget | None, root_bone: str, hips: str | None
) -> Plan:
    """How a clip goes onto an armature; see `bake` for the options. RigError where the armature does not fit."""
    carriers = carriers_of(clip, hips)
    names = clip.skeleton.names
    missing = [n for b, n in enumerate(names) if n not in standing.rests and b not in carriers]
    if missing:
        raise RigError(f"armature '{standing.name}' has no bone '{missing[0]}'; {CHOOSE}")
    place = place_of(standing, clip.skeleton)
    present = [names[b] for b in carriers if names[b] in standing.rests]
    if root is None:
        if len(present) == len(carriers):
            carriers, present, root = (
                [],
                [],
                RootTarget.HIPS,
            )  # the clip's own roots keep what is theirs
        else:
            root = RootTarget.BONE if present else RootTarget.OBJECT
    bone = None
    if root is RootTarget.BONE:
        bone = _root_bone(standing, clip.skeleton, carriers, root_bone or next(iter(present), ""))
    below = frozenset(
        n for n in names if bone and n in standing.rests and bone in standing.above(n)
    )
    at_rest = compose(inverse(place), standing.rests[bone]) if bone else None
    carried = carry(
        clip, carriers, root, place, (bone, at_rest) if bone and at_rest else None, below
    )
    moved = carried.clip.skeleton.names
    order = [
        name for name in standing.rests if name in moved
    ]  # Blender lists parents before children
    parents = [
        next((order.index(n) for n in standing.above(name) if n in moved), -1) for name in order
    ]
    motion = carried.object_motion
    if motion is not None:
        motion = compose(motion, compose(inverse(place), standing.place))
    hung = rehung(carried.clip, order, parents)
    return Plan(hung, place, [n for n in present if n != bone], motion, root, bone, at_rest)


def check_follows_keys(obj: bpy.types.Object, names: tuple[str, ...]) -> None:
    """RigError for bones that would not follow their keys."""
    for name in names:
        bone, pose = obj.data.bones[name], obj.pose.bones[name]
        what = f"bone '{name}' of armature '{obj.name}'"
        if not bone.use_inherit_rotation or not bone.use_local_location:
            raise RigError(
                f"{what} does not inherit rotation, or has no local location, and cannot be keyed as the motion "
                "wants it; switch both on in the bone's Relations."
            )
        follows = next((c for c in pose.constraints if not c.mute and c.influence > 0), None)
        if follows is not None:
            raise RigError(
                f"{what} follows its constraint '{follows.name}' rather than keys; mute it, or bake onto an "
                "armature without constraints."
            )


def _root_bone(standing: Standing, skeleton: Skeleton, carriers: list[int], bone: str) -> str:
    """The root bone, checked: it must be there, carry the body, and not be a part of it."""
    what = f"root bone '{bone}' of armature '{standing.name}'"
    if not bone:
        raise RigError(
            f"armature '{standing.name}' has no bone of the motion above the hips; name the root bone."
        )
    if bone not in standing.rests:
        raise RigError(f"{what} does not exist; name one of its bones.")
    body = [name for b, name in enumerate(skeleton.names) if b not in carriers]
    if bone in body:
        raise RigError(
            f"{what} is a part of the body; name a bone above it, or leave the motion in the hips."
        )
    if not any(bone in standing.above(name) for name in body):
        raise RigError(
            f"{what} has no bone of the motion below it; name one that carries the hips."
        )
    return bone

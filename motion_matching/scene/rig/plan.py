"""Plan how motion plays on an armature: bones, their parents, and what carries the character."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import bpy

from ...engine.body.toe_ends import append_bones, remove_toe_ends
from ...engine.errors import RigError
from ...engine.motion.clip import Clip
from ...engine.motion.conforming import find_sliding_bones
from ...engine.skeleton.skeleton import Skeleton
from ..blender.transforms.transforms import Transform, compose, invert
from .armature import CHOOSE, BoneMap, to_blender_names
from .fitting import ArmatureState, apply_armature_rest, compute_alignment, fit
from .root_target import RootTarget, find_carriers, reparent, transfer_root_motion


@dataclass(frozen=True)
class Plan:
    """The clip as the armature's bones hang, bones that stay at rest, and the object's motion.

    `source` is the skeleton before, with the armature's names; `alignment` leads from its rest to
    the armature's. `object_motion` is in the world. If the `root` is a bone, `root_bone` is its
    name and `root_rest` its rest in the skeleton's frame.
    """

    standing: ArmatureState
    source: Skeleton
    clip: Clip
    alignment: Transform
    resting: list[str]
    object_motion: Transform | None
    root: RootTarget
    root_bone: str | None
    root_rest: Transform | None

    @property
    def object_rest(self) -> Transform:
        """Return where the object stands in the frame of the skeleton's rest."""
        return compose(invert(self.alignment), self.standing.transform)

    def is_carried_by(self, bones: Collection[str]) -> bool:
        """Return whether one of these bones carries the body."""
        hung = self.clip.skeleton
        roots = (name for name, parent in zip(hung.names, hung.parents, strict=True) if parent < 0)
        return any(name in bones for name in roots)

    def fit(self) -> BoneMap:
        """Build the map to pose bones; raise RigError if one rests elsewhere than in the clip."""
        return fit(self.standing, self.clip.skeleton, self.alignment, self.resting)


def make_rest_clip(skeleton: Skeleton) -> Clip:
    """Return a clip of one frame, in which a skeleton rests."""
    return Clip("rest", skeleton, skeleton.rest_positions[None], skeleton.rest_rotations[None], 1.0)


def build_plan(
    obj: bpy.types.Object,
    clip: Clip,
    root: RootTarget | None,
    root_bone: str,
    hips: str | None,
    standing: ArmatureState | None = None,
) -> Plan:
    """Plan how a clip goes onto an armature, as `bake` does; raise RigError if it does not fit."""
    standing = standing or ArmatureState.from_object(obj)
    full = clip.skeleton.with_names(to_blender_names(clip.skeleton.names))
    clip = remove_toe_ends(clip)  # armatures lack the bones at the ends of legs
    skeleton = clip.skeleton.with_names(full.names[: clip.skeleton.bone_count])
    carriers = find_carriers(replace(clip, skeleton=skeleton), hips)
    source = apply_armature_rest(obj, standing, skeleton, carriers, find_sliding_bones(clip))
    clip = replace(clip, skeleton=source)
    names = source.names
    missing = [n for b, n in enumerate(names) if n not in standing.rests and b not in carriers]
    if missing:
        raise RigError(f"armature '{standing.name}' has no bone '{missing[0]}'; {CHOOSE}")
    alignment = compute_alignment(standing, source, carriers)
    present = [names[b] for b in carriers if names[b] in standing.rests]
    if root is None and len(present) == len(carriers):
        # the clip's own roots keep their motion
        carriers = []
        present = []
        root = RootTarget.HIPS
    elif root is None:
        root = RootTarget.BONE if present else RootTarget.OBJECT
    bone: str | None = None
    at_rest = None
    below: frozenset[str] = frozenset()
    if root is RootTarget.BONE:
        bone = root_bone or next(iter(present), "")
        _check_root_bone(standing, source, carriers, bone)
        at_rest = compose(invert(alignment), standing.rests[bone])
        in_both = (name for name in names if name in standing.rests)
        below = frozenset(name for name in in_both if bone in standing.find_ancestors(name))
    carried, motion = transfer_root_motion(
        clip, carriers, root, alignment, (bone, at_rest) if bone and at_rest else None, below
    )
    moved = carried.skeleton.names
    order = [name for name in standing.rests if name in moved]  # parents before children
    parents = [
        next((order.index(n) for n in standing.find_ancestors(name) if n in moved), -1)
        for name in order
    ]
    hung = reparent(carried, order, parents)
    resting = [n for n in present if n != bone]
    source = append_bones(source, full)
    plan = Plan(standing, source, hung, alignment, resting, None, root, bone, at_rest)
    moves = motion and compose(motion, plan.object_rest)
    return replace(plan, object_motion=moves)


def check_follows_keys(obj: bpy.types.Object, names: tuple[str, ...]) -> None:
    """Raise RigError for bones that would not follow their keys."""
    for name in names:
        bone = obj.data.bones[name]
        pose = obj.pose.bones[name]
        what = f"bone '{name}' of armature '{obj.name}'"
        if not bone.use_inherit_rotation or not bone.use_local_location:
            raise RigError(
                f"{what} does not inherit rotation, or has no local location, so the motion cannot "
                "be keyed; switch both on in the bone's Relations."
            )
        follows = next((c for c in pose.constraints if not c.mute and c.influence > 0), None)
        if follows is not None:
            raise RigError(
                f"{what} follows its constraint '{follows.name}' rather than keys; mute it, or "
                "bake onto an armature without constraints."
            )


def _check_root_bone(
    standing: ArmatureState, skeleton: Skeleton, carriers: list[int], bone: str
) -> None:
    """Raise RigError unless the root bone is there, carries the body, and is not a part of it."""
    what = f"root bone '{bone}' of armature '{standing.name}'"
    if not bone:
        raise RigError(
            f"'{standing.name}' has no bone of the motion above the hips; name the root bone."
        )
    if bone not in standing.rests:
        raise RigError(f"{what} does not exist; name one of its bones.")
    body = [name for b, name in enumerate(skeleton.names) if b not in carriers]
    if bone in body:
        raise RigError(
            f"{what} is a part of the body; name a bone above it, or leave the motion in the hips."
        )
    if not any(bone in standing.find_ancestors(name) for name in body):
        raise RigError(f"{what} has no bone of the motion below it; name one above the hips.")

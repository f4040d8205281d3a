"""Read the target of retargeting: its skeleton, and whether its bones take keys."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...engine.errors import RigError
from ...engine.motion.clip import Clip
from ...engine.retargeting.bodies import BoneNames, RetargetBody
from ...engine.skeleton.skeleton import Skeleton
from ..blender.animation import actions
from ..controls.bake_controls import check_editable
from ..controls.control_rig import ControlRig
from ..controls.deform import read_skeleton_of
from ..controls.finding.find_controls import find_control_rig
from ..reading.sampling import sample
from ..rig.armature import check_armature, read_skeleton
from ..rig.plan import check_follows_keys

# of a character's own that are looked at
_ACTIONS = 3
_FRAMES = 300


@dataclass(frozen=True)
class Target:
    """A character's skeleton, with some of its motion if it does not stand in its rest pose.

    Of a control rig, these are the deform bones, and `rig` describes the controls that move them.
    """

    name: str
    skeleton: Skeleton
    clips: tuple[Clip, ...] = ()
    rig: ControlRig | None = None

    def get_body(self, given: BoneNames | None = None) -> RetargetBody:
        """Return its body, with bones by role that were chosen by hand."""
        return RetargetBody(self.skeleton, self.clips, given, f"The character '{self.name}'")

    def has_same_bones(self, other: Target) -> bool:
        """Return whether another one has the same bones in the same places."""
        ours = self.skeleton
        theirs = other.skeleton
        return ours.names == theirs.names and all(
            np.array_equal(getattr(ours, rest), getattr(theirs, rest))
            for rest in ("parents", "rest_positions", "rest_rotations")
        )


def read_target(
    obj: bpy.types.Object, bones: str | None = None, given: BoneNames | None = None
) -> Target:
    """Read an armature object that a new action can be given; `bones` is as for `read_skeleton`.

    With "all", a control rig is taken for a plain armature. `given` are bones by role that were set
    by hand. Raises RigError, which says what to do, if the armature cannot be used.
    """
    check_armature(obj)
    check_editable(obj)
    if obj.animation_data:
        actions.get_untweaked_data(obj)
    rig = None if bones == "all" else find_control_rig(obj)
    if rig is not None:
        return Target(obj.name, read_skeleton_of(obj, rig), (), rig)
    target = Target(obj.name, read_skeleton(obj, bones))
    if target.get_body(given).stands:
        return target
    clips = []  # it may show in its motion, else this is said later
    for action in actions.find_actions(obj)[:_ACTIONS]:
        curves = actions.get_active_curves(action, actions.find_slot(action, obj))
        first, last = actions.compute_frame_range(action, curves)
        frames = first, min(last, first + _FRAMES)
        clips += [one.clip for one in sample(obj, [action], bones=bones, frames=frames)]
    return replace(target, clips=tuple(clips))


def check_takes_keys(obj: bpy.types.Object, moved: Collection[str], hips: str) -> None:
    """Raise RigError for moved bones that would not follow their keys, or that are locked."""
    names = tuple(bone.name for bone in obj.data.bones if bone.name in moved)
    check_follows_keys(obj, names)
    for name in names:
        pose = obj.pose.bones[name]
        locks = {"rotation": any(pose.lock_rotation)}
        locks["location"] = name == hips and any(pose.lock_location)
        for kind in (kind for kind, is_locked in locks.items() if is_locked):
            raise RigError(
                f"the {kind} of bone '{name}' of armature '{obj.name}' is locked, and the motion "
                "needs it; unlock it in the Item tab of the sidebar."
            )
    if hips in names and obj.data.bones[hips].use_connect:
        raise RigError(
            f"bone '{hips}' of armature '{obj.name}' carries the body but is connected to its "
            "parent; switch Connected off in the bone's Relations."
        )

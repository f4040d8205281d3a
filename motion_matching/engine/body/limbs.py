"""The arms of a character with two legs, and where the joints of its whole body rest."""

from __future__ import annotations

from dataclasses import dataclass

from ..motion.skeleton import Skeleton
from .named_bones import SIDE_WORDS, NamedBones
from .rig import Roles


@dataclass(frozen=True)
class Arm:
    """Bone indices of one arm; `shoulder` is the collar bone, if there is one."""

    shoulder: int | None
    upper: int
    lower: int
    hand: int


@dataclass(frozen=True)
class Limbs:
    """Bones of a body with a head, two legs and two arms, whose left ones come first.

    `spine` are the bones from the hips up to the one below the neck; `neck` is that below the head.
    """

    roles: Roles
    arms: tuple[Arm, Arm]
    spine: tuple[int, ...]
    neck: int | None
    head: int


def find_limbs(skeleton: Skeleton, roles: Roles) -> Limbs | None:
    """Find the limbs of a body by the names of its arms; None if it is built in another way."""
    if roles.head is None or [leg.side for leg in roles.legs] != ["L", "R"]:
        return None
    found = [_find_arm(skeleton, roles, side) for side in "LR"]
    arms = [arm for arm in found if arm is not None]
    if len(arms) < 2:
        return None
    up = [*reversed(skeleton.get_chain_to_root(roles.head))]
    if roles.hips not in up:
        return None
    up = up[up.index(roles.hips) : -1]
    arm_bones = [bone for arm in arms for bone in skeleton.get_chain_to_root(arm.upper)]
    spine = [bone for bone in up if bone == roles.hips or arm_bones.count(bone) == 2]
    neck = next((bone for bone in up if bone not in spine), None)
    return Limbs(roles, (arms[0], arms[1]), tuple(spine), neck, roles.head)


def _find_arm(skeleton: Skeleton, roles: Roles, side: str) -> Arm | None:
    """Find the bones of an arm on side 'L' or 'R' by their names."""
    named = NamedBones.read(skeleton)
    arm = named.find_arm(side, roles.hips, [leg.thigh for leg in roles.legs])
    if "hand" not in arm:
        return None
    upper, lower, hand = (arm[part][0] for part in ("upper_arm", "forearm", "hand"))
    collar = f"{SIDE_WORDS[side]}_collar"
    above = (bone for bone in skeleton.get_ancestors(upper) if named.roles.get(bone) == collar)
    return Arm(next(above, None), upper, lower, hand)

"""The arms of a character with two legs, and where the joints of its whole body rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..motion.bone_names import find_candidates, split_side
from ..motion.skeleton import Skeleton
from .rig import Roles

_FOREARMS = ("forearm", "lowerarm", "lowarm", "elbow")
_HANDS = ("hand", "wrist")


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
    """Find the bones of an arm on a side: the upper one by name, the others below it."""
    legs = {leg.thigh for leg in roles.legs}
    for bone, found in find_candidates(skeleton.names, "arm"):
        above = skeleton.get_ancestors(bone)
        if found != side or roles.hips not in above or legs & {bone, *above}:
            continue
        chain = _follow_longest(skeleton, bone)
        cores = [split_side(skeleton.names[b], skeleton.names)[0] for b in chain]
        lower = _find_ending(cores, _FOREARMS, 1)
        hand = _find_ending(cores, _HANDS, lower + 1)
        if hand >= len(chain):
            return None
        parent = int(skeleton.parents[bone])
        labels = [split_side(skeleton.names[b], skeleton.names)[1] for b in (parent,)]
        return Arm(parent if labels == [side] else None, bone, chain[lower], chain[hand])
    return None


def _follow_longest(skeleton: Skeleton, bone: int) -> list[int]:
    """Return the chain from a bone to the end that is farthest along the bones."""
    lengths = np.linalg.norm(skeleton.rest_positions, axis=-1)
    reach = {bone: 0.0}
    for below in skeleton.get_descendants(bone):
        reach[below] = reach[int(skeleton.parents[below])] + float(lengths[below])
    last = max(reach, key=lambda one: reach[one])
    chain = skeleton.get_chain_to_root(last)
    return chain[: chain.index(bone) + 1][::-1]


def _find_ending(cores: Sequence[str], endings: tuple[str, ...], default: int) -> int:
    """Return the index of the first name from `default` on with such an ending, or `default`."""
    named = (i for i in range(default, len(cores)) if cores[i].endswith(endings))
    return next(named, default)

"""Find the arms and legs of a body, and the bones of a whole person."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import RigError
from ..skeleton.skeleton import Skeleton
from .arm_search import FINGERS as FINGERS
from .body_roles import BodyRoles
from .named_bones import SIDE_WORDS, NamedBones
from .rig import Roles

SIDES = ("left", "right")
LEGS = ("left_leg", "right_leg")
ARMS = ("left_arm", "right_arm")
_PARTS = {"leg": ("thigh", "shin", "foot", "toe"), "arm": ("upper_arm", "forearm", "hand")}
_FORELEG = ("upper_arm", "forearm", "hand", "fore_toe")


@dataclass(frozen=True)
class LimbBones:
    """The bones that turn: the first one of each segment. `tip` (3,) is the end of the last one."""

    side: str
    kind: str
    collar: int | None
    upper: int
    lower: int
    end: int
    toe: int | None
    tip: np.ndarray

    @property
    def sign(self) -> float:
        """1 on the left, -1 on the right."""
        return 1.0 if self.side == "left" else -1.0

    @property
    def joints(self) -> list[int]:
        """The bones whose heads are the limb's joints, top to bottom."""
        return [self.upper, self.lower, self.end] + ([] if self.toe is None else [self.toe])

    def find_ways(self, positions: np.ndarray) -> list[np.ndarray]:
        """Return the ways (..., 3) along upper and lower segment, in positions (..., B, 3)."""
        ends = pairwise(self.joints[:3])
        return [positions[..., end, :] - positions[..., start, :] for start, end in ends]


def list_limbs(skeleton: Skeleton, roles: BodyRoles) -> dict[str, LimbBones]:
    """Return the limbs that are complete, by 'left_leg', 'right_arm' and so on.

    Raises RigError if hips or a part of a leg is missing, which retargeting requires.
    """
    _check_required(skeleton, roles)
    limbs = {}
    for kind, parts in _PARTS.items():
        named = _FORELEG if kind == "arm" and roles.four_legged else parts
        for side in SIDES:
            bones = [get_first(roles, f"{side}_{part}") for part in named]
            upper, lower, end, toe = (*bones, None)[:4]
            if upper is None or lower is None or end is None:
                continue
            collar = get_first(roles, f"{side}_collar") if kind == "arm" else None
            toe = None if toe == end else toe
            last = end if toe is None else toe
            sites = [np.array(site, float) for bone, site in skeleton.end_sites if bone == last]
            tip = max(sites, key=lambda site: float(np.linalg.norm(site)), default=np.zeros(3))
            limb = LimbBones(side, kind, collar, upper, lower, end, toe, tip)
            limbs[f"{side}_{kind}"] = limb
    return limbs


def _check_required(skeleton: Skeleton, roles: BodyRoles) -> None:
    legs = [f"{side}_{part}" for side in SIDES for part in _PARTS["leg"][:3]]
    missing = [role for role in ("hips", *legs) if not roles.chains.get(role)]
    if missing:
        words = ", ".join(role.replace("_", " ") for role in missing)
        raise RigError(
            f"The skeleton below '{skeleton.names[0]}' has no bone for {words}, without which no "
            "motion can be retargeted; choose it in the table of bones."
        )


def get_first(roles: BodyRoles, role: str) -> int | None:
    """Return the topmost bone of a role, if it has one."""
    chain = roles.chains.get(role, ())
    return chain[0] if chain else None


def find_leg_carrier(skeleton: Skeleton, roles: BodyRoles) -> int:
    """Return the lowest bone of the hips that is above both thighs."""
    above = [skeleton.get_ancestors(roles.chains[f"{side}_thigh"][0]) for side in SIDES]
    hips = roles.chains["hips"]
    return next((b for b in hips[::-1] if all(b in bones for bones in above)), hips[0])


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

    `spine` are the bones from the hips up to the one below the neck; `neck` is the one below the
    head.
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
    if roles.hips not in skeleton.get_chain_to_root(roles.head):
        return None
    up = skeleton.get_path(roles.hips, roles.head)[:-1]
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

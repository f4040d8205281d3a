"""Roles of bones: which bone is the hips, the spine, and the parts of every leg.

Names decide where they are known; where they say nothing the shape and the motion do (`rig_shape`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import RigError
from ..maths import quat
from .bone_names import candidates
from .clip import Clip
from .rig_shape import (
    LEG_PARTS,
    above,
    below,
    lowest_common,
    planted_direction,
    roles_by_shape,
    sample,
)
from .skeleton import Skeleton

_SIDE_WORDS = {"L": "left", "R": "right", "": "middle"}
_OTHER_SIDE = {"left": "right", "right": "left"}
_LEG_ROLE = re.compile(r"(left|right|middle)(\d*)_(thigh|shin|foot|toe)")
_CENTRE_ROLES = ("hips", "spine", "head", "root")


@dataclass(frozen=True)
class Leg:
    """Bone indices of one leg from top to bottom; `toe` equals `foot` on a rig without toes."""

    thigh: int
    shin: int
    foot: int
    toe: int
    side: str = ""


@dataclass(frozen=True)
class Roles:
    """Bone indices by role.

    `spine` is the upper spine bone whose point on the ground is the simulation position; `root` is an existing bone
    above the hips. The legs of the hips come first, left before right.
    """

    hips: int
    spine: int
    legs: tuple[Leg, ...]
    head: int | None = None
    root: int | None = None

    @property
    def leg_names(self) -> tuple[str, ...]:
        """What the legs are called: 'left', 'right', a second left one 'left2'."""
        return tuple(_leg_labels(self.legs))

    def to_names(self, skeleton: Skeleton) -> dict[str, str]:
        """Bone names by role ('hips', 'left_thigh', a second left leg as 'left2_thigh'), ready for JSON."""
        bones = {"hips": self.hips, "spine": self.spine, "head": self.head, "root": self.root}
        for label, leg in zip(self.leg_names, self.legs, strict=True):
            bones |= {f"{label}_{part}": getattr(leg, part) for part in LEG_PARTS}
        return {role: skeleton.names[bone] for role, bone in bones.items() if bone is not None}

    @classmethod
    def from_names(cls, skeleton: Skeleton, names: Mapping[str, str]) -> Roles:
        """The inverse of `to_names`. RigError where a bone does not exist or a role is missing."""
        return _assemble(skeleton, _bones_of(skeleton, names))


def find_roles(
    skeleton: Skeleton, clips: Sequence[Clip] = (), overrides: Mapping[str, str] | None = None
) -> Roles:
    """Roles by bone names, else by shape in the clips' frames (or the rest pose without clips).

    `overrides` gives bone names by role as `Roles.to_names` does and wins over both. RigError names a missing role
    with the bones that are likely, an unknown bone with the names nearest to it, or what in `overrides` contradicts the
    hierarchy or swaps the sides.
    """
    given = _bones_of(skeleton, overrides or {})
    roles = _found_roles(skeleton, clips, given)
    if given:
        _check_hierarchy(skeleton, roles)
        if clips and any(map(_LEG_ROLE.fullmatch, given)) and _front(clips, roles)[1]:
            raise RigError(
                "The toes point back, so left and right are swapped in the rig's roles; exchange them."
            )
    return roles


def _found_roles(skeleton: Skeleton, clips: Sequence[Clip], given: dict[str, int]) -> Roles:
    named = _roles_by_name(skeleton, given)
    try:
        return _assemble(skeleton, named)
    except RigError as by_name:
        try:
            shaped = _assemble(skeleton, roles_by_shape(skeleton, clips) | given)
            # on a rig without legs the arms look most like some: their names tell
            arms = {bone for bone, _ in candidates(skeleton.names, "arm")}
            if any(leg.thigh in arms or leg.shin in arms for leg in shaped.legs):
                raise by_name
            return shaped
        except RigError:
            # names that go some way say best what is missing
            if any(role.endswith("_thigh") for role in named):
                raise by_name from None
            raise


def hips_forward(clips: Sequence[Clip], roles: Roles) -> np.ndarray:
    """Unit axis (3,) of the hips bone's own frame that points forward, level on average.

    It is perpendicular to the line between the thighs and to the mean vertical as the hips see it, so a tilted pelvis
    does not matter. Toes that clearly point back overrule names of left and right; where these are missing, toes or
    the direction of travel decide alone. RigError where nothing does.
    """
    return _front(clips, roles)[0]


def _front(clips: Sequence[Clip], roles: Roles) -> tuple[np.ndarray, bool]:
    """The axis of `hips_forward`, and whether the toes overruled the sides of the legs."""
    _, positions, rotations, velocities = sample(clips[0].skeleton, clips, roles.hips)
    hips = rotations[:, roles.hips]

    def seen_by_hips(vectors: np.ndarray) -> np.ndarray:
        return np.mean(quat.inv_mul_vec(hips, vectors), axis=0)

    up = _direction(seen_by_hips(np.array([[0.0, 0.0, 1.0]])))
    legs = [leg for leg in roles.legs if leg.toe != leg.foot]
    feet = velocities
    if legs:
        feet = planted_direction(
            [positions[:, leg.foot] for leg in legs], [positions[:, leg.toe] for leg in legs]
        )
    left, right = ([leg.thigh for leg in roles.legs if leg.side == side] for side in "LR")
    backward = False
    if left and right:
        forward = np.cross(
            seen_by_hips(positions[:, left].mean(axis=1) - positions[:, right].mean(axis=1)), up
        )
        # feet that clearly point back tell that the names of left and right are swapped
        backward = bool(legs) and forward @ seen_by_hips(feet) < -0.2 * np.linalg.norm(
            forward
        ) * _length(feet)
        forward = -forward if backward else forward
    else:
        ahead = seen_by_hips(feet)
        forward = ahead - (ahead @ up) * up
    if np.linalg.norm(forward) < 1e-6:
        raise RigError(
            f"Bone '{clips[0].skeleton.names[roles.hips]}' has no recognisable front; "
            "name a left and a right leg in the rig's roles."
        )
    return _direction(forward), backward


def _check_hierarchy(skeleton: Skeleton, roles: Roles) -> None:
    """RigError where a bone has two roles, or does not lie below the one that its role hangs from."""
    centre = (
        [("root", roles.root), ("hips", roles.hips)]
        if roles.root is not None
        else [("hips", roles.hips)]
    )
    bones = dict(centre)
    ways = [centre]
    for label, leg in zip(_leg_labels(roles.legs), roles.legs, strict=True):
        parts = LEG_PARTS if leg.toe != leg.foot else LEG_PARTS[:3]
        ways.append([centre[-1], *((f"{label} {part}", getattr(leg, part)) for part in parts)])
        for role, bone in ways[-1][1:]:
            twin = next((other for other, taken in bones.items() if taken == bone), None)
            if twin is not None:
                raise RigError(
                    f"The bone '{skeleton.names[bone]}' is both {twin} and {role}; correct the rig's roles."
                )
            bones[role] = bone
    for way in ways:
        for (upper_role, upper), (role, bone) in pairwise(way):
            if upper in skeleton.ancestors(bone):
                continue
            other = bones.get(re.sub("left|right", lambda side: _OTHER_SIDE[side[0]], upper_role))
            advice = "correct the rig's roles"
            if other != upper and other in skeleton.ancestors(bone):
                advice = "left and right look swapped, exchange them in the rig's roles"
            raise RigError(
                f"The bone '{skeleton.names[bone]}' ({role}) does not lie below '{skeleton.names[upper]}' "
                f"({upper_role}); {advice}."
            )


def _length(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=-1).mean())


def _direction(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def _leg_labels(legs: Sequence[Leg]) -> list[str]:
    labels, seen = [], {"L": 0, "R": 0, "": 0}
    for leg in legs:
        seen[leg.side] += 1
        labels.append(_SIDE_WORDS[leg.side] + (str(seen[leg.side]) if seen[leg.side] > 1 else ""))
    return labels


def _bones_of(skeleton: Skeleton, names: Mapping[str, str]) -> dict[str, int]:
    """Bone indices by role of bone names by role."""
    known = {name: bone for bone, name in reversed(list(enumerate(skeleton.names)))}
    bones = {}
    for role, name in names.items():
        if role not in _CENTRE_ROLES and not _LEG_ROLE.fullmatch(role):
            raise RigError(
                f"'{role}' is not a role; use hips, spine, head, root, or left_, right_ or middle_ "
                "with thigh, shin, foot or toe."
            )
        if name not in known:
            near = difflib.get_close_matches(name, skeleton.names, n=3, cutoff=0.4)
            hint = (
                f"did you mean {_listed(near)}?"
                if near
                else f"the rig has {_listed(skeleton.names[:8])}."
            )
            raise RigError(
                f"The bone '{name}' given for {role.replace('_', ' ')} does not exist; {hint}"
            )
        bones[role] = known[name]
    return bones


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _assemble(skeleton: Skeleton, bones: Mapping[str, int]) -> Roles:
    """Roles from bone indices by role; RigError where a needed one is missing."""
    labels = sorted(
        {role.rsplit("_", 1)[0] for role in bones if _LEG_ROLE.fullmatch(role)}, key=_label_order
    )
    if not labels:
        raise RigError(
            "The rig has no legs that reach the ground: no thigh, shin and foot were found; name them in "
            f"the rig's roles, likely bones are {_listed(_likely(skeleton, 'thigh', None))}."
        )
    legs = []
    for label in labels:
        for above_part, part in zip((None, "thigh", "shin"), LEG_PARTS[:3], strict=True):
            if f"{label}_{part}" not in bones:
                likely = _likely(skeleton, part, bones.get(f"{label}_{above_part}"))
                hint = f", likely bones are {_listed(likely)}" if likely else ""
                raise RigError(
                    f"The rig has no {label} {part}; name the bone in the rig's roles "
                    f"as {label}_{part}{hint}."
                )
        thigh, shin, foot = (bones[f"{label}_{part}"] for part in LEG_PARTS[:3])
        side = {word: side for side, word in _SIDE_WORDS.items()}[label.rstrip("0123456789")]
        legs.append(Leg(thigh, shin, foot, bones.get(f"{label}_toe", foot), side))
    if "hips" not in bones:
        raise RigError(
            "The rig has no hips; name the bone above the legs in the rig's roles, "
            f"likely bones are {_listed(_likely(skeleton, 'hips', None))}."
        )
    hips = bones["hips"]
    root = bones.get("root", next(iter(reversed(skeleton.ancestors(hips))), None))
    return Roles(hips, bones.get("spine", hips), tuple(legs), bones.get("head"), root)


def _label_order(label: str) -> tuple[int, str]:
    number = label.lstrip("abcdefghijklmnopqrstuvwxyz")
    return int(number or 1), label


def _likely(skeleton: Skeleton, part: str, parent: int | None) -> list[str]:
    """Bones that a user may have meant for a missing part: below the part above it, else alike in name."""
    if parent is not None:
        return [skeleton.names[bone] for bone in below(skeleton, parent)][:4]
    alike = difflib.get_close_matches(part, skeleton.names, n=4, cutoff=0.3)
    return alike or list(skeleton.names[:4])


def _roles_by_name(skeleton: Skeleton, given: Mapping[str, int]) -> dict[str, int]:
    """Bones by role as far as names (and the `given` ones) tell; the hierarchy fills in what follows from them."""
    bones: dict[str, int] = {}
    for side in "LR":
        bones |= _leg_by_name(skeleton, side, given)
    thighs = [bone for role, bone in {**bones, **given}.items() if role.endswith("_thigh")]
    arms = [
        next((bone for bone, side in candidates(skeleton.names, "arm") if side == wanted), -1)
        for wanted in "LR"
    ]
    head = next((bone for bone, side in candidates(skeleton.names, "head") if not side), None)
    spines = [bone for bone, side in candidates(skeleton.names, "spine") if not side]
    top = max(spines, key=lambda bone: len(skeleton.ancestors(bone)), default=None)
    chest = lowest_common(skeleton, arms) if min(arms) >= 0 else None
    if chest is None:
        chest = head if top is None else top
    elif head is None and top is not None and chest in skeleton.ancestors(top):
        head = top  # Rigify counts its spine up to the head
    if head is not None:
        bones["head"] = head
    if thighs:
        hips = _hips_by_name(skeleton, thighs, chest)
        if hips is not None:
            bones["hips"] = hips
    bones |= given
    if chest is not None and "hips" in bones:
        bones.setdefault("spine", _below_neck(skeleton, chest, bones["hips"]))
    return bones


def _leg_by_name(skeleton: Skeleton, side: str, given: Mapping[str, int]) -> dict[str, int]:
    """Roles of one leg: every part lies below the one above it."""
    label, leg, over = _SIDE_WORDS[side], {}, -1
    for part in LEG_PARTS:
        role = f"{label}_{part}"
        options = [bone for bone, where in candidates(skeleton.names, part) if where == side]
        under = [bone for bone in options if over < 0 or over in skeleton.ancestors(bone)]
        if part == "toe" and not under and over >= 0:
            # a toe of another name: the longest bone that follows the foot
            under = sorted(
                skeleton.children(over), key=lambda b: -np.linalg.norm(skeleton.rest_positions[b])
            )
        if role in given or under:
            over = leg[role] = given.get(role, under[0] if under else -1)
        elif part != "toe":
            break
    return leg


def _hips_by_name(skeleton: Skeleton, thighs: Sequence[int], chest: int | None) -> int | None:
    """The bone above all legs and the chest; one called hips or pelvis is preferred to a bone without such a name."""
    joint = lowest_common(skeleton, [*thighs, *([chest] if chest is not None else [])])
    named = [bone for bone, side in candidates(skeleton.names, "hips") if not side]
    over_legs = [
        bone for bone in named if all(bone in skeleton.ancestors(thigh) for thigh in thighs)
    ]
    if joint in over_legs or not over_legs:
        return joint
    return over_legs[0]


def _below_neck(skeleton: Skeleton, chest: int, hips: int) -> int:
    """The chest itself, or the bone under the neck on rigs whose arms hang on the neck; the hips where neither is."""
    necks = {
        bone
        for part in ("neck", "head")
        for bone, side in candidates(skeleton.names, part)
        if not side
    }
    while chest in necks and int(skeleton.parents[chest]) >= 0:
        chest = int(skeleton.parents[chest])
    return chest if hips in above(skeleton, chest) else hips

"""Find the roles of bones: the hips, the spine, and the parts of every leg.

Known names decide, otherwise shape and motion (`shape_search`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..errors import RigError
from ..files import json_files
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.bone_names import join_quoted
from ..skeleton.skeleton import Skeleton
from .forelegs import stands_on_wrists
from .named_bones import SIDE_WORDS, NamedBones, find_roles_by_name
from .published_rigs import LEG_PARTS
from .sampled_body import SampledBody, compute_planted_direction
from .shape_search import find_roles_by_shape, label_legs

_SIDES = {word: side for side, word in SIDE_WORDS.items()}
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

    @property
    def has_toe(self) -> bool:
        return self.toe != self.foot


@dataclass(frozen=True)
class Roles:
    """Bone indices by role; the legs of the hips come first, left before right.

    `spine` is the upper spine bone whose point on the ground is the simulation position; `root` is
    an existing bone above the hips.
    """

    hips: int
    spine: int
    legs: tuple[Leg, ...]
    head: int | None = None
    root: int | None = None

    @property
    def leg_bones(self) -> list[list[int]]:
        """Thigh, shin, foot and toe of each leg."""
        return [[getattr(leg, part) for part in LEG_PARTS] for leg in self.legs]

    @property
    def leg_names(self) -> tuple[str, ...]:
        """Names of the legs: 'left', 'right', 'left2' for a second left one."""
        return tuple(label_legs(SIDE_WORDS[leg.side] for leg in self.legs))

    def get_thighs(self, side: str) -> list[int]:
        """Return the thighs on side 'L' or 'R'."""
        return [leg.thigh for leg in self.legs if leg.side == side]

    def to_names(self, skeleton: Skeleton) -> dict[str, str]:
        """Return bone names by role, such as 'hips', 'left_thigh' and 'left2_thigh'."""
        bones = {"hips": self.hips, "spine": self.spine, "head": self.head, "root": self.root}
        for label, leg in zip(self.leg_names, self.legs, strict=True):
            bones |= {f"{label}_{part}": getattr(leg, part) for part in LEG_PARTS}
        return {role: skeleton.names[bone] for role, bone in bones.items() if bone is not None}

    @classmethod
    def from_names(cls, skeleton: Skeleton, names: Mapping[str, str]) -> Roles:
        """Undo `to_names`; RigError if a bone does not exist or a role is missing."""
        return _assemble(skeleton, _find_bones(skeleton, names))


def find_roles(
    skeleton: Skeleton, clips: Sequence[Clip] = (), overrides: Mapping[str, str] | None = None
) -> Roles:
    """Find roles by names, otherwise by shape in the clips' frames (or at rest without clips).

    `overrides` holds bone names by role as from `Roles.to_names`, which take precedence. Raises
    RigError for a missing role (with likely bones), an unknown bone (with similar names), and
    overrides that contradict the hierarchy or swap the sides.
    """
    chosen = _find_bones(skeleton, overrides or {})
    roles = _find_roles_by_name_or_shape(skeleton, clips, chosen)
    if chosen:
        _check_hierarchy(skeleton, roles)
        if clips and any(map(_LEG_ROLE.fullmatch, chosen)) and _find_front(clips, roles)[1]:
            raise RigError(
                "The toes point backward, so left and right are swapped in the rig's roles; "
                "exchange them."
            )
    return roles


def _find_roles_by_name_or_shape(
    skeleton: Skeleton, clips: Sequence[Clip], overrides: dict[str, int]
) -> Roles:
    named = find_roles_by_name(skeleton, clips, overrides)
    try:
        roles = _assemble(skeleton, named)
    except RigError as by_name:
        try:
            shaped = find_roles_by_shape(skeleton, clips)
            if named.get("head") in skeleton.get_descendants(shaped["hips"]):
                shaped["head"] = named["head"]
            roles = _assemble(skeleton, shaped | overrides)
            # on a rig without legs the arms look most like legs; their names give them away
            arms = NamedBones.read(skeleton).list_arms()
            if all(leg.thigh in arms or leg.shin in arms for leg in roles.legs):
                raise by_name
            return roles
        except RigError:
            # if names give a thigh, the error about names best describes the gap
            if any(role.endswith("_thigh") for role in named):
                raise by_name from None
            raise
    if not overrides and _has_one_side(roles):  # the names of the other legs are no help
        with suppress(RigError):
            shaped_roles = _assemble(skeleton, find_roles_by_shape(skeleton, clips))
            roles = roles if _has_one_side(shaped_roles) else shaped_roles
    if roles.head is None:
        roles = _assemble(skeleton, _find_upper_body(skeleton, clips, roles.hips) | named)
    if any(role.endswith("_thigh") for role in overrides):
        return roles
    return add_forelegs(skeleton, clips, roles)


def _has_one_side(roles: Roles) -> bool:
    """Return whether all sided legs are on the same side."""
    return len({leg.side for leg in roles.legs} & {"L", "R"}) == 1


def _find_upper_body(skeleton: Skeleton, clips: Sequence[Clip], hips: int) -> dict[str, int]:
    """Return spine and head by shape, if it finds the same hips."""
    try:
        shaped = find_roles_by_shape(skeleton, clips)
    except RigError:
        return {}
    return {r: shaped[r] for r in ("spine", "head") if r in shaped and shaped["hips"] == hips}


def add_forelegs(skeleton: Skeleton, clips: Sequence[Clip], roles: Roles) -> Roles:
    """Add forelegs that are named as such or as arms, or else pairs found by shape."""
    found = _find_forelegs_by_name(skeleton, clips, roles)
    found = found or _find_forelegs_by_shape(skeleton, clips, roles)
    return replace(roles, legs=(*roles.legs, *found))


def _find_forelegs_by_name(skeleton: Skeleton, clips: Sequence[Clip], roles: Roles) -> list[Leg]:
    """Return both arms by name as legs, for an animal or a body that stands on them."""
    if [leg.side for leg in roles.legs] != ["L", "R"]:
        return []
    taken = {leg.thigh for leg in roles.legs}
    taken |= {bone for leg in roles.legs for bone in skeleton.get_descendants(leg.thigh)}
    named = NamedBones.read(skeleton)
    found = []
    for side in "LR":
        arm = named.find_arm(side, roles.hips, taken)
        if not {"upper_arm", "forearm", "hand"} <= set(arm):
            return []
        upper, lower, hand = (arm[part][0] for part in ("upper_arm", "forearm", "hand"))
        found.append(Leg(upper, lower, hand, arm.get("fore_toe", (hand,))[0], side))
    if named.is_animal or all(leg.has_toe for leg in found):
        return found
    arms = [(leg.thigh, leg.shin, leg.foot) for leg in found]
    stands = stands_on_wrists(skeleton, clips, roles.hips, roles.leg_bones, arms)
    return found if stands else []


def _find_forelegs_by_shape(skeleton: Skeleton, clips: Sequence[Clip], roles: Roles) -> list[Leg]:
    """Return other pairs of legs; only arms if names give these, to exclude coat-tails."""
    try:
        shaped = _assemble(skeleton, find_roles_by_shape(skeleton, clips)).legs
    except RigError:
        return []
    arms = NamedBones.read(skeleton).list_arms()
    found = []
    taken = {bone for bones in roles.leg_bones for bone in bones}
    # a rest pose that lies takes arms for legs, and misses the legs themselves
    if sum(bool(taken & {leg.thigh, leg.shin, leg.foot}) for leg in shaped) < 2:
        return []
    for pair in zip(shaped[::2], shaped[1::2], strict=False):
        sided = sorted(pair, key=lambda leg: leg.side)
        left, right = (set(skeleton.get_chain_to_root(leg.toe)) for leg in sided)
        are_arms = not arms or bool(arms & (left - right) and arms & (right - left))
        are_new = taken.isdisjoint(left ^ right)
        if are_new and are_arms and [leg.side for leg in sided] == ["L", "R"]:
            found += sided
    return found


def read_roles(path: Path | str) -> dict[str, str]:
    """Read bone names by role from a JSON file. Raises SettingsError."""
    with json_files.name_file(f"rig file {path}"):
        roles = json_files.expect_object(json_files.read(path, "rig file"), "the file").items()
        return {role: json_files.expect_text(bone, f"the bone of '{role}'") for role, bone in roles}


def find_hips_forward(clips: Sequence[Clip], roles: Roles) -> np.ndarray:
    """Return the unit axis (3,) of the hips bone's own frame that points forward, level on average.

    It is perpendicular to the line between the thighs and to the mean vertical in the hips' frame,
    so a tilted pelvis does not matter. Toes that clearly point backward overrule the names of left
    and right. Without left and right, the toes or the direction of travel decide. Raises RigError
    if nothing does.
    """
    return _find_front(clips, roles)[0]


def _find_front(clips: Sequence[Clip], roles: Roles) -> tuple[np.ndarray, bool]:
    """Return the axis of `find_hips_forward`, and whether the toes overruled the legs' sides."""
    body = SampledBody.from_clips(clips[0].skeleton, clips)
    positions = body.positions
    hips = body.rotations[:, roles.hips]

    def to_hips_frame(vectors: np.ndarray) -> np.ndarray:
        return np.mean(quat.inv_mul_vec(hips, vectors), axis=0)

    up = quat.normalize_vectors(to_hips_frame(np.array([[0.0, 0.0, 1.0]])))
    feet = [(positions[:, leg.foot], positions[:, leg.toe]) for leg in roles.legs if leg.has_toe]
    pointing = compute_planted_direction(feet) if feet else body.find_velocities(roles.hips)
    ahead = to_hips_frame(pointing)
    left, right = (roles.get_thighs(side) for side in "LR")
    backward = False
    if left and right:
        across = positions[:, left].mean(axis=1) - positions[:, right].mean(axis=1)
        forward = np.cross(to_hips_frame(across), up)
        # if the feet clearly point backward, the names of left and right are swapped
        clearly = 0.2 * np.linalg.norm(forward) * np.linalg.norm(pointing, axis=-1).mean()
        backward = bool(feet) and bool(forward @ ahead < -clearly)
        forward = -forward if backward else forward
    else:
        forward = ahead - (ahead @ up) * up
    if np.linalg.norm(forward) < 1e-6:
        raise RigError(
            f"Bone '{clips[0].skeleton.names[roles.hips]}' has no recognisable front; "
            "name a left and a right leg in the rig's roles."
        )
    return quat.normalize_vectors(forward), backward


def _check_hierarchy(skeleton: Skeleton, roles: Roles) -> None:
    """Raise RigError if a bone has two roles, or is not below the bone required by its role."""
    centre = [] if roles.root is None else [("root", roles.root)]
    centre.append(("hips", roles.hips))
    bones = dict(centre)
    chains = [centre]
    for label, leg in zip(roles.leg_names, roles.legs, strict=True):
        parts = LEG_PARTS if leg.has_toe else LEG_PARTS[:3]
        chains.append([centre[-1], *((f"{label} {part}", getattr(leg, part)) for part in parts)])
        for role, bone in chains[-1][1:]:
            twin = next((other for other, taken in bones.items() if taken == bone), None)
            if twin is not None:
                raise RigError(
                    f"The bone '{skeleton.names[bone]}' is both {twin} and {role}; correct the "
                    "rig's roles."
                )
            bones[role] = bone
    for chain in chains:
        for (upper_role, upper), (role, bone) in pairwise(chain):
            if upper in skeleton.get_ancestors(bone):
                continue
            other = bones.get(re.sub("left|right", lambda side: _OTHER_SIDE[side[0]], upper_role))
            remedy = "correct the rig's roles"
            if other != upper and other in skeleton.get_ancestors(bone):
                remedy = "left and right look swapped, exchange them in the rig's roles"
            raise RigError(
                f"The bone '{skeleton.names[bone]}' ({role}) is not below "
                f"'{skeleton.names[upper]}' ({upper_role}); {remedy}."
            )


def _find_bones(skeleton: Skeleton, names: Mapping[str, str]) -> dict[str, int]:
    """Return bone indices by role for bone names by role."""
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
            hint = f"the rig has {join_quoted(skeleton.names[:8])}."
            if near:
                hint = f"did you mean {join_quoted(near)}?"
            raise RigError(
                f"The bone '{name}' given for {role.replace('_', ' ')} does not exist; {hint}"
            )
        bones[role] = known[name]
    return bones


def _assemble(skeleton: Skeleton, bones: Mapping[str, int]) -> Roles:
    """Return the roles of bone indices by role; RigError if a required one is missing."""
    matches = {(int(m[2] or 1), m[1] + m[2]) for m in map(_LEG_ROLE.fullmatch, bones) if m}
    if not matches:
        raise RigError(
            "The rig has no legs that reach the ground; name thigh, shin and foot in the rig's "
            f"roles{_suggest_bones(skeleton, 'thigh')}."
        )
    legs = []
    for _, label in sorted(matches):
        for above_part, part in zip((None, "thigh", "shin"), LEG_PARTS[:3], strict=True):
            if f"{label}_{part}" not in bones:
                likely = _suggest_bones(skeleton, part, bones.get(f"{label}_{above_part}"))
                raise RigError(
                    f"The rig has no {label} {part}; name the bone in the rig's roles "
                    f"as {label}_{part}{likely}."
                )
        thigh, shin, foot = (bones[f"{label}_{part}"] for part in LEG_PARTS[:3])
        toe = bones.get(f"{label}_toe", foot)
        side = _SIDES[label.rstrip("0123456789")]
        legs.append(Leg(thigh, shin, foot, toe, side))
    if "hips" not in bones:
        raise RigError(
            "The rig has no hips; name the bone above the legs in the rig's "
            f"roles{_suggest_bones(skeleton, 'hips')}."
        )
    hips = bones["hips"]
    root = bones.get("root", next(iter(reversed(skeleton.get_ancestors(hips))), None))
    return Roles(hips, bones.get("spine", hips), tuple(legs), bones.get("head"), root)


def _suggest_bones(skeleton: Skeleton, part: str, parent: int | None = None) -> str:
    """Name bones that may be a missing part: below the part above it, or with similar names."""
    if parent is not None:
        likely = [skeleton.names[bone] for bone in skeleton.get_descendants(parent)][:4]
    else:
        similar = difflib.get_close_matches(part, skeleton.names, n=4, cutoff=0.3)
        likely = similar or list(skeleton.names[:4])
    return f", likely bones are {join_quoted(likely)}" if likely else ""

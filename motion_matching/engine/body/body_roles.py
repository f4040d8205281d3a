"""Find the bones of the parts of a whole body: trunk, arms or forelegs, legs and fingers.

Hips, legs and head come from `rig.find_roles`. The rest follows from names where they are known,
otherwise from shape and motion. Every part has a confidence.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import RigError
from ..motion.clip import Clip
from ..skeleton.bone_names import join_quoted, split_side
from ..skeleton.skeleton import Skeleton
from .arm_search import FINGERS, Chains
from .body_plan import BodyPlan as BodyPlan
from .body_plan import check_body_plan as check_body_plan
from .body_search import BODY_ROLES, find_chains
from .body_subset import choose_body
from .named_bones import NamedBones
from .numbers import NUMBERS
from .published_rigs import ARM_PARTS, LEG_PARTS
from .sampled_body import measure_bones, sample_few_positions


@dataclass(frozen=True)
class BodyRoles:
    """Bone indices by role, top to bottom, and how sure each role is, from 0 to 1.

    A role that the body lacks has no entry. On `four_legged` bodies the forelegs have the roles of
    arms, and also toes.
    """

    chains: Mapping[str, tuple[int, ...]]
    confidence: Mapping[str, float]
    four_legged: bool = False

    def to_names(self, skeleton: Skeleton) -> dict[str, str | list[str]]:
        """Return bone names by role: one name, or a list where a part has several bones."""
        names: dict[str, str | list[str]] = {}
        for role, chain in self.chains.items():
            bones = [skeleton.names[bone] for bone in chain]
            names[role] = bones[0] if len(bones) == 1 else bones
        return names

    @classmethod
    def from_names(cls, skeleton: Skeleton, names: Mapping[str, str | Sequence[str]]) -> BodyRoles:
        """Undo `to_names`, with full confidence. Raises RigError for unknown roles and bones."""
        chains = {role: chain for role, chain in _find_given(skeleton, names).items() if chain}
        four_legged = any(role.endswith("fore_toe") for role in chains)
        return cls(_order(chains), dict.fromkeys(chains, 1.0), four_legged)


def find_body_roles(
    skeleton: Skeleton,
    clips: Sequence[Clip] = (),
    overrides: Mapping[str, str | Sequence[str]] | None = None,
) -> BodyRoles:
    """Find the bones of all parts of a body by names, otherwise by shape and motion.

    `overrides` holds bone names by role: one, from which the part follows, all bones of the part,
    or '' for a part to leave out. Clips of one skeleton are examined together, and the rest pose
    where they leave doubts. Raises RigError for missing hips or legs (with likely bones), for
    unknown bones and roles, and for two bodies in one skeleton.
    """
    given = _find_given(skeleton, overrides or {})
    roles = _find_roles(skeleton, clips, given)
    faults = check_body_plan(skeleton, roles, clips, given).faults if clips else ()
    if faults:
        try:
            resting = _find_roles(skeleton, (), given)
        except RigError:
            return roles  # the rest pose shows even less
        if len(check_body_plan(skeleton, resting, clips, given).faults) < len(faults):
            return resting
    return roles


def _find_roles(skeleton: Skeleton, clips: Sequence[Clip], given: Chains) -> BodyRoles:
    """Find roles from clips, or from the rest pose without clips."""
    wanted = sorted({bone for chain in given.values() for bone in chain})
    body = choose_body(skeleton, clips, wanted)
    inner = {role: tuple(body.bones.index(bone) for bone in chain) for role, chain in given.items()}
    _check_single_body(body.skeleton)
    chains, four_legged = find_chains(body, inner)
    rated = _rate_roles(body.skeleton, body.clips, chains, given)
    whole = {role: tuple(body.bones[bone] for bone in chain) for role, chain in chains.items()}
    if "root" not in given:
        whole["root"] = tuple(reversed(skeleton.get_ancestors(whole["hips"][0])))
        rated["root"] = rated["hips"]
    whole = {role: chain for role, chain in whole.items() if chain}
    return BodyRoles(_order(whole), {role: rated[role] for role in whole}, four_legged)


def _check_single_body(skeleton: Skeleton) -> None:
    """Raise RigError if names show two bodies: two pairs of thighs, each with a head above."""
    bodies: list[int] = []
    pairs = (
        (named, left)
        for named in NamedBones.read_each(skeleton)
        for left in named.find("left_thigh")
    )
    for named, left in pairs:
        rights = named.find("right_thigh")
        joints = [skeleton.find_common_ancestor([left, right]) for right in rights]
        joint = max((j for j in joints if j is not None), key=skeleton.get_depth, default=None)
        if joint is None or set(named.find("head")).isdisjoint(skeleton.get_descendants(joint)):
            continue
        related = {joint, *skeleton.get_ancestors(joint), *skeleton.get_descendants(joint)}
        if not related & set(bodies):
            bodies.append(joint)
    if len(bodies) > 1:
        names = " and ".join(f"'{skeleton.names[bone]}'" for bone in bodies[:2])
        raise RigError(
            f"The skeleton holds more than one character, below {names}; give each a skeleton or "
            "file of its own."
        )


def _find_given(skeleton: Skeleton, names: Mapping[str, str | Sequence[str]]) -> Chains:
    """Return bone indices by role for the names given by hand."""
    known = {name: bone for bone, name in reversed(list(enumerate(skeleton.names)))}
    given = {}
    for role, value in names.items():
        if role not in BODY_ROLES:
            ending = [known_role for known_role in BODY_ROLES if known_role.endswith(role)]
            near = ending[:2] or difflib.get_close_matches(role, BODY_ROLES, n=2, cutoff=0.0)
            raise RigError(
                f"'{role}' is not a role of a body; use one such as {join_quoted(near)}."
            )
        wanted = [value] if isinstance(value, str) else list(value)
        wanted = [name for name in wanted if name]
        for name in wanted:
            if name not in known:
                near = difflib.get_close_matches(name, skeleton.names, n=3, cutoff=0.4)
                hint = f"likely ones are {join_quoted(near)}." if near else "choose another one."
                part = role.replace("_", " ")
                raise RigError(f"The bone '{name}' given for the {part} does not exist; {hint}")
        given[role] = tuple(known[name] for name in wanted)
    if given.get("hips") == ():
        raise RigError("No body can do without hips; choose their bone, or have it found.")
    _check_unique(skeleton, given)
    return given


def _check_unique(skeleton: Skeleton, given: Chains) -> None:
    owners: dict[int, str] = {}
    for role, chain in given.items():
        for bone in chain:
            other = owners.setdefault(bone, role)
            if other != role or chain.count(bone) > 1:
                parts = " and the ".join(r.replace("_", " ") for r in dict.fromkeys((other, role)))
                raise RigError(
                    f"The bone '{skeleton.names[bone]}' is given twice, for the {parts}; choose "
                    "one of them."
                )


def _order(chains: Chains) -> Chains:
    """Return chains in the order of `BODY_ROLES`."""
    return {role: chains[role] for role in BODY_ROLES if role in chains}


# confidence


def _rate_roles(
    skeleton: Skeleton,
    clips: Sequence[Clip],
    chains: Chains,
    given: Collection[str],
) -> dict[str, float]:
    """Return a confidence by role: 1 if given, or named, plausible and even on both sides."""
    read = NamedBones.read(skeleton)
    named = {role: _is_named(read, role, chain) for role, chain in chains.items()}
    uneven = _find_uneven(skeleton, clips, chains)
    anchored = named.get("left_thigh", False) and named.get("right_thigh", False)
    # a body that seems to have no arms may be misread
    has_arms = {"left_upper_arm", "right_upper_arm"} <= set(chains)
    by_shape = NUMBERS.shaped if has_arms else NUMBERS.doubtful
    rated = {}
    for role in chains:
        follows = anchored and role in ("hips", "spine", "neck", "head")
        follows = follows or named.get(_get_part_above(role), False)
        value = NUMBERS.named if named[role] or follows else by_shape
        if role in uneven:
            value = min(value, NUMBERS.shaped) - (NUMBERS.shaped - NUMBERS.doubtful)
        rated[role] = 1.0 if role in given else value
    return rated


def _get_part_above(role: str) -> str:
    """Return the role of the part of a limb that is above, '' without one."""
    side, _, part = role.partition("_")
    for limb in (LEG_PARTS, ARM_PARTS):
        if part in limb[1:]:
            return f"{side}_{limb[limb.index(part) - 1]}"
    return ""


def _is_named(named: NamedBones, role: str, chain: tuple[int, ...]) -> bool:
    """Return whether the name of a role's bone gives the role, or at least a finger's side."""
    side, _, part = role.partition("_")
    if part in FINGERS:
        names = named.skeleton.names
        return any(split_side(names[b], names)[1] == side[0].upper() for b in chain)
    return role == "tail" or any(named.roles.get(bone) == role for bone in chain)


def _find_uneven(skeleton: Skeleton, clips: Sequence[Clip], chains: Chains) -> set[str]:
    """Return the roles of parts much longer or shorter than on the other side."""
    lengths = measure_bones(skeleton, sample_few_positions(skeleton, clips))
    uneven = set()
    for role, chain in chains.items():
        other = role.replace("left_", "right_")
        if other == role or other not in chains:
            continue
        ours, theirs = (float(np.sum(lengths[list(part)])) for part in (chain, chains[other]))
        if abs(ours - theirs) > NUMBERS.doubtful_lengths * max(ours, theirs) + 1e-3:
            uneven |= {role, other}
    return uneven

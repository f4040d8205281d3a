"""How sure the roles of bones are: by their names, by where they lie, and by the other side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..motion.bone_names import find_candidates, split_side
from ..motion.clip import Clip
from ..motion.skeleton import Skeleton
from .limb_names import FINGERS, read_limb_part
from .rig_shape import LEG_PARTS
from .sampled_body import sample_lengths

NAMED, BETWEEN, SHAPED, DOUBTFUL = 1.0, 0.9, 0.6, 0.4
_UNEVEN = 0.25  # share in which the lengths of both sides' parts may differ
_SIDES = {"left": "L", "right": "R"}
# parts of limbs that a name may give where another part is meant by it
_SAME = {
    "collar": {"collar", "shoulder"},
    "upper_arm": {"upper_arm", "arm", "shoulder"},
    "forearm": {"forearm", "arm"},
    "hand": {"hand"},
    "fore_toe": {"fore_toe", "hand"},
}


def rate_roles(
    skeleton: Skeleton,
    clips: Sequence[Clip],
    chains: Mapping[str, tuple[int, ...]],
    given: Collection[str],
) -> dict[str, float]:
    """Return a confidence from 0 to 1 by role: 1 for what is given, or named and plausible.

    Parts between named ones follow from them. Both sides' parts should be as long.
    """
    named = {role: _is_named(skeleton, role, chain) for role, chain in chains.items()}
    uneven = _find_uneven(skeleton, clips, chains)
    anchored = named.get("left_thigh", False) and named.get("right_thigh", False)
    # a body that seems to have no arms may be another one than it seems
    by_shape = SHAPED if {"left_upper_arm", "right_upper_arm"} <= set(chains) else DOUBTFUL
    rated = {}
    for role in chains:
        value = NAMED if named[role] else by_shape
        follows = anchored and role in ("hips", "spine", "neck", "head")
        if not named[role] and (follows or named.get(_get_part_above(role), False)):
            value = BETWEEN
        if role in uneven:
            value = min(value, SHAPED) - (SHAPED - DOUBTFUL)
        rated[role] = 1.0 if role in given else value
    return rated


def _get_part_above(role: str) -> str:
    """Return the role of the part of a limb that is above, '' without one."""
    side, _, part = role.partition("_")
    for limb in (LEG_PARTS, ("upper_arm", "forearm", "hand", "fore_toe")):
        if part in limb[1:]:
            return f"{side}_{limb[limb.index(part) - 1]}"
    return ""


def _is_named(skeleton: Skeleton, role: str, chain: tuple[int, ...]) -> bool:
    """Tell whether the name of a role's bone gives the role and the side."""
    side, _, part = role.partition("_")
    letter = _SIDES.get(side, "")
    part = part if letter else role
    names = [skeleton.names[bone] for bone in chain]
    if part in _SAME:
        return any(_reads(name, skeleton, _SAME[part], letter) for name in names)
    if part in FINGERS:
        return any(split_side(name, skeleton.names)[1] == letter for name in names)
    if part in ("hips", "spine", "neck", "head", "tail", "thigh", "shin", "foot", "toe"):
        found = set(find_candidates(skeleton.names, part))
        return any((bone, letter) in found for bone in chain)
    return False


def _reads(name: str, skeleton: Skeleton, parts: set[str], letter: str) -> bool:
    part, side = read_limb_part(name, skeleton.names)
    return part in parts and side == letter


def _find_uneven(
    skeleton: Skeleton, clips: Sequence[Clip], chains: Mapping[str, tuple[int, ...]]
) -> set[str]:
    """Return the roles of parts that are much longer or shorter than those of the other side."""
    lengths = sample_lengths(skeleton, clips)
    uneven = set()
    for role, chain in chains.items():
        other = role.replace("left_", "right_")
        if other == role or other not in chains:
            continue
        ours, theirs = (float(np.sum(lengths[list(part)])) for part in (chain, chains[other]))
        if abs(ours - theirs) > _UNEVEN * max(ours, theirs) + 1e-3:
            uneven |= {role, other}
    return uneven

"""Rate the confidence of bone roles, by names, by places, and by the other side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..motion.clip import Clip
from ..skeleton.bone_names import split_side
from ..skeleton.skeleton import Skeleton
from .fingers import FINGERS
from .named_bones import NamedBones
from .numbers import NUMBERS
from .published_rigs import ARM_PARTS, LEG_PARTS
from .sampled_body import measure_bones, sample_few_positions

NAMED = NUMBERS.named
SHAPED = NUMBERS.shaped
DOUBTFUL = NUMBERS.doubtful


def rate_roles(
    skeleton: Skeleton,
    clips: Sequence[Clip],
    chains: Mapping[str, tuple[int, ...]],
    given: Collection[str],
) -> dict[str, float]:
    """Return a confidence from 0 to 1 by role: 1 if given, or named and plausible.

    Parts between named ones follow from them. Both sides' parts should be as long.
    """
    read = NamedBones.read(skeleton)
    named = {role: _is_named(read, role, chain) for role, chain in chains.items()}
    uneven = _find_uneven(skeleton, clips, chains)
    anchored = named.get("left_thigh", False) and named.get("right_thigh", False)
    # a body that seems to have no arms may be misread
    by_shape = SHAPED if {"left_upper_arm", "right_upper_arm"} <= set(chains) else DOUBTFUL
    rated = {}
    for role in chains:
        follows = anchored and role in ("hips", "spine", "neck", "head")
        follows = follows or named.get(_get_part_above(role), False)
        value = NAMED if named[role] or follows else by_shape
        if role in uneven:
            value = min(value, SHAPED) - (SHAPED - DOUBTFUL)
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


def _find_uneven(
    skeleton: Skeleton, clips: Sequence[Clip], chains: Mapping[str, tuple[int, ...]]
) -> set[str]:
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

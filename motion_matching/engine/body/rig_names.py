"""Find hips, spine, head and legs by the names of bones, and by where bones of one name lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ..motion.bone_names import find_candidates, split_side, split_words
from ..motion.clip import Clip
from ..motion.skeleton import Skeleton
from .rig_shape import LEG_PARTS
from .sampled_body import sample_few_positions

SIDE_WORDS = {"L": "left", "R": "right", "": "middle"}
_ASIDE = 0.1  # of a segment's length: a bone that is no farther off it is a piece of it
_SAME_PLACE = 0.01  # of a segment's length: bones that are no farther off lie in one place


def _find_named(skeleton: Skeleton, part: str, side: str = "") -> list[int]:
    """Return the bones on a side whose names could mean a part, the surest first."""
    return [bone for bone, found in find_candidates(skeleton.names, part) if found == side]


def find_roles_by_name(
    skeleton: Skeleton, clips: Sequence[Clip], overrides: Mapping[str, int]
) -> dict[str, int]:
    """Return the bones by role from names, `overrides` and what follows from the hierarchy.

    Clips tell apart which of several bones that are named alike is meant.
    """
    bones: dict[str, int] = {}
    for side in "LR":
        bones |= _find_leg_by_name(skeleton, clips, side, overrides)
    thighs = [bone for role, bone in {**bones, **overrides}.items() if role.endswith("_thigh")]
    arms = [bone for side in "LR" for bone in _find_named(skeleton, "arm", side)[:1]]
    head = next(iter(_find_named(skeleton, "head")), None)
    spines = _find_named(skeleton, "spine")
    top = max(spines, key=skeleton.get_depth, default=None)
    chest = skeleton.find_common_ancestor(arms) if len(arms) == 2 else None
    if chest is None:
        chest = head if top is None else top
    elif head is None and top is not None and chest in skeleton.get_ancestors(top):
        head = top  # Rigify counts its spine up to the head
    if head is not None:
        bones["head"] = head
    if thighs:
        hips = _find_hips_by_name(skeleton, thighs, chest)
        if hips is not None:
            bones["hips"] = hips
    bones |= overrides
    if chest is not None and "hips" in bones:
        bones.setdefault("spine", _find_bone_below_neck(skeleton, chest, bones["hips"]))
    return bones


def _find_leg_by_name(
    skeleton: Skeleton, clips: Sequence[Clip], side: str, overrides: Mapping[str, int]
) -> dict[str, int]:
    """Return the bones by role of one leg; every part is below the previous one."""
    label, leg, above = SIDE_WORDS[side], {}, -1
    for part in LEG_PARTS:
        role = f"{label}_{part}"
        options = _find_named(skeleton, part, side)
        below = [bone for bone in options if above < 0 or above in skeleton.get_ancestors(bone)]
        if part == "foot" and below:
            # where both are named, an ankle is the foot and the foot is its toe
            way = skeleton.get_chain_to_root(below[0])
            below = [bone for bone in reversed(way) if bone in below]
        if part == "toe" and not below and above >= 0:
            # a toe with another name: the longest bone below the foot
            lengths = np.linalg.norm(skeleton.rest_positions, axis=-1)
            last = _follow_name(skeleton, above)
            children = [b for b in skeleton.get_children(last) if not _is_heel(skeleton.names[b])]
            below = sorted(children, key=lambda b: -lengths[b])
        if role in overrides or below:
            above = leg[role] = overrides.get(role, below[0] if below else -1)
        elif part != "toe":
            break
    for part, end in pairwise(LEG_PARTS[:3]):
        role, lower = f"{label}_{part}", leg.get(f"{label}_{end}")
        if role in leg and role not in overrides and lower is not None:
            named = _find_named(skeleton, part, side)
            leg[role] = _find_top(skeleton, clips, named, leg[role], lower)
    return leg


def _find_top(
    skeleton: Skeleton, clips: Sequence[Clip], named: Sequence[int], first: int, below: int
) -> int:
    """Return the bone from which a segment leads down to the bone `below`.

    Of those `named` as the segment from the `first` one on, it is the last one: what is before
    holds an offset, or lies in the middle of the hips. Pieces of a split segment lie on it.
    """
    way = skeleton.get_ancestors(below)
    options = (
        [bone for bone in way[: way.index(first) + 1] if bone in named] if first in way else []
    )
    if len(options) < 2:
        return first
    points = sample_few_positions(skeleton, clips)
    top = options[0]
    for bone in options[1:]:
        if not _lies_between(points[:, top], points[:, bone], points[:, below]):
            break
        top = bone
    return top


def _lies_between(points: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bool:
    """Return whether points (F, 3) lie on the ways to `ends`, but not where these start."""
    ways, here = (ends - starts).astype(np.float64), (points - starts).astype(np.float64)
    squares = np.maximum(np.sum(ways * ways, axis=-1), 1e-12)
    shares = np.sum(here * ways, axis=-1) / squares
    aside = np.linalg.norm(here - shares[:, None] * ways, axis=-1) / np.sqrt(squares)
    return bool(_SAME_PLACE < np.median(shares) < 1.0 and np.median(aside) < _ASIDE)


def _is_heel(name: str) -> bool:
    return any("heel" in word for word in split_words(name))


def _follow_name(skeleton: Skeleton, bone: int) -> int:
    """Return the last bone of a part that is split in a line, as 'foot.L' and 'foot.L.001' are."""
    core = split_side(skeleton.names[bone], skeleton.names)
    for child in skeleton.get_children(bone):
        if split_side(skeleton.names[child], skeleton.names) == core:
            return _follow_name(skeleton, child)
    return bone


def _find_hips_by_name(skeleton: Skeleton, thighs: Sequence[int], chest: int | None) -> int | None:
    """Return the bone from which legs and trunk branch, whatever it is called.

    Without a trunk, it is the bone above all legs, preferably one that is named so.
    """
    if chest is not None:
        fork = skeleton.find_common_ancestor([*thighs, chest])
        if fork is not None:
            return fork
    joint = skeleton.find_common_ancestor(thighs)
    shared = set.intersection(*(set(skeleton.get_ancestors(thigh)) for thigh in thighs))
    above_legs = [bone for bone in _find_named(skeleton, "hips") if bone in shared]
    return joint if joint in above_legs or not above_legs else above_legs[0]


def _find_bone_below_neck(skeleton: Skeleton, chest: int, hips: int) -> int:
    """Return the chest, or the bone below a neck with arms; the hips if it is not above them."""
    necks = {*_find_named(skeleton, "neck"), *_find_named(skeleton, "head")}
    while chest in necks and int(skeleton.parents[chest]) >= 0:
        chest = int(skeleton.parents[chest])
    return chest if hips in skeleton.get_chain_to_root(chest) else hips

"""Find hips, spine, head and legs by the names of bones, and by where bones of one name lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..motion.bone_names import find_candidates, split_side, split_words
from ..motion.clip import Clip
from ..motion.skeleton import Skeleton
from .rig_shape import LEG_PARTS
from .sampled_body import sample_few_positions
from .segment_starts import find_end_start, find_segment_start

_LEFT = 0.3  # of the body's size: a bone from which legs go farther away belongs to no body
SIDE_WORDS = {"L": "left", "R": "right", "": "middle"}


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
        hips = _find_hips_by_name(skeleton, clips, thighs, chest)
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
    return _choose_starts(skeleton, clips, leg, side, overrides)


def _choose_starts(
    skeleton: Skeleton,
    clips: Sequence[Clip],
    leg: dict[str, int],
    side: str,
    overrides: Mapping[str, int],
) -> dict[str, int]:
    """Return the bones by role of a leg, with the right ones of several that are named alike."""
    roles = [f"{SIDE_WORDS[side]}_{part}" for part in LEG_PARTS[:3]]
    if not set(roles) <= set(leg):
        return leg
    bones = [leg[role] for role in roles]
    thighs, shins, feet = (
        [first] if role in overrides else _list_alike(skeleton, part, side, first, below)
        for part, role, first, below in zip(
            LEG_PARTS, roles, bones, [*bones[1:], None], strict=False
        )
    )
    if max(map(len, (thighs, shins, feet))) == 1:
        return leg
    points = sample_few_positions(skeleton, clips)
    foot = find_end_start(points, feet, shins[-1])
    shin = find_segment_start(points, shins, foot, thighs[-1])
    thigh = find_segment_start(points, thighs, shin)
    return leg | dict(zip(roles, (thigh, shin, foot), strict=True))


def _list_alike(
    skeleton: Skeleton, part: str, side: str, first: int, below: int | None
) -> list[int]:
    """Return the bones of a part's name in a line from the `first` one to that above `below`."""
    named = [bone for bone in _find_named(skeleton, part, side) if bone != below]
    under = [bone for bone in named if first in skeleton.get_ancestors(bone)]
    last = max(under, key=skeleton.get_depth, default=first) if below is None else below
    alike = [bone for bone in skeleton.get_chain_to_root(last) if bone in under]
    return [first, *reversed(alike)]


def _is_heel(name: str) -> bool:
    return any("heel" in word for word in split_words(name))


def _follow_name(skeleton: Skeleton, bone: int) -> int:
    """Return the last bone of a part that is split in a line, as 'foot.L' and 'foot.L.001' are."""
    core = split_side(skeleton.names[bone], skeleton.names)
    for child in skeleton.get_children(bone):
        if split_side(skeleton.names[child], skeleton.names) == core:
            return _follow_name(skeleton, child)
    return bone


def _find_hips_by_name(
    skeleton: Skeleton, clips: Sequence[Clip], thighs: Sequence[int], chest: int | None
) -> int | None:
    """Return the bone from which legs and trunk branch, whatever it is called.

    Without a trunk, or if that bone is a root which the body leaves behind, it is the bone above
    all legs, preferably one that is named so.
    """
    joint = skeleton.find_common_ancestor(thighs)
    fork = None if chest is None else skeleton.find_common_ancestor([*thighs, chest])
    if fork is not None and (fork == joint or not _is_left(skeleton, clips, fork, thighs)):
        return fork
    shared = set.intersection(*(set(skeleton.get_ancestors(thigh)) for thigh in thighs))
    above_legs = [bone for bone in _find_named(skeleton, "hips") if bone in shared]
    return joint if joint in above_legs or not above_legs else above_legs[0]


def _is_left(skeleton: Skeleton, clips: Sequence[Clip], bone: int, thighs: Sequence[int]) -> bool:
    """Return whether the legs go away from a bone, by more than the width of a body."""
    points = sample_few_positions(skeleton, clips)
    away = np.linalg.norm(points[:, list(thighs)].mean(axis=1) - points[:, bone], axis=-1)
    size = float(np.median(np.ptp(points, axis=1).max(axis=-1)))
    return float(np.ptp(away)) > _LEFT * size


def _find_bone_below_neck(skeleton: Skeleton, chest: int, hips: int) -> int:
    """Return the chest, or the bone below a neck with arms; the hips if it is not above them."""
    necks = {*_find_named(skeleton, "neck"), *_find_named(skeleton, "head")}
    while chest in necks and int(skeleton.parents[chest]) >= 0:
        chest = int(skeleton.parents[chest])
    return chest if hips in skeleton.get_chain_to_root(chest) else hips

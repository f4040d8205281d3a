"""Read the parts of a body from bone names of published rigs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..motion.clip import Clip
from ..skeleton.bone_names import cut_side, split_words
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS
from .published_rigs import ARM_PARTS, LEG_PARTS, RIGS, list_parts
from .sampled_body import measure_segments, sample_few_positions

SIDE_WORDS = {"L": "left", "R": "right", "": "middle"}
_DEFORM = "DEF-"
# prefixes of all bones by programs, and suffixes by studios
_PREFIX = re.compile(r"^(?:valvebiped)?bip\d+|^ccbase|^jbip|^mixamorig\d*|^def")
_SECOND_LIFE = re.compile(r"^m(?=[A-Z])")
_SUFFIX = re.compile(r"(?:jnt|bone|bind|skin)$")

Chains = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class NamedBones:
    """The roles of bones, such as 'head' and 'left_thigh', by the table of one rig."""

    skeleton: Skeleton
    roles: Mapping[int, str]
    is_animal: bool

    @classmethod
    def read(cls, skeleton: Skeleton) -> NamedBones:
        """Read the names by the table that knows most of them; without one, no bone has a role."""
        return max(cls.read_each(skeleton), key=lambda named: len(set(named.roles.values())))

    @classmethod
    def read_each(cls, skeleton: Skeleton) -> list[NamedBones]:
        """Read the names by each table; of a control rig, only those of bones that deform."""
        names = set(skeleton.names)
        deform = any(name.startswith(_DEFORM) for name in names)
        cores = {
            bone: _read_name(name, names)
            for bone, name in enumerate(skeleton.names)
            if not (deform and not name.startswith(_DEFORM)) and not _is_copy(name)
        }
        result = []
        for rig in RIGS.values():
            parts = list_parts(rig)
            roles = {}
            for bone, (core, side) in cores.items():
                part = parts.get(core, "")
                if part and part.startswith("_") == bool(side):
                    roles[bone] = SIDE_WORDS[side] + part if side else part
            result.append(cls(skeleton, roles, rig.is_animal))
        return result

    def find(self, role: str, above: int = -1) -> list[int]:
        """Return the bones that are named as a role, only those below `above` if it is given."""
        skeleton = self.skeleton
        named = [bone for bone, found in self.roles.items() if found == role]
        return [bone for bone in named if above < 0 or above in skeleton.get_ancestors(bone)]

    def find_first(self, *roles: str) -> int | None:
        """Return the first bone of the first of some roles that has names."""
        return next((bone for role in roles for bone in self.find(role)), None)

    def list_arms(self) -> set[int]:
        """Return the collar bones and upper arms of both sides."""
        ends = ("_collar", "_upper_arm")
        return {bone for bone, role in self.roles.items() if role.endswith(ends)}

    def list_necks(self) -> set[int]:
        """Return the bones from the neck up to the head, with both."""
        head = self.find_first("head")
        neck = self.find_first("neck")
        if head is None or neck is None:
            return {bone for bone in (head, neck) if bone is not None}
        chain = self.skeleton.get_chain_to_root(head)
        return {*chain[: chain.index(neck) + 1]} if neck in chain else {head, neck}

    def find_arm(self, side: str, hips: int, excluded: Collection[int]) -> Chains:
        """Return the chains of the arm on side 'L' or 'R' by part; {} if names do not give it.

        It is below the hips and has none of the `excluded` bones. A forearm is needed, no hand.
        """
        skeleton = self.skeleton
        starts = {}
        above = hips
        for part in ARM_PARTS[1:]:
            named = self.find(f"{SIDE_WORDS[side]}_{part}", above)
            named = [bone for bone in named if bone not in excluded]
            if not named:
                break
            above = starts[part] = named[0]
        if "forearm" not in starts:
            return {}
        last = list(starts)[-1]
        return split_limb(skeleton, starts) | {last: self._follow(starts[last])}

    def _follow(self, bone: int) -> tuple[int, ...]:
        """Return a bone and those below that are named as the same part, in a line."""
        children = self.skeleton.get_children(bone)
        alike = [child for child in children if self.roles.get(child) == self.roles[bone]]
        return (bone, *(self._follow(alike[0]) if alike else ()))


def _read_name(name: str, names: Collection[str]) -> tuple[str, str]:
    """Return a name as the tables write it, and its side 'L', 'R' or ''."""
    core, side = cut_side(name, names)
    core = _SECOND_LIFE.sub("", re.sub(r"[^A-Za-z0-9]", "", core)).lower()
    return _SUFFIX.sub("", _PREFIX.sub("", core)), side


def _is_copy(name: str) -> bool:
    """Return whether a name is that of the hidden copy of a joint, such as '__LeftLeg'."""
    return name.startswith("__")


def walk_down(skeleton: Skeleton, start: int, stop: int) -> tuple[int, ...]:
    """Return the bones from `start` down to the one above `stop`."""
    chain = skeleton.get_ancestors(stop)
    return tuple(chain[: chain.index(start) + 1][::-1]) if start in chain else (start,)


def split_limb(skeleton: Skeleton, starts: Mapping[str, int]) -> Chains:
    """Return the bones by part of a limb: each part ends where the next one starts."""
    listed = list(starts.items())
    chains = {part: walk_down(skeleton, bone, end) for (part, bone), (_, end) in pairwise(listed)}
    return chains | {part: (bone,) for part, bone in listed[-1:]}


def find_roles_by_name(
    skeleton: Skeleton, clips: Sequence[Clip], overrides: Mapping[str, int]
) -> dict[str, int]:
    """Return the bones by role from names, `overrides` and what follows from the hierarchy.

    Clips show which joint of several in a line starts a part.
    """
    named = NamedBones.read(skeleton)
    bones: dict[str, int] = {}
    for word in ("left", "right"):
        bones |= _find_leg(named, clips, word, overrides)
    thighs = [bone for role, bone in {**bones, **overrides}.items() if role.endswith("_thigh")]
    arms = [named.find_first(f"{word}_upper_arm", f"{word}_collar") for word in ("left", "right")]
    head = named.find_first("head")
    both = [arm for arm in arms if arm is not None]
    chest = skeleton.find_common_ancestor(both) if len(both) == 2 else head
    if head is not None:
        bones["head"] = head
    if thighs:
        hips = _find_hips(named, clips, thighs, chest)
        if hips is not None:
            bones["hips"] = hips
    bones |= overrides
    if chest is not None and "hips" in bones:
        bones.setdefault("spine", _find_bone_below_neck(named, chest, bones["hips"]))
    return bones


def _find_leg(
    named: NamedBones, clips: Sequence[Clip], word: str, overrides: Mapping[str, int]
) -> dict[str, int]:
    """Return the bones by role of one leg; every part is below the previous one."""
    leg = {}
    above = -1
    for part in LEG_PARTS:
        role = f"{word}_{part}"
        found = [overrides[role]] if role in overrides else named.find(role, above)
        if part == "toe" and above >= 0:
            found = found or _list_toes(named.skeleton, above)
        if found:
            above = leg[role] = found[0]
        elif part != "toe":
            break
    return _choose_starts(named.skeleton, clips, leg, word, overrides)


def _list_toes(skeleton: Skeleton, foot: int) -> list[int]:
    """Return the bones below a foot that may be its unnamed toe, the longest first."""
    lengths = np.linalg.norm(skeleton.rest_positions, axis=-1)
    children = [
        bone
        for bone in skeleton.get_children(foot)
        if not any("heel" in word for word in split_words(skeleton.names[bone]))
    ]
    return sorted(children, key=lambda bone: -lengths[bone])


def _choose_starts(
    skeleton: Skeleton,
    clips: Sequence[Clip],
    leg: dict[str, int],
    word: str,
    overrides: Mapping[str, int],
) -> dict[str, int]:
    """Return a leg's bones by role, after inserted offsets, hidden copies and split pieces."""
    upper, lower, end = (f"{word}_{part}" for part in LEG_PARTS[:3])
    if not {upper, lower, end} <= set(leg):
        return leg
    thighs, shins = (
        (leg[role],) if role in overrides else walk_down(skeleton, leg[role], leg[below])
        for role, below in ((upper, lower), (lower, end))
    )
    if len(thighs) == len(shins) == 1:
        return leg
    points = sample_few_positions(skeleton, clips)
    thighs, shins = (
        tuple(bone for bone in bones if bone == bones[0] or not _is_copy(skeleton.names[bone]))
        for bones in (thighs, shins)
    )
    knee = _find_segment_start(points, shins, leg[end], thighs[-1])
    return leg | {upper: _find_segment_start(points, thighs, knee), lower: knee}


def _find_segment_start(
    points: np.ndarray, alike: Sequence[int], below: int, above: int | None = None
) -> int:
    """Return the bone from which a segment leads down to the bone `below`.

    `points` (F, B, 3) are world positions, and `alike` the bones of the segment, top to bottom. It
    is the last one of them, or the first bone on the way, if pieces of a split segment follow.
    Bones before it hold an offset, or lie where the segment `above` starts.
    """
    start = alike[-1]
    for bone in alike[-2::-1]:
        if not _lies_between(points[:, start], points[:, bone], points[:, below]):
            break
        if above is not None:
            away, length = measure_segments(points[:, [above, bone, below]])
            if away <= NUMBERS.segment_place * length:
                break
        start = bone
    return start


def _lies_between(points: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bool:
    """Return whether points (F, 3) lie on the ways to `ends`, but not where these start."""
    ways = (ends - starts).astype(np.float64)
    here = (points - starts).astype(np.float64)
    squares = np.maximum(np.sum(ways * ways, axis=-1), 1e-12)
    shares = np.sum(here * ways, axis=-1) / squares
    aside = np.linalg.norm(here - shares[:, None] * ways, axis=-1) / np.sqrt(squares)
    return bool(
        NUMBERS.segment_place < np.median(shares) < 1.0 and np.median(aside) < NUMBERS.segment_aside
    )


def _find_hips(
    named: NamedBones, clips: Sequence[Clip], thighs: Sequence[int], chest: int | None
) -> int | None:
    """Return the bone from which legs and trunk branch, whatever it is called.

    Without a trunk, or if that bone is a root that the body leaves behind, it is the bone above all
    legs, preferably one named as hips.
    """
    skeleton = named.skeleton
    joint = skeleton.find_common_ancestor(thighs)
    fork = None if chest is None else skeleton.find_common_ancestor([*thighs, chest])
    if fork is not None and (fork == joint or not _is_left(skeleton, clips, fork, thighs)):
        return fork
    shared = set.intersection(*(set(skeleton.get_ancestors(thigh)) for thigh in thighs))
    above_legs = [bone for bone in named.find("hips") if bone in shared]
    return joint if joint in above_legs or not above_legs else above_legs[0]


def _is_left(skeleton: Skeleton, clips: Sequence[Clip], bone: int, thighs: Sequence[int]) -> bool:
    """Return whether the legs go away from a bone, by more than the width of a body."""
    points = sample_few_positions(skeleton, clips)
    away = np.linalg.norm(points[:, list(thighs)].mean(axis=1) - points[:, bone], axis=-1)
    size = float(np.median(np.ptp(points, axis=1).max(axis=-1)))
    return float(np.ptp(away)) > NUMBERS.body_left * size


def _find_bone_below_neck(named: NamedBones, chest: int, hips: int) -> int:
    """Return the chest, or the bone below a neck with arms; the hips if it is not above them."""
    skeleton = named.skeleton
    necks = named.list_necks()
    while chest in necks and int(skeleton.parents[chest]) >= 0:
        chest = int(skeleton.parents[chest])
    return chest if hips in skeleton.get_chain_to_root(chest) else hips

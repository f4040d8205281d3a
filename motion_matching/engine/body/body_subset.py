"""Reduce a skeleton to the bones of its body: without helpers, twist leaves, targets and end bones.

The remaining bones decide the roles; their numbers lead back to the whole skeleton.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.bone_names import split_words
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS

# words in names of bones that do not move a part of the body themselves
_HELPERS = (
    "twist roll ik vb helper corrective correctiveroot share sharebone pole target ctrl control "
    "socket attach prop weapon weap gun camera eff effector bulge fix adj adjust null dummy jiggle "
    "breast boob skirt cape cloth hair ponytail ear eye eyelid jaw tongue teeth cheek lip brow "
    "nose muscle volume sec mch footsteps"
)
_HELPER_PARTS = re.compile(
    r"(twist|sharebone|corrective|helper|^ik|ik$|roll$|nub$|dummy$)", re.IGNORECASE
)
_END = re.compile(r"(?:[_\-. ](?:end|tip|site|leaf|nub)|End|Nub|Site|_end\d*)(?:[_.]?[LR])?$")
_TARGETS = re.compile(r"^(?:MCH|WGT|VIS|ORG)-")
_DEFORM = "DEF-"


@dataclass(frozen=True)
class BodySubset:
    """A smaller skeleton, its clips, and the `bones` (B,) of the whole skeleton that it has."""

    skeleton: Skeleton
    clips: tuple[Clip, ...]
    bones: tuple[int, ...]


def choose_body(
    skeleton: Skeleton, clips: Sequence[Clip] = (), always: Sequence[int] = ()
) -> BodySubset:
    """Leave out bones without a part in the body, except `always` and bones that carry others.

    End bones that are left out become end sites. Clips are thinned to the frames needed to see
    limbs.
    """
    thinned = _thin_clips(clips)
    kept = _find_named_bones(skeleton, always)
    small, moved = _cut(skeleton, thinned, kept)
    inner = [kept.index(bone) for bone in always]
    # twist bones are leaves within a sibling's segment
    straight = [
        bone
        for bone in range(small.bone_count)
        if bone in inner or small.get_children(bone) or not _lies_inside(small, bone)
    ]
    smaller, clips_of_it = _cut(small, moved, straight)
    return BodySubset(smaller, tuple(clips_of_it), tuple(kept[bone] for bone in straight))


def is_helper(name: str) -> bool:
    """Return whether a name is that of a twist bone, a target, or another helper."""
    words = split_words(name)
    return not set(words).isdisjoint(_HELPERS.split()) or any(map(_HELPER_PARTS.search, words))


def is_end(name: str) -> bool:
    """Return whether a name marks the end of a chain, such as 'LeftToe_End' or 'Bip01 HeadNub'."""
    return bool(_END.search(name))


def _find_named_bones(skeleton: Skeleton, always: Sequence[int]) -> list[int]:
    """Return the bones whose own name, or that of a bone below, is that of a body part."""
    deform = [bone for bone, name in enumerate(skeleton.names) if name.startswith(_DEFORM)]
    only = set(deform) if len(deform) > 8 else set(range(skeleton.bone_count))
    wanted: set[int] = set(always)
    for bone in only:
        name = skeleton.names[bone]
        ends = is_end(name) and not skeleton.get_children(bone)
        if not (is_helper(name) or ends or _TARGETS.match(name)):
            wanted.add(bone)
            # bones that carry a part are kept, unless a control rig's deform bones stand alone
            wanted.update(above for above in skeleton.get_ancestors(bone) if above in only)
    kept = wanted if len(wanted) > 3 else set(range(skeleton.bone_count))
    return _sort_by_depth(skeleton, kept)


def _sort_by_depth(skeleton: Skeleton, kept: set[int]) -> list[int]:
    """Return bones in their order, but parents among them before their children."""
    result: dict[int, None] = {}

    def add(bone: int) -> None:
        parent = _find_kept_parent(skeleton, bone, kept)
        if parent >= 0 and parent not in result:
            add(parent)
        result[bone] = None

    for bone in sorted(kept):
        add(bone)
    return list(result)


def _lies_inside(skeleton: Skeleton, leaf: int) -> bool:
    """Return whether a leaf lies on the way from its parent to another child of the parent."""
    parent = int(skeleton.parents[leaf])
    if parent < 0:
        return False
    here = skeleton.rest_positions[leaf].astype(np.float64)
    for other in skeleton.get_children(parent):
        way = skeleton.rest_positions[other].astype(np.float64)
        length = float(way @ way)
        if other == leaf or length < 1e-8:
            continue
        share = float(here @ way) / length
        aside = np.linalg.norm(here - share * way)
        # of two in one place, the one that carries something is the segment
        carries = bool(skeleton.get_children(other)) or np.linalg.norm(here) < 0.9 * length**0.5
        if (
            0.0 <= share < NUMBERS.leaf_along
            and aside < NUMBERS.leaf_aside * length**0.5
            and carries
        ):
            return True
    return False


def _thin_clips(clips: Sequence[Clip]) -> list[Clip]:
    """Return frames from the middles of clips, at a rate that still shows steps."""
    chosen = [clip for clip in clips if clip.frame_count]
    chosen = chosen[:: max(1, len(chosen) // NUMBERS.subset_clips)]
    total = sum(clip.frame_count for clip in chosen)
    share = max(2, NUMBERS.subset_frames // max(len(chosen), 1))
    thinned = []
    for clip in chosen:
        step = max(1, min(int(clip.fps / NUMBERS.least_rate), -(-total // NUMBERS.subset_frames)))
        start = max(0, (clip.frame_count - share * step) // 2)
        part = slice(start, start + share * step, step)
        positions = clip.positions[part]
        rotations = clip.rotations[part]
        slow = replace(clip, positions=positions, rotations=rotations, fps=clip.fps / step)
        thinned.append(slow)
    return thinned


def _cut(skeleton: Skeleton, clips: Sequence[Clip], kept: list[int]) -> tuple[Skeleton, list[Clip]]:
    """Return skeleton and clips with `kept` bones alone; removed end bones become end sites."""
    if len(kept) == skeleton.bone_count:
        return skeleton, list(clips)
    number = {bone: index for index, bone in enumerate(kept)}
    parents = np.array([number.get(_find_kept_parent(skeleton, bone, number), -1) for bone in kept])
    turns, places = skeleton.compute_rest_world()
    rotations, positions = quat.ik(turns[list(kept)], places[list(kept)], parents)
    sites = [(number[bone], offset) for bone, offset in skeleton.end_sites if bone in number]
    for bone, parent in enumerate(skeleton.parents.tolist()):
        if bone not in number and parent in number and is_end(skeleton.names[bone]):
            x, y, z = skeleton.rest_positions[bone].tolist()
            sites.append((number[parent], (x, y, z)))
    names = tuple(skeleton.names[bone] for bone in kept)
    rest = positions.astype(np.float32), rotations.astype(np.float32)
    small = Skeleton(names, parents, *rest, tuple(sites))
    above = np.append(kept, -1)[parents]  # -1 stays -1
    direct = np.array_equal(above, skeleton.parents[list(kept)])
    return small, [_cut_clip(clip, small, kept, direct) for clip in clips]


def _cut_clip(clip: Clip, small: Skeleton, kept: Sequence[int], direct: bool) -> Clip:
    bones = list(kept)
    if direct:
        rotations = clip.rotations[:, bones]
        positions = clip.positions[:, bones]
    else:
        turns, places = clip.compute_world()
        rotations, positions = quat.ik(turns[:, bones], places[:, bones], small.parents)
    return replace(
        clip,
        skeleton=small,
        positions=positions.astype(np.float32),
        rotations=rotations.astype(np.float32),
    )


def _find_kept_parent(skeleton: Skeleton, bone: int, kept: Collection[int]) -> int:
    """Return the nearest kept bone above; a DEF- bone stands in for Rigify's ORG- bone."""
    names = {skeleton.names[other]: other for other in kept if other != bone}
    for above in skeleton.get_ancestors(bone):
        name = skeleton.names[above]
        deform = names.get(name.replace("ORG-", _DEFORM, 1)) if name.startswith("ORG-") else None
        if above in kept or deform is not None:
            return above if deform is None else deform
    return -1

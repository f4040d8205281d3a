"""Add bones to the ends of legs with a last joint above the ground, such as a dog's hock.

The end site of such a joint, or the tail of its bone, rests on the ground. A database gets a bone
there, behind all others, as the leg's toe. Files and armatures lack these bones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from string import ascii_letters

import numpy as np

from ..maths.along_time import MOMENT, count_frames
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..motion.contacts import is_person
from ..skeleton.bone_names import make_unique_names
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS
from .rig import Roles
from .sampled_body import SampledBody

_SUFFIX = "_end"

Offset = tuple[float, float, float]


def find_toe_ends(skeleton: Skeleton, clips: Sequence[Clip], roles: Roles) -> dict[int, Offset]:
    """Return by bone the end sites of legs that stand on these, not on their last joints.

    If one leg of a pair does, so does the other: left and right are never quite equal.
    """
    body = SampledBody.from_clips(skeleton, clips)
    fps = max((clip.fps for clip in clips[:1]), default=0.0)
    lengths = measure_leg_lengths(body.positions, roles)
    pairs = [name.lstrip(ascii_letters) for name in roles.leg_names]
    standing_pairs: set[str] = set()
    ends: dict[int, tuple[str, Offset]] = {}
    for leg, pair, length in zip(roles.legs, pairs, lengths.tolist(), strict=True):
        if skeleton.get_children(leg.toe):
            continue
        ticks = count_frames(fps, MOMENT * min(1.0, np.sqrt(length / NUMBERS.usual_legs[0])))
        stands, lowest = _find_end(body, leg.toe, length, ticks)
        if stands:
            standing_pairs.add(pair)
        if end := stands or lowest:
            ends[leg.toe] = pair, end
    return {bone: end for bone, (pair, end) in ends.items() if pair in standing_pairs}


def _find_end(
    body: SampledBody, toe: int, length: float, ticks: int
) -> tuple[Offset | None, Offset | None]:
    """Return the lowest end site that a leg stands on over `ticks`, and the lowest of all."""
    joint = body.positions[:, toe]
    stands: tuple[float, Offset | None] = (np.inf, None)
    lowest = stands
    for offset in (offset for bone, offset in body.skeleton.end_sites if bone == toe):
        end = joint + quat.mul_vec(body.rotations[:, toe], np.array(offset))
        height = float(np.percentile(end[:, 2], NUMBERS.standing_heights))
        above = np.percentile(joint[:, 2], NUMBERS.standing_heights) - height
        if height < lowest[0] and above > 0.0:
            lowest = height, offset
        if height < stands[0] and above > NUMBERS.toe_above * length and _rests(end, joint, ticks):
            stands = height, offset
    return stands[1], lowest[1]


def _rests(end: np.ndarray, joint: np.ndarray, ticks: int) -> bool:
    """Return whether the path (F, 3) of an end rests where it is low, unlike the joint's.

    In files without end sites, and for carelessly drawn bones, ends never meet the ground. Speeds
    are those over some `ticks`.
    """
    low = end[ticks:, 2] <= np.percentile(end[:, 2], NUMBERS.resting_heights)
    if not low.any():
        return True
    ways = (np.linalg.norm(path[ticks:] - path[:-ticks], axis=1)[low] for path in (end, joint))
    of_end, of_joint = (float(np.median(way)) for way in ways)
    return of_end <= NUMBERS.toe_still * of_joint


def measure_leg_lengths(positions: np.ndarray, roles: Roles) -> np.ndarray:
    """Return the lengths (L,) of legs from the thigh to the toe, from positions (F, B, 3)."""
    ways = np.diff(positions[:, roles.leg_bones], axis=2)
    return np.median(np.linalg.norm(ways, axis=-1).sum(axis=-1), axis=0)


def measure_size(skeleton: Skeleton, roles: Roles) -> float:
    """Return the size of a creature by its legs: 1 for people; dogs measure like children."""
    lengths = measure_leg_lengths(skeleton.compute_rest_world()[1][None], roles)
    return (
        1.0
        if is_person(lengths)
        else float(np.mean(lengths / np.clip(lengths, *NUMBERS.usual_legs)))
    )


def add_toe_ends(clip: Clip, ends: dict[int, tuple[float, float, float]]) -> Clip:
    """Return the clip with a bone at the end of each bone of `ends`, behind all others."""
    if not ends:
        return clip
    skeleton = clip.skeleton
    count = len(ends)
    still = np.tile(quat.IDENTITY, (count, 1)).astype(np.float32)
    offsets = np.array(list(ends.values()), np.float32)
    names = (*skeleton.names, *(skeleton.names[bone] + _SUFFIX for bone in ends))
    longer = Skeleton(
        make_unique_names(names),
        np.append(skeleton.parents, list(ends)).astype(skeleton.parents.dtype),
        np.concatenate([skeleton.rest_positions, offsets]).astype(np.float32),
        np.concatenate([skeleton.rest_rotations, still]).astype(np.float32),
        skeleton.end_sites,
    )
    shape = (clip.frame_count, count)
    return replace(
        clip,
        skeleton=longer,
        positions=np.concatenate([clip.positions, np.broadcast_to(offsets, (*shape, 3))], axis=1),
        rotations=np.concatenate([clip.rotations, np.broadcast_to(still, (*shape, 4))], axis=1),
    )


def use_toe_ends(roles: Roles, skeleton: Skeleton) -> Roles:
    """Return roles whose toes are the ends that were added below them."""
    toes = dict(list_toe_ends(skeleton).values())
    legs = (replace(leg, toe=toes.get(leg.toe, leg.toe)) for leg in roles.legs)
    return replace(roles, legs=tuple(legs))


def list_toe_ends(skeleton: Skeleton) -> dict[str, tuple[int, int]]:
    """Return the bones that `add_toe_ends` has added: by name, the bone above and the bone."""
    sites = {(bone, *np.array(offset, np.float32).tolist()) for bone, offset in skeleton.end_sites}
    found: dict[str, tuple[int, int]] = {}
    for bone in range(skeleton.bone_count - 1, -1, -1):
        above = int(skeleton.parents[bone])
        name = skeleton.names[bone]
        site = above, *skeleton.rest_positions[bone].astype(np.float32).tolist()
        if above < 0 or _SUFFIX not in name or site not in sites:
            break
        found[name] = (above, bone)
    return found


def remove_toe_ends(clip: Clip) -> Clip:
    """Undo `add_toe_ends`: return the clip without the added bones."""
    skeleton = clip.skeleton
    added = len(list_toe_ends(clip.skeleton))
    if not added:
        return clip
    shorter = Skeleton(
        skeleton.names[:-added],
        skeleton.parents[:-added],
        skeleton.rest_positions[:-added],
        skeleton.rest_rotations[:-added],
        skeleton.end_sites,
    )
    positions, rotations = (
        np.ascontiguousarray(part[:, :-added]) for part in (clip.positions, clip.rotations)
    )
    return replace(clip, skeleton=shorter, positions=positions, rotations=rotations)


def append_bones(skeleton: Skeleton, longer: Skeleton) -> Skeleton:
    """Return a skeleton with the bones that follow its own in a `longer` one."""
    count = skeleton.bone_count
    if longer.bone_count == count:
        return skeleton
    return Skeleton(
        longer.names,
        longer.parents,
        np.concatenate([skeleton.rest_positions, longer.rest_positions[count:]]),
        np.concatenate([skeleton.rest_rotations, longer.rest_rotations[count:]]),
        skeleton.end_sites,
    )

"""Find the standing pose of a skeleton: the best pose in its files for a character at rest.

Motion capture often rests with all bones stretched along one axis, and its first frame may be in
the middle of a run. A T- or A-pose is best, either in the files or as the skeleton without
rotations. Otherwise the most upright and even pose is straightened to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..errors import RigError
from ..maths.numeric import arctan2
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..motion.conforming import find_sliding_bones, has_same_offsets, reorder
from ..skeleton.skeleton import Skeleton
from .limbs import Limbs, find_limbs
from .numbers import NUMBERS
from .rig import Roles, find_hips_forward, find_roles
from .toe_ends import add_toe_ends, find_toe_ends, use_toe_ends

_OUT = np.array(NUMBERS.arms_out)


class Stance(NamedTuple):
    """A skeleton that rests as it stands, and its limbs if it is built as a human body."""

    skeleton: Skeleton
    limbs: Limbs | None


def find_stance(clips: Sequence[Clip]) -> Stance | None:
    """Return the first clip's skeleton with a standing pose of clips of that skeleton as its rest.

    It stands upright on the ground, over the origin, and faces -Y. Other than human bodies stand on
    straight legs in their usual way. None if it has no legs or never stands.
    """
    clips = _choose_alike(clips)
    bare = skeleton = clips[0].skeleton
    try:
        roles = find_roles(skeleton, clips)
        forward = find_hips_forward(clips, roles)
    except RigError:
        return None
    if ends := find_toe_ends(skeleton, clips, roles):
        clips = [add_toe_ends(clip, ends) for clip in clips]
        skeleton = clips[0].skeleton
        roles = use_toe_ends(roles, skeleton)
    limbs = find_limbs(skeleton, roles)
    all_worlds, all_heads = _collect_poses(clips)
    ahead = quat.mul_vec(all_worlds[:, roles.hips], forward)
    ahead = quat.normalize_vectors(ahead * [1.0, 1.0, 0.0])
    scores = _rate(all_heads, limbs, ahead) if limbs else _rate_legs(all_heads, roles, ahead)
    best = int(np.argmin(scores))
    if not np.isfinite(scores[best]):
        return None
    worlds, heads = (part[best].astype(np.float64) for part in (all_worlds, all_heads))
    if limbs and scores[best] > NUMBERS.stance_score:
        worlds, heads = _straighten(skeleton, limbs, worlds, heads, ahead[best])
    height = 0.0 if ends else _measure_toe_height(all_heads, roles, heads)
    stands = _stand(clips, roles, (worlds, heads), ahead[best], height)
    rests = {n: getattr(stands, n)[: bare.bone_count] for n in ("rest_rotations", "rest_positions")}
    return Stance(replace(bare, **rests), limbs)


def _choose_alike(clips: Sequence[Clip]) -> list[Clip]:
    """Return the clips with the bones of the first and the same bone frames."""
    first = clips[0].skeleton
    chosen = []
    for clip in clips:
        if clip.skeleton.get_hierarchy() == first.get_hierarchy():
            ordered = reorder(clip, first.names)
            if has_same_offsets(ordered.skeleton, first, find_sliding_bones(ordered)):
                chosen.append(replace(ordered, skeleton=first))
    return chosen


def _collect_poses(clips: Sequence[Clip]) -> tuple[np.ndarray, np.ndarray]:
    """Return world rotations and heads of frames of all clips, after the pose without rotations."""
    skeleton = clips[0].skeleton
    step = max(1, sum(clip.frame_count for clip in clips) // NUMBERS.stance_frames)
    rotations = [skeleton.rest_rotations[None]]
    positions = [skeleton.rest_positions[None]]
    for clip in clips:
        rows = np.unique(np.append(np.arange(0, clip.frame_count, step), clip.frame_count - 1))
        rotations.append(clip.rotations[rows])
        positions.append(clip.positions[rows])
    local = np.concatenate(rotations), np.concatenate(positions)
    return quat.fk(*local, skeleton.parents)


def _rate(heads: np.ndarray, limbs: Limbs, ahead: np.ndarray) -> np.ndarray:
    """Return how far (F,) poses are from a T-pose, about in radians; infinite if one leans."""
    heads = heads.astype(np.float64)
    roles = limbs.roles
    up = np.array([0.0, 0.0, 1.0])
    left = np.cross(up, ahead)
    trunk = _measure_angle(heads[:, limbs.head] - heads[:, roles.hips], up)
    size = np.linalg.norm(heads[:, roles.legs[0].foot] - heads[:, roles.legs[0].shin], axis=-1) * 2
    leaning = trunk
    bent = np.zeros(len(heads))
    feet = []
    for leg in roles.legs:
        thigh, shin, foot = (heads[:, bone] for bone in (leg.thigh, leg.shin, leg.foot))
        leaning = np.maximum(leaning, _measure_angle(thigh - foot, up))
        bent = bent + _measure_angle(thigh - shin, shin - foot)
        bent = bent + _measure_angle(thigh - foot, up)
        feet.append(foot)
    apart = feet[0] - feet[1]
    uneven = 4.0 * np.abs(apart[:, 2]) + 2.0 * np.abs(np.sum(apart * ahead, axis=-1))
    arms = np.zeros(len(heads))
    hands = []
    for arm, side in zip(limbs.arms, (1.0, -1.0), strict=True):
        upper, lower, hand = (heads[:, bone] for bone in (arm.upper, arm.lower, arm.hand))
        reach = hand - upper
        off = _measure_angle(reach, -up)
        aside = np.sum(quat.normalize_vectors(reach) * side * left, axis=-1)
        straight = _measure_angle(lower - upper, hand - lower) < 0.5
        out = straight & (off > _OUT[0]) & (off < _OUT[1]) & (aside > 0.9 * np.sin(off))
        arms = arms + np.where(out, 0.1 * np.abs(off - np.pi / 2), NUMBERS.arms_down + 0.3 * off)
        hands.append(hand - heads[:, roles.hips])
    mirrored = hands[1] - 2.0 * np.sum(hands[1] * left, axis=-1, keepdims=True) * left
    odd = np.linalg.norm(hands[0] - mirrored, axis=-1)
    score = trunk + bent + arms + (uneven + odd) / np.maximum(size, 1e-6)
    return np.where(leaning < NUMBERS.stance_lean, score, np.inf)


def _rate_legs(heads: np.ndarray, roles: Roles, ahead: np.ndarray) -> np.ndarray:
    """Return how far (F,) poses are from a usual one on straight legs; infinite if one leans."""
    heads = heads.astype(np.float64)
    up = np.array([0.0, 0.0, 1.0])
    facing = quat.from_yaw(-arctan2(ahead[:, 0], -ahead[:, 1]))
    seen = quat.mul_vec(facing[:, None], heads - heads[:, [roles.hips]])
    size = float(np.ptp(np.median(seen, axis=0), axis=0).max())
    score = np.linalg.norm(seen - np.median(seen, axis=0), axis=-1).mean(axis=-1) / size
    leaning = np.zeros(len(heads))
    for leg in roles.legs:
        thigh, shin, foot = (heads[:, bone] for bone in (leg.thigh, leg.shin, leg.foot))
        lean = _measure_angle(thigh - foot, up)
        leaning = np.maximum(leaning, lean)
        score = score + lean + 0.1 * _measure_angle(thigh - shin, shin - foot)
    return np.where(leaning < NUMBERS.stance_lean, score, np.inf)


def _measure_angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the angles (F,) between vectors (F, 3); pi if one has no length."""
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    cosine = np.sum(a * b, axis=-1) / np.maximum(lengths, 1e-12)
    return np.where(lengths > 1e-9, np.arccos(np.clip(cosine, -1.0, 1.0)), np.pi)


def _straighten(
    skeleton: Skeleton, limbs: Limbs, worlds: np.ndarray, heads: np.ndarray, ahead: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return a pose turned to an upright trunk, straight legs and the arms of an A-pose."""
    up = np.array([0.0, 0.0, 1.0])
    left = np.cross(up, ahead)
    roles = limbs.roles
    aims = [(roles.hips, limbs.neck or limbs.head, up)]
    foot = np.cos(NUMBERS.foot_drop) * ahead - np.sin(NUMBERS.foot_drop) * up
    for leg in roles.legs:
        aims += [(leg.thigh, leg.shin, -up), (leg.shin, leg.foot, -up)]
        aims += [(leg.foot, leg.toe, foot)] if leg.has_toe else []
    aims += [(limbs.neck, limbs.head, up)] if limbs.neck is not None else []
    for arm, side in zip(limbs.arms, (1.0, -1.0), strict=True):
        aside = side * np.cos(NUMBERS.arm_drop) * left - np.sin(NUMBERS.arm_drop) * up
        aims += [(arm.upper, arm.lower, aside), (arm.lower, arm.hand, aside)]
    worlds = worlds.copy()
    heads = heads.copy()
    for bone, end, direction in aims:
        along = quat.normalize_vectors(heads[end] - heads[bone])
        turn = quat.between(along, direction)
        moved = [bone, *skeleton.get_descendants(bone)]
        worlds[moved] = quat.mul(turn, worlds[moved])
        heads[moved] = heads[bone] + quat.mul_vec(turn, heads[moved] - heads[bone])
    return worlds, heads


def _stand(
    clips: Sequence[Clip],
    roles: Roles,
    pose: tuple[np.ndarray, np.ndarray],
    ahead: np.ndarray,
    height: float,
) -> Skeleton:
    """Return the skeleton that rests in a pose, over the origin, facing -Y, with toes at a height.

    The pose is moved at the lowest bone from the root to the hips that moves in its parent, so that
    a root that stays at the origin rests there.
    """
    skeleton = clips[0].skeleton
    worlds, heads = pose
    rotations, positions = quat.ik(worlds, heads, skeleton.parents)
    sliding = np.any([find_sliding_bones(clip) for clip in clips], axis=0)
    chain = skeleton.get_chain_to_root(roles.hips)
    pivot = next(bone for bone in chain if sliding[bone])
    above = skeleton.get_ancestors(pivot)
    rotations[above] = quat.IDENTITY
    positions[above] = skeleton.rest_positions[above]
    positions[[bone for bone in above if skeleton.parents[bone] < 0]] = 0.0
    turn = quat.from_yaw(-np.arctan2(ahead[0], -ahead[1]))
    heads = quat.mul_vec(turn, heads)
    toes = [leg.toe for leg in roles.legs]
    lift = height - heads[toes, 2].min()
    shift = np.array([-heads[roles.hips, 0], -heads[roles.hips, 1], lift])
    rotation = quat.mul(turn, worlds[pivot])
    position = heads[pivot] + shift
    if above:
        worlds, places = quat.fk(rotations, positions, skeleton.parents)
        parent = int(skeleton.parents[pivot])
        rotation = quat.inv_mul(worlds[parent], rotation)
        position = quat.inv_mul_vec(worlds[parent], position - places[parent])
    rotations[pivot] = rotation
    positions[pivot] = position
    return replace(
        skeleton,
        rest_rotations=quat.normalize(rotations).astype(np.float32),
        rest_positions=positions.astype(np.float32),
    )


def _measure_toe_height(all_heads: np.ndarray, roles: Roles, heads: np.ndarray) -> float:
    """Return the height above the ground of standing toe joints, or of ankles without toes.

    Files usually have the ground at zero; if feet never come near it, a usual height is returned.
    """
    toes = [leg.toe for leg in roles.legs]
    leg = roles.legs[0]
    usual = NUMBERS.toe_height if leg.has_toe else NUMBERS.ankle_height
    usual *= float(np.linalg.norm(heads[leg.foot] - heads[leg.thigh]))
    low = float(np.percentile(all_heads[1:, toes, 2].min(axis=1), 10))
    return low if 0.5 * usual < low < 2.0 * usual else usual

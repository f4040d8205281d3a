"""Distinguish forelegs from arms: by a rest pose that stands, otherwise by the motion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS
from .sampled_body import SampledBody, measure_segments


def leave_out_arms(
    body: SampledBody,
    clips: Sequence[Clip],
    joints: dict[int, int],
    limbs: dict[int, dict[str, int]],
    hips: int,
) -> dict[int, int]:
    """Return the forks by foot without arms, such as those of a body that crawls at times.

    A rest pose that stands upright decides. Otherwise forelegs are on the ground at rest, or about
    as often as hind legs and nearly as long, and the knees are off it.
    """
    hind = [foot for foot, fork in joints.items() if fork == hips]
    forks = {fork for fork in joints.values() if fork != hips}
    if not forks:
        return joints
    ways = {foot: body.measure_way(limb["thigh"], foot) for foot, limb in limbs.items()}
    lengths = {foot: float(way.sum()) for foot, way in ways.items()}
    leg = max(lengths[foot] for foot in hind)
    rest = SampledBody.from_clips(body.skeleton, ())
    ends = [(limbs[foot]["thigh"], rest.ends[foot], body.ends[foot]) for foot in hind]
    trunk = rest.positions[0, list(forks)].mean(axis=0) - rest.positions[0, hips]
    stands = _stands_at_rest(rest.positions, body.positions, ends, trunk, rest.floor)
    low = {foot: body.ends[foot][:, 2] < body.floor + NUMBERS.on_ground * leg for foot in joints}
    often = max(float(low[foot].mean()) for foot in hind)
    knees = [body.positions[:, limbs[foot].get("shin", foot), 2] for foot in hind]
    knees_up = float(np.median(knees)) - body.floor > NUMBERS.knees_up * leg
    along = body.positions[:, list(forks)].mean(axis=1) - body.positions[:, hips]
    has_long_legs = _are_long(leg, along)

    def is_leg(foot: int) -> bool:
        share = float(low[foot].mean())
        on_ground = (
            rest.ends[foot][0, 2] < rest.floor + NUMBERS.on_ground * leg
            and share > NUMBERS.seen_on_ground * often
        )
        if stands and (on_ground or _is_upright(trunk)):
            return bool(on_ground)
        as_often = share > NUMBERS.as_often * often
        may_crawl = has_long_legs or lengths[foot] <= NUMBERS.foreleg_length * leg
        return bool(clips) and as_often and knees_up and not may_crawl

    return {foot: fork for foot, fork in joints.items() if fork == hips or is_leg(foot)}


def _are_long(leg: float, ways: np.ndarray) -> bool:
    """Return whether legs are as long as people's, by the ways (F, 3) along the trunk."""
    return leg > NUMBERS.long_legs * float(np.median(np.linalg.norm(ways, axis=-1)))


def _stands_at_rest(
    rest: np.ndarray,
    moving: np.ndarray,
    legs: Iterable[tuple[int, np.ndarray, np.ndarray]],
    trunk: np.ndarray,
    floor: float,
) -> bool:
    """Return whether a body stands in its rest pose as it does in its motion.

    `rest` (1, B, 3) and `moving` (F, B, 3) are positions, `legs` the thighs with where the legs end
    in both, (1, 3) and (F, 3), and `trunk` (3,) leads from the hips to the shoulders.
    """
    for thigh, end, path in legs:
        way = end[0] - rest[0, thigh]
        length = float(np.linalg.norm(way))
        usual = moving[:, thigh, 2] - path[:, 2]
        leads_down = -way[2] > np.cos(NUMBERS.standing) * length > 0.0
        is_lowest = end[0, 2] < floor + NUMBERS.on_ground * length
        along = way @ trunk > np.cos(NUMBERS.off_trunk) * length * np.linalg.norm(trunk)
        as_high = -way[2] > NUMBERS.as_high * float(np.median(usual))
        if not (leads_down and is_lowest and as_high) or along:
            return False
    return True


def _is_upright(trunk: np.ndarray) -> bool:
    """Return whether the way (3,) from the hips to the shoulders leads up."""
    return float(trunk[2]) > np.cos(NUMBERS.upright_trunk) * float(np.linalg.norm(trunk))


def stands_on_wrists(
    skeleton: Skeleton,
    clips: Sequence[Clip],
    hips: int,
    legs: Sequence[Sequence[int]],
    arms: Sequence[Sequence[int]],
) -> bool:
    """Return whether a body stands on its arms, with the paws below the wrists missing.

    Legs are thigh, shin, foot and toe, and arms upper arm, forearm and hand. The trunk is level and
    wrists are low under the shoulders: in a rest pose that stands, or else mostly in the motion.
    """
    rest = SampledBody.from_clips(skeleton, ()).positions
    shoulders, wrists = ([arm[part] for arm in arms] for part in (0, 2))
    trunk = rest[0, shoulders].mean(axis=0) - rest[0, hips]
    feet = [min((leg[2], leg[3]), key=lambda bone: rest[0, bone, 2]) for leg in legs]
    thighs, knees = ([leg[part] for leg in legs] for part in (0, 1))
    if _is_upright(trunk) and all(_is_upright(way) for way in rest[0, thighs] - rest[0, feet]):
        return False
    moving = SampledBody.from_clips(skeleton, clips).positions
    ends = [(one, rest[:, foot], moving[:, foot]) for one, foot in zip(thighs, feet, strict=True)]
    stands = _stands_at_rest(rest, moving, ends, trunk, float(rest[0, feet, 2].min()))
    fork = skeleton.find_common_ancestor([arm[0] for arm in arms])
    ways = moving[:, hips if fork is None else fork] - moving[:, hips]
    leg = float(measure_segments(rest[:, list(legs[0])]).sum())
    if not stands and (not clips or _are_long(leg, ways)):
        return False
    shown = rest if stands else moving
    ways = shown[:, shoulders].mean(axis=1) - shown[:, hips]
    is_level = ways[:, 2] < np.cos(NUMBERS.upright_trunk) * np.linalg.norm(ways, axis=-1)
    over_ground = shown[..., 2] - shown[:, feet, 2].min(axis=1, keepdims=True)
    wrist, shoulder, knee, thigh = (
        over_ground[:, bones].mean(axis=1) for bones in (wrists, shoulders, knees, thighs)
    )
    stand = is_level & (knee > NUMBERS.knees_up * thigh) & (wrist < NUMBERS.paw_height * shoulder)
    return bool(np.mean(stand) > 0.5)

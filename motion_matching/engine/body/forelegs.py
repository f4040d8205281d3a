"""Tell forelegs from arms: by a rest pose that stands, and otherwise by the motion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton
from .sampled_body import SampledBody, sample_frames

# a rest pose that stands: its legs lead down and away from the trunk, as far as in the motion
_STANDING = np.radians(75.0)  # off the vertical: legs lead down, an insect's hardly do
_OFF_TRUNK = np.radians(60.0)  # legs that point along the trunk show a pose of zeros
_AS_HIGH = 0.6  # of the height over the feet in the motion: below, a body lies or sits
_UPRIGHT = np.radians(45.0)  # off the vertical: a trunk stands upright, of people and apes
# of a hind leg's length
_ON_GROUND = 0.15  # an end below stands on the ground
_AS_LONG = 0.7  # arms are shorter
_KNEES_UP = 0.25  # whoever crawls has the knees lower
_SEEN, _AS_OFTEN = 0.2, 0.6  # shares of the time on the ground: at least, and of the hind legs'
# of the way from hips to shoulders: people's legs are 2.1 to 3.7 times as long, and they crawl;
# those of animals that lie at rest are little longer than their trunk
_LONG_LEGS = 1.8
_WRIST = 0.3  # of the shoulders' height: wrists over a paw are lower, hands of who stoops higher


def leave_out_arms(
    body: SampledBody,
    clips: Sequence[Clip],
    joints: dict[int, int],
    limbs: dict[int, dict[str, int]],
    hips: int,
) -> dict[int, int]:
    """Return the forks by foot without those of arms, as of a body that crawls at times.

    A rest pose that stands upright decides. Otherwise forelegs are on the ground at rest, or about
    as often as hind legs and nearly as long, and the knees are off it.
    """
    hind = [foot for foot, fork in joints.items() if fork == hips]
    forks = {fork for fork in joints.values() if fork != hips}
    if not forks:
        return joints
    lengths = {foot: _measure_length(body, foot, limb) for foot, limb in limbs.items()}
    leg = max(lengths[foot] for foot in hind)
    rest = SampledBody.from_clips(body.skeleton, ())
    ends = [(limbs[foot]["thigh"], rest.ends[foot], body.ends[foot]) for foot in hind]
    trunk = rest.positions[0, list(forks)].mean(axis=0) - rest.positions[0, hips]
    stands = _stands_at_rest(rest.positions, body.positions, ends, trunk, rest.floor)
    low = {foot: body.ends[foot][:, 2] < body.floor + _ON_GROUND * leg for foot in joints}
    often = max(float(low[foot].mean()) for foot in hind)
    knees = [body.positions[:, limbs[foot].get("shin", foot), 2] for foot in hind]
    knees_up = float(np.median(knees)) - body.floor > _KNEES_UP * leg
    ways = body.positions[:, list(forks)].mean(axis=1) - body.positions[:, hips]
    has_long_legs = _are_long(leg, ways)

    def is_leg(foot: int) -> bool:
        share = float(low[foot].mean())
        on_ground = rest.ends[foot][0, 2] < rest.floor + _ON_GROUND * leg and share > _SEEN * often
        if stands and (on_ground or _is_upright(trunk)):
            return bool(on_ground)
        as_often = share > _AS_OFTEN * often
        may_crawl = has_long_legs or lengths[foot] <= _AS_LONG * leg
        return bool(clips) and as_often and knees_up and not may_crawl

    return {foot: fork for foot, fork in joints.items() if fork == hips or is_leg(foot)}


def _are_long(leg: float, ways: np.ndarray) -> bool:
    """Return whether legs of a length are those of people, by the ways (F, 3) along the trunk."""
    return leg > _LONG_LEGS * float(np.median(np.linalg.norm(ways, axis=-1)))


def _measure_length(body: SampledBody, foot: int, limb: dict[str, int]) -> float:
    """Return the length of a leg from its thigh to the end of its last bone."""
    chain = body.skeleton.get_chain_to_root(foot)
    chain = chain[: chain.index(limb["thigh"])]
    tip = np.linalg.norm(body.ends[foot] - body.positions[:, foot], axis=-1)
    return float(body.lengths[chain].sum() + np.median(tip))


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
        length, usual = float(np.linalg.norm(way)), moving[:, thigh, 2] - path[:, 2]
        leads_down = -way[2] > np.cos(_STANDING) * length > 0.0
        is_lowest = end[0, 2] < floor + _ON_GROUND * length
        along = float(way @ trunk) > np.cos(_OFF_TRUNK) * length * float(np.linalg.norm(trunk))
        as_high = -way[2] > _AS_HIGH * float(np.median(usual))
        if not (leads_down and is_lowest and as_high) or along:
            return False
    return True


def _is_upright(trunk: np.ndarray) -> bool:
    """Return whether the way (3,) from the hips to the shoulders leads up."""
    return float(trunk[2]) > np.cos(_UPRIGHT) * float(np.linalg.norm(trunk))


def stands_on_wrists(
    skeleton: Skeleton,
    clips: Sequence[Clip],
    hips: int,
    legs: Sequence[Sequence[int]],
    arms: Sequence[Sequence[int]],
) -> bool:
    """Tell whether a body stands on its arms, of which the paws below the wrists are missing.

    Legs are thigh, shin, foot and toe, and arms upper arm, forearm and hand. The trunk is level and
    wrists are low under the shoulders: in a rest pose that stands, or else mostly in the motion.
    """
    rest = sample_frames(skeleton, ())[1]
    shoulders, wrists = ([arm[part] for arm in arms] for part in (0, 2))
    trunk = rest[0, shoulders].mean(axis=0) - rest[0, hips]
    feet = [min((leg[2], leg[3]), key=lambda bone: rest[0, bone, 2]) for leg in legs]
    thighs, knees = ([leg[part] for leg in legs] for part in (0, 1))
    if _is_upright(trunk) and all(_is_upright(way) for way in rest[0, thighs] - rest[0, feet]):
        return False
    moving = sample_frames(skeleton, clips)[1]
    ends = [(one, rest[:, foot], moving[:, foot]) for one, foot in zip(thighs, feet, strict=True)]
    stands = _stands_at_rest(rest, moving, ends, trunk, float(rest[0, feet, 2].min()))
    fork = skeleton.find_common_ancestor([arm[0] for arm in arms])
    ways = moving[:, hips if fork is None else fork] - moving[:, hips]
    joints = np.linalg.norm(np.diff(rest[0, list(legs[0])], axis=0), axis=-1)
    if not stands and (not clips or _are_long(float(joints.sum()), ways)):
        return False
    shown = rest if stands else moving
    ways = shown[:, shoulders].mean(axis=1) - shown[:, hips]
    is_level = ways[:, 2] < np.cos(_UPRIGHT) * np.linalg.norm(ways, axis=-1)
    over_ground = shown[..., 2] - shown[:, feet, 2].min(axis=1, keepdims=True)
    wrist, shoulder, knee, thigh = (
        over_ground[:, bones].mean(axis=1) for bones in (wrists, shoulders, knees, thighs)
    )
    stand = is_level & (knee > _KNEES_UP * thigh) & (wrist < _WRIST * shoulder)
    return bool(np.mean(stand) > 0.5)

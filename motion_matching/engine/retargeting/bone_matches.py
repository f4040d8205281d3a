"""Match bones of one body with bones of another, once for all frames and clips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..body.limbs import SIDES
from .anatomy import Anatomy
from .frames.finger_frames import count_palm_bones, count_tips, list_finger_roles

_PARTS = ("collar", "upper", "lower", "end", "toe")


@dataclass(frozen=True)
class Match:
    """A bone that turns as one between two others: at a `share` of the way from one to the next."""

    bone: int
    first: int
    second: int
    share: float


def match_bones(source: Anatomy, target: Anatomy) -> list[Match]:
    """Return the matches of all of the target's bones that the source turns, without roots."""
    matches = [Match(target.hips, source.leg_carrier, source.leg_carrier, 0.0)]
    matches += _match_chain(source, target, ["spine"], ["hips"])
    matches += _match_chain(source, target, ["neck", "head"], ["hips", "spine"])
    matches += _match_chain(source, target, ["tail"], [])
    for name in (name for name in source.limbs if name in target.limbs):
        limbs = source.limbs[name].bones, target.limbs[name].bones
        for bone, other in ([getattr(limb, part) for limb in limbs] for part in _PARTS):
            if bone is not None and other is not None:
                matches.append(Match(other, bone, bone, 0.0))
    for side in SIDES:
        if all(f"{side}_arm" in body.limbs for body in (source, target)):
            known = list_finger_roles(source.roles, side)
            for role in list_finger_roles(target.roles, side):
                matches += _match_finger(source, target, role) if role in known else ()
    return matches


def _match_finger(source: Anatomy, target: Anatomy, role: str) -> Iterator[Match]:
    """Match a finger's bones from its knuckle; extra ones follow the last, unless tips or palms."""
    ours, theirs = (body.roles.chains[role] for body in (source, target))
    shift = _find_finger_shift(source, target, role)
    last = len(ours) - 1
    end = len(theirs) - count_tips(target.usual, target.roles, role)
    for index, bone in enumerate(theirs):
        if index + shift >= 0 and (index < end or index + shift <= last):
            first = ours[min(index + shift, last)]
            yield Match(bone, first, first, 0.0)


def _find_finger_shift(source: Anatomy, target: Anatomy, role: str) -> int:
    """Return the index of the source's bone that drives the first bone of the target's finger."""
    if not role.endswith("thumb"):
        palms = [count_palm_bones(body.usual, body.roles, role) for body in (source, target)]
        return palms[0] - palms[1]
    # one of two bones may lack the metacarpal: it starts where the other's second bone does
    ours, theirs = (_measure_reaches(body, role) for body in (source, target))
    if len(ours) == len(theirs) or min(len(ours), len(theirs)) != 2:
        return 0
    short, long = sorted((ours, theirs), key=len)
    lacks = int(np.argmin(np.abs(np.log(long[:2] / short[0]))))
    return lacks if len(ours) > len(theirs) else -lacks


def _measure_reaches(body: Anatomy, role: str) -> np.ndarray:
    """Return distances (N,) of a finger's bones from the wrist, as shares of the forearm."""
    side = role.split("_")[0]
    points = body.usual.compute_rest_world()[1]
    hand = body.limbs[f"{side}_arm"]
    ways = points[list(body.roles.chains[role])] - points[hand.bones.end]
    return np.maximum(np.linalg.norm(ways, axis=-1) / hand.lengths[1], 1e-9)


def _match_chain(
    source: Anatomy, target: Anatomy, roles: Sequence[str], above: Sequence[str]
) -> list[Match]:
    """Match bones at the same share of a chain's length, which starts at the roles `above`."""
    ours, theirs = (
        [bone for bone in body.get_chain(*roles) if bone in body.frames]
        for body in (source, target)
    )
    if not ours or not theirs:
        return []
    if len(ours) == len(theirs):
        return [Match(bone, first, first, 0.0) for bone, first in zip(theirs, ours, strict=True)]
    start, begin = (body.get_chain(*above)[-1:] for body in (source, target))
    known = [*start, *ours]
    at = measure_arc(source, known)
    places = measure_arc(target, [*begin, *theirs])[len(begin) :]
    return [
        Match(bone, *_find_between(known, at, place))
        for bone, place in zip(theirs, places.tolist(), strict=True)
    ]


def measure_arc(body: Anatomy, chain: Sequence[int]) -> np.ndarray:
    """Return where bones of a chain lie along it (N,), from 0 to 1."""
    lengths = np.linalg.norm(body.usual.rest_positions, axis=-1)
    at = np.zeros(len(chain))
    for index in range(1, len(chain)):
        way = body.skeleton.get_chain_to_root(chain[index])
        stop = way.index(chain[index - 1]) if chain[index - 1] in way else 1
        at[index] = at[index - 1] + lengths[way[:stop]].sum()
    return at / max(float(at[-1]), 1e-9)


def _find_between(known: Sequence[int], at: np.ndarray, place: float) -> tuple[int, int, float]:
    """Return the bones before and after a place along a chain, and the share of the way."""
    if len(known) < 2:
        return known[0], known[0], 0.0
    index = int(np.clip(np.searchsorted(at, place, side="right") - 1, 0, len(at) - 2))
    share = (place - at[index]) / max(float(at[index + 1] - at[index]), 1e-9)
    return known[index], known[index + 1], float(np.clip(share, 0.0, 1.0))

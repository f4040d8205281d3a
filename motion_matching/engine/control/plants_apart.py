"""Keep planted feet, and those that swing past them, apart in a bake, as live.

Live, what comes is foreseen for a moment. Here all of it is known, so that feet go aside evenly,
and keep to their side also where a single step of the motion crosses the legs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..maths.runs import count_frames_to
from .contact_ranges import ContactRange, build_contact_mask
from .feet_apart import measure_gaps, measure_nearest
from .least_squares import solve_least_squares
from .legs import Beside, LegGeometry

_EVEN = 0.06  # seconds within which a foot goes aside
_PASSES = 12  # how often a movement that falls short is mended
_LEAVE = 20.0  # m/s² with which it may begin and end
_CLEAR = 0.005  # metres that feet are kept farther apart than in the data
_AROUND = 0.25  # metres that a swinging foot goes around at most, to stay on its side
_SMALL = 1e-4  # metres


class FootTrack(NamedTuple):
    """A foot of a take: its toe's path (T, 3), the way from there to the ankle, and when it stands.

    `hip` (T, 2) is where that is before feet are planted, seen from above.
    """

    path: np.ndarray
    arm: np.ndarray
    hip: np.ndarray
    is_planted: np.ndarray


def move_plants_apart(
    legs: Sequence[LegGeometry],
    feet: Sequence[FootTrack],
    ranges: Sequence[ContactRange],
    firm: Sequence[ContactRange],
) -> list[ContactRange]:
    """Return ranges in which a foot that lands beside another that stands keeps its distance.

    Those with a point of their own, and `firm` ones, stay where they are.
    """
    result = list(ranges)
    moved = [foot.path[:, :2].copy() for foot in feet]
    for r in ranges:  # as they will stand, not as a fading jump drags them
        path = moved[r.leg][r.start : r.stop]
        path[:] = np.median(path, axis=0) if r.point is None else r.point
    for k in sorted(range(len(result)), key=lambda k: result[k].start):
        r = result[k]
        if r.point is not None or r in firm or r.start >= len(moved[0]):
            continue
        frames, shift = slice(r.start, r.stop), np.zeros(2)
        for i, beside in ((i, each) for i, leg in enumerate(legs) for each in leg.beside):
            if r.leg not in (i, beside.leg):
                continue
            other = feet[i + beside.leg - r.leg]
            pushes, n = _compute_pushes(legs, feet, moved, i, beside, frames, True)
            # the other one landed before, or stays where it is told to
            both = np.flatnonzero(other.is_planted[frames])
            if len(both):
                # hips that turn over feet cross them for a moment: what is usual counts
                usual = both[np.argsort(pushes[both], kind="stable")[len(both) // 2]]
                if pushes[usual] > _SMALL:
                    shift += (1.0 if r.leg == i else -1.0) * pushes[usual] * n[usual]
        if shift.any():
            middle = np.median(feet[r.leg].path[frames, :2], axis=0)
            moved[r.leg][frames] += shift
            result[k] = replace(r, point=tuple((middle + shift).tolist()))
    return result


def compute_asides(
    legs: Sequence[LegGeometry], feet: Sequence[FootTrack], fps: float
) -> list[np.ndarray]:
    """Return how far (T, 2) each foot goes aside for others while it is off the ground."""
    pairs = [(i, beside) for i, leg in enumerate(legs) for beside in leg.beside]
    wanted = [np.zeros((len(foot.path), 2)) for foot in feet]
    asides = [each.copy() for each in wanted]
    stiffness = (_EVEN * fps) ** 2
    # no foot leaves its plant or comes to it from the side at once
    most = [
        0.5 * _LEAVE * (count_frames_to(foot.is_planted) / fps) ** 2
        if foot.is_planted.any()
        else np.full(len(foot.path), np.inf)
        for foot in feet
    ]
    for _ in range(_PASSES):
        moved = [foot.path[:, :2] + aside for foot, aside in zip(feet, asides, strict=True)]
        changed = set()
        for i, beside in pairs:
            j = beside.leg
            pushes, n = _compute_pushes(legs, feet, moved, i, beside, slice(None))
            free_i, free_j = (~feet[k].is_planted for k in (i, j))
            share = np.where(free_i & free_j, 0.5, 1.0)
            for k, free, sign in ((i, free_i, 1.0), (j, free_j, -1.0)):
                asked = sign * np.minimum(pushes * share * free, most[k])[:, None] * n
                if np.abs(asked).max() > _SMALL:
                    wanted[k] += asked
                    changed.add(k)
        for k in changed:
            count = len(wanted[k])
            asides[k] = solve_least_squares(
                feet[k].is_planted,
                np.zeros((count, 2)),
                np.zeros((count - 1, 1)),
                np.ones(count - 1),
                0.25 * stiffness,
                1.0 / stiffness,
                wanted[k],
            )
        if not changed:
            break
    return asides


def _compute_pushes(
    legs: Sequence[LegGeometry],
    feet: Sequence[FootTrack],
    moved: Sequence[np.ndarray],
    i: int,
    beside: Beside,
    frames: slice,
    is_landing: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far (T,) a pair of feet has to move apart, and along which way (T, 2)."""
    j = beside.leg
    hips = (feet[i].hip - feet[j].hip)[frames]
    n = hips / np.maximum(np.linalg.norm(hips, axis=-1, keepdims=True), 1e-6)

    def find_line(k: int) -> tuple[np.ndarray, np.ndarray]:
        toe = np.column_stack([moved[k][frames], feet[k].path[frames, 2]])
        arm = feet[k].arm[frames]
        return toe + arm, toe - legs[k].tip_share * arm

    (ankle_a, tip_a), (ankle_b, tip_b) = find_line(i), find_line(j)
    pushes = beside.side - np.sum((ankle_a - ankle_b)[:, :2] * n, axis=-1)
    if not is_landing:
        pushes = np.minimum(pushes, _AROUND)
    apart = measure_nearest(ankle_a, tip_a, ankle_b, tip_b)
    across = np.sum(apart[:, :2] * n, axis=-1)
    room = (beside.apart + _CLEAR) ** 2 - (np.sum(apart**2, axis=-1) - across**2)
    near = room > 0.0
    gaps, overlap = measure_gaps(ankle_a, tip_a, ankle_b, tip_b, n)
    aside = np.sqrt(np.maximum(room, 0.0)) - across
    aside = np.where(overlap > 0.0, np.maximum(aside, beside.gap - gaps), aside)
    return np.maximum(np.maximum(pushes, np.where(near, aside, 0.0)), 0.0), n


def make_track(
    leg: LegGeometry, path: np.ndarray, positions: np.ndarray, ranges: Sequence[ContactRange]
) -> FootTrack:
    """Return the track of a foot whose toe has a path (T, 3), of a body's positions (T, B, 3)."""
    thigh, foot, toe = (leg.chain[k] for k in (leg.thigh, leg.foot, -1))
    planted = build_contact_mask([replace(r, leg=0) for r in ranges], len(path), 1)[:, 0]
    arm = positions[:, foot] - positions[:, toe]
    return FootTrack(path, arm, positions[:, thigh, :2], planted)

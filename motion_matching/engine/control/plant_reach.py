"""Bring planted feet of a bake within reach of their legs.

Where the character is led faster or elsewhere than its motion, its legs are too short for a contact
as long as in the data: feet would be dragged along or give way. So they are planted where the leg
reaches them for longest, and the hips come down where that is not enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .contact_ranges import ContactRange
from .legs import FIRM, LegGeometry

_FARTHEST = 0.08  # metres by which a foot is planted elsewhere at most
_LOWER = 0.05  # of a leg's length by which the hips come down at most
_EVEN = 0.1  # seconds over which they do
_PASSES = 40  # in which a plant comes into reach; in the second half by less and less


class LegReach(NamedTuple):
    """What a leg reaches in a body before feet are planted.

    `hip` (T, 3) is where it starts, `arm` (T, 3) the way from toe to ankle, `reach` (T,) how far
    the ankle may be from the hip, and `length` (T,) that of the straight leg; all in metres.
    """

    hip: np.ndarray
    arm: np.ndarray
    reach: np.ndarray
    length: np.ndarray

    @classmethod
    def measure(cls, leg: LegGeometry, positions: np.ndarray) -> LegReach:
        """Measure a leg of a body's positions (T, B, 3)."""
        hip, knee, ankle, toe = (
            positions[:, leg.chain[k]] for k in (leg.thigh, leg.shin, leg.foot, -1)
        )
        length = _measure(knee - hip) + _measure(ankle - knee)
        # further it gives way, unless the motion itself straightens it
        reach = np.maximum(FIRM * length, _measure(ankle - hip))
        return cls(hip, ankle - toe, reach, length)


def move_plants_into_reach(
    leg: LegReach,
    ranges: Sequence[ContactRange],
    stand: np.ndarray,
    heights: np.ndarray,
    beside: Sequence[LegReach] = (),
) -> np.ndarray:
    """Return where a toe stands (T, 2), moved during `ranges` to where its leg reaches it longest.

    It stands at the median of `stand` (T, 2) in each range, and at its median of `heights` (T,). It
    does not move toward legs `beside` it.
    """
    result = stand.copy()
    if not ranges:
        return result
    parts = [np.arange(r.start, min(r.stop, len(stand))) for r in ranges]
    counts, frames = [len(part) for part in parts], np.concatenate(parts)
    owner, first = np.repeat(np.arange(len(ranges)), counts), np.cumsum([0, *counts[:-1]])
    points = np.array([np.median(stand[part], axis=0) for part in parts])
    height = np.array([np.median(heights[part]) for part in parts])
    center = (leg.hip - leg.arm)[frames]
    fall = center[:, 2] - height[owner] - _LOWER * leg.length[frames]
    radius = np.sqrt(np.maximum(leg.reach[frames] ** 2 - fall**2, 0.0))
    moved = points.copy()
    for k in range(_PASSES):
        away = moved[owner] - center[:, :2]
        excess = np.maximum(_measure(away) - radius, 0.0)
        if not excess.any():
            break
        # one frame of each range at a time, that which is farthest out of reach
        worst = _find_largest(excess, owner, first)
        pull = (excess / np.maximum(excess + radius, 1e-9))[:, None] * away
        moved -= min(1.0, 0.5 * _PASSES / (k + 1)) ** 2 * pull[worst]
    shift = moved - points
    for other in beside:  # feet would cross
        way = np.array([np.mean((other.hip - leg.hip)[part, :2], axis=0) for part in parts])
        way /= np.maximum(_measure(way), 1e-9)[:, None]
        shift -= np.maximum(np.sum(shift * way, axis=-1), 0.0)[:, None] * way
    shift *= np.minimum(1.0, _FARTHEST / np.maximum(_measure(shift), 1e-9))[:, None]
    result[frames] += shift[owner]
    return result


def _find_largest(values: np.ndarray, owner: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the index of the largest value (T,) of each owner, whose `first` indices ascend."""
    largest = np.flatnonzero(values == np.maximum.reduceat(values, first)[owner])
    return largest[np.searchsorted(owner[largest], np.arange(len(first)))]


def compute_hips_fall(
    legs: Sequence[LegReach], targets: Sequence[np.ndarray], planted: np.ndarray, fps: float
) -> np.ndarray:
    """Return how far (T,) the hips come down for the legs to reach where toes are planted (T, L).

    `targets` are the paths (T, 3) of the toes.
    """
    from scipy.ndimage import gaussian_filter1d, maximum_filter1d  # late: only bakes need it

    needed = np.zeros(len(planted))
    for i, (leg, toe) in enumerate(zip(legs, targets, strict=True)):
        way = leg.hip - leg.arm - toe
        left = np.sqrt(np.maximum(leg.reach**2 - np.sum(way[:, :2] ** 2, axis=-1), 0.0))
        fall = np.minimum(np.maximum(way[:, 2] - left, 0.0), _LOWER * leg.length)
        needed = np.maximum(needed, np.where(planted[:, i], fall, 0.0))
    width = _EVEN * fps
    widened = maximum_filter1d(needed, 2 * round(width) + 1)
    return np.asarray(gaussian_filter1d(widened, width))


def _measure(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors, axis=-1)

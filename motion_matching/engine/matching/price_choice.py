"""Choose among the nearest frames by what a jump there costs, besides their features.

Prices are never negative. So as soon as the features of a frame alone cost more than the best
frame with its price, so do all further ones, and the choice is exact without their prices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

Array = np.ndarray
PER_CENTIMETRE = 100.0  # prices are in metre-seconds, and their weight is for cm·s
_COUNTS = (16, 64, 256)  # frames that are looked at, one after the other if they are not enough


class NearestSearch(Protocol):
    """What looks for the frames of the smallest costs, best first; those above a bound may lack."""

    def __call__(self, count: int, *, bound: float = math.inf) -> tuple[Array, Array]: ...


def choose(
    find: NearestSearch,
    measure_prices: Callable[[Array], Any],
    bound: float,
    first: tuple[int, float] | None = None,
) -> tuple[int, float]:
    """Return the frame whose cost with its price is least, and both together.

    (-1, bound) if none is below `bound`. `measure_prices` returns the prices (K,) of frames (K,)
    in the measure of costs. `first` is the frame of the least cost, if that is known.
    """
    best, least = -1, bound
    seen: Array = np.empty(0, np.intp)
    for count in (1, *_COUNTS):
        if first is not None and count == 1:
            frames, costs = np.array(first[:1]), np.array(first[1:])
        else:
            frames, costs = find(count, bound=least)
        near = (costs < least) & ~np.isin(frames, seen)
        if near.any():
            totals = costs[near] + np.asarray(measure_prices(frames[near]))
            k = int(totals.argmin())
            if totals[k] < least:
                best, least = int(frames[near][k]), float(totals[k])
        if len(frames) < count or costs[-1] >= least:
            break
        seen = frames
    return best, least

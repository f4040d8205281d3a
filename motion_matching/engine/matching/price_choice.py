"""Choose among the nearest frames by their features and by the price of a jump there.

Prices are never negative. So once the features of a frame alone cost more than the best frame with
its price, so do all further ones, and the choice is exact without their prices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from .numbers import NUMBERS

Array = np.ndarray
PER_CENTIMETRE = 100.0  # prices are in metre-seconds, and their weight is for cm·s


class NearestSearch(Protocol):
    """Search for the frames of the smallest costs, best first; it may omit frames above a bound."""

    def __call__(self, count: int, *, bound: float = math.inf) -> tuple[Array, Array]: ...


def choose(
    find: NearestSearch,
    measure_prices: Callable[[Array], Any],
    bound: float,
    first: tuple[int, float] | None = None,
) -> tuple[int, float]:
    """Return the frame of the least sum of cost and price, and that sum.

    (-1, bound) if none is below `bound`. `measure_prices` returns the prices (K,) of frames (K,)
    in the measure of costs. `first` is the frame of the least cost, if that is known.
    """
    frames, totals = _rank(find, measure_prices, 1, bound, (1, *NUMBERS.price_counts), first)
    return (int(frames[0]), float(totals[0])) if len(frames) else (-1, bound)


def find_priced(
    find: NearestSearch,
    measure_prices: Callable[[Array], Any],
    count: int,
    *,
    bound: float = math.inf,
) -> tuple[Array, Array]:
    """Return up to `count` frames of the least sums of cost and price, best first, and the sums.

    These are the best of all frames, however high prices are: as many as needed are priced.
    """
    looked_at = (
        max(count, NUMBERS.price_counts[0]) * NUMBERS.price_growth**k for k in itertools.count()
    )
    return _rank(find, measure_prices, count, bound, looked_at)


def _rank(
    find: NearestSearch,
    measure_prices: Callable[[Array], Any],
    wanted: int,
    bound: float,
    counts: Iterable[int],
    first: tuple[int, float] | None = None,
) -> tuple[Array, Array]:
    """Return the `wanted` best frames below a bound; `counts` are looked at, one by one."""
    best: Array = np.empty(0, np.intp)
    least: Array = np.empty(0)
    seen = best
    for count in counts:
        if first is not None and count == 1:
            frames = np.array(first[:1])
            costs = np.array(first[1:])
        else:
            frames, costs = find(count, bound=bound)
        near = (costs < bound) & (frames[:, None] != seen).all(axis=1)
        if near.any():
            totals = costs[near] + np.asarray(measure_prices(frames[near]))
            better = totals < bound
            best = np.append(best, frames[near][better])
            least = np.append(least, totals[better])
            order = least.argsort(kind="stable")[:wanted]
            best = best[order]
            least = least[order]
            if len(best) == wanted:
                bound = float(least[-1])
        if len(frames) < count or costs[-1] >= bound:
            break
        seen = frames
    return best, least

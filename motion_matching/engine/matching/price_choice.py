"""Choose among the nearest frames by what a jump there costs, besides their features.

Prices are never negative. So as soon as the features of a frame alone cost more than the best
frame with its price, so do all further ones, and the choice is exact without their prices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np

Array = np.ndarray
PER_CENTIMETRE = 100.0  # prices are in metre-seconds, and their weight is for cm·s
_FIRST, _MOST = 16, 256  # frames that are looked at, at first and at most


class NearestSearch(Protocol):
    """What looks for the frames of the smallest costs, best first."""

    def __call__(self, count: int) -> tuple[Array, Array]: ...


def list_nearest(find: NearestSearch) -> Iterator[tuple[Array, Array]]:
    """Yield frames (n,) and costs (n,) from the best on, more of them each time."""
    seen, count = np.empty(0, np.intp), _FIRST
    while True:
        frames, costs = find(count)
        new = ~np.isin(frames, seen)
        yield frames[new], costs[new]
        if len(frames) < count or count >= _MOST:
            return
        seen, count = frames, 4 * count


def choose(
    nearest: Iterable[tuple[Array, Array]],
    measure_prices: Callable[[Array], Any],
    bound: float,
) -> tuple[int, float]:
    """Return the frame whose cost with its price is least, and both together.

    (-1, bound) if none is below `bound`. `nearest` gives frames and costs, best first, and
    `measure_prices` the prices (K,) of frames (K,) in the same measure.
    """
    best, least = -1, bound
    for frames, costs in nearest:
        near = costs < least
        if not near.any():
            break
        prices = np.asarray(measure_prices(frames[near]))
        totals = costs[near] + prices
        k = int(totals.argmin())
        if totals[k] < least:
            best, least = int(frames[near][k]), float(totals[k])
        if not near.all():
            break
    return best, least

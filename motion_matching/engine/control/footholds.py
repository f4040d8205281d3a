"""Where a foot stands on stairs: on one tread, and not over an edge."""

from __future__ import annotations

import math

from .ground import Ground, Point

_APART = 0.02  # metres between looks at the ground
_EDGE = 0.025  # metres by which it changes from one look to the next at an edge
_FARTHEST = 0.16  # metres that a foot is moved at most: half a tread and a bit


def find_foothold(ground: Ground, toe: Point, ankle: Point, tip_share: float) -> Point:
    """Return how far (x, y) to move a foot along itself so that it stands on no edge.

    What lies from its middle to its tip counts; the tip is beyond the toe by `tip_share` of the way
    from the ankle. It stays where it is if there is no such place near.
    """
    wx, wy = toe[0] - ankle[0], toe[1] - ankle[1]
    length = math.hypot(wx, wy)
    if length < _APART:
        return 0.0, 0.0
    wx, wy = wx / length, wy / length
    back = math.ceil(0.5 * length / _APART)
    size = back + math.ceil(tip_share * length / _APART)
    most = round(_FARTHEST / _APART)
    first = -back - most
    along = [_APART * n for n in range(first, first + 2 * most + size + 1)]
    heights = [ground.height(toe[0] + wx * s, toe[1] + wy * s) for s in along]
    edges = [abs(b - a) > _EDGE for a, b in zip(heights, heights[1:], strict=False)]
    for n in sorted(range(2 * most + 1), key=lambda n: abs(n - most)):
        if not any(edges[n : n + size]):
            moved = _APART * (n - most)
            return moved * wx, moved * wy
    return 0.0, 0.0

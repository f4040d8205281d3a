"""Find footholds: along a slope, or on one tread of stairs, clear of its edges."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .ground import Ground, Place3, Point, compute_step_height, is_flat
from .numbers import NUMBERS

_SPACING = NUMBERS.foothold_spacing
_REACH = NUMBERS.slope_reach
_BEND = NUMBERS.edge_bend
_EDGE = NUMBERS.edge_height


class Footing(NamedTuple):
    """Height of the ground at each foot above the ground at the body, in metres, in one frame.

    It is -inf, without effect, for a foot in the air. The body climbs at `climbs` m/s.
    """

    feet: tuple[float, ...]
    climbs: float


def measure_slope(ground: Ground, toe: Point, ankle: Point) -> float:
    """Return how far the ground at a toe rises ahead of the foot, per metre; 0 at an edge."""
    wx, wy = toe[0] - ankle[0], toe[1] - ankle[1]
    length = math.hypot(wx, wy)
    if length < _SPACING:
        return 0.0
    dx, dy = _REACH * wx / length, _REACH * wy / length
    behind, here, ahead = (
        ground.height(toe[0] + n * dx, toe[1] + n * dy) for n in (-1.0, 0.0, 1.0)
    )
    if abs(ahead - 2.0 * here + behind) > _BEND or abs(ahead - behind) > 2.0 * _EDGE:
        return 0.0
    return (ahead - behind) / (2.0 * _REACH)


def measure_slopes(ground: Ground, toes: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Return `measure_slope` (N,) at toes (N, 2), from which arms (N, 2) lead to the ankles."""
    if is_flat(ground):
        return np.zeros(len(toes))
    rows = zip(toes.tolist(), (toes + arms).tolist(), strict=True)
    return np.array([measure_slope(ground, toe, ankle) for toe, ankle in rows])


def find_foothold(
    ground: Ground, toe: Point, ankle: Point, tip_share: float, body: Place3
) -> Point:
    """Return how far (x, y) to move a foot along itself so that it stands on one tread.

    From its heel to its tip nothing is higher than its tread, and from its middle to just beyond
    its toe nothing is lower: a heel may be beyond an edge on the way up, and a tip on the way down.
    The tip is beyond the toe by `tip_share` of the way from the ankle. Ground that no step reaches
    from a `body` at (x, y, floor) is ignored. Without such a place nearby, a foot does not move.
    """
    wx, wy = toe[0] - ankle[0], toe[1] - ankle[1]
    length = math.hypot(wx, wy)
    if length < _SPACING:
        return 0.0, 0.0
    wx, wy = wx / length, wy / length
    heel = math.ceil(length / _SPACING) + 1
    middle = math.ceil(0.5 * length / _SPACING)
    tip = math.ceil(tip_share * length / _SPACING)
    most = round(NUMBERS.farthest_foothold / _SPACING)
    places = _SPACING * np.arange(-heel - most, tip + most + 1)
    points = [(toe[0] + wx * along, toe[1] + wy * along) for along in places.tolist()]
    rises = np.diff([compute_step_height(ground, *point, body) for point in points])
    for moved in sorted(range(-most, most + 1), key=abs):
        at = heel + most + moved
        behind = rises[at - heel : at + 1]
        ahead = rises[at : at + tip]
        beside = rises[at - middle : at + 1]
        if behind.min() > -_EDGE and ahead.max(initial=0.0) < _EDGE and beside.max() < _EDGE:
            return _SPACING * moved * wx, _SPACING * moved * wy
    return 0.0, 0.0

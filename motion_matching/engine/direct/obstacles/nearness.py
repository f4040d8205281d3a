"""Price the nearness of a body to obstacles in a search: its middle, hips and toes."""

from __future__ import annotations

import numpy as np

from ...maths import planar
from ..footage.footage import Footage
from ..numbers import NUMBERS
from ..objective import COSTS
from .obstruction import Obstruction


def price_nearness(
    obstruction: Obstruction,
    footage: Footage,
    frames: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    yaw: np.ndarray,
) -> np.ndarray:
    """Return the cost (S,) of ways from start to stop (S, 2) for coming too near to obstacles.

    Characters end in frames (S,), facing yaws (S,).
    """
    radius, legs = obstruction.radius, footage.contacts.shape[1]
    room = radius + NUMBERS.search_beside
    away = obstruction.measure_ways(start, stop, room)
    cost = _price(away, radius) + COSTS.beside * np.maximum(room - away, 0.0)
    hips = stop + planar.rotate(footage.places[frames, legs, :2], yaw)
    cost = cost + _price(obstruction.measure_distances(hips, radius), radius)
    for leg in range(legs):
        toes = stop + planar.rotate(footage.places[frames, leg, :2], yaw)
        away = obstruction.measure_distances(toes, radius)
        cost = cost + _price(away, NUMBERS.toe_tip) + COSTS.toes * np.maximum(radius - away, 0.0)
    return np.asarray(cost)


def _price(away: np.ndarray, least: float) -> np.ndarray:
    """Return the cost (S,) of a step that is within a distance (S,) of obstacles."""
    return np.where(away < least, COSTS.inside + COSTS.deeper * (least - away), 0.0)

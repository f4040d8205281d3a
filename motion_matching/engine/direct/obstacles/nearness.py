"""What a search pays for a body that comes too near to obstacles: its middle, hips and toes."""

from __future__ import annotations

import numpy as np

from ...maths import planar
from ..footage.footage import Footage
from .obstruction import Obstruction

# metre-seconds for each step: more than any way round costs, and more the deeper, so that who has
# to be inside leaves by the shortest way
_INSIDE, _DEEPER = 10.0, 200.0
_BESIDE, _BESIDE_COST = 0.04, 20.0  # metres kept free for what closing moves, and cost per metre
_TIPS = 0.1  # metres that tips of toes are from their joints, by which these keep clear
_TOES_COST = 8.0  # per metre of toes being nearer than a body may be: feet turn and step aside


def price_nearness(
    obstruction: Obstruction,
    footage: Footage,
    frames: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    yaw: np.ndarray,
) -> np.ndarray:
    """Return what ways (S,) from start to stop (S, 2) cost that come too near to obstacles.

    Characters end in frames (S,), facing yaws (S,).
    """
    radius, legs = obstruction.radius, footage.contacts.shape[1]
    away = obstruction.measure_ways(start, stop, radius + _BESIDE)
    cost = _price(away, radius) + _BESIDE_COST * np.maximum(radius + _BESIDE - away, 0.0)
    hips = stop + planar.rotate(footage.places[frames, legs, :2], yaw)
    cost = cost + _price(obstruction.measure_distances(hips, radius), radius)
    for leg in range(legs):
        toes = stop + planar.rotate(footage.places[frames, leg, :2], yaw)
        away = obstruction.measure_distances(toes, radius)
        cost = cost + _price(away, _TIPS) + _TOES_COST * np.maximum(radius - away, 0.0)
    return np.asarray(cost)


def _price(away: np.ndarray, least: float) -> np.ndarray:
    """Return what a step costs (S,) for being less than a distance away (S,) from obstacles."""
    return np.where(away < least, _INSIDE + _DEEPER * (least - away), 0.0)

"""Compute heights of a character along its way: the floor below, with steps smoothed in time."""

from __future__ import annotations

import math

import numpy as np

from ...ground.ground import STEP, Ground, Point, follow_floor, is_flat
from ..numbers import NUMBERS


def compute_heights(floor: Ground, points: np.ndarray, width: float) -> np.ndarray:
    """Return the heights (T,) in metres of a character at points (T, 2) on a floor.

    The whole way is known, so heights change evenly before and after a step, over about `width`
    ticks. A floor more than a step above or below the one before is not stepped onto.
    """
    if is_flat(floor) or not len(points):
        return np.zeros(len(points))
    below = follow_floor(floor, points)[:, 2]
    reach = math.ceil(NUMBERS.smooth_reach * width)
    if not reach:
        return below
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    padded = np.pad(below, reach, mode="edge")
    return np.convolve(padded, weights / weights.sum(), mode="valid")


def can_walk(floor: Ground, start: Point, stop: Point) -> bool:
    """Return whether a straight line between two points crosses no step that is too high."""
    count = math.ceil(math.dist(start, stop) / NUMBERS.floor_step) + 1
    points = np.linspace(start, stop, count).tolist()
    heights = np.array([floor.height(x, y) for x, y in points])
    return bool(np.all(np.abs(np.diff(heights)) <= STEP))

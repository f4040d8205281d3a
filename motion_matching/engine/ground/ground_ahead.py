"""Measure how far the ground rises along a character's way, averaging stairs over about a step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .ground import Ground, Point, compute_step_height
from .numbers import NUMBERS


class ClimbSpeeds(NamedTuple):
    """Top speeds of a motion on slopes, in m/s; ascending slopes are rises per metre."""

    slopes: tuple[float, ...]
    speeds: tuple[float, ...]

    def find_most(self, rise: float, way: float) -> float:
        """Return the top speed on ground with some rise along a way, both in metres."""
        slope = rise / max(way, 1e-6)
        if abs(slope) < NUMBERS.level_slope:
            return math.inf
        nearest = min(range(len(self.slopes)), key=lambda n: abs(self.slopes[n] - slope))
        return self.speeds[nearest]


_EVERY = NUMBERS.looks_ahead_every
_AVERAGED = NUMBERS.looks_averaged


def list_times(times: Sequence[float]) -> tuple[float, ...]:
    """Return the times, in seconds, at which to sample the ground for the rises at other times."""
    first = math.floor(min(*times, 0.0) / _EVERY + 1e-6) - _AVERAGED
    last = math.ceil(max(*times, 0.0) / _EVERY - 1e-6) + _AVERAGED
    return tuple(_EVERY * n for n in range(first, last + 1))


def measure_rises(
    ground: Ground, points: Sequence[Point], times: Sequence[float], below: float
) -> list[float]:
    """Return how far in metres the ground rises from now to each of some times in seconds.

    `points` are the way at `list_times`; `below` is the present height of the ground. Ground more
    than a step higher or lower than the sample before is not stepped onto.
    """
    now = _AVERAGED - math.floor(min(*times, 0.0) / _EVERY + 1e-6)
    heights = [0.0] * len(points)
    for indices in (range(now, len(points)), range(now - 1, -1, -1)):
        height = below
        for n in indices:
            x, y = points[n]
            heights[n] = height = compute_step_height(ground, x, y, (x, y, height))
    width = 2 * _AVERAGED + 1
    line = [sum(heights[n : n + width]) / width for n in range(len(heights) - width + 1)]
    here = now - _AVERAGED
    return [_interpolate(line, here + time / _EVERY) - line[here] for time in times]


def _interpolate(values: Sequence[float], place: float) -> float:
    """Interpolate between two values at a place among them."""
    below = min(max(math.floor(place + 1e-6), 0), len(values) - 1)
    above = min(below + 1, len(values) - 1)
    return values[below] + min(max(place - below, 0.0), 1.0) * (values[above] - values[below])

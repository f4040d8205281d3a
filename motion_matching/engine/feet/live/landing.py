"""Plan where and when an airborne toe lands: as near its aim as it gets without leaping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..numbers import NUMBERS
from ..played_toes import PlayedToe

Place = tuple[float, float]


class Flight(NamedTuple):
    """Place and velocity of a toe in metres and m/s; z is the height above where it would stand."""

    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float

    def approach(self, place: Sequence[float], seconds: float, dt: float) -> Flight:
        """Return the flight a tick later of a toe that stands at a place in some seconds."""
        x, y, z, vx, vy, vz = self
        x, vx = _approach(x, vx, place[0], seconds, dt)
        y, vy = _approach(y, vy, place[1], seconds, dt)
        z, vz = _approach(z, vz, 0.0, seconds, dt)
        return Flight(x, y, z, vx, vy, vz)


def foresee(x: float, y: float, toe: PlayedToe) -> Place:
    """Return where a place on the motion's ground will be if the character drifts on."""
    return x + NUMBERS.drift_seconds * toe.drift_x, y + NUMBERS.drift_seconds * toe.drift_y


def find_landing(
    flight: Flight, aim: Place, least: float, radius: float, hardest: float
) -> tuple[float, Place]:
    """Return in how many seconds, `least` or more, a toe lands, and where.

    It gets within a `radius` of its aim, and then as near as possible, braking and turning aside by
    at most `hardest` in m/s²: at a velocity v it comes to rest by itself after v T / 3 in T seconds
    at 2 v / T, and 6 d / T² takes it farther by d.
    """
    seconds = sooner = least
    for _ in range(NUMBERS.landings_tried):
        if _can_land(flight, aim, seconds, radius, hardest):
            break
        sooner = seconds
        seconds = seconds * NUMBERS.later_each_try
    if seconds > sooner:
        for _ in range(NUMBERS.landing_halvings):
            middle = 0.5 * (sooner + seconds)
            if _can_land(flight, aim, middle, radius, hardest):
                seconds = middle
            else:
                sooner = middle
    dx, dy = _find_way(flight, aim, seconds)
    short = 1.0 - min(_find_most(hardest, seconds) / (math.hypot(dx, dy) + 1e-9), 1.0)
    return seconds, (aim[0] - short * dx, aim[1] - short * dy)


def _can_land(flight: Flight, aim: Place, seconds: float, radius: float, hardest: float) -> bool:
    """Return whether a toe can stand near its aim in some seconds, no harder than `hardest`."""
    most = _find_most(hardest, seconds)
    if 2.0 * math.hypot(flight.vx, flight.vy) > hardest * seconds:
        return False
    sinks = abs(flight.z + flight.vz * seconds / 3.0)
    return sinks <= most and math.hypot(*_find_way(flight, aim, seconds)) - radius <= most


def _find_way(flight: Flight, aim: Place, seconds: float) -> Place:
    """Return the way to its aim from where a toe comes to rest by itself."""
    third = seconds / 3.0
    return aim[0] - flight.x - third * flight.vx, aim[1] - flight.y - third * flight.vy


def _find_most(hardest: float, seconds: float) -> float:
    """Return how far in metres a toe can be taken aside in some seconds."""
    return hardest * seconds * seconds / 6.0


def _approach(x: float, v: float, goal: float, left: float, dt: float) -> tuple[float, float]:
    """Return place and velocity, a tick later, of a point that a cubic brings to rest at a goal."""
    if left <= dt:
        return goal, 0.0
    e = x - goal
    share = dt / left
    rest = 1.0 - share
    return (
        goal + rest * rest * (e * (1.0 + 2.0 * share) + v * dt),
        rest * (v * (1.0 - 3.0 * share) - 6.0 * e * share / left),
    )

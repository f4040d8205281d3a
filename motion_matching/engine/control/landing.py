"""Where and when a toe in the air lands: as near its aim as it gets in time without leaping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..settings import tune
from .played_toes import PlayedToe

_TRIES, _LONGER = 24, 1.2  # times that a landing is put off, and how much longer it takes each time

Place = tuple[float, float]


@dataclass(frozen=True)
class LandingRules:
    """How feet land."""

    straight: float = tune(
        0.1,
        "s",
        "a toe goes straight to its place; its own motion slows it down in about that",
    )
    beside: float = tune(
        0.05, "s", "a body turns over both feet after a landing: until then each is on its side"
    )
    drift: float = tune(
        0.15, "s", "a character drifts on beside its motion: most is what fades after a jump"
    )
    near: float = tune(
        0.75, "1", "of the unlock radius: the rest is for what the body moves while the toe stands"
    )


RULES = LandingRules()


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
    """Return where a place on the ground of the motion will be, as the character drifts on."""
    return x + RULES.drift * toe.drift_x, y + RULES.drift * toe.drift_y


def find_landing(
    flight: Flight, aim: Place, least: float, radius: float, hardest: float
) -> tuple[float, Place]:
    """Return in how many seconds, `least` or more, a toe lands, and where.

    It gets within a `radius` of its aim, and then as near as it can. It stops no harder than
    `hardest` in m/s², and goes aside no harder: one with a velocity v comes to rest by itself after
    v T / 3 in T seconds at 2 v / T, and 6 d / T² takes it farther by d.
    """
    x, y, z, vx, vy, vz = flight
    speed, seconds = math.hypot(vx, vy), least
    for _ in range(_TRIES):
        third, most = seconds / 3.0, hardest * seconds * seconds / 6.0
        dx, dy = aim[0] - x - third * vx, aim[1] - y - third * vy
        away = math.hypot(dx, dy)
        fits = away - radius <= most and abs(z + third * vz) <= most
        if fits and 2.0 * speed <= hardest * seconds:
            break
        seconds *= _LONGER
    short = 1.0 - min(most / (away + 1e-9), 1.0)
    return seconds, (aim[0] - short * dx, aim[1] - short * dy)


def _approach(x: float, v: float, goal: float, left: float, dt: float) -> tuple[float, float]:
    """Return place and velocity a tick later of what comes to rest at a goal, by a cubic."""
    if left <= dt:
        return goal, 0.0
    e, share = x - goal, dt / left
    rest = 1.0 - share
    return (
        goal + rest * rest * (e * (1.0 + 2.0 * share) + v * dt),
        rest * (v * (1.0 - 3.0 * share) - 6.0 * e * share / left),
    )

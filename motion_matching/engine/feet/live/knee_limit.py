"""Bend knees no faster, and change that no harder, than in the data."""

from __future__ import annotations

import math

import numpy as np

from ...legs.legs import LegGeometry
from ...motion.margins import MARGINS
from ..numbers import NUMBERS

_UNBOUND = -math.inf  # rad/s
_NO_LENGTH = 1e-12  # square metres


def compute_bends(hips: np.ndarray, knees: np.ndarray, ankles: np.ndarray) -> np.ndarray:
    """Return by how much (F,) in radians knees are bent, of places (F, 3); straight is 0."""
    upper = knees - hips
    lower = ankles - knees
    sine = np.linalg.norm(np.cross(upper, lower), axis=-1)
    return np.arctan2(sine, np.sum(upper * lower, axis=-1))


def _compute_fastest(bend: float, most: float, dt: float) -> float:
    """Return the speed, below 0, at which a knee may stretch to come to rest before it is straight.

    It slows down by `most` a tick.
    """
    return most - math.sqrt(most * (most + 2.0 * bend / dt))


class KneeLimit:
    """Holds back a knee that would bend or stretch faster than in the data.

    Where the floor bends it, it accelerates no harder than the `hardest` motion that was played.

    A leg that is almost straight bends by a third of a right angle to become a twentieth shorter,
    so that its knee would snap where a toe meets the floor or leaves it.
    """

    def __init__(self, leg: LegGeometry) -> None:
        self._rate = MARGINS.knee_rate * leg.knee_rate
        self._acceleration = leg.knee_acceleration
        self.lean = 1.0  # metres of leg length per metre of downward reach
        self.hardest = math.inf  # largest acceleration in the played motion, in m/s²
        self._folded = leg.folded_length
        self.reset()

    def reset(self) -> None:
        # unknown at first: any comparison with these fails
        self._bend = self._speed = math.nan
        # distance of the floor from the hip along the leg, and its change per tick
        self._longest = self._fall = math.nan

    @property
    def state(self) -> tuple[float, float, float, float]:
        """Memory of earlier ticks: bend and speed, and the distance of the floor."""
        return self._bend, self._speed, self._longest, self._fall

    @state.setter
    def state(self, state: tuple[float, float, float, float]) -> None:
        self._bend, self._speed, self._longest, self._fall = state

    def start_from(
        self, reach: float, before: float, upper: float, lower: float, dt: float
    ) -> None:
        """Go on with an ankle at a `reach` from the hip, which was `before` a tick ago."""
        self.reset()
        squares = upper * upper + lower * lower
        double = 2.0 * upper * lower
        if double < _NO_LENGTH:
            return
        bend, was = (
            math.acos(min(max((each * each - squares) / double, -1.0), 1.0))
            for each in (reach, before)
        )
        self._bend = bend
        self._speed = min(max((bend - was) / dt, -self._rate), self._rate)

    def limit_reach(
        self, reach: float, squares: float, double: float, room: float, dt: float
    ) -> float:
        """Return the distance from the hip, in metres, of an ankle that should be `reach` away.

        `squares` and `double` are the sum of the squares of the lengths of upper and lower leg, and
        twice their product. With no `room` left below the foot the leg folds as fast as needed; it
        starts folding shortly before.
        """
        cosine = (reach * reach - squares) / double
        goal = math.acos(1.0 if cosine > 1.0 else -1.0 if cosine < -1.0 else cosine)
        longest = reach + room
        least = _UNBOUND
        if cosine > NUMBERS.open_knee:
            fall = longest - self._longest
            if fall < 0.0:
                least = self._foresee_floor(reach, longest, fall, squares, double, dt)
            self._longest = longest
            self._fall = fall
        else:
            self._longest = math.nan
        speed = (goal - self._bend) / dt
        rate = self._rate
        most = self._acceleration * dt
        fits = -rate <= speed <= rate and -most <= speed - self._speed <= most
        fits = fits and speed >= least
        if fits and (speed >= 0.0 or speed >= _compute_fastest(self._bend, most, dt)):
            self._bend = goal
            self._speed = speed
            return reach
        return self._hold_back(goal, reach, squares, double, room, least, dt)

    def _foresee_floor(
        self, reach: float, longest: float, fall: float, squares: float, double: float, dt: float
    ) -> float:
        """Return the least speed of a knee that can still be bent in time for the floor.

        The floor is assumed to approach the hip along the leg at its present rate, unless it leapt,
        like at a step.
        """
        ahead = NUMBERS.floor_foreseen / dt
        change = fall - self._fall
        if not longest + ahead * (fall + ahead * change) < reach:
            return _UNBOUND
        rate = self._rate
        most = self._acceleration * dt
        if change * change > squares * (most * dt) ** 2:
            return _UNBOUND
        least = _UNBOUND
        bend = self._bend
        most = 0.5 * NUMBERS.counted_on * most
        for tick in range(1, int(ahead + 1.5)):
            fall += change
            longest += fall
            cosine = (longest * longest - squares) / double
            if cosine < 1.0:
                way = (math.acos(cosine if cosine > -1.0 else -1.0) - bend) / dt
                least = max(least, way / (tick + 1) - most * tick, way - rate * tick)
        return least

    def _hold_back(
        self,
        goal: float,
        reach: float,
        squares: float,
        double: float,
        room: float,
        least: float,
        dt: float,
    ) -> float:
        """Return the reach of a knee that is held back, but bends at a speed of `least` or more."""
        before = self._bend
        if math.isnan(before):
            self._bend = goal
            return reach
        speed = (goal - before) / dt
        most = self._acceleration * dt
        rate = self._rate
        was = speed if math.isnan(self._speed) else self._speed
        fastest = max(-rate, _compute_fastest(before, most, dt))
        limited = max(min(max(speed, least, was - most), was + most, rate), fastest)
        if limited > 0.0:
            limited = min(limited, self._compute_folding(goal, before, squares, double, most, dt))
        bend = max(before + limited * dt, 0.0)
        if bend < goal:
            # metres that an almost straight knee moves per radian of bend
            lever = 0.5 * double / math.sqrt(squares + double)
            fastest = min(rate, was + max(most, MARGINS.knee * self.hardest * dt / lever))
            bend = self._avoid_floor(bend, before + fastest * dt, reach + room, squares, double)
        self._bend = bend
        self._speed = (bend - before) / dt
        return math.sqrt(max(squares + double * math.cos(bend), 0.0)) if bend != goal else reach

    def _compute_folding(
        self, goal: float, before: float, squares: float, double: float, most: float, dt: float
    ) -> float:
        """Return the speed at which a knee may bend to come to rest where it folds furthest."""
        cosine = (self._folded * self._folded - squares) / double
        furthest = max(goal, math.acos(min(max(cosine, -1.0), 1.0)))
        return -_compute_fastest(max(furthest - before, 0.0), most, dt)

    def _avoid_floor(
        self, bend: float, fastest: float, longest: float, squares: float, double: float
    ) -> float:
        """Return a larger bend if the foot would meet the floor with the leg `longest`.

        Up to the bend that is `fastest` it does not touch the floor; faster, it may sink a little.
        """
        for sunk, most in ((0.0, fastest), (NUMBERS.sunk * self.lean, math.pi)):
            cosine = ((longest + sunk) ** 2 - squares) / double
            if cosine < 1.0:
                bend = max(bend, min(math.acos(max(cosine, -1.0)), most))
        return bend

    def holds(self, reach: float, upper: float, lower: float, room: float, dt: float) -> bool:
        """Return whether the knee is held back from a `reach`; if it is not, that is its reach.

        `upper` and `lower` are the lengths of the leg's bones; one without length bends freely.
        """
        squares = upper * upper + lower * lower
        double = 2.0 * upper * lower
        if double < _NO_LENGTH:
            return False
        state = self.state
        if self.limit_reach(reach, squares, double, room, dt) == reach:
            return False
        self.state = state
        return True

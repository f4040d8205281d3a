"""Follow a path: it gives the future trajectory itself, with a speed profile."""

from __future__ import annotations

import math

import numpy as np

from ....engine.control.performer import Placement
from ....engine.errors import SettingsError
from ....engine.maths.numeric import arctan2
from ....engine.performance.intent import FuturePath, Intent
from ..base import Input, Situation, Start

_STEP = 0.02  # metres between the samples of a path
_SMOOTHED = 0.5  # metres over which headings are averaged, so that corners are rounded
_SHORTEST = 0.1  # metres
# number of samples of the future, and the seconds between them
_SAMPLES = 17
_SPACING = 0.1
_SLOWEST = 0.05  # m/s with which a path starts
_LOYALTY = 0.2  # metres away that count as much as a metre further along


class PathInput(Input):
    """Follows points (N, 2) on the ground at `speed` m/s, from rest to rest, or in `cyclic` laps.

    `factors` (N,) multiply the speed along the path. It changes by at most `acceleration` m/s², and
    is limited in bends so that the lateral acceleration stays below `sideways` m/s². Raises
    SettingsError for a path that is too short and a speed that is not above zero.
    """

    ending = "Reached the end of the curve"

    def __init__(
        self,
        points: np.ndarray,
        speed: float,
        *,
        factors: np.ndarray | None = None,
        cyclic: bool = False,
        gait: float = 0.0,
        acceleration: float = 1.5,
        sideways: float = 2.0,
    ) -> None:
        if not (math.isfinite(speed) and speed > 0):
            raise SettingsError(
                f"The speed along a path is {speed}; give metres per second above zero."
            )
        factors = np.ones(len(points)) if factors is None else np.asarray(factors, float)
        points = np.asarray(points, float)
        if cyclic:
            points = np.vstack([points, points[:1]])
            factors = np.append(factors, factors[:1])
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        if len(points) < 2 or along[-1] < _SHORTEST:
            raise SettingsError(
                f"The path is shorter than {_SHORTEST} m; give it two or more points further apart."
            )
        self._gait = gait
        # the first lap starts at rest, the second is repeated, the third is the second's future
        laps = 3 if cyclic else 1
        count = max(round(along[-1] / _STEP), 2)
        self._along = np.linspace(0.0, laps * along[-1], laps * count + 1)
        inside = np.mod(self._along, along[-1]) if cyclic else self._along
        columns = [np.interp(inside, along, column) for column in points.T[:2]]
        self._points = np.column_stack(columns)
        self._yaws = _compute_headings(self._points, cyclic)
        window = min(max(round(_SMOOTHED / _STEP), 1), len(self._yaws))
        bends = np.gradient(self._yaws, self._along)
        bends = np.abs(np.convolve(bends, np.full(window, 1.0 / window), "same"))
        limits = speed * np.maximum(np.interp(inside, along, factors), 0.0)
        limits = np.minimum(limits, np.sqrt(sideways / np.maximum(bends, 1e-9)))
        limits = np.maximum(limits, _SLOWEST)
        speeds = _compute_speed_profile(limits, self._along, acceleration, cyclic)
        gaps = np.diff(self._along) / (0.5 * (speeds[1:] + speeds[:-1]))
        self._times = np.concatenate([[0.0], np.cumsum(gaps)])
        self._lap = count if cyclic else 0  # number of samples of a lap
        self._now = self._delay = 0.0  # seconds, along the path and before it
        self.lap_seconds = float(self._times[count]) if cyclic else 0.0
        self.start = Start(Placement(*self._sample(np.zeros(1))[0].tolist()))

    @property
    def is_finished(self) -> bool:
        return not self._lap and self._now > self._times[-1] + 1.0

    def get_intent(self, situation: Situation) -> Intent:
        self._now = situation.tick * situation.dt - self._delay
        ahead = _SPACING * np.arange(_SAMPLES)
        samples = self._sample(self._now + ahead).tolist()
        positions = tuple((x, y) for x, y, _ in samples)
        yaws = tuple(yaw for *_, yaw in samples)
        return Intent(path=FuturePath(tuple(ahead.tolist()), positions, yaws), gait=self._gait)

    def resume(self, before: PathInput) -> None:
        """Go on, at the point nearest to where a path before this one has come to."""
        lap = slice(self._lap, 2 * self._lap or None)
        place = before._sample(np.array([before._now]))[0, :2]
        away = np.linalg.norm(self._points[lap] - place, axis=1)
        done = np.interp(before._now, before._times, before._along)
        # where a path crosses itself, the part that is followed counts
        apart = np.abs(self._along[lap] - done)
        if self._lap:
            length = self._along[self._lap]
            apart = np.abs((self._along[lap] - done + 0.5 * length) % length - 0.5 * length)
        nearest = self._lap + int(np.argmin(away + _LOYALTY * apart))
        self._delay = before._now + before._delay - self._times[nearest]
        self._now = float(self._times[nearest])

    def _sample(self, times: np.ndarray) -> np.ndarray:
        """Return positions and headings (K, 3) at times (K,) from the start."""
        turns = 0.0
        if self._lap:
            begin = self._times[self._lap]
            end = self._times[2 * self._lap]
            laps = np.floor(np.maximum(times - begin, 0.0) / (end - begin))
            times = times - laps * (end - begin)
            turns = laps * (self._yaws[2 * self._lap] - self._yaws[self._lap])
        along = np.interp(times, self._times, self._along)
        columns = [np.interp(along, self._along, c) for c in (*self._points.T, self._yaws)]
        return np.column_stack([*columns[:2], columns[2] + turns])


def _compute_headings(points: np.ndarray, cyclic: bool) -> np.ndarray:
    """Return unwrapped headings (N,) of evenly spaced points (N, 2), smoothed along the path."""
    steps = np.diff(points, axis=0)
    reach = min(max(round(0.5 * _SMOOTHED / _STEP), 1), len(steps) - 1)
    steps = np.pad(steps, ((reach, reach), (0, 0)), mode="wrap" if cyclic else "edge")
    sums = np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])
    width = 2 * reach
    mean = sums[width:] - sums[:-width]
    yaws = np.unwrap(arctan2(mean[:, 0], -mean[:, 1]))
    return yaws[: len(points)]


def _compute_speed_profile(
    limits: np.ndarray, along: np.ndarray, acceleration: float, cyclic: bool
) -> np.ndarray:
    """Return speeds (N,) within limits (N,) and an acceleration, from rest and maybe to rest."""
    squares = limits**2
    gain = 2.0 * acceleration * along
    squares[0] = _SLOWEST**2
    if not cyclic:
        squares[-1] = _SLOWEST**2
    # v² may change by 2 a ds per step: a running minimum of v² - 2 a s, once in each direction
    squares = np.minimum.accumulate(squares - gain) + gain
    squares = (np.minimum.accumulate((squares + gain)[::-1])[::-1]) - gain
    return np.sqrt(np.maximum(squares, _SLOWEST**2))

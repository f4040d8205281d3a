"""The simulation object: what is wanted, smoothed, now and predicted.

Plain floats, because this runs at every tick on single vectors. Sources: article 002, The Simulation Object (desired
velocity by direction); notebook 000 (character spring for the movement, simple spring for the heading).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..maths.springs import LN2, halflife_to_damping
from .intent import FuturePath, Intent
from .settings import PerformerSettings, Speeds

_STILL = 1e-3
# x, y, yaw, velocity, acceleration and yaw rate
State = tuple[float, float, float, float, float, float, float, float]


def wrap(angle: float) -> float:
    """The same angle between -pi and pi."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


def turned(x: float, y: float, yaw: float) -> tuple[float, float]:
    """A ground vector rotated by `yaw`."""
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x - s * y, s * x + c * y


def desired_velocity(
    move: tuple[float, float], yaw: float, forward: float, side: float, back: float
) -> tuple[float, float]:
    """World velocity of a wanted direction for a character that faces `yaw`, by its speeds in each direction."""
    c, s = math.cos(yaw), math.sin(yaw)
    left, behind = c * move[0] + s * move[1], c * move[1] - s * move[0]
    left, behind = left * side, behind * (forward if behind < 0 else back)
    return c * left - s * behind, s * left + c * behind


class TrajectoryPoint(NamedTuple):
    """Place, heading and velocity of a trajectory at one time."""

    x: float
    y: float
    yaw: float
    vx: float
    vy: float


class SimulationObject:
    """A point with a heading that moves as it is told, with critically damped springs."""

    def __init__(self, settings: PerformerSettings) -> None:
        self.gait = 0.0
        self.apply(settings)
        self.reset(0.0, 0.0, 0.0)

    def apply(self, settings: PerformerSettings) -> None:
        self._settings = settings
        self._speeds = self._blended_speeds(self.gait)
        self._rotation_y = halflife_to_damping(settings.rotation_halflife) / 2.0
        self._velocity_y = halflife_to_damping(settings.velocity_halflife) / 2.0
        self._stopping_y = halflife_to_damping(settings.velocity_halflife * settings.stop_factor) / 2.0

    def reset(self, x: float, y: float, yaw: float) -> None:
        self.x, self.y, self.yaw = x, y, yaw
        self.vx = self.vy = self.ax = self.ay = self.yaw_rate = 0.0
        self.gait = 0.0
        self._intent = Intent()
        self._speeds = self._blended_speeds(0.0)
        self.desired_yaw = yaw
        self.desired_vx = self.desired_vy = 0.0

    def _blended_speeds(self, gait: float) -> tuple[float, float, float]:
        walk, run = self._settings.walk, self._settings.run
        return tuple(w + (r - w) * gait for w, r in zip(_values(walk), _values(run), strict=True))  # type: ignore

    def steer(self, intent: Intent, dt: float) -> None:
        """Take in what is wanted at this tick."""
        self._intent = intent
        if intent.gait != self.gait:
            left = (self.gait - intent.gait) * math.exp(-LN2 * dt / (self._settings.gait_halflife + 1e-5))
            self.gait = intent.gait + (left if abs(left) > 1e-4 else 0.0)
            self._speeds = self._blended_speeds(self.gait)
        self.desired_vx, self.desired_vy = self._desired(self.yaw)
        wx, wy = intent.velocity if intent.velocity is not None else intent.move
        if intent.facing is not None:
            self.desired_yaw = intent.facing
        elif wx * wx + wy * wy > _STILL * _STILL:
            self.desired_yaw = math.atan2(wx, -wy)

    def _desired(self, yaw: float) -> tuple[float, float]:
        if self._intent.velocity is not None:
            return self._intent.velocity
        return desired_velocity(self._intent.move, yaw, *self._speeds)

    def predict(self, times: Sequence[float]) -> list[TrajectoryPoint]:
        """The trajectory at ascending future times, the wish seen anew from each predicted heading."""
        if self._intent.path is not None:
            return [_on_path(self._intent.path, t) for t in times]
        state = self._state()
        points, now = [], 0.0
        for time in times:
            state = self._moved(state, time - now)
            points.append(TrajectoryPoint(*state[:5]))
            now = time
        return points

    def step(self, dt: float) -> None:
        """Move on by `dt`."""
        path = self._intent.path
        if path is None:
            moved = self._moved(self._state(), dt)
            self.x, self.y, self.yaw, self.vx, self.vy, self.ax, self.ay, self.yaw_rate = moved
            return
        point = _on_path(path, dt)
        self.yaw_rate = wrap(point.yaw - self.yaw) / dt
        self.x, self.y, self.yaw, self.vx, self.vy = point
        self.desired_vx, self.desired_vy, self.desired_yaw = point.vx, point.vy, point.yaw
        self.ax = self.ay = 0.0

    def _state(self) -> State:
        return self.x, self.y, self.yaw, self.vx, self.vy, self.ax, self.ay, self.yaw_rate

    def _moved(self, state: State, dt: float) -> State:
        px, py, yaw, vx, vy, ax, ay, rate = state
        gx, gy = self._desired(yaw)
        y = self._velocity_y if gx * gx + gy * gy > _STILL * _STILL else self._stopping_y
        e, yi = math.exp(-y * dt), 1.0 / y
        j0x, j0y = vx - gx, vy - gy
        j1x, j1y = ax + j0x * y, ay + j0y * y
        px += e * yi * (-j1x * yi - j0x - j1x * dt) + j1x * yi * yi + j0x * yi + gx * dt
        py += e * yi * (-j1y * yi - j0y - j1y * dt) + j1y * yi * yi + j0y * yi + gy * dt
        vx, vy = e * (j0x + j1x * dt) + gx, e * (j0y + j1y * dt) + gy
        ax, ay = e * (ax - j1x * y * dt), e * (ay - j1y * y * dt)
        y = self._rotation_y
        e, k0 = math.exp(-y * dt), wrap(yaw - self.desired_yaw)
        k1 = rate + k0 * y
        # from the wrapped difference, so that the heading turns the shorter way and stays continuous
        turn, rate = e * (k0 + k1 * dt) - k0, e * (rate - k1 * y * dt)
        limit = self._settings.turn_limit
        yaw += max(-limit * dt, min(limit * dt, turn))
        return px, py, yaw, vx, vy, ax, ay, max(-limit, min(limit, rate))


def _values(speeds: Speeds) -> tuple[float, float, float]:
    return speeds.forward, speeds.side, speeds.back


def _on_path(path: FuturePath, time: float) -> TrajectoryPoint:
    """A path at a time, linear between its samples and resting at its ends."""
    times = path.times
    if time <= times[0] or len(times) == 1:
        return _resting(path, 0)
    if time > times[-1]:
        return _resting(path, -1)
    k = next(i for i, t in enumerate(times) if t >= time)
    span = times[k] - times[k - 1]
    mix = (time - times[k - 1]) / span
    (ax, ay), (bx, by) = path.positions[k - 1], path.positions[k]
    yaw = path.yaws[k - 1] + wrap(path.yaws[k] - path.yaws[k - 1]) * mix
    return TrajectoryPoint(ax + (bx - ax) * mix, ay + (by - ay) * mix, yaw, (bx - ax) / span, (by - ay) / span)


def _resting(path: FuturePath, end: int) -> TrajectoryPoint:
    x, y = path.positions[end]
    return TrajectoryPoint(x, y, path.yaws[end], 0.0, 0.0)


class PastTrajectory:
    """The last places of the character, newest last, for features that look back."""

    def __init__(self, longest: float, fps: float) -> None:
        self._size = math.ceil(longest * fps) + 2
        self._fps = fps
        self._points: list[tuple[float, float, float]] = []

    def reset(self, x: float, y: float, yaw: float) -> None:
        self._points = [(x, y, yaw)] * self._size

    def record(self, x: float, y: float, yaw: float) -> None:
        self._points.append((x, y, yaw))
        if len(self._points) > 2 * self._size:
            del self._points[: -self._size]

    def at(self, time: float) -> TrajectoryPoint:
        """The character `-time` seconds ago, linear between ticks."""
        back = min(-time * self._fps, self._size - 2)
        whole = int(back)
        mix = back - whole
        ax, ay, ayaw = self._points[-1 - whole]
        bx, by, byaw = self._points[-2 - whole]
        vx, vy = (ax - bx) * self._fps, (ay - by) * self._fps
        return TrajectoryPoint(ax + (bx - ax) * mix, ay + (by - ay) * mix, ayaw + (byaw - ayaw) * mix, vx, vy)

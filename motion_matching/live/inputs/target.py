"""Walking to a place, such as an empty, and stopping there."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy

from ...engine.control.ground import FLAT, Ground
from ...engine.control.intent import FuturePath, Intent
from ...engine.control.performer import Placement
from ...engine.control.settings import PerformerSettings
from ...engine.control.trajectory import SimulationObject, wrap
from .base import Input, Situation

_NEAR, _SLOW = 0.3, 0.5  # metres and m/s within which the character settles onto its place
_SETTLES, _TURNS = (
    1.0,
    2.0,
)  # m/s and rad/s with which the code leads it there; data has no such small steps
_BRAKING = 0.5  # seconds: near the target, the speed that is wanted is the way that is left divided by this
_SAMPLES, _SPACING = 12, 0.1  # of the future


class Target(Input):
    """Leads to where `place` says, at a gait from 0, walking, to 1, running, and along a future that stops there.

    `place` is asked at every tick, so a target that moves is followed; None means that there is nowhere to go. With
    `turns`, the character turns to the target's heading when it has arrived. It slides along what stands on the `ground`.
    """

    def __init__(
        self,
        place: Callable[[], Placement | None],
        settings: PerformerSettings,
        *,
        gait: float = 0.0,
        turns: bool = False,
        ground: Ground = FLAT,
    ) -> None:
        self._place, self._turns, self._gait = place, turns, gait
        self._speed = settings.walk.forward + gait * (settings.run.forward - settings.walk.forward)
        self._now = SimulationObject(settings, ground)
        self._has_begun = False

    def intent(self, situation: Situation) -> Intent:
        """A path over the coming second that the simulation object's own springs make."""
        place, here = self._place(), situation.simulation_object
        now = self._now
        if not self._has_begun:
            now.reset(*here)
            self._has_begun = True
        if place is None:
            now.reset(*here)
            return Intent()
        now.x, now.y, now.yaw = here  # where data and code together have put it
        distance = math.hypot(place.x - now.x, place.y - now.y)
        if distance < _NEAR and math.hypot(now.vx, now.vy) < _SLOW:
            return self._settle(now, place, distance, situation.dt)
        self._move(now, place, situation.dt)
        times, positions, yaws = (
            [0.0, situation.dt],
            [(here.x, here.y), (now.x, now.y)],
            [here.yaw, now.yaw],
        )
        ahead = copy(now)
        for number in range(1, _SAMPLES + 1):
            self._move(ahead, place, _SPACING)
            times.append(situation.dt + number * _SPACING)
            positions.append((ahead.x, ahead.y))
            yaws.append(ahead.yaw)
        return Intent(path=FuturePath(tuple(times), tuple(positions), tuple(yaws)), gait=self._gait)

    def _settle(
        self, now: SimulationObject, place: Placement, distance: float, dt: float
    ) -> Intent:
        """Stand there: the future does, and the code pulls against steps that the data may still make."""
        yaw = place.yaw if self._turns else now.desired_yaw
        part = min(_SETTLES * dt / distance, 1.0) if distance else 1.0
        turn = max(-_TURNS * dt, min(_TURNS * dt, wrap(yaw - now.yaw)))
        first = (now.x + part * (place.x - now.x), now.y + part * (place.y - now.y))
        now.vx = now.vy = now.ax = now.ay = now.yaw_rate = 0.0
        now.desired_yaw = yaw
        positions = ((now.x, now.y), first, (place.x, place.y), (place.x, place.y))
        yaws = (now.yaw, now.yaw + turn, yaw, yaw)
        return Intent(
            path=FuturePath((0.0, dt, dt + _SPACING, dt + _SAMPLES * _SPACING), positions, yaws)
        )

    def _move(self, point: SimulationObject, place: Placement, dt: float) -> None:
        """Move a point by `dt` as one that wants to be there."""
        dx, dy = place.x - point.x, place.y - point.y
        distance = math.hypot(dx, dy)
        speed = min(self._speed, distance / _BRAKING)
        way = speed / distance if distance else 0.0
        facing = None if distance > 0.3 else (place.yaw if self._turns else point.desired_yaw)
        point.steer(Intent(velocity=(way * dx, way * dy), facing=facing), dt)
        point.step(dt)

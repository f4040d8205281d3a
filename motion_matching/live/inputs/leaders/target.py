"""Walk to a target, such as an empty, and stop there."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy

from ....engine.control.performer import Placement
from ....engine.control.trajectory import SimulationObject
from ....engine.ground.ground import FLAT, Ground, Point
from ....engine.maths.planar import wrap
from ....engine.performance.intent import FuturePath, Intent
from ....engine.performance.settings import Steering
from ..base import Input, Situation

# metres and m/s within which the character settles on the target
_NEAR = 0.3
_SLOW = 0.5
# m/s and rad/s with which the code moves it there; data has no such small steps
_SETTLES = 1.0
_TURNS = 2.0
_RESTS = 1.5  # seconds on the target after which the character stands as it will
_BRAKING = 0.5  # seconds: near the target, the desired speed is the distance left divided by this
# number of samples of the future, and the seconds between them
_SAMPLES = 12
_SPACING = 0.1


class TargetInput(Input):
    """Walks to a target at a gait from 0, walking, to 1, running, and stops there.

    `get_placement` is called at every tick, so that a moving target is followed; None means no
    target. With `turns`, the character turns to the target's heading on arrival. It slides along
    obstacles of the `ground`.
    """

    ending = "Reached the target"

    def __init__(
        self,
        get_placement: Callable[[], Placement | None],
        steering: Steering,
        *,
        gait: float = 0.0,
        turns: bool = False,
        ground: Ground = FLAT,
    ) -> None:
        self._get_placement = get_placement
        self._turns = turns
        self._gait = gait
        walk = steering.walk.forward
        run = steering.run.forward
        self._speed = walk + gait * (run - walk)
        self._now = SimulationObject(steering, ground)
        self._settled = 0.0  # seconds for which it has been standing on the target
        self._has_begun = False

    def is_there(self, intent: Intent) -> bool:
        return intent.path is not None  # as long as there is a target

    @property
    def is_settled(self) -> bool:
        return self._settled > _RESTS

    def get_intent(self, situation: Situation) -> Intent:
        """Return a path over the next second, made by the springs of a simulation object."""
        target = self._get_placement()
        here = situation.simulation_object
        now = self._now
        if not self._has_begun or target is None:
            now.reset(*here)
            self._has_begun = True
        if target is None:
            return Intent()
        now.x, now.y, now.yaw = here  # where displacement has put it
        distance = math.hypot(target.x - now.x, target.y - now.y)
        if distance < _NEAR and math.hypot(now.vx, now.vy) < _SLOW:
            self._settled += situation.dt
            return self._settle(now, target, distance, situation.dt)
        self._settled = 0.0
        self._move(now, target, situation.dt)
        times = [0.0, situation.dt]
        yaws = [here.yaw, now.yaw]
        positions = [(here.x, here.y), (now.x, now.y)]
        ahead = copy(now)
        for number in range(1, _SAMPLES + 1):
            self._move(ahead, target, _SPACING)
            times.append(situation.dt + number * _SPACING)
            positions.append((ahead.x, ahead.y))
            yaws.append(ahead.yaw)
        return Intent(path=FuturePath(tuple(times), tuple(positions), tuple(yaws)), gait=self._gait)

    def _settle(
        self, now: SimulationObject, target: Placement, distance: float, dt: float
    ) -> Intent:
        """Stand on the target; the path counteracts steps that the data may still make."""
        yaw = target.yaw if self._turns else now.desired_yaw
        share = min(_SETTLES * dt / distance, 1.0) if distance else 1.0
        turn = max(-_TURNS * dt, min(_TURNS * dt, wrap(yaw - now.yaw)))
        first = (now.x + share * (target.x - now.x), now.y + share * (target.y - now.y))
        now.vx = now.vy = now.ax = now.ay = now.yaw_rate = 0.0
        now.desired_yaw = yaw
        positions = ((now.x, now.y), first, (target.x, target.y), (target.x, target.y))
        yaws = (now.yaw, now.yaw + turn, yaw, yaw)
        times = (0.0, dt, dt + _SPACING, dt + _SAMPLES * _SPACING)
        return Intent(path=FuturePath(times, positions, yaws))

    def _move(self, point: SimulationObject, target: Placement, dt: float) -> None:
        dx, dy = target.x - point.x, target.y - point.y
        distance = math.hypot(dx, dy)
        speed = min(self._speed, distance / _BRAKING)
        scale = speed / distance if distance else 0.0
        facing = None if distance > _NEAR else (target.yaw if self._turns else point.desired_yaw)
        point.steer(Intent(velocity=(scale * dx, scale * dy), facing=facing), dt)
        point.step(dt)


class PointInput(TargetInput):
    """Walks to a point on the ground, which may be set at any time, and stands until it is set."""

    def __init__(self, steering: Steering, *, gait: float = 0.0, ground: Ground = FLAT) -> None:
        super().__init__(self._get_point, steering, gait=gait, ground=ground)
        self.point: Point | None = None

    def _get_point(self) -> Placement | None:
        return Placement(*self.point, 0.0) if self.point else None

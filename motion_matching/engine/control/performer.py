"""A character that is steered: the one thing that sessions, bakes and panels know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import displacement
from .foot_lock import FootLock
from .ground import FLAT, Ground
from .inertialization import Inertializer
from .intent import Intent
from .method import Goal, Method, Motion
from .settings import PerformerSettings
from .trajectory import PastTrajectory, SimulationObject, TrajectoryPoint, turned, wrap


class Placement(NamedTuple):
    """Place on the ground and heading."""

    x: float
    y: float
    yaw: float


class Frame(NamedTuple):
    """One tick of a performance.

    `pose` (7, B) is local, bone 0 being the character in the world, `unlocked_pose` the same before the feet were
    locked; `contacts` (L,) are those of the source frame, `locked` (L,) says which toes are held.
    `apart` is how far this tick's step of the simulation object leads away from that of the data, before both are
    brought together. `blocked` says that obstacles are right in the way of what is wanted; `frame`, `jumped` and `cost`
    say what was played and why.
    """

    pose: np.ndarray
    unlocked_pose: np.ndarray
    character: Placement
    simulation_object: Placement
    apart: Placement
    desired_velocity: tuple[float, float]
    desired_yaw: float
    blocked: bool
    contacts: np.ndarray
    locked: tuple[bool, ...]
    frame: int
    jumped: bool
    cost: float


class Performer:
    """Turns intents into frames, one tick of 1 / fps at a time; see the architecture's tick."""

    def __init__(self, method: Method, settings: PerformerSettings, ground: Ground = FLAT) -> None:
        self.method = method
        self.settings = settings
        self.ground = ground
        self.dt = 1.0 / method.fps
        self._simulation = SimulationObject(settings, ground)
        self._feet = FootLock(method.legs, ground)
        self._inertializer = Inertializer(
            method.acceleration_limits, settings.inertialization_halflife, self.dt
        )
        times = method.trajectory_times
        self._future_times = tuple(t for t in times if t > 0)
        self._past_times = tuple(t for t in times if t <= 0)
        self._past = PastTrajectory(-min(self._past_times, default=0.0), method.fps)
        self.reset((0.0, 0.0), 0.0)

    def apply(self, settings: PerformerSettings) -> None:
        """Use other settings from the next tick on; only what changed is built anew."""
        # first, for the method may refuse them, and then nothing has changed
        self.method.apply(settings)
        self.settings = settings
        self._simulation.apply(settings)
        self._inertializer.halflife = settings.inertialization_halflife

    def reset(self, position: tuple[float, float], facing: float) -> Frame:
        """Stand at a place, or beside what stands there, facing a heading in radians."""
        motion = self.method.reset()
        self._inertializer.reset()
        self._feet.reset()
        self._place = (
            *self.ground.slide(position, position, self.settings.collision_radius),
            facing,
        )
        self._simulation.reset(*self._place)
        self._past.reset(*self._place)
        self._old_wish, self._wish_age = (0.0, 0.0, facing), 0.0
        self._since_jump = math.inf
        self._apart = Placement(0.0, 0.0, 0.0)
        return self._frame(motion, motion.pose.copy())

    def step(self, intent: Intent) -> Frame:
        """One tick."""
        simulation = self._simulation
        simulation.steer(intent, self.dt)
        self._since_jump += self.dt
        is_fading = self._since_jump < self._inertializer.fading - 0.5 * self.dt
        is_sharp = self._is_sharp() or intent.push is not None
        push = (
            None
            if intent.push is None or intent.path is not None
            else turned(*intent.push, -self._place[2])
        )
        goal = Goal(self._trajectory(), intent.tags, intent.jump_to, is_sharp, is_fading, push)
        motion = self.method.advance(goal)
        if motion.jump is not None:
            self._inertializer.transition(*motion.jump)
            self._since_jump = 0.0
        pose, offset = self._inertializer.update(motion.pose)
        swing = self._swing()
        moved = self._moved(motion.root, offset, swing)
        simulation.step(self.dt)
        self._apart = Placement(
            simulation.x - moved[0], simulation.y - moved[1], wrap(simulation.yaw - moved[2])
        )
        vx, vy = (moved[0] - self._place[0]) / self.dt, (moved[1] - self._place[1]) / self.dt
        turn = displacement.swung((moved[2] - self._place[2]) / self.dt, swing)
        self._place = self._held(
            displacement.place(moved, (vx, vy), turn, simulation, self.settings, self.dt)
        )
        self._past.record(*self._place)
        return self._frame(motion, pose)

    def wanted_path(self, times: Sequence[float]) -> list[TrajectoryPoint]:
        """Where the simulation object is led within ascending times, in the world."""
        return self._simulation.predict(times)

    def _is_sharp(self) -> bool:
        """Whether the wish has changed so much within a search interval that the next search should not wait."""
        simulation, settings = self._simulation, self.settings
        vx, vy, yaw = self._old_wish
        change = math.hypot(simulation.desired_vx - vx, simulation.desired_vy - vy)
        sharp = (
            change > settings.sharp_velocity
            or abs(wrap(simulation.desired_yaw - yaw)) > settings.sharp_angle
        )
        self._wish_age += self.dt
        if sharp or self._wish_age >= settings.search_interval:
            self._old_wish = (simulation.desired_vx, simulation.desired_vy, simulation.desired_yaw)
            self._wish_age = 0.0
        return sharp

    def _trajectory(self) -> list[TrajectoryPoint]:
        """Past and future in the character's frame, in the order of the method's times."""
        x, y, yaw = self._place
        c, s = math.cos(yaw), math.sin(yaw)
        points: list[tuple[float, ...]] = [self._past.at(t) for t in self._past_times]
        points += [state[:5] for state in self._simulation.states(self._future_times)]
        return [
            TrajectoryPoint(
                c * (px - x) + s * (py - y),
                c * (py - y) - s * (px - x),
                facing - yaw,
                c * vx + s * vy,
                c * vy - s * vx,
            )
            for px, py, facing, vx, vy in points
        ]

    def _moved(
        self, root: np.ndarray, offset: list[float], swing: float
    ) -> tuple[float, float, float]:
        """Where the data leads the character in this tick, whose body a fading jump turns by `swing` against it."""
        x, y, yaw = self._place
        vx, vy, turn = root.tolist()
        dx, dy = turned((vx + offset[0]) * self.dt, (vy + offset[1]) * self.dt, yaw)
        turn = displacement.held_turn(turn, offset[2], swing, self.settings.turn_limit)
        return x + dx, y + dy, yaw + turn * self.dt

    def _swing(self) -> float:
        """Turn rate of the body against the character while a jump fades."""
        return self._inertializer.turn_rate(self.method.hips)

    def _held(self, place: displacement.Place) -> displacement.Place:
        """Where obstacles let the character go on its way to a place; the simulation object comes along if it is there."""
        simulation, wanted = self._simulation, place[:2]
        x, y = self.ground.slide(self._place[:2], wanted, self.settings.collision_radius)
        if (simulation.x, simulation.y) == wanted:
            simulation.x, simulation.y = x, y
        return x, y, place[2]

    def _frame(self, motion: Motion, pose: np.ndarray) -> Frame:
        x, y, yaw = self._place
        half = 0.5 * yaw
        height = self._feet.stand(x, y, self.settings, self.dt)
        pose[:, 0] = (x, y, height, math.cos(half), 0.0, 0.0, math.sin(half))
        unlocked, locked = pose, (False,) * len(motion.contacts)
        if self.settings.foot_lock:
            pose = unlocked.copy()
            self._feet.apply(pose, motion.contacts, self.settings, self.dt)
            locked = self._feet.locked
        s = self._simulation
        return Frame(
            pose,
            unlocked,
            Placement(x, y, yaw),
            Placement(s.x, s.y, s.yaw),
            self._apart,
            (s.desired_vx, s.desired_vy),
            s.desired_yaw,
            s.is_blocked,
            motion.contacts,
            locked,
            motion.frame,
            motion.jump is not None,
            motion.cost,
        )

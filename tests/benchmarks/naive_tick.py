"""The tick as one would write it first: small arrays, quaternion functions, and a Python loop over the bones.

It does what `Performer.step` does with motion matching, a search at every tick and a feature schema without past
times, and comes to the same poses; the search is the same index, so that the two differ in everything but the search.
"""

from __future__ import annotations

import math

import numpy as np

from motion_matching.engine.control.inertialization import _LEAST_LIMITS, _SLOWEST
from motion_matching.engine.control.intent import Intent
from motion_matching.engine.control.settings import PerformerSettings
from motion_matching.engine.control.trajectory import wrap
from motion_matching.engine.matching.database import Database
from motion_matching.engine.matching.search import FrameIndex
from motion_matching.engine.maths import quat, springs

Array = np.ndarray

# the simulation object: position, velocity and acceleration (3,), heading and turn rate
State = tuple[Array, Array, Array, float, float]

_FORWARD = np.array([0.0, -1.0, 0.0])


class NaiveTick:
    """A character on a database: `step` plays one tick and returns positions (B, 3) and rotations (B, 4)."""

    def __init__(self, database: Database, settings: PerformerSettings, start: int) -> None:
        """Begin at frame `start`, at the origin."""
        schema = database.schema
        self.settings, self.dt = settings, 1.0 / database.fps
        self.schema, self.normalization = schema, database.normalization
        self.times = sorted({t for feature in schema.features for t in feature.times})
        self.features = self.normalization.apply(database.features.T, schema.weights)
        self.index = FrameIndex(self.features.T, database.candidates(settings.end_guard), database.bias)
        self.surroundings = round(settings.surroundings * database.fps)
        self.positions = np.ascontiguousarray(database.poses[:, :3].transpose(0, 2, 1))
        self.rotations = np.ascontiguousarray(database.poses[:, 3:].transpose(0, 2, 1))
        self.velocities = np.ascontiguousarray(database.velocities[:, :3].transpose(0, 2, 1))
        self.angular = np.ascontiguousarray(database.velocities[:, 3:].transpose(0, 2, 1))
        self.root_motion = database.root_motion
        self.last_frames = {int(stop) - 1 for stop in database.stops}
        self.limits = np.maximum(database.limits, _LEAST_LIMITS)

        self.frame = start
        bones = database.skeleton.bone_count
        self.offset_positions, self.offset_velocities = np.zeros((bones, 3)), np.zeros((bones, 3))
        self.offset_rotations, self.offset_angular = np.zeros((bones, 3)), np.zeros((bones, 3))
        self.offset_root, self.offset_root_rate = np.zeros(3), np.zeros(3)
        self.halflife = settings.inertialization_halflife
        self.position, self.yaw = np.zeros(3), 0.0
        self.velocity, self.acceleration, self.turning = np.zeros(3), np.zeros(3), 0.0
        self.desired_yaw, self.gait = 0.0, 0.0

    def step(self, intent: Intent) -> tuple[Array, Array]:
        self._steer(intent)
        played = self._decide(self._query(intent))
        self.frame = played + 1
        positions, rotations = self._inertialized()
        self._move(played, intent)
        positions[0], rotations[0] = self.position, quat.from_yaw(np.array(self.yaw))
        return positions, rotations

    # -- what is wanted

    def _steer(self, intent: Intent) -> None:
        self.gait = springs.damper(self.gait, intent.gait, self.settings.gait_halflife, self.dt)
        if intent.facing is not None:
            self.desired_yaw = intent.facing
        elif math.hypot(*intent.move) > 1e-3:
            self.desired_yaw = math.atan2(intent.move[0], -intent.move[1])

    def _desired_velocity(self, intent: Intent, yaw: float) -> Array:
        """The wanted velocity (3,) of a character that faces so, by its speeds in each direction."""
        walk, run = self.settings.walk, self.settings.run
        facing = quat.from_yaw(np.array(yaw))
        local = quat.inv_mul_vec(facing, np.array([*intent.move, 0.0]))
        side = walk.side + (run.side - walk.side) * self.gait
        forward = walk.forward + (run.forward - walk.forward) * self.gait
        back = walk.back + (run.back - walk.back) * self.gait
        return quat.mul_vec(facing, local * np.array([side, forward if local[1] < 0 else back, 0.0]))

    def _sprung(self, intent: Intent, state: State, dt: float) -> State:
        """The simulation object `dt` seconds on."""
        position, velocity, acceleration, yaw, turning = state
        goal, settings = self._desired_velocity(intent, yaw), self.settings
        halflife = settings.velocity_halflife * (1.0 if np.linalg.norm(goal) > 1e-3 else settings.stop_factor)
        moved = springs.character_spring(position, velocity, acceleration, goal, halflife, dt)
        away = wrap(yaw - self.desired_yaw)
        still_away, turning = springs.spring(away, turning, 0.0, settings.rotation_halflife, dt)
        limit = settings.turn_limit
        return *moved, yaw + np.clip(still_away - away, -limit * dt, limit * dt), np.clip(turning, -limit, limit)

    def _state(self) -> State:
        return self.position, self.velocity, self.acceleration, self.yaw, self.turning

    # -- search

    def _query(self, intent: Intent) -> Array:
        """The current frame's features with the predicted trajectory in place of its own."""
        predicted: dict[float, State] = {}
        state, now = self._state(), 0.0
        for time in self.times:
            predicted[time] = state = self._sprung(intent, state, time - now)
            now = time
        raw = self.normalization.mean.copy()
        for feature, where in zip(self.schema.features, self.schema.slices, strict=True):
            if feature.times:
                values = [self._seen(feature.kind, predicted[time])[: len(feature.axes)] for time in feature.times]
                raw[where] = np.concatenate(values)
        query = self.normalization.apply(raw, self.schema.weights)
        for feature, where in zip(self.schema.features, self.schema.slices, strict=True):
            if not feature.times:
                query[where] = self.features[self.frame, where]
        return query

    def _seen(self, kind: str, state: State) -> Array:
        """A feature (3,) of a predicted state as the character sees it."""
        position, velocity, _, yaw, _ = state
        rotation = quat.from_yaw(np.array(self.yaw))
        if kind == "trajectory_position":
            return quat.inv_mul_vec(rotation, position - self.position)
        if kind == "trajectory_direction":
            return quat.inv_mul_vec(rotation, quat.mul_vec(quat.from_yaw(np.array(yaw)), _FORWARD))
        return quat.inv_mul_vec(rotation, velocity)

    def _decide(self, query: Array) -> int:
        """The frame to play: the current one, or the one jumped to."""
        at_end = self.frame in self.last_frames
        continuing = float(np.sum((query - self.features[self.frame]) ** 2))
        bound = math.inf if at_end else continuing - self.settings.continuing_bias
        best, _ = self.index.nearest(query, current=self.frame, bound=bound, surroundings=self.surroundings)
        if best < 0:
            return self.frame
        self._transition(self.frame, best)
        return best

    # -- inertialization

    def _transition(self, left: int, entered: int) -> None:
        for bone in range(1, len(self.offset_positions)):
            self.offset_positions[bone] += self.positions[left, bone] - self.positions[entered, bone]
            self.offset_velocities[bone] += self.velocities[left, bone] - self.velocities[entered, bone]
            shown = quat.mul(quat.from_scaled_angle_axis(self.offset_rotations[bone]), self.rotations[left, bone])
            apart = quat.positive(quat.mul_inv(shown, self.rotations[entered, bone]))
            self.offset_rotations[bone] = quat.to_scaled_angle_axis(apart)
            self.offset_angular[bone] += self.angular[left, bone] - self.angular[entered, bone]
        self.offset_root += self.root_motion[left] - self.root_motion[entered]
        self.halflife = self._bearable_halflife()

    def _bearable_halflife(self) -> float:
        """The halflife that pulls no bone harder than it is pulled in the data; see `Inertializer`."""
        slowest = math.inf
        for bone in range(1, len(self.offset_positions)):
            for offset, rate, limit in (
                (self.offset_positions[bone], self.offset_velocities[bone], self.limits[0, bone]),
                (self.offset_rotations[bone], self.offset_angular[bone], self.limits[1, bone]),
            ):
                x, v = np.linalg.norm(offset), np.linalg.norm(rate)
                slowest = min(slowest, limit / (v + math.sqrt(v * v + x * limit) + 1e-12))
        wanted = self.settings.inertialization_halflife
        return max(wanted, min(2.0 * springs.LN2 / slowest, _SLOWEST * wanted))

    def _inertialized(self) -> tuple[Array, Array]:
        halflife, dt = self.halflife, self.dt
        positions, rotations = np.empty((len(self.offset_positions), 3)), np.empty((len(self.offset_positions), 4))
        for bone in range(1, len(positions)):
            self.offset_positions[bone], self.offset_velocities[bone] = springs.spring(
                self.offset_positions[bone], self.offset_velocities[bone], 0.0, halflife, dt
            )
            self.offset_rotations[bone], self.offset_angular[bone] = springs.spring(
                self.offset_rotations[bone], self.offset_angular[bone], 0.0, halflife, dt
            )
            positions[bone] = self.positions[self.frame, bone] + self.offset_positions[bone]
            offset = quat.from_scaled_angle_axis(self.offset_rotations[bone])
            rotations[bone] = quat.mul(offset, self.rotations[self.frame, bone])
        self.offset_root, self.offset_root_rate = springs.spring(
            self.offset_root, self.offset_root_rate, 0.0, halflife, dt
        )
        return positions, rotations

    # -- place

    def _move(self, played: int, intent: Intent) -> None:
        """Move the character as the data leads, the simulation object as it is told, and bring the two together."""
        vx, vy, turn = self.root_motion[played] + self.offset_root
        rotation = quat.from_yaw(np.array(self.yaw))
        position = self.position + quat.mul_vec(rotation, np.array([vx, vy, 0.0])) * self.dt
        yaw = self.yaw + turn * self.dt
        moved = self._sprung(intent, self._state(), self.dt)
        wanted, self.velocity, self.acceleration, wanted_yaw, self.turning = moved
        factor = self.settings.synchronization
        self.position = position + (wanted - position) * factor
        self.yaw = yaw + wrap(wanted_yaw - yaw) * factor

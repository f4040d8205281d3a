"""The tick as in a first version: small arrays, quaternion functions, and a Python loop over the
bones.

It does what `Performer.step` does with motion matching, a search at every tick and a feature schema
without past times, and comes to the same poses. It searches the same index, so that the two differ
in everything but the search.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from motion_matching.engine.blending.inertialization import _LEAST_LIMITS
from motion_matching.engine.control.displacement import FOOT_RADIUS
from motion_matching.engine.database.database import Database
from motion_matching.engine.matching.search import FrameIndex
from motion_matching.engine.maths import springs
from motion_matching.engine.maths.planar import wrap
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.margins import MARGINS
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.settings import PerformerSettings

from . import naive_springs

Array = np.ndarray

# the simulation object: position, velocity and acceleration (3,), heading and turn rate
State = tuple[Array, Array, Array, float, float]

_FORWARD = np.array([0.0, -1.0, 0.0])


class NaiveTick:
    """A character on a database: `step` plays one tick and returns positions (B, 3) and rotations
    (B, 4).
    """

    def __init__(self, database: Database, chosen: PerformerSettings, start: int) -> None:
        """Begin at frame `start`, at the origin."""
        schema = database.schema
        settings = SimpleNamespace(**chosen.flatten())
        self.settings, self.dt = settings, 1.0 / database.fps
        self.schema, self.normalization = schema, database.normalization
        self.times = schema.trajectory_times
        self.features = self.normalization.apply(database.features.T, schema.weights)
        self.index = FrameIndex(
            self.features.T, database.find_candidates(settings.end_guard), database.bias
        )
        self.surroundings = round(settings.surroundings * database.fps)
        self.positions = np.ascontiguousarray(database.poses[:, :3].transpose(0, 2, 1))
        self.rotations = np.ascontiguousarray(database.poses[:, 3:].transpose(0, 2, 1))
        self.velocities = np.ascontiguousarray(database.velocities[:, :3].transpose(0, 2, 1))
        self.angular = np.ascontiguousarray(database.velocities[:, 3:].transpose(0, 2, 1))
        self.root_motion = database.root_motion
        self.last_frames = {int(stop) - 1 for stop in database.stops}
        self.hips = database.roles.hips
        self.limits = MARGINS.blend * np.maximum(database.limits, _LEAST_LIMITS)

        self.frame = start
        bones = database.skeleton.bone_count
        self.offset_positions, self.offset_velocities = np.zeros((bones, 3)), np.zeros((bones, 3))
        self.offset_rotations, self.offset_angular = np.zeros((bones, 3)), np.zeros((bones, 3))
        self.offset_root, self.offset_root_rate = np.zeros(3), np.zeros(3)
        self.fading = self.calming = settings.inertialization_halflife
        self.age, self.left = 0.0, self._copy_offsets()
        self.position, self.yaw = np.zeros(3), 0.0
        self.object, self.object_yaw = np.zeros(3), 0.0
        self.velocity, self.acceleration, self.turning = np.zeros(3), np.zeros(3), 0.0
        self.desired_yaw, self.gait = 0.0, 0.0

    def step(self, intent: Intent) -> tuple[Array, Array]:
        self._steer(intent)
        played = self._decide(self._make_query(intent))
        self.frame = played + 1
        positions, rotations = self._inertialize()
        self._move(played, intent)
        positions[0], rotations[0] = self.position, quat.from_yaw(np.array(self.yaw))
        return positions, rotations

    # -- intent

    def _steer(self, intent: Intent) -> None:
        self.gait = naive_springs.damp(self.gait, intent.gait, self.settings.gait_halflife, self.dt)
        if intent.facing is not None:
            self.desired_yaw = intent.facing
        elif math.hypot(*intent.move) > 1e-3:
            self.desired_yaw = math.atan2(intent.move[0], -intent.move[1])

    def _compute_desired_velocity(self, intent: Intent, yaw: float) -> Array:
        """Return the desired velocity (3,) at a heading, by the speeds in each direction."""
        walk, run = self.settings.walk, self.settings.run
        facing = quat.from_yaw(np.array(yaw))
        local = quat.inv_mul_vec(facing, np.array([*intent.move, 0.0]))
        side = walk.side + (run.side - walk.side) * self.gait
        forward = walk.forward + (run.forward - walk.forward) * self.gait
        back = walk.back + (run.back - walk.back) * self.gait
        return quat.mul_vec(
            facing, local * np.array([side, forward if local[1] < 0 else back, 0.0])
        )

    def _advance_springs(self, intent: Intent, state: State, dt: float) -> State:
        """Advance the simulation object by `dt` seconds."""
        position, velocity, acceleration, yaw, turning = state
        goal, settings = self._compute_desired_velocity(intent, yaw), self.settings
        halflife = settings.velocity_halflife * (
            1.0 if np.linalg.norm(goal) > 1e-3 else settings.stop_factor
        )
        moved = naive_springs.advance_character_spring(
            position, velocity, acceleration, goal, halflife, dt
        )
        away = wrap(yaw - self.desired_yaw)
        still_away, turning = springs.spring(away, turning, 0.0, settings.rotation_halflife, dt)
        limit = settings.turn_limit
        return (
            *moved,
            yaw + np.clip(still_away - away, -limit * dt, limit * dt),
            np.clip(turning, -limit, limit),
        )

    def _get_state(self) -> State:
        return self.object, self.velocity, self.acceleration, self.object_yaw, self.turning

    # -- search

    def _make_query(self, intent: Intent) -> Array:
        """Return the current frame's features with the predicted trajectory instead of its own."""
        predicted: dict[float, State] = {}
        state, now = self._get_state(), 0.0
        for time in self.times:
            predicted[time] = state = self._advance_springs(intent, state, time - now)
            now = time
        raw = self.normalization.mean.copy()
        for feature, where in zip(self.schema.features, self.schema.slices, strict=True):
            if feature.definition.is_path:
                values = [
                    self._compute_feature(feature.kind, predicted[time])[: len(feature.axes)]
                    for time in feature.times
                ]
                raw[where] = np.concatenate(values)
        query = self.normalization.apply(raw, self.schema.weights)
        for feature, where in zip(self.schema.features, self.schema.slices, strict=True):
            if not feature.definition.is_path:
                query[where] = self.features[self.frame, where]
        return query

    def _compute_feature(self, kind: str, state: State) -> Array:
        """Return a feature (3,) of a predicted state in character space."""
        position, velocity, _, yaw, _ = state
        rotation = quat.from_yaw(np.array(self.yaw))
        if kind == "trajectory_position":
            return quat.inv_mul_vec(rotation, position - self.position)
        if kind == "trajectory_direction":
            return quat.inv_mul_vec(rotation, quat.mul_vec(quat.from_yaw(np.array(yaw)), _FORWARD))
        return quat.inv_mul_vec(rotation, velocity)

    def _decide(self, query: Array) -> int:
        """Return the frame to play: the current one, or the target of a jump."""
        at_end = self.frame in self.last_frames
        continuing = float(np.sum((query - self.features[self.frame]) ** 2))
        bound = math.inf if at_end else continuing - self.settings.continuing_bias
        best, _ = self.index.find_nearest(
            query, current=self.frame, bound=bound, surroundings=self.surroundings
        )
        if best < 0:
            return self.frame
        self._transition(self.frame, best)
        return best

    # -- inertialization

    def _transition(self, left: int, entered: int) -> None:
        for bone in range(1, len(self.offset_positions)):
            self.offset_positions[bone] += (
                self.positions[left, bone] - self.positions[entered, bone]
            )
            self.offset_velocities[bone] += (
                self.velocities[left, bone] - self.velocities[entered, bone]
            )
            offset, rate = self.offset_rotations[bone], self.offset_angular[bone]
            turned = quat.from_scaled_angle_axis(offset)
            turning = (
                quat.mul_vec(turned, self.angular[left, bone]) + _compute_jacobian(offset) @ rate
            )
            shown = quat.mul(turned, self.rotations[left, bone])
            apart = quat.positive(quat.mul_inv(shown, self.rotations[entered, bone]))
            offset = quat.to_scaled_angle_axis(apart)
            own = turning - quat.mul_vec(
                quat.from_scaled_angle_axis(offset), self.angular[entered, bone]
            )
            self.offset_rotations[bone], self.offset_angular[bone] = (
                offset,
                np.linalg.solve(_compute_jacobian(offset), own),
            )
        if self.settings.blend_root:
            self.offset_root += self.root_motion[left] - self.root_motion[entered]
        self.age, self.left = 0.0, self._copy_offsets()
        self._choose_halflives()

    def _copy_offsets(self) -> list[tuple[Array, Array]]:
        """Return copies of the offsets of positions, rotations and the root, each with its rate."""
        return [
            (self.offset_positions.copy(), self.offset_velocities.copy()),
            (self.offset_rotations.copy(), self.offset_angular.copy()),
            (self.offset_root.copy(), self.offset_root_rate.copy()),
        ]

    def _choose_halflives(self) -> None:
        """Choose the halflives that accelerate no bone harder than the data; see `Inertializer`."""
        wanted = self.settings.inertialization_halflife
        pulls = [
            (np.linalg.norm(offset), np.linalg.norm(rate), limit)
            for bone in range(1, len(self.offset_positions))
            for offset, rate, limit in (
                (self.offset_positions[bone], self.offset_velocities[bone], self.limits[0, bone]),
                (self.offset_rotations[bone], self.offset_angular[bone], self.limits[1, bone]),
            )
        ]
        hardest = max(v / limit for _, v, limit in pulls)
        self.calming = max(
            wanted, min(8.0 * springs.LN2 * hardest, self.settings.blend_stretch * wanted)
        )
        damping = springs.halflife_to_damping(self.calming)
        least = max(x / max(limit - damping * v, 1e-12) for x, v, limit in pulls)
        self.fading = max(
            wanted, min(2.0 * springs.LN2 * math.sqrt(least), self.settings.blend_stretch * wanted)
        )

    def _fade(self, offset: Array, rate: Array) -> tuple[Array, Array]:
        """Return an offset and its rate at the current age of the jump."""
        t, y, z = (
            self.age,
            *(springs.halflife_to_damping(h) / 2.0 for h in (self.fading, self.calming)),
        )
        e, f = math.exp(-y * t), math.exp(-z * t)
        return (1.0 + y * t) * e * offset + t * f * rate, -y * y * t * e * offset + (
            1.0 - z * t
        ) * f * rate

    def _inertialize(self) -> tuple[Array, Array]:
        self.age += self.dt
        positions, rotations = (
            np.empty((len(self.offset_positions), 3)),
            np.empty((len(self.offset_positions), 4)),
        )
        (places, velocities), (turns, rates), (root, root_rate) = self.left
        for bone in range(1, len(positions)):
            self.offset_positions[bone], self.offset_velocities[bone] = self._fade(
                places[bone], velocities[bone]
            )
            self.offset_rotations[bone], self.offset_angular[bone] = self._fade(
                turns[bone], rates[bone]
            )
            positions[bone] = self.positions[self.frame, bone] + self.offset_positions[bone]
            offset = quat.from_scaled_angle_axis(self.offset_rotations[bone])
            rotations[bone] = quat.mul(offset, self.rotations[self.frame, bone])
        self.offset_root, self.offset_root_rate = self._fade(root, root_rate)
        return positions, rotations

    def _compute_swing(self) -> float:
        """Return the turn rate of the hips' offset about the vertical."""
        x, y, _ = self.offset_rotations[self.hips]
        vx, vy, vz = self.offset_angular[self.hips]
        return vz + 0.5 * (x * vy - y * vx)

    # -- movement

    def _move(self, played: int, intent: Intent) -> None:
        """Move the character by the data, the simulation object by the intent, and adjust one to
        the other.
        """
        settings, dt = self.settings, self.dt
        vx, vy, turn = self.root_motion[played]
        swing = self._compute_swing()
        whole, most = turn + self.offset_root[2] + swing, max(settings.turn_limit, abs(turn))
        turn += self.offset_root[2] - math.copysign(max(abs(whole) - most, 0.0), whole)
        ahead = np.array([vx + self.offset_root[0], vy + self.offset_root[1], 0.0])
        led = quat.mul_vec(quat.from_yaw(np.array(self.yaw)), ahead) * dt
        moved = self._advance_springs(intent, self._get_state(), dt)
        self.object, self.velocity, self.acceleration, self.object_yaw, self.turning = moved
        position, yaw = self.position + led, self.yaw + turn * dt
        step = naive_springs.damp_adjustment(
            self.object - position, settings.adjust_position_halflife, dt
        )
        most, length = settings.adjust_position_ratio * np.linalg.norm(led), np.linalg.norm(step)
        position = position + (step * most / length if length > most else step)
        swing = naive_springs.damp_adjustment(
            wrap(self.object_yaw - yaw), settings.adjust_rotation_halflife, dt
        )
        body = turn + (self._compute_swing() if turn * self._compute_swing() > 0 else 0.0)
        late = float(
            np.clip(2 * np.linalg.norm(self.object - position) / settings.clamp_distance - 1, 0, 1)
        )
        most = settings.adjust_rotation_ratio * (
            abs(body) * dt + late * float(np.linalg.norm(led)) / FOOT_RADIUS
        )
        yaw += self._limit_turn(
            float(np.clip(swing, -most, most)), body * dt, settings.turn_limit * dt
        )
        away = position - self.object
        if np.linalg.norm(away) > settings.clamp_distance:
            self.object = position - away * settings.clamp_distance / np.linalg.norm(away)
        angle = wrap(yaw - self.object_yaw)
        self.position, self.yaw = (
            position,
            yaw + np.clip(angle, -settings.clamp_angle, settings.clamp_angle) - angle,
        )

    @staticmethod
    def _limit_turn(turn: float, led: float, limit: float) -> float:
        """Limit a turn so that it does not exceed the limit together with another."""
        if turn * led < 0:
            return turn
        return math.copysign(min(abs(turn), max(limit - abs(led), 0.0)), turn)


def _compute_jacobian(vector: Array) -> Array:
    """Return how a bone turns (3, 3) when the rotation vector of its offset changes: the left
    Jacobian of the exponential map.
    """
    x, y, z = vector
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = max(float(np.linalg.norm(vector)), 1e-6)
    whole = (angle - math.sin(angle)) / angle**3 if angle > 1e-2 else 1.0 / 6.0
    return np.eye(3) + (1.0 - math.cos(angle)) / angle**2 * across + whole * across @ across

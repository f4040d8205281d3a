"""Inertialize a whole pose: a jump leaves an offset that fades, so that nothing pops.

Offsets of all bones and of the root's velocity decay by one 2x2 matrix product. Rotation offsets
are scaled angle-axis in the parent's frame. They may be large, so angular velocities are carried
across a jump with the derivative of the exponential map, not by plain differences.

Source: notebook 000, Player (spring inertializer); `fade` has the shapes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..maths.planar import rotate_xy
from ..maths.rotations import component_quat as quat
from ..maths.springs import spring
from ..motion.margins import MARGINS
from ..performance.settings import PerformerSettings
from ..units import VELOCITY, Columns, measured
from .jump import Jump, Seam
from .jump_fade import SPRING, FadeShape, choose_fade
from .numbers import NUMBERS

_NEXT = np.array([1, 2, 0])
_AFTER = np.array([2, 0, 1])
_SMALL_SQUARE = np.float32(NUMBERS.small_turn**2)
_TINY = 1e-12
_LEAST_LIMITS = np.array(
    [[NUMBERS.least_acceleration], [NUMBERS.least_turn_acceleration]], np.float32
)  # for bones that hardly move


def _compute_lengths(v: np.ndarray) -> np.ndarray:
    """Return the lengths (J, 2, 2, B) of linear and angular vectors (J, 2, 6, B)."""
    squares = v * v
    return np.sqrt(np.add.reduce(squares.reshape(len(v), 2, 2, 3, -1), axis=3))


def compute_angular_velocity(
    offset: np.ndarray, speed: np.ndarray, velocity: np.ndarray
) -> np.ndarray:
    """Return angular velocities of bones that turn with `velocity` under offsets at `speed` (3, B).

    The offsets rotate the velocity; their change goes through the left Jacobian of the vector.
    """
    square, sine, versine = _compute_coefficients(offset)
    turned = offset.take(_NEXT, 0), offset.take(_AFTER, 0)
    both = _cross(turned, np.array([velocity, speed]))
    (along, own), (twice, own_twice) = both, _cross(turned, both)
    rotated = velocity + sine * along + versine * twice
    return rotated + speed + versine * own + (1 - sine) / square * own_twice


def _compute_offset_speed(
    offset: np.ndarray, turning: np.ndarray, velocity: np.ndarray
) -> np.ndarray:
    """Return how fast offsets change; the inverse of `compute_angular_velocity`. All (3, B)."""
    square, sine, versine = _compute_coefficients(offset)
    turned = offset.take(_NEXT, 0), offset.take(_AFTER, 0)
    along = _cross(turned, velocity)
    left = turning - velocity - sine * along - versine * _cross(turned, along)
    own = _cross(turned, left)
    return left - 0.5 * own + (1 - 0.5 * sine / versine) / square * _cross(turned, own)


def _compute_coefficients(offset: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a², sin(a) / a and (1 - cos(a)) / a² of the angles a (B,), enlarged if small."""
    square = np.maximum(np.einsum("ij,ij->j", offset, offset), _SMALL_SQUARE)
    angle = np.sqrt(square)
    return square, np.sin(angle) / angle, (1 - np.cos(angle)) / square


def _cross(a: tuple[np.ndarray, np.ndarray], b: np.ndarray) -> np.ndarray:
    """Return cross products (..., 3, N) of a, whose rows are taken around, and b (..., 3, N)."""
    return a[0] * b.take(_AFTER, -2) - a[1] * b.take(_NEXT, -2)


def _add_offsets(poses: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return poses (K, 7, B): those of the data (K, 7, B), with offsets (K, 6 B)."""
    count, _, bones = poses.shape
    data = poses.transpose(1, 0, 2).reshape(7, -1)
    offsets = offsets.reshape(count, 6, bones).transpose(1, 0, 2).reshape(6, -1)
    shown = np.empty(data.shape, np.float32)
    np.add(data[:3], offsets[:3], out=shown[:3])
    quat.mul(quat.from_scaled_angle_axis(offsets[3:]), data[3:], out=shown[3:])
    return shown.reshape(7, count, bones).transpose(1, 0, 2)


@measured(offset=Columns((*["m"] * 3, *[""] * 3), -2), speed=VELOCITY, time="s", velocity_time="s")
class Fading(NamedTuple):
    """Fading offsets of a jump with their velocities (6, B), and the way they fade.

    `time` is that of the shape, `velocity_time` that of the velocities' part.
    """

    offset: np.ndarray
    speed: np.ndarray
    shape: FadeShape
    time: float
    velocity_time: float


class Inertializer:
    """The offsets of B bones (positions, rotations) and of the root's velocity (3), which fade.

    They fade within the time of a shape in seconds, or up to `stretch` times as slowly, so that no
    bone is accelerated more than in the data: its `limits` (2, B), linear and angular. All bones
    fade alike, so that feet stay where hips and knees put them. The velocities at a jump have a
    separate time: with that of a large offset they would carry a bone far past both poses. Unless
    it `blends_root`, the root moves like the entered motion from the first tick on; with a
    `root_halflife`, soon, while a foot stands.
    """

    def __init__(
        self,
        limits: np.ndarray,
        time: float,
        dt: float,
        shape: FadeShape = SPRING,
        stretch: float = 3.0,
        blends_root: bool = True,
        root_halflife: float = 0.0,
    ) -> None:
        bone_count = limits.shape[1]
        self._shape = shape
        self._time = time
        self._dt = dt
        self._stretch = stretch
        self._blends_root = blends_root
        self._root_halflife = root_halflife
        self._limits = np.float32(MARGINS.blend) * np.maximum(limits, _LEAST_LIMITS)
        # offsets of bones (6 B) and root (3), and their velocities; after the last jump, and now
        self._initial_state = np.zeros((2, 6 * bone_count + 3), np.float32)
        self._state = np.zeros_like(self._initial_state)
        self._bones = self._state[:, :-3].reshape(2, 6, bone_count)
        self._offset, self._speed = self._bones
        self._root = self._state[0, -3:]
        self.reset()

    @classmethod
    def from_settings(
        cls, limits: np.ndarray, settings: PerformerSettings, dt: float
    ) -> Inertializer:
        """Return one that lets jumps fade as settings choose."""
        (shape, time) = choose_fade(settings)
        own = settings.blending
        root = own.blend_root, own.root_halflife
        return cls(limits, time, dt, shape, own.blend_stretch, *root)

    def apply(self, settings: PerformerSettings) -> None:
        """Let the next jumps fade as settings choose; offsets that fade already go on unchanged."""
        (self._shape, self._time) = choose_fade(settings)
        own = settings.blending
        self._stretch = own.blend_stretch
        self._blends_root = own.blend_root
        self._root_halflife = own.root_halflife

    @property
    def half_time(self) -> float:
        """Seconds until about half of a jump has faded."""
        return self._fading_shape.compute_half_time(self._fading_time)

    def compute_turn_rate(self, bone: int) -> float:
        """Return how fast the offset of a bone turns about its parent's Z axis, in rad/s."""
        x, y, _ = self._offset[3:, bone].tolist()
        vx, vy, vz = self._speed[3:, bone].tolist()
        # the derivative of the exponential map, up to second order
        return float(vz + 0.5 * (x * vy - y * vx))

    @property
    def is_faded(self) -> bool:
        """Whether the offsets left of all jumps are too small to be seen."""
        return float(np.abs(self._state).max()) < NUMBERS.faded

    def reset(self) -> None:
        self._initial_state[:] = self._state[:] = 0
        # jumps of this tick, and each one's offsets with their fading times
        self._previewed: list[tuple[Jump, np.ndarray, tuple[float, float]]] = []
        self._age = 0.0  # seconds since the last jump
        # rest of the root's earlier velocity, kept for standing feet, and its speed
        self._astray = (0.0, 0.0)
        self._shown = self._earlier = np.zeros((7, self._limits.shape[1]), np.float32)
        self._is_new = 2
        # of the offsets, and of their velocities
        self._fading_shape = self._shape
        self._fading_time = self._velocity_time = self._time

    @property
    def fading(self) -> Fading:
        """Offsets that fade since the last jump, with the rest of earlier jumps."""
        offset, speed = self._initial_state[:, :-3].reshape(2, 6, -1).copy()
        times = self._fading_time, self._velocity_time
        return Fading(offset, speed, self._fading_shape, *times)

    def foresee(self, jumps: Sequence[Jump]) -> list[Fading]:
        """Return the offsets that would fade after each of some jumps now."""
        states, times = self._compute_states(jumps)
        bones = states[..., :-3].reshape(len(jumps), 2, 6, -1)
        return [
            Fading(offset, speed, self._shape, *time)
            for (offset, speed), time in zip(bones, times, strict=True)
        ]

    def transition(self, jump: Jump) -> None:
        """Add the difference between the two poses of a jump to the offsets."""
        known = [each[1:] for each in self._previewed if each[0] is jump]
        if not known:
            known = list(zip(*self._compute_states([jump]), strict=True))
        state, (self._fading_time, self._velocity_time) = known[0]
        self._previewed = []
        self._initial_state[:] = self._state[:] = state
        self._age = 0.0
        self._astray = (1.0, 0.0)
        self._fading_shape = self._shape

    def preview(self, seams: Sequence[Seam], led: np.ndarray) -> np.ndarray:
        """Return poses (J, K + 2, 7, B) around jumps: a tick before, at them, and the K after them.

        All have as many poses that follow. `led` (3,) is the velocity with which the root came.
        Poses unknown because a reset was just before are left out.
        """
        jumps = [seam.jump for seam in seams]
        states, times = self._compute_states(jumps)
        self._previewed = list(zip(jumps, states, times, strict=True))
        data = np.array([[seam.jump.target_pose, *seam.following] for seam in seams])
        count, ticks, _, bones = data.shape
        ages = [self._dt * tick for tick in range(ticks)]
        compute = self._shape.compute_matrix
        decays = [[compute(fading, age, calming)[0] for age in ages] for fading, calming in times]
        fading = np.array(decays, np.float32) @ states
        shown = np.empty((count, ticks + 1, 7, bones), np.float32)
        offsets = fading[..., :-3].reshape(count * ticks, -1)
        poses = _add_offsets(data.reshape(-1, 7, bones), offsets)
        shown[:, 1:] = poses.reshape(count, ticks, 7, bones)
        shown[:, 0] = self._earlier
        if self._root_halflife > 0.0:  # a standing foot leaves this share of the root's own
            calm = [spring(1.0, 0.0, 0.0, self._root_halflife, age)[0] for age in ages[:-1]]
            fading[:, 1:, -3:] *= np.array(calm)[:, None]
        steps = fading[:, 1:, -3:] + [seam.roots for seam in seams]
        shown[..., 0] = self._go_on(led, steps)
        return shown[:, min(self._is_new, 1) :]

    def _go_on(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return roots (J, K + 2, 7) that go at the velocities (3,) and then (J, K, 3).

        They are at the origin at the jump.
        """
        count, ticks, _ = after.shape
        roots = np.zeros((count, ticks + 2, 7))
        for root, steps in zip(roots, after.tolist(), strict=True):
            x, y, turn = (self._dt * each for each in before.tolist())
            x, y = rotate_xy(x, y, -turn)
            root[0] = -x, -y, 0.0, math.cos(0.5 * turn), 0.0, 0.0, -math.sin(0.5 * turn)
            root[1, 3] = 1.0
            x = y = yaw = 0.0
            for row, (vx, vy, turn) in zip(root[2:], steps, strict=True):
                dx, dy = rotate_xy(self._dt * vx, self._dt * vy, yaw)
                x = x + dx
                y = y + dy
                yaw = yaw + self._dt * turn
                row[:] = x, y, 0.0, math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)
        return roots

    def _compute_states(
        self, jumps: Sequence[Jump]
    ) -> tuple[np.ndarray, list[tuple[float, float]]]:
        """Return the offsets of bones and root with their velocities (J, 2, 6 B + 3) after jumps.

        The other list has the times of the offsets of each and of their velocities.
        """
        count = len(jumps)
        states = np.empty((count, *self._state.shape), np.float32)
        states[..., -3:] = self._state[:, -3:]
        bones = states[..., :-3].reshape(count, 2, 6, -1)
        for k, each in enumerate(self._compute_offsets(jumps)):
            bones[:, k] = each.reshape(6, count, -1).swapaxes(0, 1)
        # bone 0 lies in the world and is placed by the root's velocity alone
        bones[..., 0] = 0
        if self._blends_root:
            states[:, 0, -3:] += [jump.source_root - jump.target_root for jump in jumps]
        return states, self._compute_times(bones)

    def _compute_offsets(self, jumps: Sequence[Jump]) -> tuple[np.ndarray, np.ndarray]:
        """Return the offsets of bones after jumps and their velocities (6, J B), jump by jump."""
        source_pose, source_velocity, _, target_pose, target_velocity, _ = (
            np.concatenate(part, axis=-1) for part in zip(*jumps, strict=True)
        )
        offset, speed = np.concatenate([self._bones] * len(jumps), axis=-1)
        offset[:3] += source_pose[:3] - target_pose[:3]
        speed[:3] += source_velocity[:3] - target_velocity[:3]
        shown = quat.mul(quat.from_scaled_angle_axis(offset[3:]), source_pose[3:])
        turning = compute_angular_velocity(offset[3:], speed[3:], source_velocity[3:])
        offset[3:] = quat.to_scaled_angle_axis(quat.mul(shown, quat.inv(target_pose[3:])))
        speed[3:] = _compute_offset_speed(offset[3:], turning, target_velocity[3:])
        return offset, speed

    def _compute_times(self, bones: np.ndarray) -> list[tuple[float, float]]:
        """Return the times of offsets x and of their velocities v (J, 2, 6, B) of jumps.

        The first acceleration, of a spring y² x + 2 z v with y, z = 2 ln 2 / halflife, and of a
        cubic 6 x / T² + 4 v / S, stays within the limits, and the part of the velocities within
        half.
        """
        x, v = _compute_lengths(bones).swapaxes(0, 1)
        shape = self._shape
        fastest = self._time
        slowest = self._stretch * self._time
        calming = [
            max(fastest, min(shape.find_velocity_time(ratio), slowest))
            for ratio in (v / self._limits).max(axis=(1, 2)).tolist()
        ]
        pulls = np.array([shape.compute_pull(time) for time in calming], np.float32)
        left = np.maximum(self._limits - pulls[:, None, None] * v, _TINY)
        fading = [
            max(fastest, min(shape.find_time(ratio), slowest))
            for ratio in (x / left).max(axis=(1, 2)).tolist()
        ]
        return list(zip(fading, calming, strict=True))

    def _calm_root(self) -> None:
        """Reduce the fading part of the root's velocity."""
        left = self._astray[0]
        if self._root_halflife > 0.0 and left > NUMBERS.faded:
            self._astray = spring(*self._astray, 0.0, self._root_halflife, self._dt)
            self._initial_state[:, -3:] *= self._astray[0] / left

    def play(self, poses: np.ndarray) -> np.ndarray:
        """Advance by K ticks at once; return their poses (K, 7, B) with offsets."""
        ages = self._age + self._dt * np.arange(1, len(poses) + 1)
        fading = self._fading_shape
        decays = np.array(
            [
                fading.compute_matrix(self._fading_time, age, self._velocity_time)
                for age in ages.tolist()
            ],
            np.float32,
        )
        self._age = float(ages[-1])
        np.dot(decays[-1], self._initial_state, out=self._state)
        shown = _add_offsets(poses, decays[:, 0] @ self._initial_state[:, :-3])
        return np.ascontiguousarray(shown)

    def update(self, pose: np.ndarray, stands: bool = False) -> tuple[np.ndarray, list[float]]:
        """Advance by one tick; return a pose (7, B) with offsets, and the root's own offset.

        While a foot `stands`, the root soon moves like the entered motion.
        """
        if stands and self._age > 0.0:  # a jump alone may use the whole allowed acceleration
            self._calm_root()
        self._previewed = []
        self._age += self._dt
        decay = self._fading_shape.compute_matrix(self._fading_time, self._age, self._velocity_time)
        np.dot(decay.astype(np.float32), self._initial_state, out=self._state)
        result = np.empty_like(pose)
        np.add(pose[:3], self._offset[:3], out=result[:3])
        quat.mul(quat.from_scaled_angle_axis(self._offset[3:]), pose[3:], out=result[3:])
        self._earlier, self._shown = self._shown, result.copy()
        self._is_new = max(self._is_new - 1, 0)
        return result, self._root.tolist()

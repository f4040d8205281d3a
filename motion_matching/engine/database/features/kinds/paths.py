"""Compute features of the character's path: places, headings, speeds and heights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....maths import planar
from ...numbers import NUMBERS
from ..motion_table import MotionTable, sample_track, sample_values
from ..strokes import Stroke
from .base import Array, PathKind

if TYPE_CHECKING:
    from ....control.trajectory import TrajectoryPoint
    from ..features import Feature


class PathPosition(PathKind):
    """The place in metres, seen from the character."""

    name = "trajectory_position"
    label = "Path"
    help = "Where the character will be, or was"
    icon = "CURVE_PATH"
    number = 2
    stroke = "position"

    def compute_at(self, table: MotionTable, time: float, beyond: str) -> Array:
        there = sample_track(table, time, beyond)
        return planar.rotate(there[:, :2] - table.track[:, :2], -table.track[:, 2])

    def read_goal(self, point: TrajectoryPoint) -> tuple[float, float]:
        return point.x, point.y


class PathDirection(PathKind):
    """The unit vector of the heading, seen from the character."""

    name = "trajectory_direction"
    label = "Facing"
    help = "Where the character will face, or faced"
    icon = "ORIENTATION_GIMBAL"
    number = 3
    stroke = "direction"

    def compute_at(self, table: MotionTable, time: float, beyond: str) -> Array:
        turned = sample_track(table, time, beyond)[:, 2] - table.track[:, 2]
        return planar.yaw_to_forward(turned)

    def read_goal(self, point: TrajectoryPoint) -> tuple[float, float]:
        return math.sin(point.yaw), -math.cos(point.yaw)


class PathVelocity(PathKind):
    """The velocity in metres per second, seen from the character."""

    name = "trajectory_velocity"
    label = "Speed"
    help = "How fast the character will move, or moved"
    icon = "DRIVER"
    number = 4
    stroke = "velocity"

    def compute_at(self, table: MotionTable, time: float, beyond: str) -> Array:
        step = 1.0 / table.fps
        before, after = (sample_track(table, time + t, beyond) for t in (-step, step))
        return planar.rotate((after - before)[:, :2] / (2 * step), -table.track[:, 2])

    def read_goal(self, point: TrajectoryPoint) -> tuple[float, float]:
        return point.vx, point.vy


class PathHeight(PathKind):
    """The rise of the ground in metres; a build adds it for clips that climb."""

    name = "trajectory_height"
    label = "Height"
    help = "Rise of the ground up to that time, from clips on slopes and stairs"
    icon = "RNDCURVE"
    number = 11
    is_number = True

    def compute_at(self, table: MotionTable, time: float, beyond: str) -> Array:
        return compute_rises(table, [time])

    def read_goal(self, point: TrajectoryPoint) -> tuple[float, float]:
        return point.rise, 0.0

    def measure_least_deviation(self, raw: Array, times: Sequence[float]) -> float:
        """Return the deviation of heights in climbing frames, however few."""
        climbing = np.abs(raw).max(axis=0) > NUMBERS.level
        return float(np.sqrt(np.square(raw[:, climbing]).mean())) if climbing.any() else 0.0

    def make_strokes(self, feature: Feature, value: Array, position: Array) -> list[Stroke]:
        above = position + np.array([0.0, 0.0, value[0]])
        return [Stroke("trajectory", np.stack([position, above]))]


def compute_rises(table: MotionTable, times: Sequence[float]) -> Array:
    """Return the rise (N, T) of the ground in metres until times; beyond a range it is level."""
    if table.ground is None:
        return np.zeros((len(table.track), len(times)))
    ground = np.asarray(table.ground, np.float64)[:, None]
    return np.hstack([sample_values(table, ground, time) - ground for time in times])


HEIGHT = PathHeight()
KINDS = (PathPosition(), PathDirection(), PathVelocity(), HEIGHT)

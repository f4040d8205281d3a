"""Draw the features of a frame as strokes: positions, velocities, the trajectory, and the pose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..control.trajectory import TrajectoryPoint
from ..database.database import Database
from ..database.features import BONE_KINDS, Feature, find_role_bone
from ..field.ghosts import group_by_depth
from ..maths import quat

Array = np.ndarray
VELOCITY_SCALE = 0.2  # seconds: an arrow ends where its bone would be then
DIRECTION_LENGTH = 0.3  # metres
_CROSS_SIZE = 0.06


class Stroke(NamedTuple):
    """A line through points (P, 3) in metres, in the frame of the simulation bone.

    `kind` is 'body', 'position', 'velocity', 'trajectory' or 'direction'.
    """

    kind: str
    points: Array


def make_strokes(database: Database, frame: int) -> tuple[Stroke, ...]:
    """Return the features of a frame as strokes, over its pose."""
    positions = compute_bone_positions(database, frame)
    schema, values = database.schema, database.features[:, frame].astype(np.float64)
    features = list(zip(schema.features, schema.slices, strict=True))
    positions_by_time = {
        t: p
        for f, dimensions in features
        if f.kind == "trajectory_position"
        for t, p in zip(f.times, _to_rows(f, values[dimensions]), strict=True)
    }
    drawn = list(_make_body_strokes(database, positions))
    if positions_by_time:
        ordered = sorted({0.0: np.zeros(3)} | positions_by_time)
        drawn.append(
            Stroke("trajectory", np.array([positions_by_time.get(t, np.zeros(3)) for t in ordered]))
        )
    for feature, dimensions in features:
        rows = _to_rows(feature, values[dimensions])
        if feature.kind in BONE_KINDS:
            position = positions[find_role_bone(feature.bone, database.roles, database.skeleton)]
            drawn += _make_bone_strokes(feature, rows[0], position)
        else:
            drawn += [
                stroke
                for time, row in zip(feature.times, rows, strict=True)
                for stroke in _make_trajectory_strokes(
                    feature, row, positions_by_time.get(time, np.zeros(3))
                )
            ]
    return tuple(drawn)


def compute_bone_positions(database: Database, frame: int) -> Array:
    """Return where the bones (B, 3) of a frame are in metres, in its simulation bone's frame."""
    pose = np.asarray(database.poses[frame], np.float64).T
    rotations, positions = pose[:, 3:].copy(), pose[:, :3].copy()
    rotations[0], positions[0] = (1.0, 0.0, 0.0, 0.0), 0.0
    for bones, above in group_by_depth(tuple(database.skeleton.parents.tolist())):
        positions[bones] = quat.mul_vec(rotations[above], positions[bones]) + positions[above]
        rotations[bones] = quat.mul(rotations[above], rotations[bones])
    return positions


def make_goal_strokes(trajectory: Sequence[TrajectoryPoint]) -> tuple[Stroke, ...]:
    """Return a desired trajectory as strokes; its points are in the order of their times."""
    points = np.array([(p.x, p.y, 0.0) for p in trajectory])
    ahead = np.array([(np.sin(p.yaw), -np.cos(p.yaw), 0.0) for p in trajectory])
    arrows = (
        Stroke("direction", np.array([p, p + DIRECTION_LENGTH * d]))
        for p, d in zip(points, ahead, strict=True)
    )
    return Stroke("trajectory", points), *arrows


def _to_rows(feature: Feature, values: Array) -> Array:
    """Return values (T, 3), a row for each time of a feature."""
    axes = len(feature.axes)
    rows = np.zeros((len(values) // axes, 3))
    rows[:, :axes] = values.reshape(-1, axes)
    return rows


def _make_body_strokes(database: Database, positions: Array) -> Iterator[Stroke]:
    for bone, parent in enumerate(database.skeleton.parents.tolist()):
        if parent > 0:
            yield Stroke("body", positions[[parent, bone]])


def _make_bone_strokes(feature: Feature, value: Array, position: Array) -> list[Stroke]:
    if feature.kind == "bone_velocity":
        return [Stroke("velocity", np.array([position, position + VELOCITY_SCALE * value]))]
    centre = value if len(feature.axes) == 3 else np.array([*value[:2], position[2]])
    return [
        Stroke("position", centre + _CROSS_SIZE * np.outer([-1.0, 1.0], axis)) for axis in np.eye(3)
    ]


def _make_trajectory_strokes(feature: Feature, value: Array, position: Array) -> list[Stroke]:
    if feature.kind == "trajectory_position":
        return [
            Stroke("trajectory", value + _CROSS_SIZE * np.outer([-1.0, 1.0], axis))
            for axis in np.eye(3)[:2]
        ]
    if feature.kind == "trajectory_direction":
        return [Stroke("direction", np.array([position, position + DIRECTION_LENGTH * value]))]
    return [Stroke("velocity", np.array([position, position + VELOCITY_SCALE * value]))]

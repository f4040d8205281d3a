"""Draw the features of a frame as strokes: positions, velocities, the trajectory, and the pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...control.trajectory import TrajectoryPoint
from ...database.database import Database
from ...database.features.fade_features import DEFAULT_TIMES, FADE_KINDS, find_place
from ...database.features.features import BONE_KINDS, FOOT_KINDS, Feature, find_role_bone
from ...field.ghosts import group_by_depth
from ...maths.rotations import quat
from ..numbers import NUMBERS

Array = np.ndarray
VELOCITY_SCALE = NUMBERS.arrow_seconds
DIRECTION_LENGTH = NUMBERS.direction_length
_WITHOUT_PLACE = (*FOOT_KINDS, "bone_angular_velocity")  # and without a direction


class Stroke(NamedTuple):
    """A line through points (P, 3) in metres, in the frame of the simulation bone.

    `kind` is 'body', 'position', 'velocity', 'trajectory' or 'direction'.
    """

    kind: str
    points: Array


def make_strokes(database: Database, frame: int) -> tuple[Stroke, ...]:
    """Return the features of a frame as strokes, over its pose."""
    schema, values = database.schema, database.features[:, frame].astype(np.float64)
    features = [
        (feature, _to_rows(feature, values[dimensions]))
        for feature, dimensions in zip(schema.features, schema.slices, strict=True)
        if feature.kind not in _WITHOUT_PLACE
    ]
    path = {0.0: np.zeros(3)}
    for feature, rows in features:
        if feature.kind == "trajectory_position" and feature.size > 1:
            path |= dict(zip(feature.times, rows, strict=True))
    positions = compute_bone_positions(database, frame)
    parents = database.skeleton.parents.tolist()
    strokes = [Stroke("body", positions[[p, b]]) for b, p in enumerate(parents) if p > 0]
    if len(path) > 1:
        strokes.append(Stroke("trajectory", np.array([path[time] for time in sorted(path)])))
    for feature, rows in features:
        if feature.kind in BONE_KINDS:
            bone = find_role_bone(feature.bone, database.roles, database.skeleton)
            now = rows[[time == 0.0 for time in feature.times or (0.0,)]]
            for row in now[:1]:  # at other times, the character is elsewhere
                strokes += _make_feature_strokes(feature, row, positions[bone])
        else:
            for time, row in zip(feature.times, rows, strict=True):
                strokes += _make_feature_strokes(feature, row, path.get(time, np.zeros(3)))
    return tuple(strokes)


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
    arrows = (_make_arrow("direction", p, d) for p, d in zip(points, ahead, strict=True))
    return Stroke("trajectory", points), *arrows


def _to_rows(feature: Feature, values: Array) -> Array:
    """Return values (T, 3), a row for each time of a feature."""
    rows = np.zeros((values.size // feature.size, 3))
    rows[:, feature.columns] = values.reshape(-1, feature.size)
    return rows


def _make_feature_strokes(feature: Feature, value: Array, position: Array) -> list[Stroke]:
    """Return one value (3,) of a feature as strokes: an arrow from a position, or a cross."""
    _, _, kind = feature.kind.partition("_")
    if feature.kind in FADE_KINDS:
        time = DEFAULT_TIMES.get(feature.kind, feature.time)
        kind, value = "position", find_place(feature.kind, value, time)
    if kind != "position":
        return [_make_arrow(kind, position, value)]
    centre = position.copy()
    centre[feature.columns] = value[feature.columns]
    is_bone = feature.kind in BONE_KINDS
    arms = np.eye(3)[: 3 if is_bone else 2]
    kind = "position" if is_bone else "trajectory"
    return [Stroke(kind, centre + NUMBERS.cross_size * np.outer([-1.0, 1.0], arm)) for arm in arms]


def _make_arrow(kind: str, position: Array, value: Array) -> Stroke:
    scale = VELOCITY_SCALE if kind == "velocity" else DIRECTION_LENGTH
    return Stroke(kind, np.array([position, position + scale * value]))

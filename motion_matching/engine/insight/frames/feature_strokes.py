"""Draw the features of a frame as strokes: positions, velocities, the trajectory, and the pose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...control.trajectory import TrajectoryPoint
from ...database.database import Database
from ...database.features.bone_motion import find_role_bone
from ...database.features.features import Feature
from ...database.features.strokes import Stroke, make_arrow
from ...field.ghosts import compute_joints

Array = np.ndarray


def make_strokes(database: Database, frame: int) -> tuple[Stroke, ...]:
    """Return the features of a frame as strokes, over its pose."""
    schema = database.schema
    values = database.features[:, frame].astype(np.float64)
    features = [
        (feature, feature.definition, _to_rows(feature, values[dimensions]))
        for feature, dimensions in zip(schema.features, schema.slices, strict=True)
    ]
    path = {0.0: np.zeros(3)}
    for feature, kind, rows in features:
        if kind.is_path and kind.stroke == "position" and feature.size > 1:
            path |= dict(zip(feature.times, rows, strict=True))
    positions = compute_bone_positions(database, frame)
    parents = database.skeleton.parents.tolist()
    strokes = [Stroke("body", positions[[p, b]]) for b, p in enumerate(parents) if p > 0]
    if len(path) > 1:
        strokes.append(Stroke("trajectory", np.array([path[time] for time in sorted(path)])))
    for feature, kind, rows in features:
        if kind.is_path:
            for time, row in zip(feature.times, rows, strict=True):
                strokes += kind.make_strokes(feature, row, path.get(time, np.zeros(3)))
        else:
            bone = find_role_bone(feature.bone, database.roles, database.skeleton)
            now = rows[[time == 0.0 for time in feature.times or (0.0,)]]
            for row in now[:1]:  # at other times, the character is elsewhere
                strokes += kind.make_strokes(feature, row, positions[bone])
    return tuple(strokes)


def compute_bone_positions(database: Database, frame: int) -> Array:
    """Return where the bones (B, 3) of a frame are in metres, in its simulation bone's frame."""
    pose = np.asarray(database.poses[frame], np.float64)
    return compute_joints(pose[None], database.skeleton.parents)[0]


def make_goal_strokes(trajectory: Sequence[TrajectoryPoint]) -> tuple[Stroke, ...]:
    """Return a desired trajectory as strokes; its points are in the order of their times."""
    points = np.array([(p.x, p.y, 0.0) for p in trajectory])
    ahead = np.array([(np.sin(p.yaw), -np.cos(p.yaw), 0.0) for p in trajectory])
    arrows = (make_arrow("direction", p, d) for p, d in zip(points, ahead, strict=True))
    return Stroke("trajectory", points), *arrows


def _to_rows(feature: Feature, values: Array) -> Array:
    """Return values (T, 3), a row for each time of a feature."""
    rows = np.zeros((values.size // feature.size, 3))
    rows[:, feature.columns] = values.reshape(-1, feature.size)
    return rows

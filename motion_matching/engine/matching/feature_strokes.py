"""The feature vector of a frame as strokes to draw: positions, velocities and the trajectory, and the pose below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..control.trajectory import TrajectoryPoint
from ..maths import quat
from .database import Database
from .features import BONE_KINDS, Feature, role_bone

Array = np.ndarray
VELOCITY = 0.2  # metres drawn for each metre per second: an arrow ends where its bone is a fifth of a second later
DIRECTION = 0.3  # metres that a direction is drawn long
_CROSS = 0.06


class Stroke(NamedTuple):
    """A line through points (P, 3) in metres, in the frame of the simulation bone.

    `kind` is 'body', 'position', 'velocity', 'trajectory' or 'direction'.
    """

    kind: str
    points: Array


def strokes(database: Database, frame: int) -> tuple[Stroke, ...]:
    """What the features of a frame say, over the pose that they are of."""
    places = bones_at(database, frame)
    schema, values = database.schema, database.features[:, frame].astype(np.float64)
    ways = {
        t: p
        for f, at in zip(schema.features, schema.slices, strict=True)
        if f.kind == "trajectory_position"
        for t, p in zip(f.times, _rows(f, values[at]), strict=True)
    }
    drawn = list(_body(database, places))
    if ways:
        ordered = sorted({0.0: np.zeros(3)} | ways)
        drawn.append(Stroke("trajectory", np.array([ways.get(t, np.zeros(3)) for t in ordered])))
    for feature, where in zip(schema.features, schema.slices, strict=True):
        rows = _rows(feature, values[where])
        if feature.kind in BONE_KINDS:
            place = places[role_bone(feature.bone, database.roles, database.skeleton)]
            drawn += _of_bone(feature, rows[0], place)
        else:
            drawn += [
                stroke
                for time, row in zip(feature.times, rows, strict=True)
                for stroke in _of_trajectory(feature, row, ways.get(time, np.zeros(3)))
            ]
    return tuple(drawn)


def bones_at(database: Database, frame: int) -> Array:
    """Where the bones (B, 3) of a frame are in metres, in the frame of its simulation bone."""
    pose, parents = np.asarray(database.poses[frame], np.float64).T, database.skeleton.parents
    rotations, places = pose[:, 3:].copy(), pose[:, :3].copy()
    rotations[0], places[0] = (1.0, 0.0, 0.0, 0.0), 0.0
    for bones in _generations(
        tuple(parents.tolist())
    ):  # one by one would be too slow to go along with playback
        above = parents[bones]
        places[bones] = quat.mul_vec(rotations[above], places[bones]) + places[above]
        rotations[bones] = quat.mul(rotations[above], rotations[bones])
    return places


@lru_cache(maxsize=4)
def _generations(parents: tuple[int, ...]) -> tuple[Array, ...]:
    """Bones with as many others above them, from those below the root on."""
    above: list[int] = []
    for parent in parents:
        above.append(above[parent] + 1 if parent >= 0 else 0)
    return tuple(np.flatnonzero(np.array(above) == k) for k in range(1, max(above) + 1))


def of_wish(trajectory: Sequence[TrajectoryPoint]) -> tuple[Stroke, ...]:
    """A wished trajectory, its points in the order of their times."""
    points = np.array([(p.x, p.y, 0.0) for p in trajectory])
    ahead = np.array([(np.sin(p.yaw), -np.cos(p.yaw), 0.0) for p in trajectory])
    arrows = (
        Stroke("direction", np.array([p, p + DIRECTION * d]))
        for p, d in zip(points, ahead, strict=True)
    )
    return Stroke("trajectory", points), *arrows


def _rows(feature: Feature, values: Array) -> Array:
    """Values (T, 3), a row for each time of a feature."""
    axes = len(feature.axes)
    rows = np.zeros((len(values) // axes, 3))
    rows[:, :axes] = values.reshape(-1, axes)
    return rows


def _body(database: Database, places: Array) -> Iterator[Stroke]:
    for bone, parent in enumerate(database.skeleton.parents.tolist()):
        if parent > 0:
            yield Stroke("body", places[[parent, bone]])


def _of_bone(feature: Feature, value: Array, place: Array) -> list[Stroke]:
    if feature.kind == "bone_velocity":
        return [Stroke("velocity", np.array([place, place + VELOCITY * value]))]
    centre = value if len(feature.axes) == 3 else np.array([*value[:2], place[2]])
    return [Stroke("position", centre + _CROSS * np.outer([-1.0, 1.0], axis)) for axis in np.eye(3)]


def _of_trajectory(feature: Feature, value: Array, place: Array) -> list[Stroke]:
    if feature.kind == "trajectory_position":
        return [
            Stroke("trajectory", value + _CROSS * np.outer([-1.0, 1.0], axis))
            for axis in np.eye(3)[:2]
        ]
    if feature.kind == "trajectory_direction":
        return [Stroke("direction", np.array([place, place + DIRECTION * value]))]
    return [Stroke("velocity", np.array([place, place + VELOCITY * value]))]

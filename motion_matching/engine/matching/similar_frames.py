"""Find the frames of a database that are most like a moving pose, to go on from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np

from ..database.database import Database
from ..database.features.features import compute_features
from ..database.features.kinds.fades import FadeKind
from ..database.features.motion_table import MotionTable
from ..maths.numeric import find_smallest
from ..maths.rotations import quat
from ..performance.start_state import MovingPose
from .numbers import NUMBERS

# weights of the root's velocity and turn: each counts like a typical difference of a feature
_ROOT_SCALE = np.array(
    [NUMBERS.similar_speed, NUMBERS.similar_speed, NUMBERS.similar_turn], np.float32
)


def find_like(database: Database, state: MovingPose, allowed: np.ndarray) -> np.ndarray:
    """Return the frames among `allowed` whose features of bones and velocity are nearest."""
    times = np.arange(-2, 3) / database.fps
    is_known = bool(np.isfinite(state.root).all())
    local = np.stack([state.advance(t) for t in times]).transpose(0, 2, 1)
    track = times[:, None] * np.nan_to_num(state.root)
    track[:, :2] = local[:, 0, :2]
    ends = np.array([0]), np.array([len(times)]), np.array([False])
    db = database if is_known else _compare_positions(database)
    unknown = np.zeros((len(times), len(db.roles.legs)), bool)
    body = db.skeleton, db.roles, db.fps
    table = MotionTable(*body, local[..., :3], local[..., 3:], track, *ends, unknown)
    values = compute_features(db.schema, table)[:, 2]
    counts = attrgetter("is_of_moving_pose" if is_known else "is_of_pose")
    known = [
        np.full(feature.size, time == 0.0 and counts(feature.definition))
        for feature in db.schema.features
        for time in feature.times or (0.0,)
    ]
    dims = np.flatnonzero(np.concatenate(known) & db.normalization.varies)
    scale = 1.0 / db.normalization.deviation[dims]
    away = (np.asarray(db.features)[dims][:, allowed] - values[dims, None]) * scale[:, None]
    cost = np.einsum("df,df->f", away, away)
    if is_known:
        slower = (db.root_motion[allowed].astype(np.float32) - state.root) / _ROOT_SCALE
        cost += np.einsum("fc,fc->f", slower, slower)
    return allowed[find_smallest(cost, NUMBERS.similar_candidates)]


def compare_bodies(
    database: Database, state: MovingPose, others: Sequence[MovingPose]
) -> np.ndarray:
    """Return the distance of all joints of others (K,) from those of a state, now and soon."""
    seconds = 1.0 / database.fps
    cost = np.zeros(len(others))
    states = [state, *others]
    if np.isnan(state.root).any():
        states = [each._replace(root=state.root) for each in states]
    joints = []
    for moved in (0.0, seconds):
        poses = np.stack([each.advance(moved) for each in states])
        joints.append(quat.compute_world(poses, database.skeleton.parents)[1])
    velocities = (joints[1] - joints[0]) / seconds
    for now, weight in ((joints[0], 1.0), (velocities, NUMBERS.similar_velocities)):
        away = weight * (now[1:] - now[:1])
        cost += np.einsum("fbc,fbc->f", away, away)
    return cost


def _compare_positions(database: Database) -> Database:
    """Return a database whose features omit velocities where they include them."""
    schema = database.schema
    if not any(isinstance(feature.definition, FadeKind) for feature in schema.features):
        return database
    positions = tuple(
        replace(feature, kind="bone_position", time=0.0)
        for feature in schema.features
        if feature.definition.is_of_pose or isinstance(feature.definition, FadeKind)
    )
    return database.with_schema(replace(schema, features=positions))

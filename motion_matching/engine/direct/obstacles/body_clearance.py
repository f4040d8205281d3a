"""Measure how deep a body enters obstacles, by capsules along trunk, head and legs."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ...control.rollout import Take
from ...database.database import Database
from ...maths.rotations import quat
from ..numbers import NUMBERS
from .obstruction import Obstruction


class Capsule(NamedTuple):
    """A part of a body: its name, the bones at the ends of its axis, and its radius in metres."""

    name: str
    start: int
    stop: int
    radius: float


class Entry(NamedTuple):
    """Ticks (N,) at which a body is inside an obstacle, the depth in metres, and the part."""

    ticks: np.ndarray
    depth: float
    part: str


def list_capsules(database: Database) -> list[Capsule]:
    """Return trunk, head and legs of a body."""
    roles = database.roles
    size = database.scale.length
    up = database.skeleton.get_chain_to_root(roles.spine if roles.head is None else roles.head)
    chain = up[up.index(roles.hips) :: -1] if roles.hips in up else up[::-1]
    capsules = [
        Capsule("trunk", a, b, NUMBERS.trunk_radius * size) for a, b in itertools.pairwise(chain)
    ]
    if capsules and roles.head is not None:
        capsules[-1] = capsules[-1]._replace(name="head", radius=NUMBERS.head_radius * size)
    radii = {
        "thigh": NUMBERS.thigh_radius,
        "shin": NUMBERS.shin_radius,
        "foot": NUMBERS.foot_radius,
    }
    for name, bones in zip(roles.leg_names, roles.leg_bones, strict=True):
        capsules += [
            Capsule(f"{name} {part}", bones[k], bones[k + 1], radius * size)
            for k, (part, radius) in enumerate(radii.items())
        ]
    return capsules


class BodyDepths:
    """Depths (T, C) in metres of the capsules of a take inside obstacles."""

    def __init__(self, take: Take, database: Database, obstruction: Obstruction) -> None:
        capsules = list_capsules(database)
        self._names = [capsule.name for capsule in capsules]
        self._entered = NUMBERS.entered * database.scale.length
        stands = take.poses[:, 2, 0].astype(np.float64)
        self.depths = np.full((take.frame_count, len(capsules)), -np.inf)
        near = _find_near(take, database, obstruction)
        bones = sorted({bone for capsule in capsules for bone in capsule[1:3]})
        joints = take.skeleton.compute_bone_positions(bones, take.poses[near])
        for k, (_, start, stop, radius) in enumerate(capsules if len(near) else ()):
            a, b = joints[:, bones.index(start)], joints[:, bones.index(stop)]
            if stop == database.roles.head:  # its bone begins below it
                b = b + NUMBERS.crown * database.scale.length * quat.normalize_vectors(b - a)
            length = float(np.linalg.norm(b - a, axis=1).max())
            count = max(int(length / (NUMBERS.capsule_step * database.scale.length)) + 1, 2)
            shares = np.linspace(0.0, 1.0, count)[:, None]
            points = a[:, None] + shares * (b - a)[:, None]
            deep = obstruction.measure_depths(points.reshape(-1, 3), np.repeat(stands[near], count))
            self.depths[near, k] = radius + deep.reshape(-1, count).max(axis=1)

    def find_entry(self, first: int, last: int) -> Entry | None:
        """Return where the body is inside an obstacle between two ticks, None if it never is."""
        span = self.depths[first : last + 1]
        ticks = np.flatnonzero((span > self._entered).any(axis=1))
        if not len(ticks):
            return None
        _, part = np.unravel_index(int(np.argmax(span)), span.shape)
        return Entry(first + ticks, float(span.max()), self._names[int(part)])


def _find_near(take: Take, database: Database, obstruction: Obstruction) -> np.ndarray:
    """Return the ticks at which obstacles are within the height of the hips, seen from above."""
    hips = take.skeleton.compute_bone_positions([database.roles.hips], take.poses)[:, 0]
    reach = max(float(hips[:, 2].max() - take.poses[:, 2, 0].min()), 0.0) + 0.1
    return np.flatnonzero(obstruction.measure_distances(hips[:, :2]) < reach)

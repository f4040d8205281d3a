"""The arrays of a database from parts that are ready: ranges, velocities, contacts, limits and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ..maths import quat
from ..motion import rig
from ..motion.clip import Clip
from ..motion.contacts import ContactSettings, find_contacts
from .database import Database, Range
from .features import MotionTable, angular_velocity, compute, differentiate
from .parts import Part, bias_of, tag_bits
from .tags import NO_USE

if TYPE_CHECKING:
    from .build import BuildSettings


def assembled(
    parts: Sequence[Part],
    reel: Clip,
    roles: rig.Roles,
    forward: np.ndarray,
    settings: BuildSettings,
) -> Database:
    """The database of parts that lie end to end on a reel, whose hips look `forward` (3,)."""
    skeleton = reel.skeleton
    roles = rig.Roles.from_names(skeleton, roles.to_names(parts[0].clip.skeleton))
    lengths = np.array([p.clip.frame_count for p in parts])
    stops = np.cumsum(lengths).astype(np.int32)
    starts = (stops - lengths).astype(np.int32)
    track = np.concatenate([np.column_stack([p.track.positions, p.track.yaw]) for p in parts])
    loops = np.array([p.source.loop for p in parts])
    names, tags = tag_bits(parts)
    barred = (
        tags & np.uint32(1 << names.index(NO_USE)) > 0
        if NO_USE in names
        else np.zeros(len(tags), bool)
    )
    table = MotionTable(
        skeleton, roles, reel.fps, reel.positions, reel.rotations, track, starts, stops, loops
    )
    velocities = _velocities(table)
    return Database(
        skeleton=skeleton,
        roles=roles,
        hips_forward=tuple(float(c) for c in forward),  # type: ignore[arg-type]
        fps=reel.fps,
        schema=settings.schema,
        ranges=tuple(
            Range(p.source.name, p.mirrored, float(p.source.start or 0), p.step, p.source.loop)
            for p in parts
        ),
        starts=starts,
        stops=stops,
        poses=_component_first(reel.positions, reel.rotations),
        velocities=velocities,
        track=track,
        contacts=_contacts(reel, roles, starts, stops, settings.contacts),
        limits=_acceleration_limits(velocities, reel.fps, stops, barred),
        tags=tags,
        bias=bias_of(parts),
        features=compute(settings.schema, table),
        tag_names=names,
        settings={
            "simulation_bone": asdict(settings.simulation_bone),
            "contacts": asdict(settings.contacts),
            "auto_tags": settings.auto_tags and asdict(settings.auto_tags),
        },
    )


def _component_first(*arrays: np.ndarray) -> np.ndarray:
    """Arrays (N, B, k) stacked to one (N, sum of k, B), contiguous float32: a frame is one read."""
    return np.ascontiguousarray(
        np.concatenate([a.transpose(0, 2, 1) for a in arrays], axis=1), np.float32
    )


def _velocities(table: MotionTable) -> np.ndarray:
    """Linear and angular velocities (N, 6, B); the simulation bone, in the world, does not come back in a loop."""
    linear, angular = (
        differentiate(table.positions, table),
        angular_velocity(table.rotations, table),
    )
    linear[:, 0] = differentiate(table.positions[:, 0], table, cyclic=False)
    angular[:, 0] = angular_velocity(table.rotations[:, 0], table, cyclic=False)
    return _component_first(linear, angular)


def _acceleration_limits(
    velocities: np.ndarray, fps: float, stops: np.ndarray, barred: np.ndarray
) -> np.ndarray:
    """Largest linear and angular acceleration (2, B) of every bone, relative to its parent, inside any range.

    Frames that are `barred` (N,) have no say.
    """
    squares = np.diff(velocities, axis=0) ** 2
    squares[stops[:-1] - 1] = 0
    squares[barred[:-1] | barred[1:]] = 0
    both = squares.reshape(len(squares), 2, 3, -1).sum(axis=2)
    return (np.sqrt(both.max(axis=0)) * fps).astype(np.float32)


def _contacts(
    reel: Clip, roles: rig.Roles, starts: np.ndarray, stops: np.ndarray, settings: ContactSettings
) -> np.ndarray:
    """Contacts (N, L) of every leg's toe, each range by itself."""
    toes = np.stack([_world_position(reel, leg.toe) for leg in roles.legs], axis=1)
    return np.concatenate(
        [find_contacts(toes[a:b], reel.fps, settings) for a, b in zip(starts, stops, strict=True)]
    )


def _world_position(clip: Clip, bone: int) -> np.ndarray:
    position = clip.positions[:, bone].astype(np.float64)
    for parent in clip.skeleton.ancestors(bone):
        position = quat.mul_vec(clip.rotations[:, parent], position) + clip.positions[:, parent]
    return position

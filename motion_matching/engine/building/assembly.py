"""Assemble the arrays of a database from parts: ranges, velocities, contacts, limits, features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ..body import rig
from ..body.toe_ends import measure_leg_lengths
from ..database.database import Database, Range, RangeSource
from ..database.features.features import compute_features
from ..database.features.motion_table import MotionTable, compute_angular_velocity, differentiate
from ..database.limits import measure_limits, measure_peaks
from ..database.tags.tags import find_unused
from ..motion.clip import Clip
from ..motion.contacts import ContactSettings, find_contacts
from ..sources.climbs import OwnGround, lower_feet
from ..sources.reel import ReelPart, compute_bias, compute_tag_bits

if TYPE_CHECKING:
    from .build import BuildSettings


def assemble(
    parts: Sequence[ReelPart],
    reel: Clip,
    roles: rig.Roles,
    forward: np.ndarray,
    settings: BuildSettings,
) -> Database:
    """Return the database of parts that lie end to end on a reel; hips face `forward` (3,)."""
    skeleton = reel.skeleton
    roles = rig.Roles.from_names(skeleton, roles.to_names(parts[0].clip.skeleton))
    ground = _join_grounds(parts, len(roles.legs))
    reel = lower_feet(reel, roles, ground.footing, ground.tilts) if ground else reel
    lengths = np.array([p.clip.frame_count for p in parts])
    stops = np.cumsum(lengths).astype(np.int32)
    starts = (stops - lengths).astype(np.int32)
    track = np.concatenate([p.track.rows for p in parts])
    loops = np.array([p.source.loop for p in parts])
    tagged = [part.tagged for part in parts]
    names, tags = compute_tag_bits(tagged)
    contacts = _find_toe_contacts(reel, roles, starts, stops, settings.contacts)
    local = reel.positions, reel.rotations
    heights = ground.heights if ground else None
    of_ranges = track, starts, stops, loops, contacts
    table = MotionTable(skeleton, roles, reel.fps, *local, *of_ranges, heights)
    velocities = _compute_velocities(table)
    schema = settings.schema.with_all_legs(roles.leg_names)
    schema = schema.with_heights() if ground else schema
    x, y, z = map(float, forward)
    return Database(
        skeleton=skeleton,
        roles=roles,
        hips_forward=(x, y, z),
        fps=reel.fps,
        schema=schema,
        ranges=tuple(
            Range(
                p.source.name,
                p.mirrored,
                float(p.source.start or 0),
                p.step,
                p.source.loop,
                p.tempo,
            )
            for p in parts
        ),
        starts=starts,
        stops=stops,
        poses=_stack_component_first(reel.positions, reel.rotations),
        velocities=velocities,
        track=track,
        contacts=contacts,
        limits=measure_limits(
            velocities, reel.fps, stops, find_unused(names, tags), measure_peaks(velocities, stops)
        ),
        tags=tags,
        bias=compute_bias(tagged),
        features=compute_features(schema, table),
        ground=heights,
        footing=ground.footing if ground else None,
        tag_names=names,
        range_sources=tuple(
            RangeSource(p.source.key, p.source_frames, p.cycle, p.closing) for p in parts
        ),
        settings={
            "simulation_bone": asdict(settings.simulation_bone),
            "contacts": asdict(settings.contacts),
            "auto_tags": settings.auto_tags and asdict(settings.auto_tags),
        },
    )


def _join_grounds(parts: Sequence[ReelPart], legs: int) -> OwnGround | None:
    """Return the ground of all parts end to end, level below those without one; or None."""
    if not any(part.ground for part in parts):
        return None
    level = [np.zeros((part.clip.frame_count, 1 + 2 * legs)) for part in parts]
    rows = [
        np.column_stack([own.heights, own.footing, own.tilts]) if (own := part.ground) else none
        for part, none in zip(parts, level, strict=True)
    ]
    ground = np.concatenate(rows).astype(np.float32)
    return OwnGround(ground[:, 0], ground[:, 1 : 1 + legs], ground[:, 1 + legs :])


def _stack_component_first(*arrays: np.ndarray) -> np.ndarray:
    """Stack arrays (N, B, k) to one (N, sum of k, B), contiguous float32: a frame is one read."""
    return np.ascontiguousarray(
        np.concatenate([a.transpose(0, 2, 1) for a in arrays], axis=1), np.float32
    )


def _compute_velocities(table: MotionTable) -> np.ndarray:
    """Return linear and angular velocities (N, 6, B); loops close, except the simulation bone."""
    linear = differentiate(table.positions, table)
    angular = compute_angular_velocity(table.rotations, table)
    linear[:, 0] = differentiate(table.positions[:, 0], table, cyclic=False)
    angular[:, 0] = compute_angular_velocity(table.rotations[:, 0], table, cyclic=False)
    return _stack_component_first(linear, angular)


def _find_toe_contacts(
    reel: Clip, roles: rig.Roles, starts: np.ndarray, stops: np.ndarray, settings: ContactSettings
) -> np.ndarray:
    """Find the contacts (N, L) of every leg's toe, range by range."""
    compute = reel.skeleton.compute_bone_position
    local = (reel.rotations, reel.positions)
    toes = np.stack([compute(leg.toe, *local) for leg in roles.legs], axis=1)
    lengths = measure_leg_lengths(reel.skeleton.compute_rest_world()[1][None], roles)
    spans = zip(starts, stops, strict=True)
    return np.concatenate([find_contacts(toes[a:b], reel.fps, settings, lengths) for a, b in spans])

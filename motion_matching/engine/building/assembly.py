"""Assemble the arrays of a database from parts: ranges, velocities, contacts, limits, features.

Some ranges at a time are laid on the reel, and their clips let go: a build needs little more memory
than the database itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ..body import rig
from ..database.database import Database, Range, RangeSource
from ..database.features.motion_table import MotionTable
from ..database.limits import measure_limits, measure_peaks
from ..database.tags.tags import find_unused
from ..motion.simulation_bone import add_bone
from ..progress import ReportShare
from ..skeleton.skeleton import Skeleton
from ..sources.climbs import OwnGround
from ..sources.reel import ReelPart, compute_bias, compute_tag_bits
from .laying import Reel, ReelBody

if TYPE_CHECKING:
    from .build import BuildSettings


def assemble(
    parts: list[ReelPart], body: ReelBody, settings: BuildSettings, notify: ReportShare
) -> Database:
    """Return the database of parts that lie end to end on a reel.

    The list is emptied: each clip is let go once its frames are in the database.
    """
    bare = parts[0].clip.skeleton
    skeleton = add_bone(bare, body.roles.hips)
    roles = rig.Roles.from_names(skeleton, body.roles.to_names(bare))
    ground = _join_grounds(parts, len(roles.legs))
    schema = settings.schema.with_all_legs(roles.leg_names)
    schema = schema.with_heights() if ground else schema
    tagged = [part.tagged for part in parts]
    names, tags = compute_tag_bits(tagged)
    ranges = tuple(map(_make_range, parts))
    origins = tuple(map(_make_range_source, parts))
    reel = Reel.from_table(_make_table(parts, skeleton, roles, ground), schema)
    clips = deque((part.clip, part.mirrored) for part in parts)
    parts.clear()
    reel.fill(clips, body, ground, settings.contacts, notify)
    table = reel.table
    peaks = measure_peaks(reel.velocities, table.stops)
    unused = find_unused(names, tags)
    x, y, z = map(float, body.forward)
    return Database(
        skeleton=skeleton,
        roles=roles,
        hips_forward=(x, y, z),
        fps=table.fps,
        schema=schema,
        ranges=ranges,
        starts=table.starts,
        stops=table.stops,
        poses=reel.poses,
        velocities=reel.velocities,
        track=table.track,
        contacts=table.contacts,
        limits=measure_limits(reel.velocities, table.fps, table.stops, unused, peaks),
        tags=tags,
        bias=compute_bias(tagged),
        features=reel.features,
        ground=table.ground,
        footing=ground.footing if ground else None,
        tag_names=names,
        range_sources=origins,
        settings={
            "simulation_bone": asdict(settings.simulation_bone),
            "contacts": asdict(settings.contacts),
            "auto_tags": settings.auto_tags and asdict(settings.auto_tags),
        },
    )


def _make_range(part: ReelPart) -> Range:
    first = float(part.source.start or 0)
    return Range(part.source.name, part.mirrored, first, part.step, part.source.loop, part.tempo)


def _make_range_source(part: ReelPart) -> RangeSource:
    return RangeSource(part.source.key, part.source_frames, part.cycle, part.closing)


def _make_table(
    parts: Sequence[ReelPart], skeleton: Skeleton, roles: rig.Roles, ground: OwnGround | None
) -> MotionTable:
    """Return the table of parts, still without poses and contacts."""
    lengths = np.array([part.clip.frame_count for part in parts])
    stops = np.cumsum(lengths).astype(np.int32)
    none = np.empty(0)
    return MotionTable(
        skeleton,
        roles,
        parts[0].clip.fps,
        positions=none,
        rotations=none,
        track=np.concatenate([part.track.rows for part in parts]),
        starts=(stops - lengths).astype(np.int32),
        stops=stops,
        loops=np.array([part.source.loop for part in parts]),
        contacts=none,
        ground=ground.heights if ground else None,
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

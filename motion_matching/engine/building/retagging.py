"""Put other tags on a database, like a build with them, but without reading the sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..database.database import Database
from ..database.limits import measure_limits
from ..database.tags.tags import NO_USE, TagRange, find_unused
from ..database.tags.thresholds import AutoTagSettings
from ..errors import DatabaseError
from ..facts.bearing import WalkBearing
from ..facts.character import measure_character_gaze, measure_character_legs
from ..facts.idles import find_standing
from ..facts.postures import find_all_odd_postures
from ..facts.stances import StanceScore
from ..motion.simulation_bone import GroundTrack
from ..sources import reel
from ..sources.reel import (
    BuildNote,
    TaggedRange,
    check_tag_count,
    compute_bias,
    compute_tag_bits,
    propose_tags,
    select_tags,
)
from .build import check_distinct
from .unmended import find_unmended

# results that do not depend on the tags of frames
_WHATEVER_TAGS = (
    StanceScore,
    find_all_odd_postures,
    find_standing,
    find_unmended,
    measure_character_gaze,
    measure_character_legs,
)

SourceTags = Mapping[str, tuple[TagRange, ...]]  # by the key of a source


def can_retag(database: Database) -> bool:
    """Return whether a database can get other tags; files of earlier versions cannot."""
    return database.range_sources is not None


def retag(
    database: Database, tags: SourceTags, auto_tags: AutoTagSettings | None = None
) -> Database:
    """Return a database with the tags of its sources.

    Loops stay. With `auto_tags`, tags are also proposed from the motion. Raises DatabaseError if
    the database lacks a source, for more than 32 tags, and as a build does.
    """
    tagged = _tag_ranges(database, tags, auto_tags)
    names, bits = compute_tag_bits(tagged)
    settings = database.settings | {"auto_tags": auto_tags and asdict(auto_tags)}
    return _put_bits(database, names, bits, compute_bias(tagged), settings)


def exclude(database: Database, frames: np.ndarray) -> Database:
    """Return a database with frames (N,) also tagged 'no_use'.

    Raises DatabaseError for more than 32 tags, and if nothing is left to play.
    """
    if not frames.any():
        return database
    names = tuple(sorted({*database.tag_names, NO_USE}))
    check_tag_count(names)
    bits = np.zeros(database.frame_count, np.uint32)
    for number, name in enumerate(names):
        carries = database.find_reserved(name)
        if name == NO_USE:
            carries = carries | frames
        bits |= carries.astype(np.uint32) << np.uint32(number)
    return _put_bits(database, names, bits, database.bias, database.settings)


def _put_bits(
    database: Database,
    names: tuple[str, ...],
    bits: np.ndarray,
    bias: np.ndarray,
    settings: dict[str, Any],
) -> Database:
    """Return the same motion with other tags, and the results that do not depend on tags.

    They are `bits` (N,) of names; `bias` (N,) and `settings` are those of a build.
    """
    unused = find_unused(names, bits)
    limits = database.limits
    if not np.array_equal(unused, ~database.playable):
        velocities = np.asarray(database.velocities)
        limits = measure_limits(velocities, database.fps, database.stops, unused, database.peaks)
    result = database.with_tags(bits, names, bias, limits, settings)
    result.keep(database, _WHATEVER_TAGS)
    if np.array_equal(result.playable, database.playable):
        result.keep(database, (WalkBearing,))
    if unused.any():
        check_distinct(result)
    return result


def find_idle_tags(database: Database, tags: SourceTags) -> tuple[BuildNote, ...]:
    """Return a build's warnings about tags that cover no frame of their clip."""
    pairs = zip(_tag_ranges(database, tags, None), database.ranges, strict=True)
    return tuple(
        reel.find_idle_tags(
            [(origin.clip, tagged) for tagged, origin in pairs if not tagged.mirrored]
        )
    )


def _tag_ranges(
    database: Database, tags: SourceTags, auto_tags: AutoTagSettings | None
) -> list[TaggedRange]:
    """Return the tags on each range; a mirrored range has its original's."""
    result: list[TaggedRange] = []
    originals: dict[tuple[object, ...], tuple[TagRange, ...]] = {}
    counts = (database.stops - database.starts).tolist()
    auto_tags = auto_tags and auto_tags.at_pace(database.pace)
    for index, (origin, source) in enumerate(
        zip(database.ranges, database.range_sources or (), strict=True)
    ):
        first = origin.first_source_frame
        step = origin.source_frames_per_frame
        place = source.key, first, source.frames, source.cycle, origin.tempo
        if source.key not in tags:
            raise DatabaseError(f"The database has another source '{origin.clip}'; build it again.")
        if not origin.mirrored:
            own: Sequence[TagRange] = tags[source.key]
            if source.cycle or not origin.loop:
                own = select_tags(own, int(first), source.frames, cycle=source.cycle)
            if auto_tags:
                track = _get_track(database, index)
                own = (*own, *propose_tags(track, database.fps, first, step, auto_tags))
            originals[place] = tuple(own)
        result.append(TaggedRange(originals[place], first, step, counts[index], origin.mirrored))
    return result


def _get_track(database: Database, index: int) -> GroundTrack:
    """Return the track of a range as it was built, for loops with their closing frame."""
    rows = np.asarray(database.track[database.starts[index] : database.stops[index]])
    closing = (database.range_sources or ())[index].closing
    if closing is not None:
        rows = np.concatenate([rows, [closing]])
    return GroundTrack.from_rows(rows)

"""Sources on their way into a database: their frames on the reel, and the tags of these frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import DatabaseError
from ..motion import bone_names
from ..motion.clip import Clip
from ..motion.simulation_bone import GroundTrack
from .auto_tags import propose
from .sources import Source
from .tags import LOOP, TagRange
from .thresholds import AutoTagSettings


@dataclass(frozen=True)
class ReelPart:
    """A source on the reel, in frames of the database; `step` source frames pass in each."""

    source: Source
    clip: Clip
    step: float
    track: GroundTrack
    mirrored: bool = False


def add_cycles(sources: Sequence[Source], clips: Sequence[Clip]) -> tuple[list[Source], list[Clip]]:
    """Return sources and clips, with each range that is tagged as a loop as a source of its own."""
    all_sources, all_clips = [], []
    for source, clip in zip(sources, clips, strict=True):
        covered = {tag: _find_tag_frames(tag, source, clip) for tag in source.tags}
        cycles = {
            tag: frames
            for tag, frames in covered.items()
            if frames and tag.name == LOOP and not source.loop
        }
        others = tuple(tag for tag in source.tags if tag not in cycles)
        all_sources.append(replace(source, tags=others))
        all_clips.append(clip)
        for frames in cycles.values():
            start, stop = frames.start - (source.start or 0), frames.stop - (source.start or 0)
            track = source.track and source.track.crop(start, stop)
            cycle = replace(source, start=frames.start, stop=frames.stop, loop=True, track=track)
            piece = clip.crop(start, stop)
            tags = tuple(tag for tag in source.tags if _find_tag_frames(tag, cycle, piece))
            all_sources.append(replace(cycle, tags=tags))
            all_clips.append(piece)
    return all_sources, all_clips


def _find_tag_frames(tag: TagRange, source: Source, clip: Clip) -> range:
    """Return the frames of a source that a tag covers, of those that are used."""
    first = source.start or 0
    last = first + clip.frame_count
    return range(max(tag.start or 0, first), last if tag.stop is None else min(tag.stop, last))


def propose_part_tags(part: ReelPart, settings: AutoTagSettings) -> tuple[TagRange, ...]:
    """Propose tags from the track of a part, in frames of its source."""
    first = part.source.start or 0
    return tuple(
        TagRange(name, *(math.ceil(first + frame * part.step - 1e-6) for frame in (start, stop)))
        for name, start, stop in propose(part.track, part.clip.fps, settings)
    )


def add_proposals(
    parts: Sequence[ReelPart], settings: AutoTagSettings
) -> tuple[list[ReelPart], dict[str, tuple[TagRange, ...]]]:
    """Add the tags proposed from their tracks to parts; return them by clip, without cycles."""
    tagged_parts: list[ReelPart] = []
    by_clip: dict[str, tuple[TagRange, ...]] = {}
    for part in parts:
        source, tags = part.source, propose_part_tags(part, settings)
        tagged_parts.append(replace(part, source=replace(source, tags=(*source.tags, *tags))))
        if not any(tag.name == LOOP for tag in source.tags):
            by_clip[source.name] = by_clip.get(source.name, ()) + tags
    return tagged_parts, by_clip


def make_tag_mask(part: ReelPart, tag: TagRange) -> np.ndarray:
    """Return which frames (F,) of a part a tag of its source covers."""
    frames = (part.source.start or 0) + np.arange(part.clip.frame_count) * part.step + 1e-6
    return (frames >= (tag.start or 0)) & (frames < (np.inf if tag.stop is None else tag.stop))


def compute_tag_bits(parts: Sequence[ReelPart]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of all tags, and their bits (N,); mirrored parts swap sides.

    Raises DatabaseError for more than 32 tags.
    """

    def get_tag_name(part: ReelPart, tag: TagRange) -> str:
        return bone_names.swap_sides(tag.name) if part.mirrored else tag.name

    names = tuple(sorted({get_tag_name(p, t) for p in parts for t in p.source.tags}))
    if len(names) > 32:
        raise DatabaseError(
            f"The sources carry {len(names)} different tags, but a database holds only 32; merge "
            "some."
        )
    bits = []
    for part in parts:
        frames = np.zeros(part.clip.frame_count, np.uint32)
        for tag in part.source.tags:
            frames[make_tag_mask(part, tag)] |= np.uint32(1 << names.index(get_tag_name(part, tag)))
        bits.append(frames)
    return names, np.concatenate(bits)


def compute_bias(parts: Sequence[ReelPart]) -> np.ndarray:
    """Return what is added to the cost of every frame (N,); overlapping preferences add up."""
    costs = []
    for part in parts:
        costs.append(np.zeros(part.clip.frame_count, np.float32))
        for tag in part.source.tags:
            costs[-1][make_tag_mask(part, tag)] += np.float32(tag.cost)
    return np.concatenate(costs)

"""Sources on their way into a database: what each becomes on the reel, and the tags of its frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import DatabaseError
from ..motion import mirror
from ..motion.clip import Clip
from ..motion.simulation_bone import GroundTrack
from .auto_tags import propose
from .sources import Source
from .tags import LOOP, TagRange
from .thresholds import AutoTagSettings


@dataclass(frozen=True)
class Part:
    """A source on the reel, in frames of the database; `step` is how many frames of the source one of them is."""

    source: Source
    clip: Clip
    step: float
    track: GroundTrack
    mirrored: bool = False


def with_cycles(
    sources: Sequence[Source], clips: Sequence[Clip]
) -> tuple[list[Source], list[Clip]]:
    """Sources and their clips, and each range of theirs that is tagged as a loop as a cycle of its own."""
    all_sources, all_clips = [], []
    for source, clip in zip(sources, clips, strict=True):
        cycles = {
            tag: frames
            for tag in source.tags
            if tag.name == LOOP and not source.loop and (frames := _frames_of(tag, source, clip))
        }
        all_sources.append(
            replace(source, tags=tuple(tag for tag in source.tags if tag not in cycles))
        )
        all_clips.append(clip)
        for frames in cycles.values():
            start, stop = frames.start - (source.start or 0), frames.stop - (source.start or 0)
            track = source.track and source.track.sliced(start, stop)
            cycle = replace(source, start=frames.start, stop=frames.stop, loop=True, track=track)
            piece = clip.sliced(start, stop)
            tags = tuple(tag for tag in source.tags if _frames_of(tag, cycle, piece))
            all_sources.append(replace(cycle, tags=tags))
            all_clips.append(piece)
    return all_sources, all_clips


def _frames_of(tag: TagRange, source: Source, clip: Clip) -> range:
    """The source frames that a tag lies on, of those that are taken."""
    first = source.start or 0
    last = first + clip.frame_count
    return range(max(tag.start or 0, first), last if tag.stop is None else min(tag.stop, last))


def proposals(part: Part, settings: AutoTagSettings) -> tuple[TagRange, ...]:
    """Tags proposed from the track of a part, in frames of its source."""
    first = part.source.start or 0
    return tuple(
        TagRange(name, *(math.ceil(first + frame * part.step - 1e-6) for frame in (start, stop)))
        for name, start, stop in propose(part.track, part.clip.fps, settings)
    )


def with_proposals(
    parts: Sequence[Part], settings: AutoTagSettings
) -> tuple[list[Part], dict[str, tuple[TagRange, ...]]]:
    """Parts with tags proposed from their tracks, in frames of their sources, and these by clip without its cycles."""
    tagged_parts: list[Part] = []
    by_clip: dict[str, tuple[TagRange, ...]] = {}
    for part in parts:
        tags = proposals(part, settings)
        tagged_parts.append(
            replace(part, source=replace(part.source, tags=(*part.source.tags, *tags)))
        )
        if not any(tag.name == LOOP for tag in part.source.tags):
            by_clip[part.source.name] = by_clip.get(part.source.name, ()) + tags
    return tagged_parts, by_clip


def tagged(part: Part, tag: TagRange) -> np.ndarray:
    """Frames (F,) of a part that carry a tag of its source."""
    shown = (part.source.start or 0) + np.arange(part.clip.frame_count) * part.step + 1e-6
    return (shown >= (tag.start or 0)) & (shown < (np.inf if tag.stop is None else tag.stop))


def tag_bits(parts: Sequence[Part]) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of all tags, and their bits per frame; a mirrored part carries them with the sides swapped."""

    def name_in(part: Part, tag: TagRange) -> str:
        return mirror.swap_side_tags([tag.name])[0] if part.mirrored else tag.name

    names = tuple(sorted({name_in(p, t) for p in parts for t in p.source.tags}))
    if len(names) > 32:
        raise DatabaseError(
            f"The sources carry {len(names)} different tags and a database holds 32; merge some."
        )
    bits = []
    for part in parts:
        frames = np.zeros(part.clip.frame_count, np.uint32)
        for tag in part.source.tags:
            frames[tagged(part, tag)] |= np.uint32(1 << names.index(name_in(part, tag)))
        bits.append(frames)
    return names, np.concatenate(bits)


def bias_of(parts: Sequence[Part]) -> np.ndarray:
    """What is added to the cost of every frame (N,); preferences that overlap add up."""
    return np.concatenate(
        [
            sum(
                (np.float32(tag.cost) * tagged(part, tag) for tag in part.source.tags if tag.cost),
                np.zeros(part.clip.frame_count, np.float32),
            )
            for part in parts
        ]
    )

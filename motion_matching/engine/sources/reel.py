"""Lay sources on the reel of a database: their frames, and the tags of these frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..database.tags.auto_tags import propose
from ..database.tags.tags import LOOP, TagRange, find_source_frame
from ..database.tags.thresholds import AutoTagSettings
from ..errors import DatabaseError
from ..ground.ground import Ground
from ..motion.clip import Clip
from ..motion.simulation_bone import GroundTrack
from ..skeleton import bone_names
from .climbs import OwnGround
from .sources import Source

# kinds of notes on faults kept by a setting of the source or the build
KEPT_FRAMES = "kept frames"
KEPT_FLOOR = "kept floor"
# and on a ground that rises or falls, and on one that was given and does not fit
SLOPE = "slope"
GIVEN_GROUND = "ground"
_MOST_TAGS = 32  # the bits of a frame


class BuildNote(NamedTuple):
    """A note on a source: the reason why it is left out, or a sentence.

    Of a source left out, the `kind` is "unreadable", "short" or "skeleton". Of a sentence, it is
    "file" (assumptions made to read it), "root", "size", "axes", "floor", `SLOPE`, `GIVEN_GROUND`,
    "loop", "tag", "in place", "units", "body", `KEPT_FRAMES`, `KEPT_FLOOR`, or a kind of
    `source_doctor.Finding`.
    """

    source: str
    text: str
    kind: str


class Fault(NamedTuple):
    """A fault of a source's floor, and the remedy; "" if it is only reported."""

    source: str
    what: str
    deed: str
    advice: str = ""
    kind: str = "floor"

    def describe(self) -> BuildNote:
        # climbing is reported in a line, because nothing is wrong with it
        deed = f", so it was {self.deed}" if self.deed and self.kind != SLOPE else ""
        advice = f"; {self.advice}" if self.advice else ""
        return BuildNote(self.source, f"{self.what}{deed}{advice}.", self.kind)

    def describe_kept(self) -> BuildNote:
        text = f"{self.what}; it was kept as it is, and would be {self.deed} otherwise."
        return BuildNote(self.source, text, KEPT_FLOOR)


@dataclass(frozen=True)
class ReelPart:
    """A source on the reel, in frames of the database; `step` source frames pass in each.

    A `cycle` is a range of its source tagged as a loop. `source_frames` is the count of its clip
    before resampling. A loop's last row of the track is in `closing` once it is dropped. It is on
    the `floor` that its source gives, in its own size; a clip that climbs has its own `ground`. A
    copy plays at a `tempo` of the speed. The clip of a `mirrored` part is that of its original.
    """

    source: Source
    clip: Clip
    step: float
    track: GroundTrack
    source_frames: int
    cycle: bool = False
    mirrored: bool = False
    closing: tuple[float, float, float] | None = None
    ground: OwnGround | None = None
    floor: Ground | None = None
    tempo: float = 1.0

    @property
    def is_copy(self) -> bool:
        """Whether it shows the motion of another part at another speed."""
        return self.tempo != 1.0

    @property
    def tagged(self) -> TaggedRange:
        """The tags on its frames."""
        first = self.source.start or 0
        tags = self.source.tags
        return TaggedRange(tags, first, self.step, self.clip.frame_count, self.mirrored)


@dataclass(frozen=True)
class TaggedRange:
    """Tags on `count` frames of a database: source frames from `first` on, `step` in each."""

    tags: tuple[TagRange, ...]
    first: float
    step: float
    count: int
    mirrored: bool

    def get_slice(self, tag: TagRange) -> slice:
        """Return the frames that a tag covers."""
        start = self._count_before(tag.start or 0)
        return slice(start, self.count if tag.stop is None else self._count_before(tag.stop))

    def _count_before(self, frame: int) -> int:
        """Return how many frames come before a source frame."""
        index = max(math.ceil((frame - self.first - 1e-6) / self.step), 0)
        # the quotient is rounded, because the place of a frame counts
        while index > 0 and self.first + (index - 1) * self.step + 1e-6 >= frame:
            index -= 1
        while index < self.count and self.first + index * self.step + 1e-6 < frame:
            index += 1
        return min(index, self.count)

    def get_name(self, tag: TagRange) -> str:
        """Return the tag's name here: mirrored frames swap sides."""
        return bone_names.swap_sides(tag.name) if self.mirrored else tag.name


def add_cycles(sources: Sequence[Source], clips: Sequence[Clip]) -> list[tuple[Source, Clip, bool]]:
    """Return sources and clips, with each range tagged as a loop added as a source.

    The last value says whether each is such a cycle.
    """
    result: list[tuple[Source, Clip, bool]] = []
    for source, clip in zip(sources, clips, strict=True):
        first = source.start or 0
        count = clip.frame_count
        tags = source.tags
        others = tags if source.loop else select_tags(tags, first, count, cycle=False)
        result.append((replace(source, tags=others), clip, False))
        for tag in dict.fromkeys(tag for tag in tags if tag not in others):
            frames = _find_tag_frames(tag, first, count)
            start, stop = frames.start - first, frames.stop - first
            track = source.track and source.track.crop(start, stop)
            cycle = replace(source, start=frames.start, stop=frames.stop, loop=True, track=track)
            own = select_tags(tags, frames.start, stop - start, cycle=True)
            result.append((replace(cycle, tags=own), clip.crop(start, stop), True))
    return result


def select_tags(
    tags: Sequence[TagRange], first: int, count: int, *, cycle: bool
) -> tuple[TagRange, ...]:
    """Return the tags of a range of `count` source frames from `first` on that is not a loop.

    A cycle has the tags on its frames; other ranges have all except loops that became cycles.
    """
    covers = [bool(_find_tag_frames(tag, first, count)) for tag in tags]
    return tuple(
        tag
        for tag, is_covered in zip(tags, covers, strict=True)
        if (is_covered if cycle else not (is_covered and tag.name == LOOP))
    )


def _find_tag_frames(tag: TagRange, first: int, count: int) -> range:
    """Return the frames that a tag covers of `count` source frames from `first` on."""
    last = first + count
    return range(max(tag.start or 0, first), last if tag.stop is None else min(tag.stop, last))


def propose_part_tags(part: ReelPart, settings: AutoTagSettings) -> tuple[TagRange, ...]:
    """Propose tags from the track of a part, in frames of its source."""
    return propose_tags(part.track, part.clip.fps, part.source.start or 0, part.step, settings)


def propose_tags(
    track: GroundTrack, fps: float, first: float, step: float, settings: AutoTagSettings
) -> tuple[TagRange, ...]:
    """Propose tags from a track, in source frames: `first` is its first, `step` pass in each."""
    return tuple(
        TagRange(name, *(find_source_frame(first, step, frame) for frame in (start, stop)))
        for name, start, stop in propose(track, fps, settings)
    )


def add_proposals(
    parts: Sequence[ReelPart], settings: AutoTagSettings
) -> tuple[list[ReelPart], dict[str, tuple[TagRange, ...]]]:
    """Add the tags proposed from their tracks to parts; return them by clip, without cycles."""
    tagged_parts: list[ReelPart] = []
    by_clip: dict[str, tuple[TagRange, ...]] = {}
    for part in parts:
        source = part.source
        tags = propose_part_tags(part, settings)
        tagged_parts.append(replace(part, source=replace(source, tags=(*source.tags, *tags))))
        if not part.is_copy and not any(tag.name == LOOP for tag in source.tags):
            by_clip[source.name] = by_clip.get(source.name, ()) + tags
    return tagged_parts, by_clip


def find_idle_tags(tagged: Sequence[tuple[str, TaggedRange]]) -> list[BuildNote]:
    """Return notes on tags that cover no frame of their clip; each range comes with its clip."""
    carried = [(clip, part, tag) for clip, part in tagged for tag in part.tags]
    used = {(clip, tag) for clip, part, tag in carried if range(part.count)[part.get_slice(tag)]}
    return [
        BuildNote(
            clip,
            f"The tag '{tag.name}' of '{clip}' covers none of its frames; correct its start and "
            "stop.",
            "tag",
        )
        for clip, tag in dict.fromkeys((clip, tag) for clip, _, tag in carried)
        if (clip, tag) not in used
    ]


def compute_tag_bits(tagged: Sequence[TaggedRange]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of all tags, and their bits (N,); mirrored ranges swap sides.

    Raises DatabaseError for more than 32 tags.
    """
    names = tuple(sorted({r.get_name(tag) for r in tagged for tag in r.tags}))
    check_tag_count(names)
    bits = []
    for r in tagged:
        frames = np.zeros(r.count, np.uint32)
        for tag in r.tags:
            frames[r.get_slice(tag)] |= np.uint32(1 << names.index(r.get_name(tag)))
        bits.append(frames)
    return names, np.concatenate(bits)


def check_tag_count(names: Sequence[str]) -> None:
    """Raise DatabaseError for more tags than the bits of a frame."""
    if len(names) > _MOST_TAGS:
        raise DatabaseError(
            f"The sources carry {len(names)} different tags, but a database holds only "
            f"{_MOST_TAGS}; merge some."
        )


def compute_bias(tagged: Sequence[TaggedRange]) -> np.ndarray:
    """Return the bias (N,) added to the cost of frames; overlapping preferences add up."""
    costs = []
    for r in tagged:
        costs.append(np.zeros(r.count, np.float32))
        for tag in r.tags:
            if tag.cost:
                costs[-1][r.get_slice(tag)] += np.float32(tag.cost)
    return np.concatenate(costs)

"""Mend the frames of sources before a database is built of them, and report the faults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..motion.clip import Clip
from ..sources.reel import KEPT_FRAMES, BuildNote
from ..sources.sources import Source
from .numbers import NUMBERS
from .source_doctor import Finding, examine, mend

# remedy: done, possible, or done unless frames are kept; for one frame, and for several
_DEEDS = {
    "cut": ("so it was left out", "so they were left out"),
    "fill": ("so it was interpolated", "so they were interpolated"),
    "split": ("so no motion is played across it", "so no motion is played across them"),
}
_CURES = {
    "cut": ("to leave it out", "to leave them out"),
    "fill": ("to interpolate it", "to interpolate them"),
    "split": ("so that no motion is played across it", "so that no motion is played across them"),
}
_OTHERWISE = {
    "cut": ("would be left out", "would be left out"),
    "fill": ("would be interpolated", "would be interpolated"),
    "split": ("no motion would be played across it", "no motion would be played across them"),
}
_KEPT = ("it was kept as it is", "they were kept as they are")
_IN_A_LOOP = "choose a start and stop of the loop without them"
_IN_AN_ACTION = "the new action does the same"
_STEPPED = (
    "'{clip}' repeats or skips so many frames that it was used as it is; export it again at the "
    "frame rate it was made at, or leave it out."
)


@dataclass(frozen=True)
class MendedSources:
    """Sources and their clips as used by a database, and notes on faults.

    A source becomes several where it was split; `origins` are indices of the given sources.
    """

    sources: list[Source]
    clips: list[Clip]
    origins: list[int]
    notes: list[BuildNote]


def mend_sources(
    sources: Sequence[Source],
    clips: Sequence[Clip],
    findings: Sequence[list[Finding]],
    keep_frames: bool = False,
) -> MendedSources:
    """Mend the frames of sources that do not keep all; `keep_frames` decides for undecided ones.

    The `findings` are those of `examine` in each clip.

    Loops stay unchanged, because their ends belong together; faults in them are reported. So are
    faults that sources keep, with their possible mend.
    """
    result = MendedSources([], [], [], [])
    for origin, (source, clip, found) in enumerate(zip(sources, clips, findings, strict=True)):
        keeps = keep_frames if source.keep_frames is None else source.keep_frames
        frames = _Frames((source.start or 0) + source.shown_first)
        if source.loop:
            found = [finding._replace(mend="") for finding in found]
        if keeps:
            result.notes.extend(_describe_kept(source.name, found, frames))
            found = []
        result.notes.extend(_describe(source.name, found, frames))
        for start, piece in mend(clip, found):
            result.sources.append(_crop(source, clip, start, piece))
            result.clips.append(piece)
            result.origins.append(origin)
    return result


class MendedClip(NamedTuple):
    """A clip without the first frames that were `skipped`, and notes on faults."""

    clip: Clip
    skipped: int
    notes: list[BuildNote]


def mend_clip(
    clip: Clip, first: int = 0, *, loop: bool = False, keep_frames: bool = False
) -> MendedClip:
    """Mend the frames of a clip that stays in one piece, with its frame 0 named `first`.

    Frames at its ends are left out, and single ones within it interpolated. Other faults are only
    reported, because cutting would change the timing. Faults of loops are only reported.
    """
    frames = _Frames(first)
    found = examine(clip)
    stays = [one.mend == "split" or (one.mend == "cut" and one.kind != "alien") for one in found]
    if loop:
        stays = [True for _ in found]
    found = [one._replace(mend="") if stay else one for one, stay in zip(found, stays, strict=True)]
    if keep_frames:
        return MendedClip(clip, 0, _describe_kept(clip.name, found, frames))
    [(start, piece)] = mend(clip, found)
    notes = _describe(clip.name, found, frames, told=_IN_A_LOOP if loop else _IN_AN_ACTION)
    rest = _describe_rest(start, piece.frame_count, clip.frame_count, frames)
    if rest:
        notes = [
            note._replace(text=f"{note.text.rstrip('.')}; {rest}.")
            if note.kind == "alien"
            else note
            for note in notes
        ]
    return MendedClip(piece, start, notes)


def _describe_rest(start: int, count: int, of: int, frames: _Frames) -> str:
    """Describe the first and last frame of a clip, where they have changed."""
    words = []
    if start:
        words.append(f"begins with frame {frames.find(start)}")
    if start + count < of:
        words.append(f"ends with frame {frames.find(start + count - 1)}")
    return f"the new action {' and '.join(words)} of its source" if words else ""


def _crop(source: Source, clip: Clip, start: int, piece: Clip) -> Source:
    """Return a source of only a piece of its clip, from a frame on."""
    count = piece.frame_count
    if count == clip.frame_count:
        return source
    first = (source.start or 0) + start
    track = source.track and source.track.crop(start, start + count)
    return replace(source, start=first, stop=first + count, track=track)


# ---------------------------------------------------------------- sentences


class _Frames(NamedTuple):
    """Source frames as users know them: the `first`, and how many pass in a frame of a clip."""

    first: float
    step: float = 1.0

    def find(self, frame: int) -> int:
        return round(self.first + frame * self.step)


def describe_unmended(clip: Clip, first: float, step: float) -> list[BuildNote]:
    """Return what a build would mend of a clip in a database, a note for each kind.

    Its frame 0 is the frame `first` of its source, and `step` source frames pass in each.
    """
    found = [finding for finding in examine(clip) if finding.mend]
    return _describe(clip.name, found, _Frames(first, step), is_past=False)


def _describe(
    name: str,
    found: Sequence[Finding],
    frames: _Frames,
    is_past: bool = True,
    told: str = _IN_A_LOOP,
) -> list[BuildNote]:
    """Return a note for each kind of finding and mend; `told` is advice for those without one."""
    notes = []
    for kind, deed in dict.fromkeys((finding.kind, finding.mend) for finding in found):
        alike = [finding for finding in found if (finding.kind, finding.mend) == (kind, deed)]
        text = _STEPPED.format(clip=name)
        if kind != "stepped":
            done = f"; {told}"
            if deed:
                several = _count(alike) > 1
                done = f", {_DEEDS[deed][several]}"
                done = done if is_past else f"; build again {_CURES[deed][several]}"
            text = f"{_describe_alike(name, alike, frames)}{done}."
        notes.append(BuildNote(name, text, kind))
    return notes


def _describe_kept(name: str, found: Sequence[Finding], frames: _Frames) -> list[BuildNote]:
    """Return a note for each kind of finding that would be mended if frames were not kept."""
    notes = []
    for kind, deed in dict.fromkeys((each.kind, each.mend) for each in found if each.mend):
        alike = [finding for finding in found if (finding.kind, finding.mend) == (kind, deed)]
        several = _count(alike) > 1
        text = (
            f"{_describe_alike(name, alike, frames)}; {_KEPT[several]}, and "
            f"{_OTHERWISE[deed][several]} otherwise."
        )
        notes.append(BuildNote(name, text, KEPT_FRAMES))
    return notes


def _count(alike: Sequence[Finding]) -> int:
    """Count the frames of a mend: frames before which the body leaps, or all."""
    is_split = alike[0].mend == "split"
    return len(alike) if is_split else sum(each.stop - each.start for each in alike)


def _describe_alike(name: str, alike: Sequence[Finding], frames: _Frames) -> str:
    """Describe the fault of frames of findings of one kind."""
    finding = alike[0]
    way = _format_way(max(each.metres for each in alike))
    if finding.kind == "leap":
        starts = [frames.find(each.start) for each in alike]
        named = _format_frames(zip(starts, starts, strict=True), len(alike))
        return f"The body leaps {way} to frame{named} of '{name}'"
    ranges = [(frames.find(each.start), frames.find(each.stop - 1)) for each in alike]
    count = sum(each.stop - each.start for each in alike)
    is_one = count == 1
    named = f"Frame{_format_frames(ranges, count)} of '{name}'"
    if finding.kind in ("alien", "glitch"):
        what = "is unlike the others" if is_one else "are unlike the others"
        example = ", as a T-pose is" if finding.kind == "alien" else ""
        return f"{named} {what}{example}: the body leaps {way}"
    what = "repeats the one before it" if is_one else "repeat those before them"
    return f"{named} {what} while the body moves"


def _format_frames(ranges: Iterable[tuple[int, int]], count: int) -> str:
    """Return the plural ending of `count` frames, and their ranges as text."""
    listed = [f"{first}" if first == last else f"{first} to {last}" for first, last in ranges]
    more = len(listed) - NUMBERS.ranges_named
    text = ", ".join(listed[: NUMBERS.ranges_named]) + (f" and {more} more" if more > 0 else "")
    return f"{'' if count == 1 else 's'} {text}"


def _format_way(metres: float) -> str:
    return f"{metres:.2g} m" if metres >= 1.0 else f"{100 * metres:.2g} cm"

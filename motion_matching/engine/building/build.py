"""Build a database: read, resample, mirror, find simulation bone and contacts, compute features.

All clips are laid end to end on one reel once they are read. Everything but the smoothing of a
clip's track then runs over all frames at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ..body import mirror, rig, toe_ends
from ..body.axes import FileAxes
from ..database.database import HIGHEST_RATE, LOWEST_RATE, Database
from ..database.features.features import Schema, load_schema
from ..database.gaits import measure_pace
from ..database.tags.tags import TagRange
from ..database.tags.thresholds import AutoTagSettings
from ..errors import DatabaseError, MotionMatchingError, SettingsError
from ..mending.mending import mend_sources
from ..motion import simulation_bone
from ..motion.clip import Clip, find_common_rate, join_clips, resample
from ..motion.contacts import ContactSettings
from ..motion.simulation_bone import GroundTrack, SimulationBoneSettings, attach
from ..progress import ReportProgress, ignore_progress
from ..retargeting import loose_hips
from ..skeleton.bone_names import swap_sides
from ..sources.clip_checks import check_axes, collect_warnings
from ..sources.floors import level_floors
from ..sources.reel import (
    BuildNote,
    ReelPart,
    add_cycles,
    add_proposals,
    find_idle_tags,
    propose_part_tags,
)
from ..sources.skeletons import Character, share_skeleton
from ..sources.sources import TEMPOS, Source
from .assembly import assemble
from .numbers import NUMBERS
from .unmended import EXAMINED

_NO_TRACK = GroundTrack(np.empty((0, 2)), np.empty(0))


@dataclass(frozen=True)
class BuildSettings:
    """Settings of a build.

    Without `fps`, the most common rate of the sources is used. Axes and scale are as in `bvh.load`.
    With `tempo`, undecided sources are also added at 0.9 and 1.1 times their speed. With
    `auto_tags`, tags are proposed from the motion and added to those of the sources. Sources of
    other skeletons are retargeted to the `character`'s, or to the most common one. Frames and
    floors of undecided sources are mended, unless they are kept.
    """

    fps: float | None = None
    speed: float = 1.0
    mirror: bool = False
    schema: Schema = field(default_factory=lambda: load_schema("default"))
    simulation_bone: SimulationBoneSettings = field(default_factory=SimulationBoneSettings)
    contacts: ContactSettings = field(default_factory=ContactSettings)
    roles: dict[str, str] = field(default_factory=dict)
    auto_tags: AutoTagSettings | None = None
    up: str = "Y"
    forward: str = "Z"
    scale: float | None = None
    character: Character | None = None
    keep_frames: bool = False
    keep_floor: bool = False
    tempo: bool = False

    def __post_init__(self) -> None:
        for name, value in (("frame rate", self.fps), ("speed", self.speed)):
            if value is not None and not 0 < value < np.inf:
                raise SettingsError(
                    f"The {name} of a database must be a number above zero, not {value}."
                )

    def get_axes(self) -> dict[str, Any]:
        return {"up": self.up, "forward": self.forward, "scale": self.scale}

    def get_content(self, *, with_files: bool = True) -> dict[str, Any]:
        """Return all that decides the database, apart from its sources, as JSON data.

        The key of a cached database is made of it, so its entries never change: an entry added
        later is left out at its default, and older databases are still found. Weights and the order
        of features do not count; without files, neither do axes and scale.
        """
        defaults = asdict(ContactSettings())
        contacts = asdict(self.contacts)
        changes = {f"contact_{k}": v for k, v in contacts.items() if v != defaults[k]}
        content: dict[str, Any] = changes | {
            "fps": self.fps,
            "speed": self.speed,
            "contact_speed": self.contacts.speed,
            "simulation_bone": asdict(self.simulation_bone),
            "roles": dict(self.roles),
            "schema": self.schema.to_comparison_data(),
            "auto_tags": self.auto_tags is not None,
        }
        for name in ("mirror", "tempo", "keep_frames", "keep_floor"):
            if getattr(self, name):
                content[name] = True
        if self.character:
            content["mapping"] = self.character.get_content()
        if self.auto_tags:
            thresholds = asdict(self.auto_tags)
            if not thresholds["plant_angle"]:  # as before this entry existed
                del thresholds["plant_angle"]
            content["thresholds"] = thresholds
        if with_files:
            content |= {"up": self.up, "forward": self.forward, "file_scale": self.scale or 0.0}
        return content


@dataclass(frozen=True)
class BuildReport:
    """Report of a build: omitted sources and reasons, warnings, and proposed tags by clip.

    `mapped` are the sources of other skeletons, each with the count of its used bones.
    """

    skipped: tuple[BuildNote, ...]
    warnings: tuple[BuildNote, ...]
    proposed: dict[str, tuple[TagRange, ...]] = field(default_factory=dict)
    mapped: tuple[BuildNote, ...] = ()


def build(
    sources: Sequence[Source],
    settings: BuildSettings,
    progress: ReportProgress | None = None,
    *,
    skip_broken: bool = False,
) -> tuple[Database, BuildReport]:
    """Build a database from sources, and return it with a report.

    `progress` gets the name of a stage and the share done; it may raise to cancel. Sources that are
    too short are left out; with `skip_broken` also unreadable sources, and sources whose skeleton
    cannot be mapped.

    Raises MotionDataError or SettingsError for a bad source, RigError if skeletons or roles do not
    fit, and DatabaseError if no source can be used.
    """
    notify = progress or ignore_progress
    sources, clips, broken = _read_sources(sources, settings, notify, skip_broken)
    mistaken = check_axes(sources, clips, FileAxes(settings.up, settings.forward), settings.roles)
    notify("Resampling", 0.0)
    mended = mend_sources(sources, clips, settings.keep_frames)
    parts, skipped = _make_parts(add_cycles(mended.sources, mended.clips), settings)
    known = bool(settings.roles)
    shared = share_skeleton(parts, settings.character, skip_broken, knows_roles=known)
    skipped = broken + skipped + shared.skipped
    notify("Finding simulation bones", 0.2)
    parts, roles, forward, moved = _add_tracks(shared.parts, settings)
    originals = [part for part in parts if not part.is_copy]
    warnings = mended.notes + collect_warnings(originals, roles, settings.simulation_bone)
    warnings += shared.faults + mistaken + moved
    proposed: dict[str, tuple[TagRange, ...]] = {}
    if settings.auto_tags:
        pace = measure_pace(parts[0].clip.skeleton, roles)
        parts, proposed = add_proposals(parts, settings.auto_tags.at_pace(pace))
    parts = [_open_loop(part) for part in parts]
    warnings += find_idle_tags([(part.source.name, part.tagged) for part in parts])
    notify("Mirroring", 0.4)
    parts = _add_mirrored(parts, settings.mirror, roles)
    track = GroundTrack.from_rows(np.concatenate([part.track.rows for part in parts]))
    reel = attach(join_clips([part.clip for part in parts]), track, roles.hips)
    notify("Computing features", 0.6)
    database = assemble(parts, reel, roles, forward, settings)
    keeps = settings.keep_frames or settings.keep_floor
    keeps = keeps or any(each.keep_frames or each.keep_floor for each in sources)
    if mended.notes or moved or keeps:
        database = replace(database, settings=database.settings | {EXAMINED: True})
    check_distinct(database)
    return database, BuildReport(tuple(skipped), tuple(warnings), proposed, tuple(shared.mapped))


def check_distinct(database: Database) -> None:
    """Raise DatabaseError if the search cannot distinguish the frames of a database."""
    if not database.normalization.compute_scale(database.schema.weights).any():
        raise DatabaseError(
            "All frames have the same values in every weighted feature, so the search cannot "
            "choose between them; add clips that move, or choose other features."
        )


def propose_tags(
    sources: Sequence[Source],
    settings: BuildSettings,
    thresholds: AutoTagSettings,
    progress: ReportProgress | None = None,
) -> list[tuple[TagRange, ...]]:
    """Return the tags proposed for each source, in its frames; none for too short ones."""
    parts, _, pace = _find_parts_of_sources(sources, settings, progress)
    thresholds = thresholds.at_pace(pace)
    return [
        tuple(tag for part in own for tag in propose_part_tags(part, thresholds)) for own in parts
    ]


def find_tracks(
    sources: Sequence[Source], settings: BuildSettings, progress: ReportProgress | None = None
) -> list[GroundTrack | None]:
    """Return the path of the simulation bone through each source, a row for each of its frames.

    None for a source that is too short. It is the path that `build` finds: as the source's `track`
    it gives the same database, except for details lost between two frame rates.

    Raises the errors of `build`.
    """
    parts, clips, _ = _find_parts_of_sources(sources, settings, progress)
    return [
        _resample_to_source(own, source.start or 0, clip.frame_count) if own else None
        for own, source, clip in zip(parts, sources, clips, strict=True)
    ]


def _resample_to_source(parts: Sequence[ReelPart], first: int, count: int) -> GroundTrack:
    """Return the tracks of parts at the `count` frames of their source from the `first` on.

    A track goes on straight at its end; cut frames have the rows of the next one.
    """
    starts = [(part.source.start or 0) - first for part in parts]
    rows = [_resample_part(part) for part in parts]
    known = np.concatenate(
        [start + np.arange(len(own)) for start, own in zip(starts, rows, strict=True)]
    )
    nearest = np.minimum(np.searchsorted(known, np.arange(count)), len(known) - 1)
    return GroundTrack.from_rows(np.concatenate(rows)[nearest])


def _resample_part(part: ReelPart) -> np.ndarray:
    """Return a part's track (F, 3) at the frames of its source."""
    rows = part.track.rows
    times = np.arange(part.source_frames) / part.step
    before = np.clip(times.astype(int), 0, len(rows) - 2)
    steps = rows[before + 1] - rows[before]
    return rows[before] + (times - before)[:, None] * steps


def _find_parts_of_sources(
    sources: Sequence[Source], settings: BuildSettings, progress: ReportProgress | None
) -> tuple[list[list[ReelPart]], list[Clip], float]:
    """Return each source's parts with their tracks, none if it is too short, and its clip.

    The last value is the pace of the character.
    """
    notify = progress or ignore_progress
    _, clips, _ = _read_sources(sources, settings, notify)
    mended = mend_sources(sources, clips, settings.keep_frames)
    pieces = zip(mended.sources, mended.clips, strict=True)
    parts, _ = _make_parts([(source, clip, False) for source, clip in pieces], settings)
    parts = [part for part in parts if not part.is_copy]
    parts = share_skeleton(parts, settings.character, knows_roles=True).parts
    notify("Finding simulation bones", 0.5)
    parts, roles, _, _ = _add_tracks(parts, settings)
    by_piece = {id(part.source): part for part in parts}
    result: list[list[ReelPart]] = [[] for _ in sources]
    for piece, origin in zip(mended.sources, mended.origins, strict=True):
        if id(piece) in by_piece:
            result[origin].append(by_piece[id(piece)])
    pace = measure_pace(parts[0].clip.skeleton, roles)
    return result, clips, pace


def _read_sources(
    sources: Sequence[Source],
    settings: BuildSettings,
    notify: ReportProgress,
    skip_broken: bool = False,
) -> tuple[list[Source], list[Clip], list[BuildNote]]:
    """Return the sources that can be read, their clips, and notes on the others."""
    if not sources:
        raise DatabaseError("There are no sources to build from; give at least one clip.")
    clips: list[Clip] = []
    read: list[Source] = []
    errors: list[tuple[str, MotionMatchingError]] = []
    for number, source in enumerate(sources):
        notify("Reading", number / len(sources))
        try:
            clips.append(source.load(settings.get_axes()))
            read.append(source)
        except MotionMatchingError as error:
            errors.append((source.name, error))
            if not skip_broken:
                raise
    if not read:
        raise errors[0][1]
    return read, clips, [BuildNote(name, str(error), "unreadable") for name, error in errors]


# ---------------------------------------------------------------- parts


def _make_parts(
    sources: Sequence[tuple[Source, Clip, bool]], settings: BuildSettings
) -> tuple[list[ReelPart], list[BuildNote]]:
    """Resample sources to the database's rate; return notes on sources that are too short.

    Each is given with its clip, and whether it is a cycle. Copies at other tempos follow their
    original, unless too short.
    """
    fps = settings.fps or find_common_rate(clip.fps for _, clip, _ in sources)
    if not LOWEST_RATE <= fps <= HIGHEST_RATE:
        raise SettingsError(
            f"The database would have {fps:g} frames per second; choose a frame rate from "
            f"{LOWEST_RATE} to {HIGHEST_RATE}, or correct the frame times of the sources."
        )
    horizon = round((settings.schema.past + settings.schema.future) * fps)
    parts = []
    skipped = []
    played = []
    for each in sources:
        copies = settings.tempo if each[0].tempo is None else each[0].tempo
        played += [(*each, tempo) for tempo in ((1.0, *TEMPOS) if copies else (1.0,))]
    for source, clip, cycle, tempo in played:
        step = _compute_step(source, clip, fps, settings.speed * tempo)
        resampled = resample(clip, fps, step * fps / clip.fps)
        needed = NUMBERS.least_loop_frames if source.loop else max(horizon, NUMBERS.least_frames)
        if resampled.frame_count >= needed:
            own = ReelPart(source, resampled, step, _NO_TRACK, clip.frame_count, cycle, tempo=tempo)
            parts.append(replace(own, floor=source.get_floor()))
        elif tempo == 1.0:
            loop = f" in its loop from frame {source.start or 0}" if source.loop else ""
            frames = f"{resampled.frame_count} frames{loop}"
            reason = f"it has {frames} and needs at least {needed}"
            skipped.append(BuildNote(source.name, reason, "short"))
    if not parts:
        needed = max(horizon, NUMBERS.least_frames)
        raise DatabaseError(
            f"Every source is shorter than {needed} frames ({needed / fps:.2g} s), the least that "
            "can be used; add longer clips."
        )
    return parts, skipped


def _compute_step(source: Source, clip: Clip, fps: float, speed: float) -> float:
    """Return the source frames per frame; a loop's lap is a whole number of frames."""
    step = clip.fps / fps * source.speed * speed
    lap = clip.frame_count - 1
    return lap / max(round(lap / step), 1) if source.loop and lap > 0 else step


def _add_mirrored(parts: list[ReelPart], by_default: bool, roles: rig.Roles) -> list[ReelPart]:
    """Return all parts, followed by the requested mirror images."""
    to_mirror = [p for p in parts if (by_default if p.source.mirror is None else p.source.mirror)]
    if not to_mirror:
        return parts
    joined = mirror.mirror(join_clips([p.clip for p in to_mirror]), roles=roles)
    legs = roles.leg_names
    twins = [legs.index(swap_sides(name)) for name in legs] if any(p.ground for p in parts) else []
    images = []
    start = 0
    for part in to_mirror:
        clip = joined.crop(start, start + part.clip.frame_count)
        ground = part.ground and part.ground.mirrored(twins)
        image = replace(part, clip=clip, track=part.track.mirrored(), mirrored=True, ground=ground)
        images.append(image)
        start += part.clip.frame_count
    return parts + images


def _add_tracks(
    parts: Sequence[ReelPart], settings: BuildSettings
) -> tuple[list[ReelPart], rig.Roles, np.ndarray, list[BuildNote]]:
    """Return the parts with their tracks, smoothed clip by clip; roles; the hips' forward axis.

    The clips get bones at the ends of legs that stand on these, and are put on one floor. The last
    value are notes on moved clips.
    """
    clips = [part.clip for part in parts]
    bone = settings.simulation_bone
    roles = rig.find_roles(clips[0].skeleton, clips, settings.roles)
    forward = rig.find_hips_forward(loose_hips.stiffen_hips(clips, roles), roles)
    ends = toe_ends.find_toe_ends(clips[0].skeleton, clips, roles)
    clips = [toe_ends.add_toe_ends(clip, ends) for clip in clips]
    roles = toe_ends.use_toe_ends(roles, clips[0].skeleton)
    parts = [replace(part, clip=clip) for part, clip in zip(parts, clips, strict=True)]
    parts, moved = level_floors(parts, roles, settings.contacts, settings.keep_floor)
    if any(part.is_copy for part in parts):  # notes on a source also hold for its copies
        moved = list({(note.source, note.kind): note for note in reversed(moved)}.values())[::-1]
    joined = join_clips(loose_hips.stiffen_hips([part.clip for part in parts], roles))
    raw = simulation_bone.compute_raw_track(
        joined, roles.hips, roles.spine, forward, source=bone.source, root=roles.root
    )
    result = []
    start = 0
    for part in parts:
        stop = start + part.clip.frame_count
        track = raw.crop(start, stop)
        if part.source.track is not None:
            track = _resample_track(part.source.track, part)
        else:
            track = simulation_bone.smooth_track(track, part.clip.fps, bone, part.source.loop)
        result.append(replace(part, track=track))
        start = stop
    return result, roles, forward, moved


def _resample_track(track: GroundTrack, part: ReelPart) -> GroundTrack:
    """Return a track in frames of the source, interpolated at the frames of the database."""
    times = np.arange(part.clip.frame_count) * part.step
    frames = np.arange(track.frame_count)
    columns = [np.interp(times, frames, column) for column in track.rows.T]
    return GroundTrack.from_rows(np.column_stack(columns))


def _open_loop(part: ReelPart) -> ReelPart:
    """Drop the last frame of a loop: it repeats the first, which follows it in a database."""
    if not part.source.loop:
        return part
    last = part.clip.frame_count - 1
    x, y, yaw = part.track.rows[last].tolist()
    clip = part.clip.crop(0, last)
    track = part.track.crop(0, last)
    ground = part.ground and part.ground.crop(0, last)
    return replace(part, clip=clip, track=track, closing=(x, y, yaw), ground=ground)

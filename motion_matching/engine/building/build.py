"""Build a database: read, resample, mirror, find simulation bone and contacts, compute features.

All clips are laid end to end on one reel once they are read. Everything but the smoothing of a
clip's track then runs over all frames at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..body import mirror
from ..body.axes import FileAxes
from ..database.database import Database
from ..database.features.features import Schema, load_schema
from ..database.gaits import measure_pace
from ..database.tags.tags import TagRange
from ..database.tags.thresholds import AutoTagSettings
from ..errors import DatabaseError, SettingsError
from ..mending.mending import mend_sources
from ..motion.clip import Clip, join_clips
from ..motion.contacts import ContactSettings
from ..motion.simulation_bone import GroundTrack, SimulationBoneSettings
from ..progress import ReportProgress, ignore_progress
from ..sources.clip_checks import check_axes, collect_warnings
from ..sources.reel import (
    BuildNote,
    ReelPart,
    add_cycles,
    add_proposals,
    find_idle_tags,
    propose_part_tags,
)
from ..sources.skeletons import Character, share_skeleton
from ..sources.sources import Source
from .assembly import assemble
from .laying import ReelBody
from .memory import give_back
from .parts import add_tracks, list_mirrored, make_parts, open_loop
from .reading import Reading, read_sources
from .unmended import EXAMINED


@dataclass(frozen=True)
class BuildSettings:
    """Settings of a build.

    Without `fps`, the most common rate of the sources is used. Axes and scale are as in `bvh.load`.
    With `tempo`, undecided sources are also added at 0.9 and 1.1 times their speed. With
    `auto_tags`, tags are proposed from the motion and added to those of the sources. Sources of
    other skeletons are retargeted to the `character`'s, or to the most common one. Frames and
    floors of undecided sources are mended, unless they are kept. A `compact` database has rotations
    and velocities of 16 bits in its file; its features are exact.
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
    compact: bool = False

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
        for name in ("mirror", "tempo", "keep_frames", "keep_floor", "compact"):
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
    reading: Reading | None = None,
) -> tuple[Database, BuildReport]:
    """Build a database from sources, and return it with a report.

    `progress` gets the name of a stage and the share done; it may raise to cancel. Sources that are
    too short are left out; with `skip_broken` also unreadable sources, and sources whose skeleton
    cannot be mapped. However they are read (`reading`), the database is the same to the byte.

    Raises MotionDataError or SettingsError for a bad source, RigError if skeletons or roles do not
    fit, and DatabaseError if no source can be used.
    """
    notify = progress or ignore_progress
    parts, body, report, examined = _prepare(
        sources, settings, reading or Reading(), notify, skip_broken
    )
    keeps = settings.keep_frames or settings.keep_floor
    examined = examined or keeps or any(each.keep_frames or each.keep_floor for each in sources)
    del sources
    give_back()
    database = assemble(parts, body, settings, partial(notify, "Computing features"))
    give_back()
    if examined:
        database = replace(database, settings=database.settings | {EXAMINED: True})
    check_distinct(database)
    return database.rounded() if settings.compact else database, report


def _prepare(
    sources: Sequence[Source],
    settings: BuildSettings,
    reading: Reading,
    notify: ReportProgress,
    skip_broken: bool,
) -> tuple[list[ReelPart], ReelBody, BuildReport, bool]:
    """Return the parts of the reel, their body, the report, and whether faults were found.

    Of what was read, nothing but the parts is kept.
    """
    sources, clips, findings, broken = read_sources(
        sources, settings.get_axes(), reading, notify, skip_broken
    )
    mistaken = check_axes(sources, clips, FileAxes(settings.up, settings.forward), settings.roles)
    notify("Resampling", 0.0)
    mended = mend_sources(sources, clips, findings, settings.keep_frames)
    pieces = deque(add_cycles(mended.sources, mended.clips))
    clips.clear()
    mended.clips.clear()
    parts, skipped = make_parts(pieces, settings)
    known = bool(settings.roles)
    shared = share_skeleton(parts, settings.character, skip_broken, knows_roles=known)
    notify("Finding simulation bones", 0.2)
    parts, roles, forward, moved = add_tracks(shared.parts, settings)
    warnings = mended.notes + collect_warnings(
        [part for part in parts if not part.is_copy], roles, settings.simulation_bone
    )
    warnings += shared.faults + mistaken + moved
    proposed: dict[str, tuple[TagRange, ...]] = {}
    if settings.auto_tags:
        pace = measure_pace(parts[0].clip.skeleton, roles)
        parts, proposed = add_proposals(parts, settings.auto_tags.at_pace(pace))
    parts = [open_loop(part) for part in parts]
    warnings += find_idle_tags([(part.source.name, part.tagged) for part in parts])
    notify("Mirroring", 0.4)
    images = list_mirrored(parts, settings.mirror, roles)
    symmetry = mirror.find_symmetry(join_clips([p.clip for p in images]), roles) if images else None
    skipped = broken + skipped + shared.skipped
    report = BuildReport(tuple(skipped), tuple(warnings), proposed, tuple(shared.mapped))
    body = ReelBody(roles, forward, symmetry)
    return parts + images, body, report, bool(mended.notes or moved)


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
    _, clips, findings, _ = read_sources(sources, settings.get_axes(), Reading(), notify)
    mended = mend_sources(sources, clips, findings, settings.keep_frames)
    pieces = zip(mended.sources, mended.clips, strict=True)
    parts, _ = make_parts(deque((source, clip, False) for source, clip in pieces), settings)
    parts = [part for part in parts if not part.is_copy]
    parts = share_skeleton(parts, settings.character, knows_roles=True).parts
    notify("Finding simulation bones", 0.5)
    parts, roles, _, _ = add_tracks(parts, settings)
    by_piece = {id(part.source): part for part in parts}
    result: list[list[ReelPart]] = [[] for _ in sources]
    for piece, origin in zip(mended.sources, mended.origins, strict=True):
        if id(piece) in by_piece:
            result[origin].append(by_piece[id(piece)])
    pace = measure_pace(parts[0].clip.skeleton, roles)
    return result, clips, pace

"""From sources to a database: read, resample, mirror, find the simulation bone and contacts, compute features.

All clips are laid end to end on one reel as soon as they are read, so that everything but the smoothing of a clip's
own track runs over all frames at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import DatabaseError, MotionMatchingError, RigError, SettingsError
from ..maths import quat
from ..motion import attachment, mirror, resampling, rig, simulation_bone
from ..motion.clip import Clip
from ..motion.contacts import ContactSettings
from ..motion.simulation_bone import GroundTrack, SimulationBoneSettings
from .assembly import assembled
from .database import Database
from .features import Schema, load_schema
from .parts import Part, proposals, tagged, with_cycles, with_proposals
from .sources import Source
from .tags import TagRange
from .thresholds import AutoTagSettings

Progress = Callable[[str, float], None]
_MOVES = 1e-3  # metres a bone's place may vary before its translation counts as animated
_LENGTH_TOLERANCE = 0.02  # part of a bone's length by which two sources may differ
_SHORTEST = 5
_SHORTEST_LOOP = 4  # with the last frame, which repeats the first
_CLOSED = 0.05  # metres by which a bone may jump where a loop starts again
_RESTS = 0.01  # metres and radians that a root bone may move and still lead nowhere
_NO_TRACK = GroundTrack(np.empty((0, 2)), np.empty(0))


@dataclass(frozen=True)
class BuildSettings:
    """How a database is built. `fps` None takes the sources' most common rate; axes and scale as for `bvh.load`.

    With `auto_tags`, tags are proposed from the motion and added to those of the sources.
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

    def __post_init__(self) -> None:
        for name, value in (("frame rate", self.fps), ("speed", self.speed)):
            if value is not None and not 0 < value < np.inf:
                raise SettingsError(
                    f"The {name} of a database must be a number above zero, not {value}."
                )

    def axes(self) -> dict[str, Any]:
        return {"up": self.up, "forward": self.forward, "scale": self.scale}


@dataclass(frozen=True)
class BuildReport:
    """What a user should hear: sources that were left out with the reason, warnings, and by clip the `proposed` tags."""

    skipped: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    proposed: dict[str, tuple[TagRange, ...]] = field(default_factory=dict)


def build(
    sources: Sequence[Source],
    settings: BuildSettings,
    progress: Progress | None = None,
    *,
    skip_broken: bool = False,
) -> tuple[Database, BuildReport]:
    """The database of these sources, and a report. Progress is told a stage and the part done; it may raise to cancel.

    With `skip_broken`, sources that cannot be read, and those of another skeleton than most, are left out as well as
    those that are too short, as long as any is left. Raises MotionDataError and SettingsError for bad sources, RigError
    where skeletons or roles do not fit, and DatabaseError where nothing is left to build from.
    """
    tell = progress or (lambda stage, part: None)
    sources, clips, broken = _read(sources, settings, progress, skip_broken)
    tell("Resampling", 0.0)
    parts, skipped = _parts(*with_cycles(sources, clips), settings)
    parts, others = _of_one_skeleton(parts) if skip_broken else (parts, [])
    skipped = [*broken, *skipped, *others]
    clips = [part.clip for part in parts]
    _check_skeletons(clips)
    warnings = [w for clip in clips for w in clip.warnings]
    roles = rig.find_roles(clips[0].skeleton, clips, settings.roles)
    forward = rig.hips_forward(clips, roles)
    tell("Finding simulation bones", 0.2)
    parts = _with_tracks(parts, roles, forward, settings)
    if settings.simulation_bone.source == "spine":
        warnings += _standing_warnings([p for p in parts if not p.source.loop])
    else:
        warnings += _root_warnings(parts, roles)
    warnings += [w for p in parts if p.source.loop for w in _loop_warnings(p, roles.hips)]
    parts, proposed = (
        with_proposals(parts, settings.auto_tags) if settings.auto_tags else (parts, {})
    )
    parts = [_opened(part) for part in parts]
    warnings += [
        f"The tag '{tag.name}' of '{part.source.name}' lies on none of its frames; correct its start and stop."
        for part in parts
        for tag in part.source.tags
        if not tagged(part, tag).any()
    ]
    tell("Mirroring", 0.4)
    parts = _with_mirrored(parts, settings.mirror, roles)
    reel = _reel(parts, roles)
    tell("Computing features", 0.6)
    database = assembled(parts, reel, roles, forward, settings)
    if not database.normalization.scale(database.schema.weights).any():
        raise DatabaseError(
            "No feature with a weight differs between frames, so none can be chosen; add clips that move, "
            "or choose other features."
        )
    return database, BuildReport(tuple(skipped), tuple(warnings), proposed)


def propose_tags(
    sources: Sequence[Source],
    settings: BuildSettings,
    thresholds: AutoTagSettings,
    progress: Progress | None = None,
) -> list[tuple[TagRange, ...]]:
    """The tags that are proposed for each source, in its frames; none for those that are too short. Errors as in `build`."""
    parts = _tracked(*_read(sources, settings, progress)[:2], settings, progress)
    found = {id(part.source): proposals(part, thresholds) for part in parts}
    return [found.get(id(source), ()) for source in sources]


def find_tracks(
    sources: Sequence[Source], settings: BuildSettings, progress: Progress | None = None
) -> list[GroundTrack | None]:
    """The simulation bone's path through each source, a place for each of its frames; None for those that are too short.

    It is what `build` finds: given back as the source's `track` it makes the same database, but for what is lost by
    straight lines between frames where those of the source and the database are not the same. Errors as in `build`.
    """
    _, clips, _ = _read(sources, settings, progress)
    found = {id(part.source): part for part in _tracked(sources, clips, settings, progress)}
    return [
        _in_source_frames(found[id(source)], clip.frame_count) if id(source) in found else None
        for source, clip in zip(sources, clips, strict=True)
    ]


def _in_source_frames(part: Part, count: int) -> GroundTrack:
    """The track of a part for each of the `count` frames of its source, straight on beyond the database's last frame."""
    rows = np.column_stack([part.track.positions, part.track.yaw])
    times = np.arange(count) / part.step
    before = np.clip(times.astype(int), 0, len(rows) - 2)
    values = rows[before] + (times - before)[:, None] * (rows[before + 1] - rows[before])
    return GroundTrack(values[:, :2], values[:, 2])


def _tracked(
    sources: Sequence[Source],
    clips: Sequence[Clip],
    settings: BuildSettings,
    progress: Progress | None,
) -> list[Part]:
    """The sources that are long enough, with their tracks."""
    parts, _ = _parts(sources, clips, settings)
    clips = [part.clip for part in parts]
    _check_skeletons(clips)
    if progress:
        progress("Finding simulation bones", 0.5)
    roles = rig.find_roles(clips[0].skeleton, clips, settings.roles)
    return _with_tracks(parts, roles, rig.hips_forward(clips, roles), settings)


def _read(
    sources: Sequence[Source],
    settings: BuildSettings,
    progress: Progress | None,
    skip_broken: bool = False,
) -> tuple[list[Source], list[Clip], list[tuple[str, str]]]:
    """Sources with their clips, and the names of those that cannot be read with the reason; DatabaseError without any.

    Unless these are to be skipped, and where nothing is left, the first of their errors is raised.
    """
    if not sources:
        raise DatabaseError("There are no sources to build from; give at least one clip.")
    clips: list[Clip] = []
    read: list[Source] = []
    errors: list[tuple[str, MotionMatchingError]] = []
    for number, source in enumerate(sources):
        if progress:
            progress("Reading", number / len(sources))
        try:
            clips.append(source.load(settings.axes()))
            read.append(source)
        except MotionMatchingError as error:
            errors.append((source.name, error))
            if not skip_broken:
                raise
    if not read:
        raise errors[0][1]
    return read, clips, [(name, str(error)) for name, error in errors]


# ---------------------------------------------------------------- skeletons


def _check_skeletons(clips: Sequence[Clip]) -> None:
    """RigError where names, parents, or lengths of bones without animated translation differ."""
    first = clips[0]
    for clip in clips[1:]:
        if difference := _difference(first, clip):
            raise RigError(
                f"The skeletons of '{first.name}' and '{clip.name}' are not the same ({difference}); "
                "build a database for each, or retarget one."
            )
    # a root has its place in the world, not a length
    animated = first.skeleton.parents < 0
    for clip in clips:
        animated = animated | (np.ptp(clip.positions, axis=0).max(axis=-1) > _MOVES)
    lengths = np.linalg.norm([clip.positions[0] for clip in clips], axis=-1)
    wrong = ~animated & (
        np.abs(lengths - lengths[0]) > _LENGTH_TOLERANCE * np.maximum(lengths[0], 0.05)
    )
    if wrong.any():
        k, bone = (int(i) for i in np.argwhere(wrong)[0])
        raise RigError(
            f"The bone '{first.skeleton.names[bone]}' is {lengths[0, bone]:.3f} m long in '{first.name}' and "
            f"{lengths[k, bone]:.3f} m in '{clips[k].name}'; build a database for each performer, or retarget one."
        )


def _of_one_skeleton(parts: Sequence[Part]) -> tuple[list[Part], list[tuple[str, str]]]:
    """The parts with the hierarchy that most have, with bones as long as in the first of them; the others by name."""

    def hierarchy(part: Part) -> tuple[Any, ...]:
        return part.clip.skeleton.names, tuple(part.clip.skeleton.parents.tolist())

    most = Counter(map(hierarchy, parts)).most_common(1)[0][0]
    first = next(part for part in parts if hierarchy(part) == most)
    fitting, others = [], []
    for part in parts:
        try:
            _check_skeletons([first.clip, part.clip])
            fitting.append(part)
        except RigError as error:
            others.append((part.source.name, str(error)))
    return fitting, others


def _difference(a: Clip, b: Clip) -> str:
    """What tells the hierarchies of two clips apart; nothing where they are the same."""
    ours, theirs = a.skeleton, b.skeleton
    for clip, other in ((a, theirs), (b, ours)):
        alone = sorted(set(clip.skeleton.names) - set(other.names))
        if alone:
            return f"the bone '{alone[0]}' is only in '{clip.name}'"
    same = [x == y for x, y in zip(ours.names, theirs.names, strict=True)] & (
        ours.parents == theirs.parents
    )
    if same.all():
        return ""
    return f"the bone '{theirs.names[int(np.argmin(same))]}' has another place in the hierarchy"


# ---------------------------------------------------------------- parts


def _parts(
    sources: Sequence[Source], clips: Sequence[Clip], settings: BuildSettings
) -> tuple[list[Part], list[tuple[str, str]]]:
    """Sources at the database's rate, and those that are too short; DatabaseError where all of them are."""
    fps = settings.fps or resampling.common_rate(clip.fps for clip in clips)
    horizon = round((settings.schema.past + settings.schema.future) * fps)
    parts, skipped = [], []
    for source, clip in zip(sources, clips, strict=True):
        step = _step(source, clip, fps, settings.speed)
        resampled = resampling.resample(clip, fps, step * fps / clip.fps)
        needed = _SHORTEST_LOOP if source.loop else max(horizon, _SHORTEST)
        if resampled.frame_count < needed:
            of = f" of its loop from frame {source.start or 0}" if source.loop else ""
            frames = f"{'the' if of else 'its'} {resampled.frame_count} frames{of}"
            skipped.append((source.name, f"{frames} are fewer than the {needed} that are needed"))
        else:
            parts.append(Part(source, resampled, step, _NO_TRACK))
    if not parts:
        needed = max(horizon, _SHORTEST)
        raise DatabaseError(
            f"Every source is shorter than the {needed} frames ({needed / fps:.2g} s) that are needed; add longer clips."
        )
    return parts, skipped


def _step(source: Source, clip: Clip, fps: float, speed: float) -> float:
    """Frames of the source to each frame of the database; a lap of a loop takes a whole number of frames."""
    step = clip.fps / fps * source.speed * speed
    lap = clip.frame_count - 1
    return lap / max(round(lap / step), 1) if source.loop and lap > 0 else step


def _with_mirrored(parts: list[Part], by_default: bool, roles: rig.Roles) -> list[Part]:
    """All parts, each followed later by its mirror image where that is wanted."""
    wanted = [p for p in parts if (by_default if p.source.mirror is None else p.source.mirror)]
    if not wanted:
        return parts
    joined = mirror.mirror(_joined([p.clip for p in wanted]), roles=roles)
    stops = np.cumsum([p.clip.frame_count for p in wanted])
    images = [
        replace(
            p,
            clip=joined.sliced(int(stop) - p.clip.frame_count, int(stop)),
            track=p.track.mirrored(),
            mirrored=True,
        )
        for p, stop in zip(wanted, stops, strict=True)
    ]
    return parts + images


def _joined(clips: Sequence[Clip]) -> Clip:
    """Clips of one skeleton end to end."""
    return replace(
        clips[0],
        positions=np.concatenate([c.positions for c in clips]),
        rotations=np.concatenate([c.rotations for c in clips]),
    )


def _with_tracks(
    parts: Sequence[Part], roles: rig.Roles, forward: np.ndarray, settings: BuildSettings
) -> list[Part]:
    """All parts with the track of their simulation bone: smoothed clip by clip from one raw track of all."""
    joined, bone = _joined([p.clip for p in parts]), settings.simulation_bone
    if bone.source == "root":
        raw = simulation_bone.root_track(joined, roles.hips, forward, roles.root)
    else:
        raw = simulation_bone.raw_track(joined, roles.hips, roles.spine, forward)
    result, start = [], 0
    for part in parts:
        stop = start + part.clip.frame_count
        track = raw.sliced(start, stop)
        if part.source.track is not None:
            track = _resampled(part.source.track, part)
        elif bone.source == "spine":
            track = simulation_bone.smoothed_track(track, part.clip.fps, bone, part.source.loop)
        result.append(replace(part, track=track))
        start = stop
    return result


def _resampled(track: GroundTrack, part: Part) -> GroundTrack:
    """A track given in frames of the source, linear between them, in frames of the database."""
    times = np.arange(part.clip.frame_count) * part.step
    x, y, yaw = (
        np.interp(times, np.arange(track.frame_count), c) for c in (*track.positions.T, track.yaw)
    )
    return GroundTrack(np.column_stack([x, y]), yaw)


def _opened(part: Part) -> Part:
    """A loop without its last frame, which repeats the first: in a database the first follows the last."""
    if not part.source.loop:
        return part
    last = part.clip.frame_count - 1
    return replace(part, clip=part.clip.sliced(0, last), track=part.track.sliced(0, last))


def _reel(parts: Sequence[Part], roles: rig.Roles) -> Clip:
    """All parts end to end with the simulation bone attached."""
    tracks = [part.track for part in parts]
    track = GroundTrack(
        np.concatenate([t.positions for t in tracks]), np.concatenate([t.yaw for t in tracks])
    )
    return attachment.attach(_joined([part.clip for part in parts]), track, roles.hips)


def _standing_warnings(parts: Sequence[Part]) -> list[str]:
    """One sentence for all clips that do not start and end standing."""
    moving = [
        part.source.name for part in parts if simulation_bone.standing_report(part.clip, part.track)
    ]
    if not moving:
        return []
    named = ", ".join(moving[:3]) + (" and others" if len(moving) > 3 else "")
    return [
        f"{len(moving)} of {len(parts)} clips do not start and end standing ({named}): their simulation bone is least "
        "certain at their ends."
    ]


def _root_warnings(parts: Sequence[Part], roles: rig.Roles) -> list[str]:
    """A sentence where the root bone that is to lead the character does not move in any clip."""
    moved = max(
        np.ptp(np.column_stack([p.track.positions, p.track.yaw]), axis=0).max() for p in parts
    )
    if moved > _RESTS or roles.root is None:
        return []
    return [
        f"The root bone '{parts[0].clip.skeleton.names[roles.root]}' stays where it is in every clip, so it leads the "
        "character nowhere: take the simulation bone 'article'."
    ]


def _loop_warnings(part: Part, hips: int) -> list[str]:
    """A sentence where the last pose of a loop is not the first, seen from the simulation bone."""
    ends = [0, -1]
    _, places = replace(
        part.clip, positions=part.clip.positions[ends], rotations=part.clip.rotations[ends]
    ).world()
    ground = np.column_stack([part.track.positions, np.zeros(part.track.frame_count)])[ends, None]
    first, last = quat.inv_mul_vec(quat.from_yaw(part.track.yaw[ends])[:, None], places - ground)
    apart = np.linalg.norm(last - first, axis=-1)
    apart[part.clip.skeleton.ancestors(hips)] = 0.0  # these ride on the simulation bone
    bone = int(apart.argmax())
    if apart[bone] <= _CLOSED:
        return []
    return [
        f"The loop '{part.source.name}' does not end as it starts: the bone '{part.clip.skeleton.names[bone]}' jumps by "
        f"{100 * apart[bone]:.0f} cm; choose its start and stop so that its last frame repeats its first."
    ]

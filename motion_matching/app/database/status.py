"""Compute the state of a character's database for panels: outside drawing, after each change."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import bpy

from ...engine.building.missing_motion import find_missing_motion
from ...engine.building.unmended import find_unmended
from ...engine.database import statistics
from ...engine.database.database import Database
from ...engine.errors import MotionMatchingError
from ...engine.facts.idles import find_idles
from ...engine.progress import run_to_end
from ...engine.sources.reel import BuildNote
from .. import callbacks
from ..character.characters import get_armature
from ..insight.postures import KIND as POSTURES
from ..insight.postures import NO_ODD_MOMENTS, OddMoments, describe_odd_moments, list_odd_moments
from ..mapping.mapping import SourceState, find_states_steps
from ..property_access import settings_of
from ..runtime import runtime
from ..sources import source_grounds
from ..sources.source_check import find_problems_steps, match_notes
from ..steps import Steps
from ..strip.warnings import (
    SOURCE_KINDS,
    SourceProblem,
    WarningItem,
    describe_notes,
    find_notes,
    forget_resolved,
    group_source_problems,
)
from .content import Content, describe_changes
from .stored_databases import content_to_find_steps, find_database, find_idle_tags, find_told

REFRESH_DELAY = 0.2  # seconds from a change to the next refresh
_WATCHED = ("ACTION", "ARMATURE", "OBJECT", "MESH", "CURVE")  # kinds of what databases are made of
# seconds that a refresh runs, and pauses, at a time
_SLICE = 0.02
_PAUSE = 0.01


@dataclass(frozen=True)
class Status:
    """The state of a database: a `kind`, and what describes it.

    It is 'unknown', 'empty' (no sources), 'broken' with a `problem`, 'none' (never built),
    'elsewhere', 'stale' with a `stale_reason`, or 'fresh', which the rest describes.
    """

    kind: str = "unknown"
    problem: str = ""
    frames: int = 0
    seconds: float = 0.0
    fps: float = 0.0
    clips: int = 0
    bones: int = 0
    dimensions: int = 0
    has_heights: bool = False  # whether frames are compared by how the ground rises
    roles: dict[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()  # that can be requested
    key: str = ""
    megabytes: float = 0.0
    coverage: str = ""
    stands: bool = True  # whether there is motion to stand with
    is_two_legged: bool = True
    missing: tuple[BuildNote, ...] = ()  # about motion that most performances need
    stale_reason: str = ""
    idle_tags: tuple[BuildNote, ...] = ()  # about tags that cover no frame
    odd: OddMoments = NO_ODD_MOMENTS
    unmended: tuple[BuildNote, ...] = ()  # what a build would mend in sources
    source_count: int = 0  # of those that are on
    problems: tuple[SourceProblem, ...] = ()  # of the sources, as they are now
    states: Mapping[str, SourceState] = field(default_factory=dict)  # of their skeletons, by name
    warnings: tuple[WarningItem, ...] = ()  # of the same, and of their tags


UNKNOWN = Status()


def get_status(obj: bpy.types.Object) -> Status:
    """Return the last known status of an armature object; without one, schedule a refresh."""
    statuses = runtime.statuses
    uid = obj.session_uid
    if uid not in statuses.by_uid:
        statuses.by_uid[uid] = UNKNOWN
        statuses.stale.add(uid)
        callbacks.schedule(_refresh_stale, REFRESH_DELAY)
    return statuses.by_uid[uid]


def is_current(obj: bpy.types.Object) -> bool:
    """Return whether a database is known to be fresh, and Blender reported no change since."""
    statuses = runtime.statuses
    uid = obj.session_uid
    return statuses.by_uid.get(uid, UNKNOWN).kind == "fresh" and uid not in statuses.stale


def refresh(obj: bpy.types.Object) -> Status:
    """Compute the status of an armature object at once."""
    return run_to_end(refresh_steps(obj.session_uid))


def refresh_steps(uid: int) -> Steps[Status]:
    """Compute the status of the armature object of a session_uid."""
    return _store(get_armature(uid), (yield from _compute_status_steps(uid)))


def _store(obj: bpy.types.Object, result: Status) -> Status:
    """Store the status of an armature object, and follow its database's sources."""
    statuses = runtime.statuses
    uid = obj.session_uid
    statuses.by_uid[uid] = result
    statuses.stale.discard(uid)
    statuses.watched.add(obj.data.session_uid)
    items = (*result.warnings, *describe_notes(settings_of(obj).built_notes))
    forget_resolved(uid, {*SOURCE_KINDS, POSTURES}, items)
    for source in settings_of(obj).sources:
        if source.action:
            statuses.watched.add(source.action.session_uid)
        animation = source.path and source.path.animation_data
        if animation and animation.action:
            statuses.watched.add(animation.action.session_uid)
    statuses.watched.update(source_grounds.list_watched(obj))
    return result


def set_built(obj: bpy.types.Object, content: Content, database: Database) -> None:
    """Store that the database of an armature object's content is there."""
    known = runtime.statuses.by_uid.get(obj.session_uid, UNKNOWN)
    found = _get_database_status(obj, content, database)
    _store(obj, replace(_add_problems(obj, found, known.problems), states=known.states))


def invalidate() -> None:
    """Mark every status out of date and notify the listeners."""
    runtime.changed("database")


def mark_stale() -> None:
    """Have every known status computed again soon."""
    statuses = runtime.statuses
    statuses.refresh = None
    statuses.change_count += 1
    statuses.stale.update(statuses.by_uid)
    callbacks.schedule(_refresh_stale, REFRESH_DELAY)


def _compute_status_steps(uid: int, reads_all: bool = True) -> Steps[Status]:
    if not any(source.enabled for source in settings_of(get_armature(uid)).sources):
        return Status("empty")
    states = yield from find_states_steps(uid)
    problems = yield from find_problems_steps(uid, states)
    found = yield from _compute_database_status_steps(uid, reads_all)
    return replace(_add_problems(get_armature(uid), found, problems), states=states)


def _add_problems(
    obj: bpy.types.Object, found: Status, problems: tuple[SourceProblem, ...]
) -> Status:
    """Return a status with what is wrong with the sources of an armature."""
    count = sum(source.enabled for source in settings_of(obj).sources)
    unmended = [note._replace(kind="unmended") for note in found.unmended]
    told = match_notes(obj, (*found.idle_tags, *unmended))
    items = group_source_problems((*problems, *told))
    items += describe_odd_moments(found.odd)
    return replace(found, source_count=count, problems=problems, warnings=items)


def _compute_database_status_steps(uid: int, reads_all: bool) -> Steps[Status]:
    try:
        current = yield from content_to_find_steps(uid, reads_all)
        obj = get_armature(uid)
        key = current.key
        if (database := find_database(obj, current)) is not None:
            return _get_database_status(obj, current, database)
    except MotionMatchingError as error:
        return Status("broken", str(error))
    settings = settings_of(obj)
    if not settings.built_key:
        return Status("none")
    if settings.built_key == key:
        return Status("elsewhere")
    return Status("stale", stale_reason=describe_changes(obj, settings.built_of, current.to_text()))


def cache_database(key: str, database: Database) -> None:
    """Describe a new database before panels do: it takes a while, and may run in a thread."""
    find_told(database)
    # an earlier one with this key may have held other motion of what constraints follow
    runtime.statuses.by_key[key] = _describe(database, key)
    runtime.statuses.editions[key] += 1


def forget_tagged(keys: Sequence[str]) -> None:
    """Databases with these keys are made anew, from another one than before."""
    for key in keys:
        runtime.statuses.by_key.pop(key, None)
        runtime.statuses.editions[key] += 1


def _get_database_status(obj: bpy.types.Object, content: Content, database: Database) -> Status:
    """Return the status of an armature's database, which is described only once."""
    known = runtime.statuses.by_key
    key = content.key
    if key not in known:
        known[key] = _describe(database, key)
    idle = find_idle_tags(obj, content, database)
    odd = list_odd_moments(obj, content, database)
    return replace(known[key], idle_tags=idle, odd=odd)


def _describe(database: Database, key: str) -> Status:
    return Status(
        "fresh",
        frames=database.frame_count,
        seconds=database.seconds,
        fps=database.fps,
        clips=sum(not r.mirrored for r in database.ranges),
        bones=database.skeleton.bone_count,
        dimensions=database.schema.dimensions,
        has_heights=database.schema.has_heights,
        roles=database.role_names,
        tags=database.requestable_tags,
        key=key,
        megabytes=measure_megabytes(database),
        coverage=describe_coverage(database),
        stands=not database.derive(find_idles).holds,
        is_two_legged=len(database.roles.legs) == 2,
        missing=find_missing_motion(database),
        unmended=database.derive(find_unmended),
    )


def measure_megabytes(database: Database) -> float:
    """Return the memory that the arrays of a database take, in millions of bytes."""
    return sum(getattr(getattr(database, f.name), "nbytes", 0) for f in fields(database)) / 1e6


def describe_coverage(database: Database) -> str:
    """Describe how fast the motion goes in each direction."""
    fastest = statistics.measure_top_speeds(database)
    sideways = f"{fastest.side:.1f} to the side, {fastest.back:.1f} back"
    turns = "" if statistics.measure_strafing(database) else "; faces where it moves"
    return f"Up to {fastest.forward:.1f} m/s forward, {sideways}{turns}"


def describe_database(database: Database) -> str:
    """Describe a database: frames, time, memory, and how fast it goes in each direction."""
    length = format_length(database.frame_count, database.seconds, database.fps)
    size = f"{measure_megabytes(database):.0f} MB"
    return f"{length}, {size}, {describe_coverage(database).lower()}"


def format_length(frames: int, seconds: float, fps: float) -> str:
    """Return the length of a database as text."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{frames} frames, {minutes}:{rest:02} at {fps:g} fps"


def _refresh_stale() -> float | None:
    """Compute statuses for a moment; return the seconds to the next moment, or None at the end."""
    statuses = runtime.statuses
    until = time.perf_counter() + _SLICE
    while statuses.stale:
        uid = next(iter(statuses.stale)) if statuses.refresh is None else statuses.refresh[0]
        statuses.refresh = statuses.refresh or (uid, _compute_status_steps(uid, reads_all=False))
        try:
            while time.perf_counter() < until:
                next(statuses.refresh[1])
            return _PAUSE
        except StopIteration as done:
            _store(get_armature(uid), done.value)
        except MotionMatchingError:  # the armature is gone
            statuses.by_uid.pop(uid, None)
            statuses.stale.discard(uid)
        statuses.refresh = None
    callbacks.redraw("WINDOW", "UI")  # the views draw what is known of the training for it
    return None


def check_update(depsgraph: bpy.types.Depsgraph) -> None:
    """Mark every status out of date if the content of a database was changed."""
    changed: Any = depsgraph.id_type_updated
    if any(changed(kind) for kind in _WATCHED):
        updated = {update.id.original.session_uid for update in depsgraph.updates}
        if not updated.isdisjoint(runtime.statuses.watched):
            invalidate()


def find_finding(source: Any) -> SourceProblem | None:
    """Return the first problem of a source, or the first note of the last build on it."""
    obj: bpy.types.Object = source.id_data
    found = get_status(obj)
    problem = next((one for one in found.problems if one.source == source.name), None)
    if problem or found.kind != "fresh":
        return problem
    return find_notes(settings_of(obj).built_notes).get(source.name)

"""What the panels show of a character's database: found out after changes, outside drawing, and kept until the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..engine.errors import MotionMatchingError
from . import callbacks

SOON = 0.2  # seconds from a change to a new look at it
_SLICE, _PAUSE = 0.02, 0.01  # seconds that looking goes on, and stops for, at a time


@dataclass(frozen=True)
class Status:
    """`kind` is 'unknown', 'empty' (no sources), 'broken', 'none' (never built), 'elsewhere', 'stale' or 'fresh'.

    `problem` says what is broken, `why` what has made it stale; the rest describes a fresh database.
    """

    kind: str = "unknown"
    problem: str = ""
    frames: int = 0
    seconds: float = 0.0
    fps: float = 0.0
    clips: int = 0
    bones: int = 0
    dimensions: int = 0
    roles: dict[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()  # that can be asked for
    key: str = ""
    megabytes: float = 0.0
    coverage: str = ""
    why: str = ""


UNKNOWN = Status()
_found: dict[
    int, Status
] = {}  # by the armature's session_uid, also those that are to be looked at again
_databases: dict[str, Status] = {}  # by the key of what is there
_editions: dict[str, int] = {}  # by key, how often it was built while Blender runs
_old: set[int] = set()
listeners: list[Callable[[], None]] = []  # told of every change that is noticed here
changes = 0  # how many were, jumps such as undo among them
_looking: tuple[int, Generator[tuple[str, float], None, Status]] | None = (
    None  # the look that goes on, with its uid
)
_watched: set[int] = set()  # session_uids of what the databases that were looked at are made of


def shown(obj: bpy.types.Object) -> Status:
    """What was found out last about an armature object; asks to find it out where that was not done yet."""
    uid = obj.session_uid
    if uid not in _found:
        _found[uid] = UNKNOWN
        _old.add(uid)
        callbacks.soon(_refresh_old, SOON)
    return _found[uid]


def refresh(obj: bpy.types.Object) -> Status:
    """Find out how the database of an armature object stands now."""
    work = _look(obj.session_uid)
    while True:
        try:
            next(work)
        except StopIteration as done:
            return _note(obj, done.value)


def look(uid: int) -> Generator[tuple[str, float], None, Status]:
    """Work that finds out the same of the armature object of that session_uid."""
    from . import request

    found = yield from _look(uid)
    return _note(request.held(uid), found)


def _note(obj: bpy.types.Object, found: Status) -> Status:
    """Keep what was found out of an armature object, and follow what it is made of."""
    uid = obj.session_uid
    _found[uid] = found
    _old.discard(uid)
    _watched.add(obj.data.session_uid)
    for source in obj.motion_matching.sources:
        if source.action:
            _watched.add(source.action.session_uid)
        if source.path and source.path.animation_data and source.path.animation_data.action:
            _watched.add(source.path.animation_data.action.session_uid)
    return found


def note_built(obj: bpy.types.Object, key: str, database: Any) -> None:
    """The database that an armature object's settings ask for is there now."""
    _note(obj, _of(key, lambda: database))


def forget() -> None:
    """Something changed: what was found out has to be found out again."""
    global _looking, changes
    _looking = None
    changes += 1
    _old.update(_found)
    callbacks.soon(_refresh_old, SOON)
    for listener in listeners:
        listener()


def _look(uid: int) -> Generator[tuple[str, float], None, Status]:
    """Work that finds out how the database of an armature stands."""
    from . import contents, request
    from .preferences import library

    if not any(source.enabled for source in request.held(uid).motion_matching.sources):
        return Status("empty")
    try:
        content = yield from request.content_steps(uid)
        key, databases = content.key, library()
        if databases.has(key):
            return _of(key, lambda: databases.load(key))
    except MotionMatchingError as error:
        return Status("broken", str(error))
    obj = request.held(uid)
    settings = obj.motion_matching
    if not settings.built_key:
        return Status("none")
    if settings.built_key == key:
        return Status("elsewhere")
    return Status("stale", why=contents.changes(obj, settings.built_of, content.to_text()))


def describe(key: str, database: Any) -> None:
    """Have what panels show of a new database known before they do: it takes a while, and may run in a thread."""
    _databases[key] = _of_database(
        database, key
    )  # one of this key may have held other motion of what constraints follow
    _editions[key] = edition(key) + 1


def edition(key: str) -> int:
    """What tells the databases apart that were built with one key, one after the other."""
    return _editions.get(key, 0)


def _of(key: str, database: Callable[[], Any]) -> Status:
    """The status of a database by its key; it is asked for where that is not known yet."""
    if key not in _databases:
        _databases[key] = _of_database(database(), key)
    return _databases[key]


def _of_database(database: Any, key: str) -> Status:
    return Status(
        "fresh",
        "",
        database.frame_count,
        database.seconds,
        database.fps,
        sum(not r.mirrored for r in database.ranges),
        database.skeleton.bone_count,
        database.schema.dimensions,
        database.role_names,
        database.free_tags,
        key,
        megabytes(database),
        coverage(database),
    )


def megabytes(database: Any) -> float:
    """How much memory the arrays that a database is made of take, in millions of bytes."""
    return sum(getattr(getattr(database, f.name), "nbytes", 0) for f in fields(database)) / 1e6


def coverage(database: Any) -> str:
    """How fast the motion goes in each direction, in words."""
    from ..engine.matching import statistics

    fastest = statistics.fastest_of(database)
    return f"Up to {fastest.forward:.1f} m/s forward, {fastest.side:.1f} to the side, {fastest.back:.1f} back"


def summary(database: Any) -> str:
    """What a database holds, in words: frames, time, memory, and how fast it goes in each direction."""
    minutes, seconds = divmod(round(database.seconds), 60)
    return (
        f"{database.frame_count} frames, {minutes} min {seconds} s at {database.fps:g} fps, "
        f"{megabytes(database):.0f} MB, {coverage(database).lower()}"
    )


# ---------------------------------------------------------------- when


def _refresh_old() -> float | None:
    """Find out for a moment what is to be found out again; seconds to the next moment, or None at the end."""
    global _looking
    from . import request

    until = time.perf_counter() + _SLICE
    while _old:
        uid = next(iter(_old)) if _looking is None else _looking[0]
        _looking = _looking or (uid, _look(uid))
        try:
            while time.perf_counter() < until:
                next(_looking[1])
            return _PAUSE
        except StopIteration as done:
            _note(request.held(uid), done.value)
        except MotionMatchingError:  # the armature is gone
            _found.pop(uid, None)
            _old.discard(uid)
        _looking = None
    redraw()
    redraw("WINDOW")  # the views draw what is known of the training for it
    return None


def redraw(kind: str = "UI", editor: str = "VIEW_3D") -> None:
    """Have a region of all 3D views, or editors of another type, drawn again: the sidebars, which is much less than the
    views, or another kind."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == editor:
                for region in area.regions:
                    if region.type == kind:
                        region.tag_redraw()


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    from . import performing

    # to Blender, every pose that a session shows is a change of the armature; the one that it gives back counts
    if performing.current or not _found:
        return
    if not (depsgraph.id_type_updated("ACTION") or depsgraph.id_type_updated("ARMATURE")):
        return
    if any(update.id.original.session_uid in _watched for update in depsgraph.updates):
        forget()


@persistent
def _after_jump(*_: Any) -> None:
    """After undo, redo and loading, other data may bear the known names."""
    global _looking, changes
    _looking = None
    changes += 1
    _found.clear()
    _old.clear()
    _watched.clear()


def _handlers() -> Iterator[tuple[Any, Any]]:
    on = bpy.app.handlers
    yield on.depsgraph_update_post, _after_update
    for when in (on.load_post, on.undo_post, on.redo_post):
        yield when, _after_jump


def start() -> None:
    """Follow changes of what databases are made of."""
    callbacks.listen(_handlers())


def stop() -> None:
    """Follow them no more."""
    callbacks.unlisten(_handlers())
    callbacks.not_soon(_refresh_old)
    _after_jump()

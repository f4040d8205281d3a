"""The frame inspector: what the search sees at the current frame of a source or of a take, followed as the frame changes.

What is drawn follows each frame. Costs are weighed when the frame rests, for that looks at every frame of the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.app.handlers import persistent

from ..engine.errors import MotionMatchingError, SettingsError
from . import callbacks, request, source_files, status, trail
from .baking import Part, parts_of
from .fields import Chosen
from .operators_build import built
from .polls import active
from .work import Steps, in_background

if TYPE_CHECKING:
    from ..engine.control.method import Goal
    from ..engine.control.settings import PerformerSettings
    from ..engine.control.trajectory import TrajectoryPoint
    from ..engine.matching.database import Database
    from ..engine.matching.feature_strokes import Stroke
    from ..engine.matching.frame_inspector import FrameInspection
    from ..engine.matching.method import MotionMatching
    from ..engine.matching.watched import Choice, Watched
    from ..scene.handle import Handle

_REST = 0.15  # seconds that the frame stays before costs are weighed


class Spot(NamedTuple):
    """A frame of the database, and where it is seen (x, y, z, yaw); of a take, what is wanted there with which settings,
    and among what a motion field chose."""

    frame: int
    place: tuple[float, float, float, float]
    wish: tuple[Goal, PerformerSettings] | None = None
    choice: Choice | None = None


@dataclass
class Inspector:
    """What is inspected: the data of an armature with a `key`, in its `edition`, and with a take what it was when it was
    performed again.

    `spot` and `strokes` are of the current frame, `wished`, `found` and `lines` of the one that rested last; `problem`
    says why there is nothing to see.
    """

    armature: Handle
    key: str
    edition: int
    database: Database
    method: MotionMatching
    take: Handle | None = None
    parts: tuple[tuple[Part, Watched], ...] = ()
    spot: Spot | None = None
    strokes: tuple[Stroke, ...] = ()
    wished: tuple[Stroke, ...] = ()
    found: FrameInspection | None = None
    lines: tuple[str, ...] = field(default=())
    problem: str = ""
    namesakes: tuple[tuple[Any, ...], list[int]] = (
        (),
        [],
    )  # what they were found for, and places of sources with one clip


current: Inspector | None = None


# ---------------------------------------------------------------- beginning and end


def inspect(obj: bpy.types.Object) -> Steps[Inspector]:
    """Work that begins to inspect the chosen source or the active take of an armature; errors are those of building and of
    reading the take."""
    global current
    from ..engine.matching.method import MotionMatching
    from ..scene.handle import Handle

    uid, kind = obj.session_uid, obj.motion_matching.insight.inspect
    database = yield from built(obj)
    obj = request.held(uid)
    settings, key = request.performer_settings(obj, database), obj.motion_matching.built_key
    take: Handle | None = None
    parts: tuple[tuple[Part, Watched], ...] = ()
    if kind == "take":
        action = active(obj.motion_matching, "takes", "take_index").action
        take = Handle.of(action, "actions")
        wanted = [
            part._replace(wanted=request.on_ground_of(obj, part.wanted))
            for part in parts_of(action)
        ]
        methods = [Chosen.named(part.wanted.method) for part in wanted]
        parts = yield from in_background(
            lambda tell: _watched(database, settings, wanted, methods, tell), "Performing Again"
        )
    method = yield from in_background(lambda tell: MotionMatching(database, settings), "Preparing")
    current = Inspector(
        Handle.of(request.held(uid), "objects"),
        key,
        status.edition(key),
        database,
        method,
        take,
        parts,
    )
    look()
    return current


def _watched(
    database: Database,
    settings: PerformerSettings,
    parts: Sequence[Part],
    methods: Sequence[Chosen],
    tell: Callable[[str, float], None],
) -> tuple[tuple[Part, Watched], ...]:
    from ..engine.matching.method import MotionMatching
    from ..engine.matching.watched import watch

    result = []
    for number, part in enumerate(parts):

        def told(done: float, before: int = number) -> None:
            tell("Performing Again", (before + done) / len(parts))

        field = methods[number].field(database, or_greedy=True)
        found = watch(
            database,
            settings,
            field.performed(part.wanted) if field else part.wanted,
            told,
            controller=field or MotionMatching,
        )
        result.append((part, found.sliced(round(part.lead_in * database.fps / part.wanted.fps))))
    return tuple(result)


def close() -> None:
    """Inspect no more; may be called twice."""
    global current
    current = None
    callbacks.not_soon(_rested)
    status.redraw("WINDOW")
    status.redraw()


# ---------------------------------------------------------------- the current frame


def look() -> None:
    """Inspect the current frame in full."""
    if current is not None and _is_there(current):
        _see(current)
        _weigh(current)
        status.redraw("WINDOW")
        status.redraw()


def _is_there(seen: Inspector) -> bool:
    if seen.armature.find() is None:
        close()
        return False
    return True


def _see(seen: Inspector) -> None:
    """Find the current frame and what is drawn of it."""
    from ..engine.matching import feature_strokes

    try:
        spot = _spot(seen)
    except MotionMatchingError as error:
        seen.spot, seen.strokes, seen.wished, seen.found, seen.lines = None, (), (), None, ()
        seen.problem = str(error)
        return
    seen.spot, seen.problem = spot, ""
    seen.strokes, seen.wished = feature_strokes.strokes(seen.database, spot.frame), ()


def _spot(seen: Inspector) -> Spot:
    """What is inspected at the current frame. SettingsError where that is nothing."""
    obj, frame = seen.armature.find(), bpy.context.scene.frame_current
    return (
        _spot_of_source(seen, obj, frame) if seen.take is None else _spot_of_take(seen, obj, frame)
    )


def _spot_of_source(seen: Inspector, obj: bpy.types.Object, scene_frame: int) -> Spot:
    from ..engine.matching import frame_inspector

    settings, database = obj.motion_matching, seen.database
    if settings.insight.inspect != "source":
        raise SettingsError("A source was inspected; inspect again for the take.")
    source = active(settings, "sources", "source_index")
    if source is None:
        raise SettingsError("No source is chosen; choose one in the panel Database.")
    if not source.enabled:
        raise SettingsError(
            f"The source '{source.name}' is switched off; switch it on, build, and inspect again."
        )
    request.check_source(obj, source)
    clip = _clip_of(source)
    frame = frame_inspector.find_frame(
        database,
        f"{clip}:{max(scene_frame - _first_frame(obj, source), 0)}",
        _which(seen, settings, clip),
    )
    x, y, yaw = database.track[frame].tolist()
    return Spot(frame, (x, y, float(database.poses[frame, 2, 0]), yaw))


def _which(seen: Inspector, settings: Any, clip: str) -> int:
    """The place of the chosen source among those of the database whose clips have its name.

    SettingsError where the list has another number of them than the database.
    """
    state = clip, status.changes, bpy.data.actions.keys()
    # at every frame this would go through all sources, and see whether their files are there
    if seen.namesakes[0] != state or settings.source_index not in seen.namesakes[1]:
        seen.namesakes = (
            state,
            [
                place
                for place, source in enumerate(settings.sources)
                if source.enabled and _clip_of(source) == clip and not request.problem_of(source)
            ],
        )
    of_clip = seen.namesakes[1]
    there = sum(origin.clip == clip and not origin.mirrored for origin in seen.database.ranges)
    if there and there != len(of_clip):
        raise SettingsError(
            f"The database has {there} clips '{clip}' and the list of sources {len(of_clip)}; inspect "
            "again, or remove those that the build left out."
        )
    return of_clip.index(settings.source_index)


def _clip_of(source: Any) -> str:
    """The name of a source's clip; nothing where it has lost its action."""
    if source.kind == "FILE":
        return source_files.file_of(source).stem
    return source.action.name if source.action else ""


def _first_frame(obj: bpy.types.Object, source: Any) -> int:
    """The frame of the timeline that is the first of a source's clip."""
    from ..scene import actions

    if source.kind == "FILE":
        return 0
    if source.use_range:
        return source.frame_start
    curves = actions.curves_of(source.action, actions.slot_for(source.action, obj))
    return actions.frame_range(source.action, curves)[0]


def _spot_of_take(seen: Inspector, obj: bpy.types.Object, scene_frame: int) -> Spot:
    settings, action = obj.motion_matching, seen.take.find() if seen.take else None
    chosen = active(settings, "takes", "take_index")
    if (
        action is None
        or settings.insight.inspect != "take"
        or chosen is None
        or chosen.action != action
    ):
        raise SettingsError("Another take was inspected; inspect again for what is chosen now.")
    rate = request.scene_rate()
    for part, watched in reversed(seen.parts):
        take = watched.take
        tick = round((scene_frame - part.frame) * take.fps / rate)
        if 0 <= tick < take.frame_count:
            x, y, yaw = take.character[tick].tolist()
            place = x, y, float(take.poses[tick, 2, 0]), yaw
            return Spot(
                int(take.frames[tick]), place, watched.wish_after(tick), watched.choice_after(tick)
            )
    raise SettingsError(
        f"The take '{action.name}' has no frame {scene_frame}; go to one that it has."
    )


def _weigh(seen: Inspector) -> None:
    """Find what the search makes of the current frame."""
    if seen.spot is None:
        return
    from ..engine.matching import feature_strokes, frame_inspector

    spot = seen.spot
    speed, turn = frame_inspector.motion_at(seen.database, spot.frame)
    if spot.choice is not None:
        seen.found, seen.lines = None, (f"{speed:.2f} m/s, turning at {turn:+.0f}°/s",)
        return
    try:
        trajectory, tags, settings = _wish(seen, spot)
        seen.found = frame_inspector.inspect_frame(
            seen.database, settings, spot.frame, trajectory, tags=tags, count=5, method=seen.method
        )
    except MotionMatchingError as error:
        seen.found, seen.problem = None, str(error)
        return
    seen.wished = feature_strokes.of_wish(trajectory) if trajectory is not None else ()
    entered = f"Barred: {seen.found.barred}" if seen.found.barred else "May be entered"
    bias = f", bias {seen.found.bias:+g}" if seen.found.bias else ""
    seen.lines = (
        f"{speed:.2f} m/s, turning at {turn:+.0f}°/s",
        f"Tags: {', '.join(seen.found.tags) or 'none'}{bias}",
        entered,
    )


def _wish(
    seen: Inspector, spot: Spot
) -> tuple[Sequence[TrajectoryPoint] | None, frozenset[str], PerformerSettings]:
    """What is searched for at a frame: what the take wanted, or for a source what the panel wishes, if it does."""
    if spot.wish is not None:
        goal, settings = spot.wish
        return goal.trajectory, goal.tags, settings
    from ..engine.matching import frame_inspector

    obj = seen.armature.find()
    settings, shown = request.performer_settings(obj, seen.database), obj.motion_matching.insight
    if not shown.use_wish:
        return None, frozenset(), settings
    ahead, left = shown.wish
    return (
        frame_inspector.wish_at(seen.database, settings, spot.frame, (ahead, left)),
        frozenset(),
        settings,
    )


# ---------------------------------------------------------------- when


@persistent
def _frame_changed(*_: Any) -> None:
    if current is None or trail.live or bpy.app.is_job_running("RENDER") or not _is_there(current):
        return
    _see(current)
    callbacks.not_soon(_rested)
    callbacks.soon(_rested, _REST)


def _rested() -> None:
    """The frame has not changed for a while: weigh its costs."""
    if current is not None and _is_there(current):
        _weigh(current)
        status.redraw("WINDOW")
        status.redraw()


@persistent
def _before_load(*_: Any) -> None:
    close()


def _handlers() -> callbacks.Handlers:
    return (bpy.app.handlers.frame_change_post, _frame_changed), (
        bpy.app.handlers.load_pre,
        _before_load,
    )


def start() -> None:
    """Follow the current frame."""
    callbacks.listen(_handlers())


def stop() -> None:
    """Follow it no more."""
    callbacks.unlisten(_handlers())
    close()

"""Inspect the current frame of a source or of a take as the search sees it.

What is drawn follows each frame. Costs are computed when the frame rests, because that looks at
every frame of the database.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import bpy

from ...engine.blending.transition_cost import format_price
from ...engine.control.method import Goal
from ...engine.control.trajectory import TrajectoryPoint
from ...engine.database import frame_names
from ...engine.database.database import Database
from ...engine.database.features.strokes import Stroke
from ...engine.errors import MotionMatchingError, SettingsError
from ...engine.insight.frames import feature_strokes, frame_inspector
from ...engine.insight.frames.frame_inspector import FrameInspection
from ...engine.insight.frames.watching import Choice, WatchedTake, watch
from ...engine.matching.method import MotionMatching
from ...engine.performance.settings import PerformerSettings
from ...engine.progress import ReportProgress
from ...scene.blender.animation import actions
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.reading.moving_pose import PoseReader
from ...scene.writing import recording
from .. import callbacks
from ..character.characters import get_armature, get_root_target
from ..controller.training import ChosenMethod
from ..database import status
from ..database.build import load_or_build_steps
from ..database.frame_numbers import find_first_frames, get_clip_name
from ..property_access import get_active, settings_of
from ..runtime import runtime
from ..settings import get_performer_settings
from ..sources import source_preview
from ..sources.source_list import (
    check_source,
    find_first_frame,
    find_source_problem,
    get_active_source,
)
from ..steps import Steps, run_in_background_steps, scale_report
from ..takes.take_actions import TakePart, read_parts_on_ground

_REST_DELAY = 0.15  # seconds that the frame stays before costs are weighed
_COUNT = 5  # other frames that are listed
_APART = 1.0 / 3.0  # seconds between two of them that are like a pose


class InspectedFrame(NamedTuple):
    """A frame of the database, and where it is seen (x, y, z, yaw).

    Of a take also the goal there with its settings, what a motion field chose from, and the part of
    the take with the tick of its next search.
    """

    frame: int
    position: tuple[float, float, float, float]
    goal: tuple[Goal, PerformerSettings] | None = None
    choice: Choice | None = None
    moment: tuple[int, int] | None = None


@dataclass
class Inspector:
    """The data of an armature with a `key`, in its `edition`, and parts of a take performed again.

    Its `subject` is a 'source', a 'take', or the 'pose' on the screen. `inspected` and `strokes`
    are of the current frame; `goal_strokes`, `inspection` and `lines` of the one that rested last,
    as are frames that are `similar` to a pose, with how different they are. `problem` says why
    there is nothing to see. `first_frames` are those of the timeline where the source of each range
    of the database begins.
    """

    armature: Handle
    key: str
    edition: int
    database: Database
    first_frames: tuple[int, ...]
    method: MotionMatching
    subject: str
    take: Handle | None = None
    reader: PoseReader | None = None
    parts: tuple[tuple[TakePart, WatchedTake], ...] = ()
    inspected: InspectedFrame | None = None
    strokes: tuple[Stroke, ...] = ()
    goal_strokes: tuple[Stroke, ...] = ()
    inspection: FrameInspection | None = None
    similar: tuple[tuple[int, float], ...] = ()
    lines: tuple[str, ...] = ()
    problem: str = ""
    # what the indices of sources with the same clip depend on, and these
    namesakes: tuple[tuple[Any, ...], tuple[int, ...]] = ((), ())


# ---------------------------------------------------------------- beginning and end


def prefer_screen(obj: bpy.types.Object) -> None:
    """Inspect what is on the screen of an armature from now on, if nothing else was chosen."""
    insight = settings_of(obj).insight
    if not insight.is_property_set("inspect"):
        insight.inspect = "screen"


def inspect_steps(obj: bpy.types.Object) -> Steps[Inspector]:
    """Begin to inspect a source, a take or the pose of an armature, as is chosen or on screen.

    Raises errors of building and of reading the take or the pose.
    """
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    obj = get_armature(uid)
    settings, key = get_performer_settings(obj, database), settings_of(obj).built_key
    subject, action = _find_subject(obj)
    take: Handle | None = None
    reader: PoseReader | None = None
    parts: tuple[tuple[TakePart, WatchedTake], ...] = ()
    if subject == "take" and action is not None:
        take = Handle.from_block(action, "actions")
        recorded = read_parts_on_ground(obj, action)
        methods = [ChosenMethod.from_name(part.performance.method) for part in recorded]
        watch_parts = partial(_watch_parts, database, settings, recorded, methods)
        parts = yield from run_in_background_steps(watch_parts, "Performing Again")
    elif subject == "pose":
        root, root_bone = get_root_target(obj)
        reader = PoseReader(obj, database, root=root, root_bone=root_bone)
    method = yield from run_in_background_steps(
        lambda _: MotionMatching(database, settings), "Preparing"
    )
    obj = get_armature(uid)
    inspector = Inspector(
        Handle.from_block(obj, "objects"),
        key,
        status.get_edition(key),
        database,
        find_first_frames(obj, database),
        method,
        subject,
        take,
        reader,
        parts,
    )
    runtime.inspector = inspector
    refresh()
    return inspector


def _find_subject(obj: bpy.types.Object) -> tuple[str, bpy.types.Action | None]:
    """Return what is to be inspected: 'source', 'take' or 'pose', and the action of a take.

    On screen is a take that can be performed again, or the pose of any other action. Where the
    armature plays none, or that of a source, or where a source is previewed, it is the active
    source.
    """
    settings = settings_of(obj)
    if settings.insight.inspect == "source" or source_preview.find_shown(obj):
        return "source", None
    if settings.insight.inspect == "take":
        chosen = get_active(settings.takes, settings.take_index)
        return "take", chosen.action if chosen else None
    action = obj.animation_data and obj.animation_data.action
    if action and recording.has_performance(action):
        return "take", action
    listed = any(source.action == action for source in settings.sources) if action else False
    if listed or not (action or actions.has_nla_tracks(obj)):
        return "source", None
    return "pose", None


def _watch_parts(
    database: Database,
    settings: PerformerSettings,
    parts: Sequence[TakePart],
    methods: Sequence[ChosenMethod],
    report: ReportProgress,
) -> tuple[tuple[TakePart, WatchedTake], ...]:
    result = []
    for number, (part, method) in enumerate(zip(parts, methods, strict=True)):
        report_part = scale_report(report, "Performing Again", number, len(parts))
        field = method.load_field(database, or_greedy=True)
        performance = field.adapt_performance(part.performance) if field else part.performance
        controller = field or MotionMatching
        watched = watch(database, settings, performance, report_part, controller=controller)
        result.append((part, watched.crop(part.count_lead_in(database.fps))))
    return tuple(result)


def close() -> None:
    """Inspect no more; may be called twice."""
    runtime.inspector = None
    callbacks.unschedule(_update_after_rest)
    callbacks.redraw("WINDOW")
    callbacks.redraw()


# ---------------------------------------------------------------- the current frame


def refresh() -> None:
    """Inspect the current frame in full."""
    if (seen := _find_current()) is not None:
        _update_frame(seen)
        _show_costs(seen)


def _find_current() -> Inspector | None:
    """Return the inspector if it has something to follow; close it where its armature is gone.

    What was inspected of a take or a pose stays while a source is previewed.
    """
    seen = runtime.inspector
    if seen is None:
        return None
    obj = seen.armature.find()
    if obj is None:
        close()
        return None
    return seen if seen.subject == "source" or source_preview.find_shown(obj) is None else None


def _update_frame(seen: Inspector) -> None:
    """Find the current frame and what is drawn of it."""
    try:
        obj = seen.armature.find()
        if _find_subject(obj)[0] != seen.subject:
            raise SettingsError(
                "Something else was inspected; inspect again for the current choice."
            )
        inspected = _LOCATE[seen.subject](seen, obj, bpy.context.scene.frame_current)
    except MotionMatchingError as error:
        seen.inspected, seen.inspection, seen.problem = None, None, str(error)
        seen.strokes, seen.goal_strokes, seen.lines, seen.similar = (), (), (), ()
        return
    seen.problem, seen.goal_strokes = "", ()
    if inspected is None:  # what was seen of the pose stays until the frame rests
        return
    seen.inspected = inspected
    seen.strokes = feature_strokes.make_strokes(seen.database, inspected.frame)


def _locate_in_source(seen: Inspector, obj: bpy.types.Object, scene_frame: int) -> InspectedFrame:
    settings, database = settings_of(obj), seen.database
    source = get_active_source(obj)
    if source is None:
        raise SettingsError("No source is chosen; choose one in the panel Database.")
    if not source.enabled:
        text = f"The source '{source.name}' is switched off"
        raise SettingsError(f"{text}; switch it on, build, and inspect again.")
    check_source(obj, source)
    clip = get_clip_name(source)
    shown = source_preview.find_shown_frame(source, scene_frame)
    number = max(shown - find_first_frame(obj, source), 0)
    index = _find_namesake_index(seen, settings, clip)
    frame = frame_names.find_frame(database, f"{clip}:{number}", index)
    x, y, yaw = database.track[frame].tolist()
    return InspectedFrame(frame, (x, y, float(database.poses[frame, 2, 0]), yaw))


def _find_namesake_index(seen: Inspector, settings: Any, clip: str) -> int:
    """Return the index of the chosen source among the database's sources of its name. Raises
    SettingsError if the list has another number of them.
    """
    state = clip, runtime.statuses.change_count, bpy.data.actions.keys()
    # stored, as every frame would go through all sources, and see whether their files are there
    if seen.namesakes[0] != state or settings.source_index not in seen.namesakes[1]:
        indices = [
            index
            for index, source in enumerate(settings.sources)
            if source.enabled and get_clip_name(source) == clip and not find_source_problem(source)
        ]
        seen.namesakes = state, tuple(indices)
    namesakes = seen.namesakes[1]
    originals = [each for each in seen.database.ranges if not each.mirrored and not each.is_copy]
    count = sum(origin.clip == clip for origin in originals)
    if count and count != len(namesakes):
        text = (
            f"The database has {count} clips named '{clip}', the list of sources {len(namesakes)}"
        )
        raise SettingsError(f"{text}; inspect again, or remove those that the build left out.")
    return namesakes.index(settings.source_index)


def _locate_in_take(seen: Inspector, obj: bpy.types.Object, scene_frame: int) -> InspectedFrame:
    action = seen.take.find() if seen.take else None
    if action is None or _find_subject(obj)[1] != action:
        raise SettingsError("Another take was inspected; inspect again for the current choice.")
    rate = get_scene_fps(bpy.context.scene)
    for number, (part, watched) in reversed(list(enumerate(seen.parts))):
        take = watched.take
        tick = round((scene_frame - part.frame) * take.fps / rate)
        if 0 <= tick < take.frame_count:
            x, y, yaw = take.character[tick].tolist()
            position = x, y, float(take.poses[tick, 2, 0]), yaw
            goal, choice = watched.get_goal_after(tick), watched.get_choice_after(tick)
            moment = number, min(tick + 1, take.frame_count - 1)
            return InspectedFrame(int(take.frames[tick]), position, goal, choice, moment)
    text = f"The take '{action.name}' has no frame {scene_frame}; go to one that it has."
    raise SettingsError(text)


def _locate_pose(seen: Inspector, obj: bpy.types.Object, scene_frame: int) -> None:
    """Looking for frames that are like the pose on the screen waits until the frame rests."""


_LOCATE: Any = {"source": _locate_in_source, "take": _locate_in_take, "pose": _locate_pose}


def _find_similar(seen: Inspector) -> None:
    """Find the frames that are most like the pose on the screen, as it moves there."""
    obj, database, scene = seen.armature.find(), seen.database, bpy.context.scene
    seen.inspected, seen.inspection, seen.strokes, seen.similar = None, None, (), ()
    try:
        if seen.reader is None:
            return
        step = get_scene_fps(scene) / database.fps
        place, state = seen.reader.read_start(obj, scene.frame_current, step)
    except MotionMatchingError as error:
        seen.problem = str(error)
        return
    moving = state.to_moving_pose(database.skeleton)
    apart = round(_APART * database.fps)
    seen.similar = tuple(seen.method.find_similar(moving, _COUNT, apart))
    frame = seen.similar[0][0]
    x, y, yaw = place
    seen.inspected = InspectedFrame(frame, (x, y, float(obj.matrix_world[2][3]), yaw))
    seen.strokes = feature_strokes.make_strokes(database, frame)
    seen.lines = (_describe_motion(database, frame),)


def _describe_motion(database: Database, frame: int) -> str:
    speed, turn = frame_inspector.measure_motion(database, frame)
    return f"{speed:.2f} m/s, turning at {turn:+.0f}°/s"


def _show_costs(seen: Inspector) -> None:
    """Compute what the search makes of the current frame, and show it."""
    if seen.subject == "pose":
        if not seen.problem:
            _find_similar(seen)
    elif seen.inspected is not None:
        _update_costs(seen, seen.inspected)
    callbacks.redraw("WINDOW")
    callbacks.redraw()


def _update_costs(seen: Inspector, inspected: InspectedFrame) -> None:
    database, frame = seen.database, inspected.frame
    motion = _describe_motion(database, frame)
    if inspected.choice is not None:
        seen.inspection, seen.lines = None, (motion,)
        return
    try:
        trajectory, tags, settings = _get_goal(seen, inspected)
        feet = inspected.goal[0].feet if inspected.goal else None
        inspection = frame_inspector.inspect_frame(
            *(database, settings, frame, trajectory),
            tags=tags,
            feet=feet,
            count=_COUNT,
            method=seen.method,
        )
    except MotionMatchingError as error:
        seen.inspection, seen.problem = None, str(error)
        return
    seen.inspection, seen.goal_strokes = inspection, ()
    if trajectory is not None:
        seen.goal_strokes = feature_strokes.make_goal_strokes(trajectory)
    bias = f", bias {inspection.bias:+g}" if inspection.bias else ""
    tagged = f"Tags: {', '.join(inspection.tags) or 'none'}{bias}"
    entry = f"Excluded: {inspection.exclusion}" if inspection.exclusion else "May be entered"
    seen.lines = motion, tagged, entry, *_describe_next_jump(seen, inspected)


def _describe_next_jump(seen: Inspector, inspected: InspectedFrame) -> tuple[str, ...]:
    """Describe the jump that a take makes after a frame, if it makes one."""
    if inspected.moment is None:
        return ()
    number, tick = inspected.moment
    price = float(seen.parts[number][1].take.prices[tick])
    return () if math.isnan(price) else (f"Jumps next, price {format_price(price)}",)


def _get_goal(
    seen: Inspector, inspected: InspectedFrame
) -> tuple[Sequence[TrajectoryPoint] | None, frozenset[str], PerformerSettings]:
    """Return what is searched for: the goal of the take, or of the panel if it has one."""
    if inspected.goal is not None:
        goal, settings = inspected.goal
        return goal.trajectory, goal.tags, settings
    obj = seen.armature.find()
    settings, shown = get_performer_settings(obj, seen.database), settings_of(obj).insight
    if not shown.use_wish:
        return None, frozenset(), settings
    ahead, left = shown.wish
    trajectory = frame_inspector.predict_trajectory(
        seen.database, settings, inspected.frame, (ahead, left)
    )
    return trajectory, frozenset(), settings


# ---------------------------------------------------------------- when


def follow_frame() -> None:
    """Show what is drawn of a new current frame, and its costs once it rests."""
    if not bpy.app.is_job_running("RENDER") and (seen := _find_current()) is not None:
        _update_frame(seen)
        callbacks.unschedule(_update_after_rest)
        callbacks.schedule(_update_after_rest, _REST_DELAY)


def _update_after_rest() -> None:
    if (seen := _find_current()) is not None:
        _show_costs(seen)

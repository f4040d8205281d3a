"""Inspect the current frame of a source or of a take as the search sees it.

What is drawn follows each frame. Costs are computed when the frame rests, because that looks at
every frame of the database.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy

from ...engine.blending.transition_cost import format_price
from ...engine.control.trajectory import TrajectoryPoint
from ...engine.database.database import Database
from ...engine.database.features.strokes import Stroke
from ...engine.errors import MotionMatchingError
from ...engine.insight.frames import feature_strokes, frame_inspector
from ...engine.insight.frames.watching import WatchedTake, watch
from ...engine.matching.method import MotionMatching
from ...engine.performance.settings import PerformerSettings
from ...engine.progress import ReportProgress
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.reading.moving_pose import PoseReader
from .. import callbacks
from ..character.characters import get_armature, get_root_target
from ..controller.training import ChosenMethod
from ..database.build import load_with_settings_steps
from ..database.frame_numbers import find_first_frames
from ..property_access import settings_of
from ..runtime import runtime
from ..settings import get_performer_settings
from ..sources import source_preview
from ..steps import Steps, run_in_background_steps, scale_report
from ..takes.take_actions import TakePart, read_parts_on_ground
from .subjects import InspectedFrame, find_subject, locate

_REST_DELAY = 0.15  # seconds that the frame stays before costs are weighed
_COUNT = 5  # other frames that are listed
_APART = 1.0 / 3.0  # seconds between two of them that are like a pose


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
    inspection: frame_inspector.FrameInspection | None = None
    similar: tuple[tuple[int, float], ...] = ()
    lines: tuple[str, ...] = ()
    problem: str = ""
    # what the indices of sources with the same clip depend on, and these
    namesakes: tuple[tuple[Any, ...], tuple[int, ...]] = ((), ())


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
    obj, database, settings = yield from load_with_settings_steps(obj)
    key = settings_of(obj).built_key
    method = yield from run_in_background_steps(
        lambda _: MotionMatching(database, settings), "Preparing"
    )
    obj = get_armature(uid)
    subject, action = find_subject(obj)
    armature = Handle.from_block(obj, "objects")
    firsts = find_first_frames(obj, database)
    edition = runtime.statuses.editions[key]
    inspector = Inspector(armature, key, edition, database, firsts, method, subject)
    if subject == "take" and action is not None:
        inspector.take = Handle.from_block(action, "actions")
        recorded = read_parts_on_ground(obj, action)
        methods = [ChosenMethod.from_name(part.performance.method) for part in recorded]
        watch_parts = partial(_watch_parts, database, settings, recorded, methods)
        inspector.parts = yield from run_in_background_steps(watch_parts, "Performing Again")
    elif subject == "pose":
        root, root_bone = get_root_target(obj)
        inspector.reader = PoseReader(obj, database, root=root, root_bone=root_bone)
    runtime.inspector = inspector
    refresh()
    return inspector


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
    callbacks.redraw("WINDOW", "UI")


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
    try:
        obj = seen.armature.find()
        inspected = locate(seen, obj, bpy.context.scene.frame_current)
    except MotionMatchingError as error:
        seen.inspected, seen.inspection, seen.problem = None, None, str(error)
        seen.strokes = ()
        seen.goal_strokes = ()
        seen.lines = ()
        seen.similar = ()
        return
    seen.problem = ""
    seen.goal_strokes = ()
    if inspected is None:  # what was seen of the pose stays until the frame rests
        return
    seen.inspected = inspected
    seen.strokes = feature_strokes.make_strokes(seen.database, inspected.frame)


def _find_similar(seen: Inspector) -> None:
    """Find the frames that are most like the pose on the screen, as it moves there."""
    obj = seen.armature.find()
    database = seen.database
    scene = bpy.context.scene
    seen.inspected = None
    seen.inspection = None
    seen.strokes = ()
    seen.similar = ()
    try:
        if seen.reader is None:
            return
        step = get_scene_fps(scene) / database.fps
        place, state = seen.reader.read_start(obj, scene.frame_current, step)
    except MotionMatchingError as error:
        seen.problem = str(error)
        return
    moving = database.scale.to_body(state.to_moving_pose(database.skeleton))
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
    callbacks.redraw("WINDOW", "UI")


def _update_costs(seen: Inspector, inspected: InspectedFrame) -> None:
    database = seen.database
    frame = inspected.frame
    motion = _describe_motion(database, frame)
    if inspected.choice is not None:
        seen.inspection = None
        seen.lines = (motion,)
        return
    try:
        trajectory, tags, settings = _get_goal(seen, inspected)
        feet = inspected.goal[0].feet if inspected.goal else None
        inspection = frame_inspector.inspect_frame(
            database,
            settings,
            frame,
            trajectory,
            tags=tags,
            feet=feet,
            count=_COUNT,
            method=seen.method,
        )
    except MotionMatchingError as error:
        seen.inspection, seen.problem = None, str(error)
        return
    seen.inspection = inspection
    seen.goal_strokes = ()
    if trajectory is not None:
        seen.goal_strokes = feature_strokes.make_goal_strokes(trajectory)
    bias = f", bias {inspection.bias:+g}" if inspection.bias else ""
    tagged = f"Tags: {', '.join(inspection.tags) or 'none'}{bias}"
    entry = f"Excluded: {inspection.exclusion}" if inspection.exclusion else "May be entered"
    seen.lines = motion, tagged, entry, *_describe_next_jump(seen, inspected)


def _describe_next_jump(seen: Inspector, inspected: InspectedFrame) -> tuple[str, ...]:
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
    settings = get_performer_settings(obj, seen.database)
    shown = settings_of(obj).insight
    if not shown.use_wish:
        return None, frozenset(), settings
    ahead, left = shown.wish
    trajectory = frame_inspector.predict_trajectory(
        seen.database, settings, inspected.frame, (ahead, left)
    )
    return trajectory, frozenset(), settings


def follow_frame() -> None:
    """Show what is drawn of a new current frame, and its costs once it rests."""
    if not bpy.app.is_job_running("RENDER") and (seen := _find_current()) is not None:
        _update_frame(seen)
        callbacks.unschedule(_update_after_rest)
        callbacks.schedule(_update_after_rest, _REST_DELAY)


def _update_after_rest() -> None:
    if (seen := _find_current()) is not None:
        _show_costs(seen)

"""The simulation bone's path through the chosen source, drawn into the 3D views while its settings are changed.

What is drawn is a frozen snapshot; another one is made between redraws, soon after something that it shows has changed.
The motion is read once, and again only where it or its roles changed: moving a slider smooths, and reads nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..engine.errors import MotionMatchingError
from . import callbacks, drawing, status

if TYPE_CHECKING:
    from ..engine.motion.simulation_bone import GroundTrack
    from ..scene.path_preview import Ingredients

_ABOVE = 0.01  # metres over the ground, so that the grid does not cut lines
_ARROW = 0.22  # metres
_ARROWS = 3.0  # a second
_SLOW = 0.3  # seconds: motion that takes longer to read is not read again on every change of a key

# kind of path: width of its line, of its arrows, and the theme's colour in the 3D view that it has
_LOOKS = {
    "raw": (1.5, 1.0, "bone_solid"),
    "computed": (2.0, 1.5, "object_active"),
    "smoothed": (3.5, 2.0, "object_active"),
    "by hand": (3.5, 2.0, "bone_pose_active"),
}


@dataclass
class Snapshot:
    """What is drawn: pairs of points (N, 3) of lines that do not join, with their width and colour; batches once drawn."""

    lines: list[tuple[np.ndarray, float, str]]
    tracks: dict[str, GroundTrack]
    seconds: float  # that it took to compute
    batches: list[tuple[Any, float]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Read:
    """The motion of a source as it was read, its first frame, and how long that took.

    `source` is what it was read from, the action's session_uid (or None) first.
    """

    source: tuple[Any, ...]
    found: Ingredients
    first: int
    seconds: float


shown: Snapshot | None = None
note = ""  # what the panel says where there is nothing to be drawn, or what is drawn may be old
_read: _Read | None = None
_raw: tuple[tuple[Any, ...], GroundTrack] | None = (
    None  # the path before it is smoothed, and what it is that of
)
_changed = False  # whether the motion may no longer be what was read
_looked_at: tuple[Any, ...] = ()  # what depsgraph updates are compared with


# ---------------------------------------------------------------- making a snapshot


def refresh() -> None:
    """Have what is to be seen now drawn, or nothing."""
    global shown, note, _looked_at
    obj = _armature()
    _looked_at = _look(obj)
    source = _wanted(obj)
    if source is None:
        hide()
        return
    try:
        _read_motion(obj, source)
        shown, note = _snapshot(obj, source), ""
        if _changed:
            note = "The motion may have changed since it was read: switch this off and on to read it again"
        overlay.start()
    except MotionMatchingError as error:
        shown, note = None, str(error)
    status.redraw("WINDOW")
    status.redraw()


def hide() -> None:
    """Draw nothing, and keep nothing that was read; twice does no harm."""
    global shown, note, _read, _raw, _changed
    if overlay.is_on:
        overlay.stop()
        status.redraw("WINDOW")
    shown, note, _read, _raw, _changed = None, "", None, None, False


def _armature() -> bpy.types.Object | None:
    from .request import armature_with

    windows = bpy.context.window_manager.windows
    return armature_with((windows[0] if windows else bpy.context).view_layer.objects.active)


def _wanted(obj: bpy.types.Object | None) -> Any:
    """The source whose path is to be seen, or None."""
    from .polls import active

    return (
        active(obj.motion_matching, "sources", "source_index")
        if obj and obj.motion_matching.show_path
        else None
    )


def _read_motion(obj: bpy.types.Object, source: Any) -> None:
    """Read the motion of a source unless that was done. Errors as in building."""
    global _read, _changed
    from ..scene import path_preview
    from . import request
    from .operators_build import read_source

    settings = obj.motion_matching
    kind = (
        source.action and source.action.session_uid,
        obj.session_uid,
        rest_of(obj),
        source.kind,
        source.filepath,
        source.use_range and (source.frame_start, source.frame_end),
        source.loop,
        source.speed,
        settings.speed,
        settings.bones,
        settings.up,
        settings.forward,
        settings.file_scale,
        tuple(request.roles_of(settings).items()),
        request.scene_rate(),
    )
    if _read and _read.source == kind and (not _changed or _read.seconds > _SLOW):
        return
    request.check_source(obj, source)
    began = time.perf_counter()
    use, first = read_source(obj, source, by_hand=False)
    clip = use.load(request.build_settings(obj).axes())
    placed = path_preview.placed_by(obj, source.action) if source.kind == "ACTION" else None
    speed = source.speed * settings.speed
    found = path_preview.ingredients(clip, request.roles_of(settings), speed, use.loop, placed)
    _read, _changed = (
        _Read(kind, found, first + (use.start or 0), time.perf_counter() - began),
        False,
    )


def rest_of(obj: bpy.types.Object) -> bytes:
    """How the bones rest: to Blender, every setting of an armature object is a change of its armature."""
    rests = np.empty(16 * len(obj.data.bones), dtype=np.float32)
    obj.data.bones.foreach_get("matrix_local", rests)
    return rests.tobytes()


def _snapshot(obj: bpy.types.Object, source: Any) -> Snapshot:
    """The paths as they are set; the raw one is computed only where it is not the one from before. Errors as in building."""
    global _raw
    from ..scene import hand_path, path_preview
    from . import request

    began = time.perf_counter()
    read, standing, settings = _read, hand_path.standing(obj), request.simulation_bone_settings(obj)
    known = read, settings.source, standing.tobytes()
    if _raw is None or _raw[0] != known:
        _raw = known, path_preview.raw_path(read.found, settings.source, standing)
    raw = _raw[1]
    smoothed = path_preview.smoothed_path(read.found, raw, settings)
    tracks = {"raw": raw, "smoothed": smoothed}
    if source.use_path and request.path_is_there(source):
        by_hand = hand_path.read_path(source.path, obj, read.first, raw.frame_count)
        tracks = {"raw": raw, "computed": smoothed, "by hand": by_hand}
    height = _ABOVE + (standing[2, 3] if source.kind == "ACTION" else 0.0)
    every = max(1, round(read.found.clip.fps / _ARROWS))
    lines = []
    for name, track in reversed(tracks.items()):  # the raw one, which is thin, on top of the others
        width, arrows, color = _LOOKS[name]
        lines += [
            (_line(track, height), width, color),
            (_arrows(track, height, every), arrows, color),
        ]
    return Snapshot(lines, tracks, time.perf_counter() - began)


def _line(track: GroundTrack, height: float) -> np.ndarray:
    """The path as pairs of points (2F - 2, 3)."""
    return drawing.pairs_of(np.column_stack([track.positions, np.full(track.frame_count, height)]))


def _arrows(track: GroundTrack, height: float, every: int) -> np.ndarray:
    """Arrows to where the character faces, as pairs of points: a shaft and two strokes for each."""
    start, ahead = track.positions[::every], track.forward[::every]
    aside = ahead[:, ::-1] * [1.0, -1.0]
    tip = start + _ARROW * ahead
    strokes = [tip + _ARROW * (-0.35 * ahead + side * 0.25 * aside) for side in (1.0, -1.0)]
    points = np.stack([start, tip, tip, strokes[0], tip, strokes[1]], axis=1).reshape(-1, 2)
    return np.column_stack([points, np.full(len(points), height)]).astype(np.float32)


# ---------------------------------------------------------------- drawing


def _draw() -> None:
    if shown is None or not bpy.context.space_data.overlay.show_overlays:
        return
    if not shown.batches:
        shown.batches = [
            (drawing.lines(points, drawing.theme_color(color)), width)
            for points, width, color in shown.lines
        ]
    drawing.draw_lines(shown.batches, stand_behind=True)


overlay = drawing.Overlay((_draw, "POST_VIEW"))


# ---------------------------------------------------------------- when


def soon() -> None:
    """Something that may be seen has changed: look at it between two redraws."""
    if not bpy.app.background and (shown or note or _look(_armature())):
        callbacks.soon(refresh)


def _look(obj: bpy.types.Object | None) -> tuple[Any, ...]:
    """What tells cheaply whether another path, or this one elsewhere, is to be seen."""
    if obj is None or not obj.motion_matching.show_path:
        return ()
    return (
        obj.session_uid,
        obj.motion_matching.source_index,
        *(value for row in obj.matrix_world for value in row),
    )


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    global _changed
    from . import performing

    if performing.current:
        return
    if _read and depsgraph.id_type_updated("ACTION"):
        _changed = _changed or any(
            update.id.original.session_uid == _read.source[0] for update in depsgraph.updates
        )
        soon()
    elif _look(_armature()) != _looked_at:
        soon()


@persistent
def _after_jump(*_: Any) -> None:
    """After undo, redo and loading, the motion may be another one."""
    hide()
    soon()


def handlers() -> Iterator[tuple[Any, Any]]:
    on = bpy.app.handlers
    yield on.depsgraph_update_post, _after_update
    for when in (on.load_post, on.undo_post, on.redo_post):
        yield when, _after_jump


def start() -> None:
    """Follow what there is to be seen."""
    callbacks.listen(handlers())
    status.listeners.append(soon)


def stop() -> None:
    """Draw no more, and follow nothing any more."""
    callbacks.unlisten(handlers())
    if soon in status.listeners:
        status.listeners.remove(soon)
    callbacks.not_soon(refresh)
    hide()

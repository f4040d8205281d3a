"""Draw the simulation bone's path through the active source into the 3D views.

A frozen snapshot is drawn. Another one is made between redraws, soon after something that it shows
has changed. The motion is read again only if it or its roles have changed: moving a slider only
smooths.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ... import app, scene
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ...engine.errors import MotionMatchingError
from ..base import drawing

if TYPE_CHECKING:
    from ...engine.motion.simulation_bone import GroundTrack
    from ...scene.reading.path_preview import PathInputs

_ARROW = 0.22  # metres
_ARROWS = 3.0  # a second
_SLOW = 0.3  # seconds: motion that takes longer to read is not read again on every change of a key

_STALE_NOTE = "The motion may have changed: switch this off and on to read it again"
# kind of path: width of its line, of its arrows, and its colour
_STYLES = {
    "raw": (1.5, 1.0, "guide"),
    "computed": (2.0, 1.5, "desired"),
    "smoothed": (3.5, 2.0, "desired"),
    "by hand": (3.5, 2.0, "chosen"),
}


@dataclass
class PathSnapshot:
    """Points and colours to draw; batches are built from them at the first drawing."""

    lines: list[tuple[np.ndarray, float, str]]  # pairs of points (N, 3), width and colour
    tracks: dict[str, GroundTrack]
    batches: list[tuple[Any, float]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _SourceMotion:
    """The motion of a source as it was read."""

    source: tuple[Any, ...]  # what it was read from, the action's session_uid (or None) first
    ingredients: PathInputs
    first: int  # frame
    seconds: float  # that reading took


@dataclass
class PathCache:
    """The drawn path, and the motion read for it."""

    snapshot: PathSnapshot | None = None
    note: str = ""  # for the panel: why nothing is drawn, or that it may be old
    motion: _SourceMotion | None = None
    # not smoothed yet, and what it depends on
    raw_path: tuple[tuple[Any, ...], GroundTrack] | None = None
    is_stale: bool = False  # whether the motion may no longer be what was read
    watched_state: tuple[Any, ...] = ()  # what depsgraph updates are compared with


def get_cache() -> PathCache:
    """Return what is drawn and what was read for it."""
    return runtime.get_cache(PathCache)


# Making a snapshot


def refresh() -> None:
    """Draw the path that the settings show now, or none."""
    obj = _get_armature()
    cache = get_cache()
    cache.watched_state = _get_watched_state(obj)
    source = (
        app.sources.source_list.get_active_source(obj)
        if obj and settings_of(obj).show_path
        else None
    )
    if source is None:
        hide()
        return
    try:
        _read_motion(obj, source)
        cache.snapshot = _build_snapshot(obj, source)
        cache.note = ""
        if cache.is_stale:
            cache.note = _STALE_NOTE
        overlay.start()
    except MotionMatchingError as error:
        cache.snapshot, cache.note = None, str(error)
    app.callbacks.redraw("WINDOW")
    app.callbacks.redraw()


def hide() -> None:
    """Draw nothing, and forget what was read; may be called twice."""
    if overlay.is_on:
        overlay.stop()
        app.callbacks.redraw("WINDOW")
    cache = get_cache()
    cache.snapshot = cache.motion = cache.raw_path = None
    cache.note = ""
    cache.is_stale = False


def _get_armature() -> bpy.types.Object | None:
    windows = bpy.context.window_manager.windows
    layer = (windows[0] if windows else bpy.context).view_layer
    return app.character.characters.resolve_armature(layer.objects.active)


def _read_motion(obj: bpy.types.Object, source: Any) -> None:
    """Read the motion of a source unless it is known. Errors as in building."""
    settings = settings_of(obj)
    cache = get_cache()
    kind = (
        source.action and source.action.session_uid,
        obj.session_uid,
        scene.rig.armature.read_rest_bytes(obj),
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
        tuple(app.character.characters.get_roles(settings).items()),
        scene.blender.animation.actions.get_scene_fps(bpy.context.scene),
    )
    motion = cache.motion
    if motion and motion.source == kind and (not cache.is_stale or motion.seconds > _SLOW):
        return
    app.sources.source_list.check_source(obj, source)
    began = time.perf_counter()
    use, first = app.database.build.read_source(obj, source, by_hand=False)
    clip = app.mapping.mapping.retarget_source(
        obj, source, use.load(app.character.characters.get_axes(settings))
    )
    previews = scene.reading.path_preview
    placed = None
    if source.kind == "ACTION":
        placed = previews.read_placement(obj, source.action)
    roles = app.character.characters.get_roles(settings)
    speed = source.speed * settings.speed
    inputs = previews.collect_path_inputs(clip, roles, speed, use.loop, placed)
    seconds = time.perf_counter() - began
    cache.motion = _SourceMotion(kind, inputs, first + (use.start or 0), seconds)
    cache.is_stale = False


def _build_snapshot(obj: bpy.types.Object, source: Any) -> PathSnapshot:
    """Compute the shown paths; the raw one only if it has changed. Errors as in building."""
    cache = get_cache()
    previews = scene.reading.path_preview
    read = cache.motion
    standing = scene.blender.animation.curve_poses.compute_static_matrix(obj)
    settings = app.settings.get_simulation_bone_settings(obj)
    known = read, settings.source, standing.tobytes()
    if cache.raw_path is None or cache.raw_path[0] != known:
        raw = previews.compute_raw_path(read.ingredients, settings.source, standing)
        cache.raw_path = known, raw
    raw = cache.raw_path[1]
    smoothed = previews.smooth_path(read.ingredients, raw, settings)
    tracks = {"raw": raw, "smoothed": smoothed}
    if source.use_path and app.sources.source_list.has_path_object(source):
        by_hand = scene.reading.hand_path.read_path(source.path, obj, read.first, raw.frame_count)
        tracks = {"raw": raw, "computed": smoothed, "by hand": by_hand}
    height = drawing.ABOVE_GROUND + (standing[2, 3] if source.kind == "ACTION" else 0.0)
    every = max(1, round(read.ingredients.clip.fps / _ARROWS))
    lines = []
    for name, track in reversed(tracks.items()):  # the raw one, which is thin, on top of the others
        width, arrows, color = _STYLES[name]
        lines.append((_build_line(track, height), width, color))
        lines.append((_build_arrows(track, height, every), arrows, color))
    return PathSnapshot(lines, tracks)


def _build_line(track: GroundTrack, height: float) -> np.ndarray:
    """Return the path as pairs of points (2F - 2, 3)."""
    heights = np.full(track.frame_count, height)
    return drawing.as_segments(np.column_stack([track.positions, heights]))


def _build_arrows(track: GroundTrack, height: float, every: int) -> np.ndarray:
    """Return arrows in the facing direction, as pairs of points: a shaft and two strokes each."""
    start = track.positions[::every]
    ahead = track.forward[::every]
    aside = ahead[:, ::-1] * [1.0, -1.0]
    tip = start + _ARROW * ahead
    strokes = [tip + _ARROW * (-0.35 * ahead + side * 0.25 * aside) for side in (1.0, -1.0)]
    points = np.stack([start, tip, tip, strokes[0], tip, strokes[1]], axis=1).reshape(-1, 2)
    return np.column_stack([points, np.full(len(points), height)]).astype(np.float32)


# Drawing


def _draw() -> None:
    snapshot = get_cache().snapshot
    view: Any = bpy.context.space_data
    if snapshot is None or not view.overlay.show_overlays:
        return
    if not snapshot.batches:
        snapshot.batches = drawing.build_batches(snapshot.lines)
    drawing.draw_lines(snapshot.batches, stand_behind=True)


overlay = drawing.Overlay((_draw, "POST_VIEW"))


# When


def schedule_refresh() -> None:
    """Refresh the path between two redraws, if it may be visible."""
    if bpy.app.background:
        return
    cache = get_cache()
    if cache.snapshot or cache.note or _get_watched_state(_get_armature()):
        app.callbacks.schedule(refresh)


def _get_watched_state(obj: bpy.types.Object | None) -> tuple[Any, ...]:
    """Return a key that changes cheaply with the path to show and its place."""
    if obj is None or not settings_of(obj).show_path:
        return ()
    matrix: Any = obj.matrix_world
    return obj.session_uid, settings_of(obj).source_index, *itertools.chain(*matrix)


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    cache = get_cache()
    if runtime.live:
        return
    if cache.motion and depsgraph.id_type_updated("ACTION"):
        changed = (update.id.original.session_uid for update in depsgraph.updates)
        if cache.motion.source[0] in changed:
            cache.is_stale = True
        schedule_refresh()
    elif _get_watched_state(_get_armature()) != cache.watched_state:
        schedule_refresh()


@persistent
def _after_undo_or_load(*_: Any) -> None:
    """Start over: after undo, redo and loading, the motion may be another one."""
    hide()
    schedule_refresh()


def get_handlers() -> Iterator[tuple[Any, Any]]:
    on = bpy.app.handlers
    yield on.depsgraph_update_post, _after_update
    for when in (on.load_post, on.undo_post, on.redo_post):
        yield when, _after_undo_or_load


def start() -> None:
    """Follow the changes that paths depend on."""
    app.callbacks.add_handlers(get_handlers())


def stop() -> None:
    """Stop drawing and following."""
    app.callbacks.remove_handlers(get_handlers())
    hide()

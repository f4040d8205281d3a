"""What the 3D views show of the data: strands around the character, the inspected frame, and the
map of poses.

Nothing is computed here. Batches are built once, when something new is first drawn; a redraw only
positions them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ... import app, engine
from ...app.runtime import runtime
from ...app.typed import settings_of
from .. import drawing

if TYPE_CHECKING:
    from ...app.live.trail import Trail

_ABOVE = 0.01  # metres over the ground
_LABEL = 2.0  # metres from the start of strands to their name
_STRAND = 1.5  # width
_MAP = 220.0  # size of the map
_MAX_POSES = 3000
_DOT, _HEAD = 0.006, 0.018  # shares of the map's size
_PAPER = (0.05, 0.05, 0.05, 0.75)
_COLORS = {
    "body": "bone_solid",
    "position": "vertex_select",
    "velocity": "bone_pose_active",
    "trajectory": "bone_pose",
    "direction": "bone_pose",
    "goal": "object_active",
}


class InsightCache:
    """What was drawn last: batches and positions, with what they were built from, and the seconds
    that drawing took.
    """

    def __init__(self) -> None:
        self.draw_seconds: deque[float] = deque(maxlen=200)
        self.batches: dict[str, tuple[Any, Any]] = {}  # by what they show
        self.map_positions: dict[str, tuple[Any, Any]] = {}  # by the kind of map


def _get_batch(name: str, content: Any, build: Any) -> Any:
    """Return the batch of that name, built again if its content is another than before."""
    batches = runtime.get_cache(InsightCache).batches
    if name not in batches or batches[name][0] is not content:
        batches[name] = content, build()
    return batches[name][1]


# In the scene


def _draw_scene() -> None:
    obj = app.characters.get_active_armature(bpy.context)
    if obj is None:
        return
    began = time.perf_counter()
    report = runtime.coverage_reports.get(obj.session_uid)
    settings = settings_of(obj).insight
    if report and (settings.show_strands or settings.show_simulation):
        _draw_strands(obj, report, settings.show_strands, settings.show_simulation)
    inspector = runtime.inspector
    if (
        inspector
        and inspector.inspected
        and settings.show_features
        and runtime.trail is None
        and inspector.armature.uid == obj.session_uid
    ):
        _draw_features(inspector, inspector.inspected.position)
    runtime.get_cache(InsightCache).draw_seconds.append(time.perf_counter() - began)


def _draw_strands(
    obj: bpy.types.Object, report: app.insight.CoverageReport, data: bool, simulation: bool
) -> None:
    from mathutils import Matrix

    ground = _get_ground_matrix(obj)
    if data:
        lines = _get_batch("strands", report.strands, lambda: _build_strand_batch(report.strands))
        with drawing.push_matrix(ground):
            drawing.draw_lines([(lines, _STRAND)])
    if simulation:
        aside = Matrix.Translation((report.simulation_offset, 0.0, 0.0))
        lines = _get_batch(
            "simulation", report.simulation, lambda: _build_strand_batch(report.simulation)
        )
        with drawing.push_matrix(ground @ aside):
            drawing.draw_lines([(lines, _STRAND)])


def _get_ground_matrix(obj: bpy.types.Object) -> Any:
    """Return the matrix of where the character is seen on the ground."""
    from mathutils import Matrix

    trail = runtime.trail
    x, y, yaw = (
        trail.placement
        if trail and trail.uid == obj.session_uid
        else app.characters.get_placement(obj)
    )
    return Matrix.Translation((x, y, obj.matrix_world[2][3] + _ABOVE)) @ Matrix.Rotation(
        yaw, 4, "Z"
    )


def _draw_labels(obj: bpy.types.Object, report: app.insight.CoverageReport) -> None:
    """Name the strands, behind the point where they start."""
    settings = settings_of(obj).insight
    labels = [("Data", 0.0)] if settings.show_strands else []
    labels += [("Simulation Object", report.simulation_offset)] if settings.show_simulation else []
    if not labels:
        return
    import blf
    from bpy_extras.view3d_utils import location_3d_to_region_2d
    from mathutils import Vector

    context, ground = bpy.context, _get_ground_matrix(obj)
    blf.size(0, 12.0 * context.preferences.system.ui_scale)
    for text, left in labels:
        position = location_3d_to_region_2d(
            context.region, context.region_data, ground @ Vector((left, _LABEL, 0.0))
        )
        if position is not None:
            drawing.draw_text(
                text,
                position.x - 0.5 * blf.dimensions(0, text)[0],
                position.y,
                drawing.get_text_color(),
            )


def _build_strand_batch(strands: Any) -> drawing.Batch | None:
    return drawing.build_line_batch(*build_strand_segments(strands))


def build_strand_segments(strands: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of points (2 n, 3) for a character at the origin that faces -Y, and their
    colours (2 n, 4).
    """
    ways = np.zeros((*strands.paths.shape[:2], 3), np.float32)
    ways[..., 0], ways[..., 1] = strands.paths[..., 0], -strands.paths[..., 1]
    pairs = np.stack([ways[:, :-1], ways[:, 1:]], axis=2).reshape(-1, 3)
    colours = engine.insight.strands.compute_colours(strands.speeds)
    rgba = np.concatenate([colours, np.full((len(colours), 1), 0.7)], axis=1).astype(np.float32)
    return pairs, np.repeat(rgba, 2 * (ways.shape[1] - 1), axis=0)


def _draw_features(
    inspector: app.inspector.Inspector, position: tuple[float, float, float, float]
) -> None:
    from mathutils import Matrix

    x, y, z, yaw = position
    matrix = Matrix.Translation((x, y, z + _ABOVE)) @ Matrix.Rotation(yaw, 4, "Z")
    strokes, goal_strokes = inspector.strokes, inspector.goal_strokes
    body = _get_batch(
        "body", strokes, lambda: _build_stroke_batch([s for s in strokes if s.kind == "body"])
    )
    features = _get_batch(
        "features", strokes, lambda: _build_stroke_batch([s for s in strokes if s.kind != "body"])
    )
    goal = _get_batch(
        "goal",
        goal_strokes,
        lambda: _build_stroke_batch([s._replace(kind="goal") for s in goal_strokes]),
    )
    with drawing.push_matrix(matrix):
        drawing.draw_lines([(body, 1.5), (goal, 5.0), (features, 3.0)])


def _build_stroke_batch(strokes: Any) -> drawing.Batch | None:
    """Return a batch of lines in the theme's colours, or None."""
    if not strokes:
        return None
    pairs = [drawing.as_segments(stroke.points) for stroke in strokes]
    colours = [drawing.get_theme_color(_COLORS[stroke.kind]) for stroke in strokes]
    counts = [len(points) for points in pairs]
    return drawing.build_line_batch(
        np.concatenate(pairs), np.repeat(np.array(colours), counts, axis=0)
    )


# The map of poses


def _draw_pixels() -> None:
    """Draw texts and the map, after the scene of the same view."""
    obj = app.characters.get_active_armature(bpy.context)
    if obj is None:
        return
    began = time.perf_counter()
    if measured := runtime.coverage_reports.get(obj.session_uid):
        _draw_labels(obj, measured)
    is_live = _is_live(obj)
    if mapped := _get_shown_map(obj):
        _draw_map(
            obj,
            mapped,
            _get_played_frames(mapped) if is_live else _get_inspected_frames(obj, mapped),
            _get_blended_frames(mapped) if is_live else (),
        )
    if draw_seconds := runtime.get_cache(InsightCache).draw_seconds:
        draw_seconds[-1] += time.perf_counter() - began


def _is_live(obj: bpy.types.Object) -> bool:
    return runtime.trail is not None and runtime.trail.uid == obj.session_uid


def _get_shown_map(obj: bpy.types.Object) -> app.insight.MappedPoses | None:
    """Return the map of an armature if it is shown."""
    shown = settings_of(obj).play.show_map if _is_live(obj) else settings_of(obj).insight.show_map
    return runtime.pose_maps.get(obj.session_uid) if shown else None


def get_map_height(obj: bpy.types.Object) -> float:
    """Return the height of the map in the corner of the view, in pixels at a scale of 1."""
    return _MAP + drawing.MARGIN if _get_shown_map(obj) else 0.0


def _draw_map(
    obj: bpy.types.Object, mapped: app.insight.MappedPoses, marked: list[int], around: Sequence[int]
) -> None:
    import gpu

    positions = get_map_positions(mapped, settings_of(obj).insight.map)
    with drawing.draw_in_corner(_MAP):
        gpu.matrix.scale_uniform(_MAP)
        drawing.draw_boxes(
            _get_batch("map", positions, lambda: _build_dots(positions, mapped.colours))
        )
        if len(around):
            drawing.draw_boxes(_build_neighbour_dots(positions[around]))
        if marked:
            drawing.draw_boxes(_build_trail(positions[marked]))


def _get_played_frames(mapped: app.insight.MappedPoses) -> list[int]:
    """Return the frames that were played last, if the map shows their data."""
    trail = _get_trail(mapped)
    return list(trail.frames) if trail else []


def _get_blended_frames(mapped: app.insight.MappedPoses) -> Sequence[int]:
    """Return the frames that a motion field has blended last, if the map shows their data."""
    trail = _get_trail(mapped)
    return trail.neighbour_frames if trail else ()


def _get_trail(mapped: app.insight.MappedPoses) -> Trail | None:
    """Return the trail of the live session, if the map shows the data that it plays."""
    trail = runtime.trail
    return (
        trail
        if trail
        and trail.key == mapped.key
        and app.status.get_edition(mapped.key) == mapped.edition
        else None
    )


def _get_inspected_frames(obj: bpy.types.Object, mapped: app.insight.MappedPoses) -> list[int]:
    """Return the inspected frame, if it is on the map."""
    inspector = runtime.inspector
    if inspector is None or inspector.inspected is None:
        return []
    is_on_map = (inspector.armature.uid, inspector.key, inspector.edition) == (
        obj.session_uid,
        *mapped[:2],
    )
    return [inspector.inspected.frame] if is_on_map else []


def get_map_positions(mapped: app.insight.MappedPoses, kind: str) -> np.ndarray:
    """Return the positions (N, 2) of all frames on a map from 0 to 1, in proportion;
    computed once.
    """
    cached = runtime.get_cache(InsightCache).map_positions
    if kind not in cached or cached[kind][0] is not mapped:
        positions = getattr(mapped.poses, kind)
        low, high = positions.min(axis=0), positions.max(axis=0)
        size = max(float((high - low).max()), 1e-9)
        cached[kind] = (
            mapped,
            (0.05 + 0.9 * (0.5 + (positions - 0.5 * (low + high)) / size)).astype(np.float32),
        )
    return cached[kind][1]


def _build_dots(positions: np.ndarray, colours: np.ndarray) -> Any:
    """Return a batch of the paper, and a dot for each of some frames, evenly chosen."""
    frames = np.arange(0, len(positions), max(-(-len(positions) // _MAX_POSES), 1))
    rgba = np.concatenate([colours[frames], np.full((len(frames), 1), 0.9)], axis=1)
    return _build_squares(
        np.concatenate([[[0.5, 0.5]], positions[frames]]),
        np.array([0.5] + [_DOT] * len(frames)),
        np.concatenate([[_PAPER], rgba]),
    )


def _build_squares(centres: np.ndarray, sizes: np.ndarray, colours: np.ndarray) -> drawing.Batch:
    """Return a batch of squares at centres (N, 2), with half their sizes (N,)."""
    return drawing.build_box_batch(
        np.concatenate([centres - sizes[:, None], centres + sizes[:, None]], axis=1), colours
    )


def _build_neighbour_dots(positions: np.ndarray) -> drawing.Batch:
    """Return a batch of the neighbours on the map."""
    count = len(positions)
    colours = np.tile(drawing.get_theme_color("object_active"), (count, 1))
    return _build_squares(positions, np.full(count, 2.0 * _DOT), colours)


def _build_trail(positions: np.ndarray) -> drawing.Batch:
    """Return a batch of the last frames on the map: older ones are fainter, the newest is large."""
    count = len(positions)
    colours = np.ones((count, 4))
    colours[:, 3] = np.linspace(0.1, 1.0, count) if count > 1 else 1.0
    sizes = np.full(count, 1.5 * _DOT)
    sizes[-1] = _HEAD
    return _build_squares(positions, sizes, colours)


overlay = drawing.Overlay((_draw_scene, "POST_VIEW"), (_draw_pixels, "POST_PIXEL"))

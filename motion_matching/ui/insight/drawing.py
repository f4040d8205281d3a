"""Draw the data into the 3D views: strands, the inspected frame, and the map of poses. Nothing is
computed here. Batches are built once, when something new is first drawn; a redraw only positions
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ... import app, engine
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ..base import colors, drawing

_LABEL = 2.0  # metres from the start of strands to their name
_STRAND = 1.5  # width
Builder = Callable[[Any], Any]
_MAP = 220.0  # size of the map
_MAX_POSES = 3000
# shares of the map's size
_DOT = 0.006
_HEAD = 0.018
# kind of stroke: its width, and its colour
_STYLES = {
    "body": (1.5, "guide"),
    "position": (3.0, "contact"),
    "velocity": (3.0, "chosen"),
    "trajectory": (3.0, "trajectory"),
    "direction": (3.0, "trajectory"),
}
_GOAL_STYLE = (5.0, "desired")


class InsightCache:
    """The last drawing, with the values it was built from."""

    def __init__(self) -> None:
        self.built: dict[str, tuple[Any, Any]] = {}  # batches and positions by what they show
        # the map of states, the axes along which it was seen, and positions
        self.turned: tuple[Any, np.ndarray, np.ndarray] | None = None


def _get_built(name: str, content: Any, build: Builder) -> Any:
    """Return what has that name, built again if its content is another than before."""
    built = runtime.get_cache(InsightCache).built
    if name not in built or built[name][0] is not content:
        built[name] = content, build(content)
    return built[name][1]


# In the scene


def _draw_scene() -> None:
    obj = app.character.characters.get_active_armature(bpy.context)
    if obj is None:
        return
    for name, strands, matrix, build in _place_strands(obj):
        with drawing.push_matrix(matrix):
            drawing.draw_lines([(_get_built(name, strands, build), _STRAND)])
    inspector = runtime.inspector if settings_of(obj).insight.show_features else None
    is_own = inspector is not None and inspector.armature.uid == obj.session_uid
    if is_own and inspector.inspected and runtime.trail is None:
        _draw_features(inspector)


def _place_strands(obj: bpy.types.Object) -> list[tuple[str, Any, Matrix, Builder]]:
    """Return the shown strands with their name, where they start, and what builds their batch."""
    report = runtime.coverage_reports.get(obj.session_uid)
    settings = settings_of(obj).insight
    if report is None:
        return []
    x, y, yaw = (
        runtime.trail.placement if _is_live(obj) else app.character.characters.get_placement(obj)
    )
    ground = _compute_matrix(x, y, obj.matrix_world[2][3], yaw)
    by_speed: Builder = _build_strand_batch
    result = [("Data", report.strands, ground, by_speed)] if settings.show_strands else []
    if settings.show_simulation and settings.show_strands and settings.lay_over:
        above = Matrix.Translation((0.0, 0.0, drawing.ABOVE_GROUND))
        on_top = "On Top: Simulation Object", report.simulation, ground @ above
        result.append((*on_top, _build_plain_strand_batch))
    elif settings.show_simulation:
        aside = Matrix.Translation((report.simulation_offset, 0.0, 0.0))
        result.append(("Simulation Object", report.simulation, ground @ aside, by_speed))
    return result


def _compute_matrix(x: float, y: float, z: float, yaw: float) -> Matrix:
    """Return the matrix of a character on the ground, to draw a little above it."""
    return Matrix.Translation((x, y, z + drawing.ABOVE_GROUND)) @ Matrix.Rotation(yaw, 4, "Z")


def _draw_labels(obj: bpy.types.Object) -> None:
    """Name the strands, behind the point where they start."""
    context = bpy.context
    color = drawing.get_text_color()
    blf.size(0, drawing.TEXT * context.preferences.system.ui_scale)
    for line, (name, _, matrix, build) in enumerate(_place_strands(obj)):
        farther = 0.25 * line if build is _build_plain_strand_batch else 0.0
        position = matrix @ Vector((0.0, _LABEL + farther, 0.0))
        pixel = location_3d_to_region_2d(context.region, context.region_data, position)
        if pixel is not None:
            drawing.draw_text(name, pixel.x - 0.5 * blf.dimensions(0, name)[0], pixel.y, color)


def _build_strand_batch(strands: Any) -> drawing.Batch | None:
    return drawing.build_line_batch(*build_strand_segments(strands))


def _build_plain_strand_batch(strands: Any) -> drawing.Batch | None:
    pairs, colours = build_strand_segments(strands)
    colours[:, :3] = colors.get_color("contact")[:3]  # unlike all colours of speeds
    return drawing.build_line_batch(pairs, colours)


def build_strand_segments(strands: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of points (2 n, 3) for a character at 0 that faces -Y, and colours (2 n, 4)."""
    paths = np.pad(strands.paths * (1.0, -1.0), ((0, 0), (0, 0), (0, 1))).astype(np.float32)
    pairs = np.stack([paths[:, :-1], paths[:, 1:]], axis=2).reshape(-1, 3)
    colours = np.full((len(paths), 4), 0.7, np.float32)
    colours[:, :3] = engine.insight.coverage.strands.compute_colours(strands.speeds)
    return pairs, np.repeat(colours, 2 * (paths.shape[1] - 1), axis=0)


def _draw_features(inspector: app.insight.inspector.Inspector) -> None:
    """Draw the inspected frame: its pose, over it the goal, and on top the features."""
    goal = _get_built("goal", inspector.goal_strokes, _build_goal_batches)
    strokes = _get_built("features", inspector.strokes, _build_feature_batches)
    with drawing.push_matrix(_compute_matrix(*inspector.inspected.position)):
        drawing.draw_lines([*strokes[:1], *goal, *strokes[1:]])


def _build_goal_batches(strokes: Any) -> list[tuple[drawing.Batch, float]]:
    return drawing.build_path_batches((stroke.points, *_GOAL_STYLE) for stroke in strokes)


def _build_feature_batches(strokes: Any) -> list[tuple[drawing.Batch, float]]:
    return drawing.build_path_batches((stroke.points, *_STYLES[stroke.kind]) for stroke in strokes)


# The map of poses


def _draw_pixels() -> None:
    obj = app.character.characters.get_active_armature(bpy.context)
    if obj is None:
        return
    _draw_labels(obj)
    if mapped := _get_shown_map(obj):
        _draw_map(obj, mapped)


def _is_live(obj: bpy.types.Object) -> bool:
    return runtime.trail is not None and runtime.trail.uid == obj.session_uid


def _get_shown_map(obj: bpy.types.Object) -> app.insight.data_insight.MappedPoses | None:
    settings = settings_of(obj)
    shown = settings.play.show_map if _is_live(obj) else settings.insight.show_map
    mapped = runtime.pose_maps.get(obj.session_uid) if shown else None
    lacks_states = settings.insight.map == "field" and mapped and mapped.states is None
    return None if lacks_states else mapped


def _draw_map(obj: bpy.types.Object, mapped: app.insight.data_insight.MappedPoses) -> None:
    insight = settings_of(obj).insight
    if insight.map == "field":
        positions = turn_states(mapped, np.array(bpy.context.region_data.view_matrix)[:2, :3])
    else:
        positions = get_map_positions(mapped, insight.map)
    marked, around = get_marked_frames(obj, mapped)
    with drawing.draw_in_corner(_MAP):
        gpu.matrix.scale_uniform(_MAP)
        shown = mapped.colours[insight.map_colours]
        name = f"map by {insight.map_colours}"
        dots = _get_built(name, positions, lambda _: _build_dots(positions, shown))
        drawing.draw_boxes(dots)
        if len(around):
            rgba = fade_by_share(colors.get_color("desired", "dark"), len(around))
            drawing.draw_boxes(_build_squares(positions[around], 2.0 * _DOT, rgba))
        if marked:
            drawing.draw_boxes(_build_trail(positions[marked]))


def get_marked_frames(
    obj: bpy.types.Object, mapped: app.insight.data_insight.MappedPoses
) -> tuple[list[int], Sequence[int]]:
    """Return the frames of a map that were played last, or are inspected, and those blended."""
    trail = runtime.trail
    inspector = runtime.inspector
    if _is_live(obj):
        is_played = mapped[:2] == (trail.key, runtime.statuses.editions[trail.key])
        return (list(trail.frames), trail.neighbour_frames) if is_played else ([], ())
    if inspector is None or inspector.inspected is None:
        return [], ()
    data = inspector.armature.uid, inspector.key, inspector.edition
    return [inspector.inspected.frame] if data == (obj.session_uid, *mapped[:2]) else [], ()


def get_map_positions(mapped: app.insight.data_insight.MappedPoses, kind: str) -> np.ndarray:
    """Return the positions (N, 2) of all frames on a map from 0 to 1, computed once."""

    def place(mapped: app.insight.data_insight.MappedPoses) -> np.ndarray:
        positions = getattr(mapped.poses, kind)
        low, high = positions.min(axis=0), positions.max(axis=0)
        size = max(float((high - low).max()), 1e-9)
        return (0.05 + 0.9 * (0.5 + (positions - 0.5 * (low + high)) / size)).astype(np.float32)

    positions: np.ndarray = _get_built(kind, mapped, place)
    return positions


def turn_states(mapped: app.insight.data_insight.MappedPoses, axes: np.ndarray) -> np.ndarray:
    """Return the positions (N, 2) of all states on a map from 0 to 1, seen along axes (2, 3).

    They are computed once for each way of looking.
    """
    assert mapped.states is not None
    cached = runtime.get_cache(InsightCache)
    if cached.turned is None or cached.turned[0] is not mapped or (cached.turned[1] != axes).any():
        positions = mapped.states.positions
        middle = 0.5 * (positions.min(axis=0) + positions.max(axis=0))
        size = max(2.0 * float(np.linalg.norm(positions - middle, axis=1).max()), 1e-9)
        seen = 0.5 + 0.9 * (positions - middle) @ axes.T / size
        cached.turned = mapped, axes, seen.astype(np.float32)
    return cached.turned[2]


def fade_by_share(color: drawing.Color, count: int) -> np.ndarray:
    """Return a colour (count, 4) of each neighbour, clearer the more of it is blended."""
    rgba = np.tile(np.asarray(color, np.float64), (count, 1))
    shares = np.asarray(runtime.trail.neighbour_shares if runtime.trail else ())
    if len(shares) == count:
        rgba[:, 3] *= 0.3 + 0.7 * shares / shares.max()
    return rgba


def _build_dots(positions: np.ndarray, colours: np.ndarray) -> drawing.Batch:
    """Return a batch of the paper, and a dot for each of some frames, evenly chosen."""
    frames = np.arange(0, len(positions), max(-(-len(positions) // _MAX_POSES), 1))
    centres = np.concatenate([[[0.5, 0.5]], positions[frames]])
    rgba = np.full((len(centres), 4), 0.9)
    rgba[0] = drawing.PAPER
    rgba[1:, :3] = colours[frames]
    half_sizes = np.full((len(centres), 1), _DOT)
    half_sizes[0] = 0.5
    return _build_squares(centres, half_sizes, rgba)


def _build_trail(positions: np.ndarray) -> drawing.Batch:
    """Return a batch of the last frames on the map: older ones are fainter, the newest is large."""
    count = len(positions)
    colours = np.ones((count, 4))
    half_sizes = np.full((count, 1), 1.5 * _DOT)
    colours[:, 3] = np.linspace(0.1, 1.0, count) if count > 1 else 1.0
    half_sizes[-1] = _HEAD
    return _build_squares(positions, half_sizes, colours)


def _build_squares(
    centres: np.ndarray, half_sizes: np.ndarray | float, colours: np.ndarray | drawing.Color
) -> drawing.Batch:
    """Return a batch of squares at centres (N, 2), with half sizes (N, 1) and colours (N, 4)."""
    corners = np.concatenate([centres - half_sizes, centres + half_sizes], axis=1)
    return drawing.build_box_batch(corners, np.broadcast_to(colours, (len(centres), 4)))


overlay = drawing.Overlay((_draw_scene, "POST_VIEW"), (_draw_pixels, "POST_PIXEL"))

"""Draw the arrows of marks; and, while marks are moved or solved, the way of a take.

The way has its path and footfalls, and the marks that it meets and misses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ... import app, engine, scene
from ...app.character.characters import get_active_armature
from ...app.runtime import runtime
from ..base import colors, drawing

if TYPE_CHECKING:
    from ...engine.direct.sketch import Way

# widths
_PATH = 3.5
_STEP = 3.0
_RING = 2.5
# metres of people's size: half a footfall, and the ring round a mark
_FOOT = 0.11
_RADIUS = 0.3
_EDGE = 0.03  # metres from one place to the next that are a step
_CORNERS = 24  # of a ring
_CORNERS_OF_CROSS = np.array([(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)])
_WIDTH = 3.0  # of an arrow
# to the left and along an arrow of length 1: its shaft, then the two sides of its head
_SHAFT = ((0.0, 0.0), (0.0, 1.0))
_HEAD = ((0.0, 1.0), (-0.12, 0.8), (0.0, 1.0), (0.12, 0.8))


class SketchCache:
    """The last drawing, and the values it was built from."""

    def __init__(self) -> None:
        self.way: Way | None = None
        self.background = ""
        self.batches: list[tuple[Any, float]] = []


def build_lines(way: Way, size: float) -> list[tuple[np.ndarray, float, str]]:
    """Return what shows a way of a character of a size: pairs of points (N, 3), width and role.

    Marks that are missed have a cross, and a line from where the character is then.
    """
    path = _follow_edges(np.column_stack([way.places[:, :2], way.below]))
    lines = [(_lift(drawing.as_segments(path)), _PATH, "desired")]
    at = way.footfalls[:, [0, 1, 4]]
    slopes = way.footfalls[:, 5:]
    ahead = engine.maths.planar.yaw_to_forward(way.footfalls[:, 2])
    along = _FOOT * size * np.column_stack([ahead, slopes])
    lines.append((_lift(drawing.as_pairs(at - along, at + along)), _STEP, "chosen"))
    centers = np.column_stack([way.marks, way.heights[:, :1]])
    places = np.column_stack([way.at, way.heights[:, 1:]])
    angles = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)
    circle = _RADIUS * size * np.column_stack([np.cos(angles), np.sin(angles)])
    for center, place, is_met in zip(centers, places, way.met, strict=True):
        role = "trajectory" if is_met else "contact"
        ring = _drape(way, center, circle)
        lines.append((_lift(drawing.as_pairs(ring[:-1], ring[1:])), _RING, role))
        if not is_met:
            corners = _drape(way, center, _RADIUS * size * np.sqrt(0.5) * _CORNERS_OF_CROSS)
            lines.append((_lift(drawing.as_pairs(corners[:2], corners[2:])), _RING, role))
            lines.append((_lift(drawing.as_pairs(center[None], place[None])), _RING, role))
    return lines


def _lift(points: np.ndarray) -> np.ndarray:
    """Return points (N, 3) of the ground just above it."""
    result = np.array(points, np.float32, order="C")  # as the graphics card reads it
    result[:, 2] += drawing.ABOVE_GROUND
    return result


def _follow_edges(path: np.ndarray) -> np.ndarray:
    """Return a path (T, 3) that goes up and down beside the edges of steps, not through them."""
    rises = np.diff(path[:, 2])
    steps = np.flatnonzero(np.abs(rises) > _EDGE)
    lower = np.where(rises[steps] > 0.0, steps, steps + 1)
    corners = path[lower]
    corners[:, 2] = np.maximum(path[steps, 2], path[steps + 1, 2])
    return np.insert(path, steps + 1, corners, axis=0)


def _drape(way: Way, center: np.ndarray, around: np.ndarray) -> np.ndarray:
    """Return points (N, 2) around a centre (3,) where they lie on the floor, (N, 3)."""
    points = center[:2] + around
    bodies = np.tile(center, (len(around), 1))
    heights = engine.ground.ground.compute_step_heights(way.floor, points, bodies)
    return np.column_stack([points, heights])


def _draw_way() -> None:
    shown = find_shown()
    view: Any = bpy.context.space_data
    if shown is None or not view.overlay.show_overlays:
        return
    cache = runtime.get_cache(SketchCache)
    background = colors.find_background()
    if cache.way is not shown[0] or cache.background != background:
        cache.batches = drawing.build_batches(build_lines(*shown))
        cache.way = shown[0]
        cache.background = background
    drawing.draw_lines(cache.batches, stand_behind=True)


def find_shown() -> tuple[Way, float] | None:
    """Return the way to draw, of a solve or else the preview, and the size of its character."""
    best = runtime.best_way
    preview = runtime.mark_preview
    if best is not None:
        return best.way, best.size
    if preview is None or preview.way is None:
        return None
    return preview.way, preview.director.footage.scale.length


# The arrows of marks


class ArrowCache:
    """The last drawing, with the points and the colour it was built from."""

    def __init__(self) -> None:
        self.points, self.color = np.empty((0, 3), np.float32), colors.get_color("desired")
        self.batch: Any = None


def build_arrows(obj: bpy.types.Object) -> np.ndarray:
    """Return lines (2 N, 3) along the arrows of an armature's marks, as they lie in the world.

    Where the facing is free, an arrow has no head.
    """
    arrows = [np.empty((0, 3), np.float32)]
    for empty in app.marks.marks.list_leading(obj):
        if empty.visible_get():
            shape = _SHAFT + (_HEAD if app.marks.marks.mark_of(empty).use_facing else ())
            arrows.append(_place(np.array(shape), empty))
    return np.concatenate(arrows)


def _place(shape: np.ndarray, empty: bpy.types.Object) -> np.ndarray:
    """Return points (N, 2) of an arrow where an empty shows it, (N, 3) in the world."""
    place = empty.matrix_world
    scale = empty.matrix_world.to_scale()
    yaw = np.array(scene.direct.empties.read_arrow(place).yaw)
    length = empty.empty_display_size * max(scale.x, scale.y, scale.z)
    left = engine.maths.planar.yaw_to_left(yaw)
    ahead = engine.maths.planar.yaw_to_forward(yaw)
    result = np.empty((len(shape), 3), np.float32)
    result[:, :2] = place.translation[:2] + length * (shape[:, :1] * left + shape[:, 1:] * ahead)
    result[:, 2] = place.translation.z + drawing.ABOVE_GROUND
    return result


def _draw_arrows() -> None:
    view: Any = bpy.context.space_data
    obj = get_active_armature(bpy.context) if view.overlay.show_overlays else None
    if obj is None:
        return
    cache = runtime.get_cache(ArrowCache)
    points = build_arrows(obj)
    color = colors.get_color("desired")
    if not np.array_equal(points, cache.points) or color != cache.color:
        cache.points = points
        cache.color = color
        cache.batch = drawing.build_line_batch(points, color)
    drawing.draw_lines([(cache.batch, _WIDTH)])


overlay = drawing.Overlay((_draw_way, "POST_VIEW"), (_draw_arrows, "POST_VIEW"))

"""The way of a take while marks are moved or solved: path, footfalls, marks met and missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ... import engine
from ...app.runtime import runtime
from .. import colors, drawing

if TYPE_CHECKING:
    from ...engine.direct.sketch import Way

_PATH, _STEP, _RING = 3.5, 3.0, 2.5  # widths
_FOOT, _RADIUS = 0.11, 0.3  # metres of people's size: half a footfall, and the ring round a mark
_CORNERS = 24  # of a ring


class SketchCache:
    """What was drawn last, and what it was built from."""

    def __init__(self) -> None:
        self.way: Way | None = None
        self.background = ""
        self.batches: list[tuple[Any, float]] = []


def build_lines(way: Way, size: float) -> list[tuple[np.ndarray, float, str]]:
    """Return what shows a way of a character of a size: pairs of points (N, 3), width and role.

    Marks that are missed have a cross, and a line from where the character is then.
    """
    lines = [(_lift(drawing.as_segments(way.places[:, [0, 1, 1]])), _PATH, "desired")]
    at, yaws = way.footfalls[:, :2], way.footfalls[:, 2]
    ahead = _FOOT * size * engine.maths.planar.yaw_to_forward(yaws)
    lines.append((_to_pairs(at - ahead, at + ahead), _STEP, "chosen"))
    for mark, place, is_met in zip(way.marks, way.at, way.met, strict=True):
        role = "trajectory" if is_met else "contact"
        lines.append((_build_ring(mark, _RADIUS * size), _RING, role))
        if not is_met:
            lines.append((_build_cross(mark, _RADIUS * size), _RING, role))
            lines.append((_to_pairs(mark[None], place[None]), _RING, role))
    return lines


def _lift(points: np.ndarray) -> np.ndarray:
    """Return points (N, 3) just above the ground."""
    result = np.array(points, np.float32, order="C")  # as the graphics card reads it
    result[:, 2] = drawing.ABOVE_GROUND
    return result


def _to_pairs(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return lines from starts (N, 2) to ends (N, 2) as pairs of points (2 N, 3)."""
    pairs = np.stack([starts, ends], axis=1).reshape(-1, 2)
    return _lift(pairs[:, [0, 1, 1]])


def _build_ring(center: np.ndarray, radius: float) -> np.ndarray:
    angles = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)
    points = center + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return _to_pairs(points[:-1], points[1:])


def _build_cross(center: np.ndarray, radius: float) -> np.ndarray:
    corners = center + radius * np.sqrt(0.5) * np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)])
    return _to_pairs(corners[:2], corners[2:])


def _draw() -> None:
    shown = find_shown()
    if shown is None or not _get_view().overlay.show_overlays:
        return
    cache, background = runtime.get_cache(SketchCache), colors.find_background()
    if cache.way is not shown[0] or cache.background != background:
        cache.batches = [
            (drawing.build_line_batch(points, colors.get_color(role)), width)
            for points, width, role in build_lines(*shown)
        ]
        cache.way, cache.background = shown[0], background
    drawing.draw_lines(cache.batches, stand_behind=True)


def find_shown() -> tuple[Way, float] | None:
    """Return the way to draw, of a solve or else the preview, and the size of its character."""
    best, preview = runtime.best_way, runtime.mark_preview
    if best is not None:
        return best.way, best.size
    if preview is None or preview.way is None:
        return None
    return preview.way, preview.director.footage.size


def _get_view() -> Any:
    return bpy.context.space_data


overlay = drawing.Overlay((_draw, "POST_VIEW"))

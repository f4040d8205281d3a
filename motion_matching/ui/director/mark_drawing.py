"""Draw the arrows of marks into the 3D views, in a colour that stands out from the grid."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ... import app, engine, scene
from ...app.character.characters import get_active_armature
from ...app.runtime import runtime
from ..base import colors, drawing

_WIDTH = 3.0
# to the left and along an arrow of length 1: its shaft, then the two sides of its head
_SHAFT = ((0.0, 0.0), (0.0, 1.0))
_HEAD = ((0.0, 1.0), (-0.12, 0.8), (0.0, 1.0), (0.12, 0.8))


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
    place, scale = empty.matrix_world, empty.matrix_world.to_scale()
    yaw = np.array(scene.direct.empties.read_arrow(place).yaw)
    length = empty.empty_display_size * max(scale.x, scale.y, scale.z)
    left, ahead = engine.maths.planar.yaw_to_left(yaw), engine.maths.planar.yaw_to_forward(yaw)
    result = np.empty((len(shape), 3), np.float32)
    result[:, :2] = place.translation[:2] + length * (shape[:, :1] * left + shape[:, 1:] * ahead)
    result[:, 2] = place.translation.z + drawing.ABOVE_GROUND
    return result


def _draw() -> None:
    view: Any = bpy.context.space_data
    obj = get_active_armature(bpy.context) if view.overlay.show_overlays else None
    if obj is None:
        return
    cache = runtime.get_cache(ArrowCache)
    points, color = build_arrows(obj), colors.get_color("desired")
    if not np.array_equal(points, cache.points) or color != cache.color:
        cache.points, cache.color = points, color
        cache.batch = drawing.build_line_batch(points, color)
    drawing.draw_lines([(cache.batch, _WIDTH)])


overlay = drawing.Overlay((_draw, "POST_VIEW"))

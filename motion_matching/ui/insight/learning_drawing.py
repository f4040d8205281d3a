"""Draw the learning curve of a training in the corner of the 3D views, above the map of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import blf
import bpy
import numpy as np

from ... import app
from ...app.typed import settings_of
from .. import colors, drawing
from . import drawing as insight_drawing

if TYPE_CHECKING:
    from ...engine.insight.residual_plot import Curves

_PLOT = (220.0, 110.0)
_SIDE, _FOOT, _LINE = 34.0, 24.0, 15.0  # beside and below the curves, and of a line of text
_GRID, _WHITE = (1.0, 1.0, 1.0, 0.15), (1.0, 1.0, 1.0, 0.7)
_KINDS = {
    "promised": ("", "Promised"),
    "least": ("guide", "Least"),
    "mean": ("chosen", "Mean"),
    "most": ("desired", "Largest"),
}


def _draw() -> None:
    obj = app.characters.get_active_armature(bpy.context)
    if obj is None or not settings_of(obj).training.show_residuals:
        return
    if app.training.get_training_request(obj) is None:
        return
    if curves := app.learning_curves.get_curves(app.training.get_training_key(obj)):
        _draw_curves(curves, insight_drawing.get_map_height(obj))


overlay = drawing.Overlay((_draw, "POST_PIXEL"))


def _draw_curves(curves: Curves, above: float) -> None:
    width, height = _PLOT
    palette = {
        kind: colors.get_color(name, "dark") if name else _WHITE
        for kind, (name, _) in _KINDS.items()
    }
    with drawing.draw_in_corner(_SIDE + width, above) as corner:
        paper = [0.0, 0.0, _SIDE + width, _FOOT + height + 3 * _LINE]
        drawing.draw_boxes(drawing.build_box_batch(np.array([paper]), np.array([drawing.PAPER])))
        levels = (np.array([(0.0, level), (1.0, level)]) for level, _ in curves.scale)
        batches = [(_build_line(line, _GRID), 1.0) for line in levels]
        for kind, color in palette.items():
            batch = _build_line(curves.lines[kind], color)
            batches.append((batch, 1.0 if kind == "promised" else 2.0))
        drawing.draw_lines(batches)
    _draw_labels(curves, corner, palette)


def _build_line(points: np.ndarray, color: drawing.Color) -> drawing.Batch | None:
    """Return the batch of a line through points (n, 2), 0 to 1 along the axes of the plot."""
    placed = points * _PLOT + (_SIDE, _FOOT)
    return drawing.build_line_batch(drawing.as_segments(np.pad(placed, ((0, 0), (0, 1)))), color)


def _draw_labels(curves: Curves, corner: drawing.Corner, colors: dict[str, drawing.Color]) -> None:
    """Draw the names of the curves, and their scale."""
    (width, height), (x, y, scale) = _PLOT, corner
    blf.size(0, drawing.SMALL_TEXT * scale)

    def write(text: str, a: float, b: float, color: drawing.Color = _WHITE) -> None:
        drawing.draw_text(text, x + a * scale, y + b * scale, color)

    write("Change of Values by Sweep", 6.0, _FOOT + height + 2 * _LINE)
    for number, (kind, (_, name)) in enumerate(reversed(_KINDS.items())):
        write(name, 6.0 + 60.0 * number, _FOOT + height + 0.8 * _LINE, colors[kind])
    for level, label in curves.scale:
        write(label, 6.0, _FOOT + height * level - 4.0)
    write("1", _SIDE, 6.0)
    last = f"{curves.sweeps}"
    write(last, _SIDE + width - 6.0 - blf.dimensions(0, last)[0] / scale, 6.0)

"""How the training of a motion field goes, drawn into the corner of the 3D views, above the map of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from . import drawing, fields, insight_drawing, learning, request

if TYPE_CHECKING:
    from ..engine.field.residual_plot import Curves

_PLOT = (220.0, 110.0)
_SIDE, _FOOT, _LINE = (
    34.0,
    24.0,
    15.0,
)  # of the paper beside and below the curves, and of a line of text
_PAPER, _GRID = (0.05, 0.05, 0.05, 0.75), (1.0, 1.0, 1.0, 0.15)
_KINDS = {
    "promised": ("", "Promised"),
    "least": ("bone_solid", "Least"),
    "mean": ("bone_pose_active", "Mean"),
    "most": ("object_active", "Largest"),
}
_WHITE = (1.0, 1.0, 1.0, 0.7)


def start() -> None:
    """Draw from now on, in all 3D views."""
    learning.start()
    overlay.start()


def stop() -> None:
    """Draw no more; twice does no harm."""
    learning.stop()
    overlay.stop()


def _draw() -> None:
    obj = request.armature_of(bpy.context)
    if (
        obj is None
        or not obj.motion_matching.training.show_residuals
        or fields.asked_of(obj) is None
    ):
        return
    if found := learning.of(fields.key_of(obj)):
        _draw_curves(found, insight_drawing.height_of_map(obj))


overlay = drawing.Overlay((_draw, "POST_PIXEL"))


def _draw_curves(found: Curves, above: float) -> None:
    width, height = _PLOT
    colors = {
        kind: drawing.theme_color(name) if name else _WHITE for kind, (name, _) in _KINDS.items()
    }
    with drawing.in_corner(_SIDE + width, above) as corner:
        paper = [0.0, 0.0, _SIDE + width, _FOOT + height + 3 * _LINE]
        drawing.fill(drawing.boxes(np.array([paper]), np.array([_PAPER])))
        grid = [
            [(x, _FOOT + height * place) for x in (_SIDE, _SIDE + width)]
            for place, _ in found.scale
        ]
        drawing.draw_lines([(_line(points, _GRID), 1.0) for points in grid])
        for kind, color in colors.items():
            curve = _line(found.lines[kind] * (width, height) + (_SIDE, _FOOT), color)
            drawing.draw_lines([(curve, 1.0 if kind == "promised" else 2.0)])
    _write(found, corner, colors)


def _line(points: Any, color: drawing.Color) -> drawing.Batch | None:
    return drawing.lines(drawing.pairs_of(np.pad(points, ((0, 0), (0, 1)))), color)


def _write(found: Curves, corner: drawing.Corner, colors: dict[str, drawing.Color]) -> None:
    """What the curves are, and their scale."""
    import blf

    (width, height), (x, y, scale) = _PLOT, corner
    blf.size(0, 11.0 * scale)

    def write(text: str, a: float, b: float, color: drawing.Color) -> None:
        drawing.write(text, x + a * scale, y + b * scale, color)

    write("Change of Values by Sweep", 6.0, _FOOT + height + 2 * _LINE, _WHITE)
    for number, (kind, (_, name)) in enumerate(reversed(_KINDS.items())):
        write(name, 6.0 + 60.0 * number, _FOOT + height + 0.8 * _LINE, colors[kind])
    for place, label in found.scale:
        write(label, 6.0, _FOOT + height * place - 4.0, _WHITE)
    write("1", _SIDE, 6.0, _WHITE)
    last = f"{found.sweeps}"
    write(last, _SIDE + width - 6.0 - blf.dimensions(0, last)[0] / scale, 6.0, _WHITE)

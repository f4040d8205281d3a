"""How the training of a motion field goes, drawn into the corner of the 3D views, above the map of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from . import fields, insight_drawing, learning, request

if TYPE_CHECKING:
    from ..engine.field.residual_plot import Curves

_PLOT = (220.0, 110.0)
_EDGE = 20.0  # from the corner of the view
_SIDE, _FOOT, _LINE = 34.0, 24.0, 15.0  # of the paper beside and below the curves, and of a line of text
_PAPER, _GRID = (0.05, 0.05, 0.05, 0.75), (1.0, 1.0, 1.0, 0.15)
_KINDS = {"promised": ("", "Promised"), "least": ("bone_solid", "Least"), "mean": ("bone_pose_active", "Mean"),
          "most": ("object_active", "Largest")}
_WHITE = (1.0, 1.0, 1.0, 0.7)

_handle: Any = None


def start() -> None:
    """Draw from now on, in all 3D views."""
    global _handle
    stop()
    learning.start()
    _handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")


def stop() -> None:
    """Draw no more; twice does no harm."""
    global _handle
    learning.stop()
    if _handle:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
    _handle = None


def _draw() -> None:
    obj = request.armature_of(bpy.context)
    if obj is None or not obj.motion_matching.training.show_residuals or fields.asked_of(obj) is None:
        return
    if found := learning.of(fields.key_of(obj)):
        _draw_curves(found, insight_drawing.height_of_map(obj))


def _draw_curves(found: Curves, above: float) -> None:
    import gpu
    from mathutils import Matrix

    context = bpy.context
    scale = context.preferences.system.ui_scale
    sidebar = next((region.width for region in context.area.regions if region.type == "UI"), 0)
    width, height = _PLOT
    gpu.state.blend_set("ALPHA")
    gpu.matrix.push()
    try:
        corner = context.region.width - max(sidebar, 1) - (_SIDE + width + _EDGE) * scale, (_EDGE + above) * scale
        gpu.matrix.multiply_matrix(Matrix.Translation((*corner, 0.0)) @ Matrix.Scale(scale, 4))
        _fill((0.0, 0.0, _SIDE + width, _FOOT + height + 3 * _LINE), _PAPER)
        for place, _ in found.scale:
            _line([(_SIDE, _FOOT + height * place), (_SIDE + width, _FOOT + height * place)], _GRID, 1.0)
        theme = context.preferences.themes[0].view_3d
        colors = {kind: (*getattr(theme, name)[:3], 1.0) if name else _WHITE for kind, (name, _) in _KINDS.items()}
        for kind, color in colors.items():
            points = found.lines[kind] * (width, height) + (_SIDE, _FOOT)
            _line(points.tolist(), color, 1.0 if kind == "promised" else 2.0)
    finally:
        gpu.matrix.pop()
        gpu.state.blend_set("NONE")
    _write(found, corner, scale, colors)


def _fill(box: tuple[float, float, float, float], color: tuple[float, ...]) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    x0, y0, x1, y1 = box
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.bind()
    shader.uniform_float("color", color)
    corners = [(x0, y0, 0.0), (x1, y0, 0.0), (x1, y1, 0.0), (x0, y1, 0.0)]
    batch_for_shader(shader, "TRIS", {"pos": corners}, indices=[(0, 1, 2), (0, 2, 3)]).draw(shader)


def _line(points: list[Any], color: tuple[float, ...], thickness: float) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    if len(points) < 2:
        return
    region = bpy.context.region
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    shader.bind()
    shader.uniform_float("viewportSize", (region.width, region.height))
    shader.uniform_float("lineWidth", thickness * bpy.context.preferences.system.ui_scale)
    shader.uniform_float("color", color)
    batch_for_shader(shader, "LINE_STRIP", {"pos": [(x, y, 0.0) for x, y in points]}).draw(shader)


def _write(found: Curves, corner: tuple[float, float], scale: float, colors: dict[str, tuple[float, ...]]) -> None:
    """What the curves are, and their scale."""
    import blf

    (width, height), (x, y) = _PLOT, corner
    blf.size(0, 11.0 * scale)

    def write(text: str, a: float, b: float, color: tuple[float, ...]) -> None:
        blf.position(0, x + a * scale, y + b * scale, 0.0)
        blf.color(0, *color)
        blf.draw(0, text)

    write("Change of Values by Sweep", 6.0, _FOOT + height + 2 * _LINE, _WHITE)
    for number, (kind, (_, name)) in enumerate(reversed(_KINDS.items())):
        write(name, 6.0 + 60.0 * number, _FOOT + height + 0.8 * _LINE, colors[kind])
    for place, label in found.scale:
        write(label, 6.0, _FOOT + height * place - 4.0, _WHITE)
    write("1", _SIDE, 6.0, _WHITE)
    last = f"{found.sweeps}"
    write(last, _SIDE + width - 6.0 - blf.dimensions(0, last)[0] / scale, 6.0, _WHITE)

"""Draw the take beside a character: a body in the 3D views, and the names of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader
from mathutils import Vector

from ...app.runtime import runtime
from ..base import colors, drawing

if TYPE_CHECKING:
    from ...app.takes.playing_beside import PlayedBeside

_DARKEST = 0.3  # share of the colour that faces away from the light have
_LIGHT = np.array([-0.3, 0.5, 0.8]) / np.linalg.norm([-0.3, 0.5, 0.8])  # right, up, to the viewer
_ABOVE = 0.17  # heights of the character from its highest joint to its name


def _find_shown() -> tuple[PlayedBeside, bpy.types.Object] | None:
    """Return the take beside a character visible in this view, and the character."""
    shown = runtime.beside
    obj = shown.find_armature() if shown else None
    if shown is None or obj is None or not obj.visible_get():
        return None
    return shown, obj


def _draw_body() -> None:
    if (found := _find_shown()) is None:
        return
    shown, obj = found
    points, normals = shown.body.pose(*shown.find_bones(obj, _get_frame()))
    view = np.array(bpy.context.region_data.view_matrix)[:3, :3]
    content: Any = {"pos": points, "color": shade(normals, view, colors.get_color("chosen"))}
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    batch = batch_for_shader(shader, "TRIS", content, indices=shown.body.triangles)
    shader.bind()
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    try:
        batch.draw(shader)
    finally:
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE")


def shade(normals: np.ndarray, view: np.ndarray, color: drawing.Color) -> np.ndarray:
    """Return a colour (V, 4) as normals (V, 3) have it in the light of a view (3, 3)."""
    lit = np.maximum(normals @ (view.T @ _LIGHT), 0.0)
    result = np.ones((len(normals), 4), np.float32)
    result[:, :3] = (_DARKEST + (1.0 - _DARKEST) * lit)[:, None] * np.asarray(color[:3])
    return result


def _get_frame() -> float:
    return bpy.context.scene.frame_current_final


def _draw_names() -> None:
    """Name the character and what plays beside it, above their heads."""
    if (found := _find_shown()) is None:
        return
    context = bpy.context
    text_color = drawing.get_text_color()
    blf.size(0, drawing.TEXT * context.preferences.system.ui_scale)
    for name, position in place_names(*found, _get_frame()):
        pixel = location_3d_to_region_2d(context.region, context.region_data, Vector(position))
        if pixel is not None:
            drawing.draw_text(name, pixel.x - 0.5 * blf.dimensions(0, name)[0], pixel.y, text_color)


def place_names(
    shown: PlayedBeside, obj: bpy.types.Object, frame: float
) -> list[tuple[str, tuple[float, float, float]]]:
    """Return both names, and where each is written in the world."""
    pose = obj.pose.bones
    heads = [(obj.matrix_world @ pose[name].head)[:] for name in shown.joints if name in pose]
    own = np.array(heads or [obj.matrix_world.translation[:]])
    _, other = shown.find_bones(obj, frame)
    names = (f"{letter}  {name}" for letter, name in zip("AB", shown.names, strict=True))
    return [
        (name, _find_top(joints, shown.height))
        for name, joints in zip(names, (own, other), strict=True)
    ]


def _find_top(joints: np.ndarray, height: float) -> tuple[float, float, float]:
    """Return a position above the middle of joints (B, 3) of a character of a height."""
    x, y = np.median(joints[:, :2], axis=0).tolist()
    return x, y, float(joints[:, 2].max()) + _ABOVE * height


overlay = drawing.Overlay((_draw_body, "POST_VIEW"), (_draw_names, "POST_PIXEL"))

"""What drawings share: overlays that come and go, lines with a width, plots in a view's corner, and texts.

Widths, sizes and edges are in pixels at the interface's scale. `gpu` is only there where something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np

EDGE = 20.0  # from the corner of the view

Color = tuple[float, ...]
Batch = Any


class Overlay:
    """Callbacks that draw into all editors of a kind, each at a stage such as POST_VIEW. Twice on or off does no harm."""

    def __init__(
        self, *callbacks: tuple[Callable[[], None], str], space: Any = bpy.types.SpaceView3D
    ) -> None:
        self._callbacks, self._space, self._handles = callbacks, space, list[Any]()

    @property
    def is_on(self) -> bool:
        return bool(self._handles)

    def start(self) -> None:
        if not self._handles:
            self._handles = [
                self._space.draw_handler_add(call, (), "WINDOW", stage)
                for call, stage in self._callbacks
            ]

    def stop(self) -> None:
        while self._handles:
            self._space.draw_handler_remove(self._handles.pop(), "WINDOW")


def theme_color(name: str) -> Color:
    """A colour of the theme's 3D view, opaque."""
    return (*getattr(bpy.context.preferences.themes[0].view_3d, name)[:3], 1.0)


def text_color() -> Color:
    """The colour of texts in the 3D view."""
    return (*bpy.context.preferences.themes[0].view_3d.space.text_hi[:3], 1.0)


# ---------------------------------------------------------------- lines


def pairs_of(path: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
    """The lines between points that follow one another (n, 3), as pairs of points (2 n - 2, 3)."""
    return np.repeat(np.asarray(path, np.float32), 2, axis=0)[1:-1]


def lines(points: np.ndarray, colours: np.ndarray | Color) -> Batch | None:
    """A batch of lines, pairs of points (2 L, 3), in one colour or in the points' own (2 L, 4); None for none."""
    if not len(points):
        return None
    import gpu
    from gpu_extras.batch import batch_for_shader

    content: Any = {
        "pos": points,
        "color": np.broadcast_to(np.asarray(colours, np.float32), (len(points), 4)),
    }
    return batch_for_shader(gpu.shader.from_builtin("POLYLINE_FLAT_COLOR"), "LINES", content)


def draw_lines(
    batches: Iterable[tuple[Batch | None, float]], *, stand_behind: bool = False
) -> None:
    """Draw batches of lines with their widths: over all else, or where they `stand_behind` it, so that it hides them."""
    import gpu

    context = bpy.context
    shader = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")
    shader.bind()
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    gpu.state.blend_set("ALPHA")
    if stand_behind:
        gpu.state.depth_test_set("LESS_EQUAL")
    try:
        for batch, width in batches:
            if batch is not None:
                shader.uniform_float("lineWidth", width * context.preferences.system.ui_scale)
                batch.draw(shader)
    finally:
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


@contextmanager
def placed(matrix: Any) -> Iterator[None]:
    """What is drawn within the block is moved by a matrix."""
    import gpu

    gpu.matrix.push()
    try:
        gpu.matrix.multiply_matrix(matrix)
        yield
    finally:
        gpu.matrix.pop()


# ---------------------------------------------------------------- areas


def boxes(corners: np.ndarray, colours: np.ndarray) -> Batch:
    """A batch of boxes (N, 4) of left, bottom, right and top, in colours (N, 4).

    Dots are boxes as well: points are drawn differently by each version of Blender, triangles are not.
    """
    import gpu
    from gpu_extras.batch import batch_for_shader

    places = np.asarray(corners, np.float32)[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    faces = (
        (4 * np.arange(len(corners))[:, None, None] + [[0, 1, 2], [0, 2, 3]])
        .reshape(-1, 3)
        .astype(np.int32)
    )
    content: Any = {
        "pos": np.pad(places, ((0, 0), (0, 1))),
        "color": np.repeat(np.asarray(colours, np.float32), 4, axis=0),
    }
    return batch_for_shader(gpu.shader.from_builtin("FLAT_COLOR"), "TRIS", content, indices=faces)


def fill(*batches: Batch) -> None:
    """Draw batches of boxes."""
    import gpu

    shader = gpu.shader.from_builtin("FLAT_COLOR")
    shader.bind()
    gpu.state.blend_set("ALPHA")
    try:
        for batch in batches:
            batch.draw(shader)
    finally:
        gpu.state.blend_set("NONE")


class Corner(NamedTuple):
    """Where a plot begins in its region, in the screen's pixels, and the interface's scale."""

    x: float
    y: float
    scale: float


def covered() -> tuple[int, int]:
    """How much of the region that is drawn lies below the tools and the sidebar, on its left and on its right, in the
    screen's pixels: nothing where regions do not overlap."""
    context = bpy.context
    first, last = context.region.x, context.region.x + context.region.width
    left = right = 0
    for region in context.area.regions:
        if region.type in {"TOOLS", "UI"} and region.width > 1:  # one that is hidden has a pixel
            if region.x <= first:
                left = max(left, region.x + region.width - first)
            elif region.x + region.width >= last:
                right = max(right, last - region.x)
    return left, right


@contextmanager
def in_corner(width: float, above: float = 0.0, *, left: bool = False) -> Iterator[Corner]:
    """What is drawn within the block lies in the view's lower right corner, or in its left one, so far above its edge."""
    from mathutils import Matrix

    context = bpy.context
    scale = context.preferences.system.ui_scale
    tools, sidebar = covered()
    x = tools + EDGE * scale if left else context.region.width - sidebar - (width + EDGE) * scale
    corner = Corner(x, (EDGE + above) * scale, scale)
    with placed(Matrix.Translation((corner.x, corner.y, 0.0)) @ Matrix.Scale(scale, 4)):
        yield corner


# ---------------------------------------------------------------- texts


def write(text: str, x: float, y: float, color: Color) -> None:
    """Write a text in the size that was set, at a place of the region in the screen's pixels."""
    import blf

    blf.position(0, x, y, 0.0)
    blf.color(0, *color)
    blf.draw(0, text)

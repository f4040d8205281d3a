"""Draw overlays, lines with a width, plots in a view's corner, and texts.

Widths, sizes and edges are in pixels at the interface's scale.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from .colors import Color, get_color

MARGIN = 20.0  # from the corner of the view
# sizes
TEXT = 12.0
SMALL_TEXT = 11.0
ABOVE_GROUND = 0.01  # metres, so that the grid does not cut lines
PAPER = (0.05, 0.05, 0.05, 0.75)  # the colour below plots
_BOX = np.array([[0, 1, 2], [0, 2, 3]], np.int32)  # two triangles

Batch = Any


class Overlay:
    """Callbacks that draw into editors of a kind, each at a stage. May be started twice."""

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


def get_text_color() -> Color:
    """Return the colour of texts in the 3D view."""
    return (*bpy.context.preferences.themes[0].view_3d.space.text_hi[:3], 1.0)


# Lines


def as_segments(path: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
    """Return the lines along a path (n, 3) as pairs of points (2 n - 2, 3)."""
    return np.repeat(np.asarray(path, np.float32), 2, axis=0)[1:-1]


def build_line_batch(points: np.ndarray, colours: np.ndarray | Color) -> Batch | None:
    """Return a batch of lines (2 L, 3) in one colour or one a point (2 L, 4); None if empty."""
    if not len(points):
        return None
    colours = np.broadcast_to(np.asarray(colours, np.float32), (len(points), 4))
    content: Any = {"pos": points, "color": colours}
    return batch_for_shader(gpu.shader.from_builtin("POLYLINE_FLAT_COLOR"), "LINES", content)


def as_pairs(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return lines from starts (N, 3) to ends (N, 3) as pairs of points (2 N, 3)."""
    return np.ascontiguousarray(np.stack([starts, ends], axis=1).reshape(-1, 3), np.float32)


def build_batches(lines: Iterable[tuple[np.ndarray, float, str]]) -> list[tuple[Batch, float]]:
    """Return a batch of each of several lines: pairs of points (2 L, 3), width and role."""
    return [(build_line_batch(points, get_color(role)), width) for points, width, role in lines]


def build_path_batches(paths: Iterable[tuple[Any, float, str]]) -> list[tuple[Batch, float]]:
    """Return a batch of each width, with it, of paths: points (n, 3), width and colour."""
    pairs: dict[float, list[np.ndarray]] = defaultdict(list)
    colours: dict[float, list[Color]] = defaultdict(list)
    palette: dict[str, Color] = {}
    for points, width, role in paths:
        pairs[width].append(as_segments(points))
        if role not in palette:
            palette[role] = get_color(role)
        colours[width] += [palette[role]] * len(pairs[width][-1])
    return [
        (build_line_batch(np.concatenate(pairs[width]), np.array(colours[width])), width)
        for width in pairs
    ]


def draw_lines(batches: Iterable[tuple[Batch | None, float]], stand_behind: bool = False) -> None:
    """Draw batches of lines with widths; with `stand_behind`, what is in front hides them."""
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
def push_matrix(matrix: Any) -> Iterator[None]:
    """Transform what the block draws by a matrix."""
    gpu.matrix.push()
    try:
        gpu.matrix.multiply_matrix(matrix)
        yield
    finally:
        gpu.matrix.pop()


# Areas


def build_box_batch(corners: np.ndarray, colours: np.ndarray) -> Batch:
    """Return a batch of boxes (N, 4) of left, bottom, right and top, in colours (N, 4).

    Dots are boxes too: each version of Blender draws points differently, but not triangles.
    """
    positions = np.asarray(corners, np.float32)[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    faces = 4 * np.arange(len(corners), dtype=np.int32)[:, None, None] + _BOX
    colours = np.repeat(np.asarray(colours, np.float32), 4, axis=0)
    content: Any = {"pos": np.pad(positions, ((0, 0), (0, 1))), "color": colours}
    shader = gpu.shader.from_builtin("FLAT_COLOR")
    faces = faces.reshape(-1, 3)
    return batch_for_shader(shader, "TRIS", content, indices=faces)


def draw_boxes(*batches: Batch) -> None:
    """Draw batches of boxes."""
    shader = gpu.shader.from_builtin("FLAT_COLOR")
    shader.bind()
    gpu.state.blend_set("ALPHA")
    try:
        for batch in batches:
            batch.draw(shader)
    finally:
        gpu.state.blend_set("NONE")


class Corner(NamedTuple):
    """The lower left corner of a plot in its region in pixels, and the interface's scale."""

    x: float
    y: float
    scale: float


def measure_overlap() -> tuple[int, int]:
    """Return how many pixels tools and sidebar cover on the left and the right of the region."""
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


def measure_redo_panel() -> int:
    """Return how many pixels of the region's height Adjust Last Operation takes up, on the left."""
    bottom = bpy.context.region.y
    tops = (r.y + r.height - bottom for r in bpy.context.area.regions if r.type == "HUD")
    return max((top for top in tops if top > 1), default=0)


@contextmanager
def draw_in_corner(width: float, above: float = 0.0, *, left: bool = False) -> Iterator[Corner]:
    """Draw the block into the lower right or left corner of the view, `above` its edge."""
    context = bpy.context
    scale = context.preferences.system.ui_scale
    tools, sidebar = measure_overlap()
    x = tools + MARGIN * scale
    if not left:
        x = context.region.width - sidebar - (width + MARGIN) * scale
    corner = Corner(x, (MARGIN + above) * scale, scale)
    with push_matrix(Matrix.Translation((corner.x, corner.y, 0.0)) @ Matrix.Scale(scale, 4)):
        yield corner


# Texts


def draw_text(text: str, x: float, y: float, color: Color) -> None:
    """Draw a text in the current size, at a position in the region in pixels of the screen."""
    blf.position(0, x, y, 0.0)
    blf.color(0, *color)
    blf.draw(0, text)

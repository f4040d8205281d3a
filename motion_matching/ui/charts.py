"""The coverage map and the histograms in the corner of the 3D views, while nothing is live.

They are laid out in pixels at the interface's scale, each from its own lower left corner; a redraw only places them.
Each text takes a redraw longer than all boxes together, so that there are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from . import drawing, insight, performing, request

if TYPE_CHECKING:
    from ..engine.matching.coverage import Coverage

Box = tuple[float, float, float, float]  # left, bottom, right, top
Color = tuple[float, float, float, float]

WIDTH = 272.0
_LEFT, _RIGHT, _FOOT, _LINE = (
    34.0,
    8.0,
    20.0,
    15.0,
)  # beside and below what is drawn, and a line of text above
_CELL, _BARS = 12.0, 42.0  # heights of a row of the map, and of the tallest bar
_GAP, _HEAD = 6.0, 60.0  # between charts, and below what Blender writes on top
_THICK = 1.5
_PAPER, _WHITE = (0.05, 0.05, 0.05, 0.75), (1.0, 1.0, 1.0, 0.8)
_FEW, _MANY = (
    np.array([0.12, 0.2, 0.34, 1.0]),
    np.array([0.62, 0.84, 1.0, 1.0]),
)  # cells with frames
_HOLE, _DATA, _SIMULATION = (1.0, 0.25, 0.2, 1.0), (0.23, 0.5, 0.78, 1.0), (1.0, 0.6, 0.15, 1.0)

_made: tuple[insight.Measured, dict[str, Chart]] | None = (
    None  # what was measured, and charts of it
)
_batches: dict[str, Any] = {}  # of these charts


class Text(NamedTuple):
    """A text and where it is; `align` is the part of its width that lies left of there."""

    x: float
    y: float
    text: str
    align: float = 0.0


class Chart(NamedTuple):
    """What is drawn: its height, boxes with their colours, the first of them its paper, and texts."""

    height: float
    boxes: tuple[tuple[Box, Color], ...]
    texts: tuple[Text, ...]


# ---------------------------------------------------------------- laying out


def coverage_chart(covered: Coverage) -> Chart:
    """Frames by speed, upwards, and turn rate, to the left as one turns; a red frame is around each hole."""
    from ..engine.matching.coverage import FEW, SPEED_EDGES, TURN_EDGES, WINDOW

    rows, columns = covered.rows_shown, covered.frames.shape[1]
    width, top = (WIDTH - _LEFT - _RIGHT) / columns, _FOOT + rows * _CELL
    shades = np.log1p(covered.frames) / np.log1p(max(covered.frames.max(), 1))

    def cell(row: int, column: int) -> Box:
        left = _LEFT + (columns - 1 - column) * width
        return left, _FOOT + row * _CELL, left + width - 1.0, _FOOT + (row + 1) * _CELL - 1.0

    filled = [(cell(*place), _mixed(shades[place])) for place in _where(covered.frames[:rows] > 0)]
    framed = [
        (side, _HOLE)
        for place in _where(covered.holes[:rows])
        for side in _sides(cell(*place), bottom=True)
    ]
    speeds = [
        Text(_LEFT - 4.0, y, f"{SPEED_EDGES[row]:g}", 1.0)
        for row, y in ((0, _FOOT), (rows, top - 9.0))
    ]
    turns = np.degrees(TURN_EDGES[:-1] + TURN_EDGES[1:]) / 2
    turned = [
        Text(_LEFT + (columns - 0.5 - k) * width, 6.0, f"{turns[k]:+.0f}" if turns[k] else "0", 0.5)
        for k in range(0, columns, columns // 2)
    ]
    step, turn = SPEED_EDGES[1] - SPEED_EDGES[0], np.degrees(TURN_EDGES[1] - TURN_EDGES[0])
    texts = [
        Text(_GAP, top + 1.2 * _LINE, "Frames by Speed (m/s) and Turn Rate (°/s)"),
        Text(
            _GAP,
            top + 0.3 * _LINE,
            f"{step:g} m/s by {turn:.0f}°/s over {WINDOW:g} s; red: asked for, under {FEW}",
        ),
    ]
    return _chart(top + 2.2 * _LINE, [*filled, *framed], [*texts, *speeds, *turned])


def histogram_chart(name: str, table: dict[str, Any]) -> Chart:
    """How much of the data, filled, and of what the simulation object does, outlined, lies in which bin."""
    edges, most = table["edges"], max(*table["data"], *table["simulation"], 1e-6)
    width, top = (WIDTH - _LEFT - _RIGHT) / (len(edges) - 1), _FOOT + _BARS

    def bars(kind: str) -> Iterator[Box]:
        for k, part in enumerate(table[kind]):
            if part > 0.0:
                yield (
                    _LEFT + k * width + 1.0,
                    _FOOT,
                    _LEFT + (k + 1) * width - 1.0,
                    _FOOT + _BARS * part / most,
                )

    boxes = [(bar, _DATA) for bar in bars("data")]
    boxes += [
        (side, _SIMULATION) for bar in bars("simulation") for side in _sides(bar, bottom=False)
    ]
    title = (
        f"{name.replace('_', ' ').title()} ({table['unit']}), Overlapping by {table['overlap']:.0%}"
    )
    ends = [
        Text(_LEFT + k * width, 6.0, f"{edges[k]:g}", 0.5)
        for k in (0, len(edges) // 2, len(edges) - 1)
    ]
    return _chart(top + 1.3 * _LINE, boxes, [Text(_GAP, top + 0.4 * _LINE, title), *ends])


def _chart(height: float, boxes: Sequence[tuple[Box, Color]], texts: Sequence[Text]) -> Chart:
    return Chart(height, (((0.0, 0.0, WIDTH, height), _PAPER), *boxes), tuple(texts))


def _where(mask: np.ndarray) -> list[tuple[int, int]]:
    return [(row, column) for row, column in np.argwhere(mask).tolist()]


def _mixed(part: float) -> Color:
    r, g, b, a = (_FEW + (_MANY - _FEW) * part).tolist()
    return r, g, b, a


def _sides(box: Box, *, bottom: bool) -> list[Box]:
    """The lines around a box, as boxes."""
    left, low, right, top = box
    sides = [
        (left, low, left + _THICK, top),
        (right - _THICK, low, right, top),
        (left, top - _THICK, right, top),
    ]
    return [*sides, (left, low, right, low + _THICK)] if bottom else sides


# ---------------------------------------------------------------- drawing


def start() -> None:
    """Draw from now on, in all 3D views."""
    overlay.start()


def stop() -> None:
    """Draw no more; twice does no harm."""
    global _made
    overlay.stop()
    _made = None
    _batches.clear()


def _draw() -> None:
    context = bpy.context
    obj = request.armature_of(context)
    found = insight.measured.get(obj.session_uid) if obj and performing.current is None else None
    if found is None:
        return
    room, above = context.region.height / context.preferences.system.ui_scale - _HEAD, 0.0
    for name, chart in _shown(obj, found):
        if drawing.EDGE + above + chart.height > room:
            return
        _draw_chart(name, chart, above)
        above += chart.height + _GAP


overlay = drawing.Overlay((_draw, "POST_PIXEL"))


def _shown(obj: bpy.types.Object, found: insight.Measured) -> Iterator[tuple[str, Chart]]:
    """The charts of what was measured that an armature shows, from the corner upwards, made once."""
    global _made
    if _made is None or _made[0] is not found:
        tables = found.inspection.histograms.items()
        _made = (
            found,
            {
                "coverage": coverage_chart(found.inspection.covered),
                **{name: histogram_chart(name, table) for name, table in reversed(tables)},
            },
        )
        _batches.clear()
    settings = obj.motion_matching.insight
    for name, chart in _made[1].items():
        if settings.show_coverage if name == "coverage" else settings.show_histograms:
            yield name, chart


def _draw_chart(name: str, chart: Chart, above: float) -> None:
    import blf

    if name not in _batches:
        _batches[name] = drawing.boxes(*map(np.array, zip(*chart.boxes, strict=True)))
    with drawing.in_corner(WIDTH, above, left=True) as corner:
        drawing.fill(_batches[name])
    blf.size(0, 11.0 * corner.scale)
    for x, y, text, align in chart.texts:
        left = corner.x + x * corner.scale - align * blf.dimensions(0, text)[0]
        drawing.write(text, left, corner.y + y * corner.scale, _WHITE)

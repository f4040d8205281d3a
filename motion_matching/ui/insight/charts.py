"""Draw the coverage map and the histograms in the corner of the 3D views, while nothing is live.

They are laid out in pixels at the interface's scale, each from its own lower left corner; a redraw
only positions them. There are few texts, because drawing one takes longer than drawing all boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import blf
import bpy
import numpy as np

from ... import app, engine
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ..base import drawing

if TYPE_CHECKING:
    from ...engine.insight.coverage.coverage import Coverage

Box = tuple[float, float, float, float]  # left, bottom, right, top

WIDTH = 272.0
# beside and below what is drawn
_LEFT = 34.0
_RIGHT = 8.0
_FOOT = 20.0
# heights: a row of the map, the tallest bar, a line of text
_CELL = 12.0
_BARS = 42.0
_LINE = 15.0
# between charts, and below what Blender writes on top
_GAP = 6.0
_HEAD = 60.0
_LINE_WIDTH = 1.5
_WHITE = (1.0, 1.0, 1.0, 0.8)
# frames in a cell
_FEW = np.array([0.12, 0.2, 0.34, 1.0])
_MANY = np.array([0.62, 0.84, 1.0, 1.0])
_HOLE = (1.0, 0.25, 0.2, 1.0)
_DATA = (0.23, 0.5, 0.78, 1.0)
_SIMULATION = (1.0, 0.6, 0.15, 1.0)


class ChartCache:
    """The measurement, its charts, and their batches."""

    def __init__(self) -> None:
        self.report: app.insight.data_insight.CoverageReport | None = None
        self.charts: dict[str, Chart] = {}
        self.batches: dict[str, Any] = {}


class Text(NamedTuple):
    """A text and its position; `align` is the share of its width that lies left of it."""

    x: float
    y: float
    text: str
    align: float = 0.0


class Chart(NamedTuple):
    """A chart: its height, boxes with their colours, the first of them its paper, and texts."""

    height: float
    boxes: tuple[tuple[Box, drawing.Color], ...]
    texts: tuple[Text, ...]


# Laying out


def build_coverage_chart(covered: Coverage) -> Chart:
    """Return the chart of frames by speed, upward, and turn rate, to the left; holes are framed."""
    coverage = engine.insight.coverage.coverage
    rows = covered.visible_row_count
    columns = covered.frames.shape[1]
    width = (WIDTH - _LEFT - _RIGHT) / columns
    top = _FOOT + rows * _CELL
    shares = (np.log1p(covered.frames) / np.log1p(max(covered.frames.max(), 1)))[..., None]
    colours = (_FEW + (_MANY - _FEW) * shares).tolist()

    def find_cells(mask: np.ndarray) -> Iterator[tuple[Box, drawing.Color]]:
        for row, column in np.argwhere(mask[:rows]).tolist():
            left = _LEFT + (columns - 1 - column) * width
            bottom = _FOOT + row * _CELL
            yield (left, bottom, left + width - 1.0, bottom + _CELL - 1.0), colours[row][column]

    holes = [cell for cell, _ in find_cells(covered.holes)]
    boxes = [*find_cells(covered.frames > 0), *_outline(holes, _HOLE, bottom=True)]
    speeds = coverage.SPEED_EDGES
    turns = np.degrees(coverage.TURN_EDGES)
    cell = f"{speeds[1] - speeds[0]:g} m/s by {turns[1] - turns[0]:.0f}°/s"
    texts = [
        Text(_GAP, top + 2.1 * _LINE, "Frames by Speed (m/s) and Turn Rate (°/s)"),
        Text(_GAP, top + 1.2 * _LINE, f"{cell} over {coverage.WINDOW:g} s"),
        Text(_GAP, top + 0.3 * _LINE, f"Red: wanted, but under {coverage.MIN_CELL_FRAMES} frames"),
        Text(_LEFT - 4.0, _FOOT, f"{speeds[0]:g}", 1.0),
        Text(_LEFT - 4.0, top - 9.0, f"{speeds[rows]:g}", 1.0),
    ]
    for k, turn in list(enumerate((turns[:-1] + turns[1:]) / 2))[:: columns // 2]:
        x = _LEFT + (columns - 0.5 - k) * width
        texts.append(Text(x, 6.0, f"{turn:+.0f}" if turn else "0", 0.5))
    return _build_chart(top + 3.1 * _LINE, boxes, texts)


def build_histogram_chart(name: str, table: dict[str, Any]) -> Chart:
    """Return the chart of shares in each bin: of the data, filled, and the simulation, outlined."""
    edges = table["edges"]
    most = max(*table["data"], *table["simulation"], 1e-6)
    width = (WIDTH - _LEFT - _RIGHT) / (len(edges) - 1)
    top = _FOOT + _BARS
    lefts = [_LEFT + k * width for k in range(len(edges))]

    def find_bars(kind: str) -> Iterator[Box]:
        for left, share in zip(lefts, table[kind], strict=False):
            if share > 0.0:
                yield left + 1.0, _FOOT, left + width - 1.0, _FOOT + _BARS * share / most

    boxes: list[tuple[Box, drawing.Color]] = [(bar, _DATA) for bar in find_bars("data")]
    boxes += _outline(find_bars("simulation"), _SIMULATION, bottom=False)
    title = f"{name.replace('_', ' ').title()} ({table['unit']})"
    texts = [Text(_GAP, top + 0.4 * _LINE, f"{title}, Overlapping by {table['overlap']:.0%}")]
    for k in (0, len(edges) // 2, len(edges) - 1):
        texts.append(Text(lefts[k], 6.0, f"{edges[k]:g}", 0.5))
    return _build_chart(top + 1.3 * _LINE, boxes, texts)


def _build_chart(
    height: float, boxes: Sequence[tuple[Box, drawing.Color]], texts: Sequence[Text]
) -> Chart:
    return Chart(height, (((0.0, 0.0, WIDTH, height), drawing.PAPER), *boxes), tuple(texts))


def _outline(
    boxes: Iterable[Box], color: drawing.Color, *, bottom: bool
) -> Iterator[tuple[Box, drawing.Color]]:
    """Yield the lines around boxes, as boxes."""
    for left, low, right, top in boxes:
        yield (left, low, left + _LINE_WIDTH, top), color
        yield (right - _LINE_WIDTH, low, right, top), color
        yield (left, top - _LINE_WIDTH, right, top), color
        if bottom:
            yield (left, low, right, low + _LINE_WIDTH), color


# Drawing


def _draw() -> None:
    context = bpy.context
    obj = app.character.characters.get_active_armature(context)
    report = runtime.coverage_reports.get(obj.session_uid) if obj and runtime.live is None else None
    if report is None:
        return
    room = context.region.height / context.preferences.system.ui_scale - _HEAD
    above = 0.0
    for name, chart in _iter_shown_charts(obj, report):
        if drawing.MARGIN + above + chart.height > room:
            return
        _draw_chart(name, chart, above)
        above += chart.height + _GAP


overlay = drawing.Overlay((_draw, "POST_PIXEL"))


def _iter_shown_charts(
    obj: bpy.types.Object, report: app.insight.data_insight.CoverageReport
) -> Iterator[tuple[str, Chart]]:
    """Yield the charts that an armature shows, from the corner upward; they are built once."""
    cache = runtime.get_cache(ChartCache)
    if cache.report is not report:
        tables = report.inspection.histograms.items()
        cache.report = report
        cache.batches = {}
        cache.charts = {
            "coverage": build_coverage_chart(report.inspection.covered),
            **{name: build_histogram_chart(name, table) for name, table in reversed(tables)},
        }
    settings = settings_of(obj).insight
    for name, chart in cache.charts.items():
        if settings.show_coverage if name == "coverage" else settings.show_histograms:
            yield name, chart


def _draw_chart(name: str, chart: Chart, above: float) -> None:
    batches = runtime.get_cache(ChartCache).batches
    if name not in batches:
        batches[name] = drawing.build_box_batch(*map(np.array, zip(*chart.boxes, strict=True)))
    with drawing.draw_in_corner(WIDTH, above, left=True) as corner:
        drawing.draw_boxes(batches[name])
    blf.size(0, drawing.SMALL_TEXT * corner.scale)
    for x, y, text, align in chart.texts:
        left = corner.x + x * corner.scale - align * blf.dimensions(0, text)[0]
        drawing.draw_text(text, left, corner.y + y * corner.scale, _WHITE)

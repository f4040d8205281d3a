"""The coverage map and histograms are laid out from measured values."""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.app.runtime import runtime
from motion_matching.engine.insight.coverage.coverage import Coverage
from motion_matching.ui.base import drawing
from motion_matching.ui.insight import charts
from tests.ui.characters import create_character


def check_texts_lie_on_paper(chart):
    charts.blf.size(0, drawing.SMALL_TEXT)
    for x, y, text, align in chart.texts:
        width, height = charts.blf.dimensions(0, text)
        assert width > 0.0, text
        assert x - align * width >= 0.0, text
        assert x + (1.0 - align) * width <= charts.WIDTH, text
        assert 0.0 <= y < y + height <= chart.height, text


def test_charts_show_the_measured_values():
    # many frames walking straight, and three turning left, where more are wanted
    frames, wanted = np.zeros((16, 13), int), np.zeros((16, 13))
    frames[2, 6], frames[2, 8], wanted[2, 8] = 5000, 3, 0.4
    chart = charts.build_coverage_chart(Coverage(frames, wanted))
    (paper, _), *boxes = chart.boxes
    assert all(
        paper[0] <= x0 < x1 <= paper[2] and paper[1] <= y0 < y1 <= paper[3]
        for (x0, y0, x1, y1), _ in boxes
    )
    straight, left = boxes[:2]
    assert left[0][0] < straight[0][0]
    assert left[0][1] == straight[0][1], "a turn to the left lies to the left"
    assert sum(straight[1]) > sum(left[1]), "more frames give a lighter box"
    hole = [box for box, color in boxes[2:] if color == charts._HOLE]
    assert len(hole) == 4
    assert min(x0 for x0, *_ in hole) == left[0][0]
    assert max(box[3] for box in hole) == left[0][3]
    assert boxes[2:] == [(box, charts._HOLE) for box in hole], (
        "neither the hole nor its neighbours have enough frames"
    )
    texts = [text.text for text in chart.texts]
    assert any("0.5 m/s by 30°/s over 1 s" in text for text in texts), texts
    assert {"0", "1.5", "+180"} <= {*texts}, texts
    check_texts_lie_on_paper(chart)

    # bars show the shares: filled for the data, outlined for the simulation object
    shares = {"data": [0.8, 0.2], "simulation": [0.0, 1.0], "overlap": 0.2}
    table = {"unit": "m/s", "edges": [0, 1, 2], **shares}
    chart = charts.build_histogram_chart("turn_rate", table)
    bars = [box for box, color in chart.boxes if color == charts._DATA]
    assert [round((y1 - y0) / charts._BARS, 3) for _, y0, _, y1 in bars] == [0.8, 0.2]
    outline = [box for box, color in chart.boxes if color == charts._SIMULATION]
    assert len(outline) == 3
    assert max(box[3] for box in outline) - bars[1][1] == charts._BARS
    assert min(box[0] for box in outline) == bars[1][0]
    assert chart.texts[0].text == "Turn Rate (m/s), Overlapping by 20%"
    check_texts_lie_on_paper(chart)


def test_charts_are_built_once_per_measurement():
    obj, ops = create_character(), bpy.ops.motion_matching
    ops.add_actions()
    ops.measure_coverage()
    settings = obj.motion_matching.insight

    def list_shown():
        return dict(charts._iter_shown_charts(obj, runtime.coverage_reports[obj.session_uid]))

    first = list_shown()
    assert list(first) == ["coverage", "turn_rate", "acceleration", "speed"]
    assert all(list_shown()[name] is chart for name, chart in first.items())
    settings.show_coverage = False
    assert "coverage" not in list_shown()
    settings.show_coverage, settings.show_histograms = True, False
    assert list(list_shown()) == ["coverage"]
    ops.measure_coverage()
    assert list_shown()["coverage"] is not first["coverage"]

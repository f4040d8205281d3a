"""Residuals of a training, as curves on a logarithmic scale and as a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from building.studies import residual_plot
from motion_matching.engine.insight import pictures

SVG = "{http://www.w3.org/2000/svg}"


def make_residuals(count: int, shrink: float) -> np.ndarray:
    """Make residuals whose largest shrinks from 2 by a factor each sweep; the mean is half of it,
    the least zero.
    """
    most = 2.0 * shrink ** np.arange(count)
    return np.stack([np.zeros(count), most, 0.5 * most], axis=1)


def test_even_shrinking_and_the_promised_rate_are_straight_lines():
    found = residual_plot.compute_curves(make_residuals(100, 0.9), 0.95)
    most, mean, promised = (found.lines[kind] for kind in ("most", "mean", "promised"))
    for line in (most, promised):
        np.testing.assert_allclose(np.diff(line[:, 1], 2), 0, atol=1e-9)
        np.testing.assert_allclose(line[0], [0, 1])
    assert promised[-1, 1] > most[-1, 1] > mean[-1, 1] == pytest.approx(0)
    np.testing.assert_allclose(
        most[:, 1] - mean[:, 1], most[0, 1] - mean[0, 1]
    )  # the mean is always half
    assert found.lines["least"][:, 1].max() == 0, "zero lies on the bottom line, not below it"


def test_the_scale_labels_heights_logarithmically():
    """A factor of ten has the same height everywhere."""
    found = residual_plot.compute_curves(make_residuals(100, 0.9), 0.95)
    heights = {float(label): height for height, label in found.scale}
    assert set(heights) == {1.0, 0.1, 0.01, 0.001, 0.0001}
    assert heights[1] - heights[0.1] == pytest.approx(heights[0.01] - heights[0.001])
    sweep = int(np.log(0.005) / np.log(0.9))
    assert found.lines["most"][sweep, 1] == pytest.approx(heights[0.01], abs=0.02)
    narrow = residual_plot.compute_curves(make_residuals(20, 0.95), 0.95)
    assert len(narrow.scale) >= 2, "without a power of ten, other values are labelled"


def test_a_single_sweep_is_a_point():
    assert residual_plot.compute_curves(make_residuals(1, 0.9), 0.95).lines["most"].shape == (1, 2)


def test_the_picture_has_a_line_for_each_kind(tmp_path: Path):
    picture = residual_plot.draw(make_residuals(60, 0.9), 0.95)
    pictures.write_pictures([picture], tmp_path / "plot.svg")
    lines = {
        line.get("id"): np.array(
            [pair.split(",") for pair in line.get("points", "").split()], float
        )
        for line in ElementTree.parse(tmp_path / "plot.svg").getroot().iter(f"{SVG}polyline")
    }
    assert set(lines) == set(residual_plot.KINDS)
    assert all(len(line) == 60 for line in lines.values())
    assert (lines["most"][1:, 1] > lines["promised"][1:, 1]).all(), "below is further down the page"

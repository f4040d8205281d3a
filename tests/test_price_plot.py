"""Pictures of prices show what was computed, at positions that can be checked."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from building.studies import __main__ as studies
from building.studies import price_plot
from motion_matching.engine.blending.fading import (
    compute_cubic_displacement,
    compute_spring_displacement,
)
from motion_matching.engine.insight import pictures
from motion_matching.engine.maths.springs import halflife_to_rate
from motion_matching.engine.performance.settings import AsPublished, Blending, PerformerSettings

SVG = "{http://www.w3.org/2000/svg}"
HALFLIFE = 0.15
SETTINGS = PerformerSettings(blending=Blending(inertialization_halflife=HALFLIFE))
NAMES = ("price exact", "price added", "price feature", "price error")


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> ElementTree.Element:
    path = tmp_path_factory.mktemp("plot") / "price.svg"
    change = f"inertialization_halflife={HALFLIFE}"
    assert studies.main(["prices", str(path), "--set", change]) == 0
    return ElementTree.parse(path).getroot()


def find_group(root, name):
    [found] = [group for group in root.iter(f"{SVG}g") if group.get("id") == name]
    return found


def read_map(root, name):
    """Return the fill, and the range of prices in cm·s, at a share of both axes."""
    boxes = list(find_group(root, name).iter(f"{SVG}rect"))
    sides = np.array(
        [[float(box.get(key)) for key in ("x", "y", "width", "height")] for box in boxes]
    )
    (left, top), (right, bottom) = sides[:, :2].min(0), (sides[:, :2] + sides[:, 2:]).max(0)

    def look(across, up):
        x, y = (1 + across) / 2 * (right - left) + left, (1 - up) / 2 * (bottom - top) + top
        inside = (sides[:, :2] <= (x, y)) & ((x, y) < sides[:, :2] + sides[:, 2:] + 1e-6)
        box = boxes[int(np.flatnonzero(inside.all(axis=1))[0])]
        low, high = box.find(f"{SVG}title").text.removesuffix(" cm·s").split(" to ")
        return box.get("fill"), float(low), float(high)

    area = (sides[:, 2] * sides[:, 3]).sum()
    assert area == pytest.approx((right - left) * (bottom - top), rel=1e-3), "no gaps"
    return look


@pytest.mark.parametrize(("across", "up"), [(0.5, 0.5), (0.9, -0.85), (-0.3, 0.7), (0.0, -0.6)])
def test_maps_show_the_price_of_the_differences_there(root, across, up):
    cell = 1.0 / price_plot._CELLS
    fastest = 2.0 * halflife_to_rate(HALFLIFE) * price_plot.REACH
    near = [
        100 * float(compute_spring_displacement(a * price_plot.REACH, b * fastest, HALFLIFE))
        for a in (across - cell, across, across + cell)
        for b in (up - cell, up, up + cell)
    ]
    _, low, high = read_map(root, "price exact")(across, up)
    assert low <= max(near) + 0.01
    assert high >= min(near) - 0.01


def test_velocities_that_come_back_are_cheap_but_not_in_a_weighted_sum(root):
    exact, added, feature = (read_map(root, name) for name in NAMES[:3])
    assert exact(0.5, -0.5)[1] < 0.4 * exact(0.5, 0.5)[1]
    assert added(0.5, -0.5)[0] == added(0.5, 0.5)[0]
    assert feature(0.8, -0.8)[1] == pytest.approx(0.0, abs=0.1)
    assert exact(0.8, -0.8)[1] > 0.3


def test_what_the_feature_does_not_see_lies_where_offsets_go_past_zero(root):
    error = read_map(root, "price error")
    assert error(0.5, 0.5)[1] == error(0.9, 0.1)[1] == 0.0
    assert error(0.8, -0.95)[1] > 0.2


def test_curves_have_their_prices_and_end_at_rest(root):
    group = find_group(root, "price curves")
    lines = list(group.iter(f"{SVG}polyline"))
    texts = [text.text for text in group.iter(f"{SVG}text")]
    price = 100 * float(compute_spring_displacement(price_plot.REACH / 2, 0.0, HALFLIFE))
    assert any(text.endswith(f"{price:.2f} cm·s") for text in texts)
    ends = [line.get("points").split()[-1].split(",") for line in lines]
    assert np.ptp([float(y) for _, y in ends]) < 2.0
    starts = {line.get("points").split()[0] for line in lines}
    assert len(starts) == 1
    assert len(lines) == 4


@pytest.mark.parametrize("inertialization", ["spring", "cubic"])
def test_a_time_of_zero_is_drawn_too(tmp_path, inertialization):
    settings = PerformerSettings(
        as_published=AsPublished(inertialization=inertialization, blend_time=0.0),
        blending=Blending(inertialization_halflife=0.0),
    )
    pictures.write_pictures(price_plot.draw_prices(settings), tmp_path / "zero.svg")
    assert "nan" not in (tmp_path / "zero.svg").read_text()


def test_a_cubic_is_drawn_as_it_fades(tmp_path):
    settings = PerformerSettings(as_published=AsPublished(inertialization="cubic", blend_time=0.4))
    pictures.write_pictures(price_plot.draw_prices(settings), tmp_path / "cubic.svg")
    root = ElementTree.parse(tmp_path / "cubic.svg").getroot()
    texts = [text.text for text in find_group(root, "price curves").iter(f"{SVG}text")]
    price = 100 * float(compute_cubic_displacement(price_plot.REACH / 2, 0.0, 0.4))
    assert any(text.endswith(f"{price:.2f} cm·s") for text in texts)
    exact, feature = (read_map(root, f"price {name}") for name in ("exact", "feature"))
    assert exact(0.5, -0.5)[1] < 0.4 * exact(0.5, 0.5)[1]
    assert feature(0.8, -0.8)[1] == pytest.approx(0.0, abs=0.1)


def test_titles_fit_in_their_pictures(tmp_path):
    """A bold letter of 15 units takes about eight."""
    settings = PerformerSettings(as_published=AsPublished(inertialization="cubic", blend_time=0.25))
    for each in (SETTINGS, settings):
        pictures.write_pictures(price_plot.draw_prices(each), tmp_path / "price.svg")
        root = ElementTree.parse(tmp_path / "price.svg").getroot()
        titles = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "big"]
        assert len(titles) == len(NAMES) + 1
        assert all(8.0 * len(title) < pictures.WIDTH - pictures.MARGIN for title in titles)

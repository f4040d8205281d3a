"""Plots of a database show what was measured, at positions that can be checked."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.insight import plots
from motion_matching.engine.insight.coverage import inspection
from motion_matching.engine.insight.maps.pose_map import build_pose_map
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.settings import PerformerSettings, Speeds, Steering
from motion_matching.engine.sources.sources import Source

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def database() -> Database:
    clips = [
        perform(f"clip <{k}>", [Move(3.0, 1.2, turn=30.0 * k)], 30.0, np.random.default_rng(k))
        for k in range(2)
    ]
    return build([Source(clip=clip) for clip in clips], BuildSettings())[0]


def draw_plot(database: Database, tmp_path: Path) -> ElementTree.Element:
    inspected = inspection.inspect(database, PerformerSettings(), {})
    plots.save(database, inspected, build_pose_map(database), tmp_path / "plot.svg")
    return ElementTree.parse(tmp_path / "plot.svg").getroot()


def find_group(root: ElementTree.Element, name: str) -> ElementTree.Element:
    [found] = [g for g in root.iter(f"{SVG}g") if g.get("id") == name]
    return found


def get_strands(root: ElementTree.Element, name: str) -> list[np.ndarray]:
    """Return the points (P, 2) of each strand of a plot."""
    return [
        np.array([list(map(float, pair.split(","))) for pair in line.get("points", "").split()])
        for line in find_group(root, name).iter(f"{SVG}polyline")
    ]


def test_strands_start_at_one_point_facing_up_and_last_a_second(database: Database, tmp_path: Path):
    """A straight walk of 1.2 m/s goes 1.2 m up the page; a curve to the left bends to the left."""
    root = draw_plot(database, tmp_path)
    lines = get_strands(root, "strands")
    assert len(lines) > 40
    starts = np.array([line[0] for line in lines])
    assert np.ptp(starts, axis=0).max() == 0
    ends = np.array([line[-1] for line in lines]) - starts
    lengths = np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines])
    [rule] = find_group(root, "strands").iter(f"{SVG}line")
    metre = float(rule.get("x2", 0)) - float(rule.get("x1", 0))
    assert lengths.max() == pytest.approx(1.25 * metre, rel=0.12)
    assert ends[:, 1].min() == pytest.approx(-1.2 * metre, rel=0.12)  # up is negative
    assert ends[:, 0].min() < -0.15 * metre  # to the left
    assert ends[:, 0].max() < 0.15 * metre


def test_strands_of_the_simulation_object_have_the_same_scale(database: Database, tmp_path: Path):
    """Walking at 1.2 m/s reaches as far as the data; turning back leads where the data never goes."""
    settings = PerformerSettings(
        steering=Steering(walk=Speeds(1.2, 1.2, 1.2), run=Speeds(1.2, 1.2, 1.2))
    )
    wanted = scripts.build_script(
        "flips", 20.0, database.fps, settings.steering.walk, settings.steering.run
    )
    found = inspection.inspect(database, settings, {}, wanted)
    plots.save(database, found, build_pose_map(database), tmp_path / "plot.svg")
    root = ElementTree.parse(tmp_path / "plot.svg").getroot()
    ends = {
        name: np.array([line[-1] - line[0] for line in get_strands(root, name)])
        for name in ("strands", "strands of the simulation object")
    }
    data, simulation = ends.values()
    assert len(simulation) > 40
    assert simulation[:, 1].min() == pytest.approx(data[:, 1].min(), rel=0.12)
    assert simulation[:, 1].max() > 0.3 * plots.METRE > data[:, 1].max()


def test_strands_are_laid_over_each_other_in_two_colours(database: Database, tmp_path: Path):
    root = draw_plot(database, tmp_path)
    both = get_strands(root, "strands laid over each other")
    apart = [
        *get_strands(root, "strands"),
        *get_strands(root, "strands of the simulation object"),
    ]
    assert all(np.array_equal(a, b) for a, b in zip(both, apart, strict=True))
    picture = find_group(root, "strands laid over each other")
    colours = [line.get("stroke") for line in picture.iter(f"{SVG}polyline")]
    count = len(get_strands(root, "strands"))
    assert len(set(colours[:count])) == len(set(colours[count:])) == 1
    assert colours[0] != colours[-1]


@pytest.mark.slow
def test_cells_with_frames_are_filled_and_holes_are_outlined(database: Database, tmp_path: Path):
    root = draw_plot(database, tmp_path)
    map_ = inspection.inspect(database, PerformerSettings(), {}).covered
    cells = list(find_group(root, "coverage").iter(f"{SVG}rect"))
    filled = [cell for cell in cells if cell.get("class") == "cell"]
    holes = [cell for cell in cells if cell.get("class") == "hole"]
    assert len(filled) == (map_.frames > 0).sum()
    assert len(holes) == map_.holes.sum() > 0


@pytest.mark.slow
def test_suggested_captures_are_written_in_full(database: Database, tmp_path: Path):
    found = inspection.inspect(database, PerformerSettings(), {})
    lacking = found.data["to_capture"]
    assert len(lacking) > 8
    lines = find_group(draw_plot(database, tmp_path), "to capture").iter(f"{SVG}text")
    written = " ".join(" ".join(line.text or "" for line in lines).split())
    assert all(sentence in written for sentence in lacking)
    covered = found._replace(data={**found.data, "to_capture": []})
    plots.save(database, covered, build_pose_map(database), tmp_path / "covered.svg")
    assert "nothing" in (tmp_path / "covered.svg").read_text()


def test_histograms_and_pose_maps_are_drawn(database: Database, tmp_path: Path):
    root = draw_plot(database, tmp_path)
    for name in ("speed", "acceleration", "turn_rate"):
        bars = [
            float(bar.get("height", 0))
            for bar in find_group(root, f"histogram {name}").iter(f"{SVG}rect")
        ]
        assert max(bars) > 10
    for name in ("poses mds", "poses pca"):
        dots = list(find_group(root, name).iter(f"{SVG}circle"))
        assert 200 < len(dots) <= plots.MAX_POSES
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert any(text and text.startswith("clip <0>:") for text in titles), (
        "clip names are shown unchanged"
    )

"""`inspect` reports what a database holds and lacks, as text and as data."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.insight import pictures
from tests.command_line import run, run_line
from tests.demo import load_climbing, load_few
from tests.engine.stumbles import make_stumbling_runs


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of few generated clips; tests only read it."""
    file = tmp_path_factory.mktemp("few") / "walk.npz"
    databases.save(load_few(), file)
    return file


def test_coverage_holes_are_plotted_and_listed_with_their_speeds(
    demo_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    assert run("inspect", demo_file, "--set", "run=6", "--report", report) == 0
    told = capsys.readouterr().out
    assert "what to capture next:\n  Running forward at 6 m/s: the data reaches" in told
    assert "!" in told
    data = json.loads(report.read_text())
    frames, holes = np.array(data["coverage"]["frames"]), np.array(data["coverage"]["holes"])
    assert frames.sum() == data["frames"]
    assert (
        frames.shape
        == holes.shape
        == tuple(len(data["coverage"][k]) - 1 for k in ("speed_edges", "turn_edges"))
    )
    assert holes[9:].any()
    assert data["settings"]["run"]["forward"] == 6
    assert [line for line in data["to_capture"] if line.startswith("Running at")]
    for table in data["histograms"].values():
        assert 0.3 < table["overlap"] <= 1.0


@pytest.mark.slow
def test_slopes_are_told_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, report = tmp_path / "climbs.npz", tmp_path / "report.json"
    databases.save(load_climbing(), file)
    assert run("inspect", file, "--report", report) == 0
    told = capsys.readouterr().out
    assert (
        "slopes and stairs, as the ground rises over half a second:\n  walking up 5 to 15°" in told
    )
    assert "  No clip turns as it walks on slopes: capture walks that turn" in told
    slopes = json.loads(report.read_text())["slopes"]
    assert {row["direction"] for row in slopes} == {"up", "down"}
    assert all(row["seconds"] >= 1.0 for row in slopes)


def test_odd_postures_are_told_by_build_and_inspect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clips, stumbles = make_stumbling_runs()
    for clip in clips:
        bvh.save(clip, tmp_path / f"{clip.name}.bvh")
    database, report = tmp_path / "runs.npz", tmp_path / "report.json"
    assert run("build", tmp_path, "-o", database) == 0
    told = capsys.readouterr().out
    assert "odd postures: " in told
    name = min(stumbles)  # in the order of their files
    assert f"  {name} " in told
    assert run("inspect", database, "--report", report) == 0
    assert told[told.index("odd postures: ") :] in capsys.readouterr().out
    entries = json.loads(report.read_text())["odd_postures"]
    assert len(entries) == sum(map(len, stumbles.values()))
    assert entries[0].keys() == {"clip", "start", "stop", "gait", "what"}


def test_nothing_is_told_of_a_database_without_odd_postures(
    walk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("inspect", walk) == 0
    assert "odd postures: none" in capsys.readouterr().out


def test_the_fastest_speeds_are_told_beside_the_medians(
    walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    assert run("inspect", walk, "--report", report) == 0
    text, data = capsys.readouterr().out, json.loads(report.read_text())
    top, run_speeds = data["top_speeds"], data["speeds"]["run"]
    assert top["forward"] > run_speeds["forward"]
    assert f"fastest for a second in all: {top['forward']:.2f} m/s forward" in text
    assert "(medians)" in text


def test_the_report_maps_the_poses(walk: Path, tmp_path: Path) -> None:
    report, plot = tmp_path / "report.json", tmp_path / "plot.svg"
    assert run("inspect", walk, "--report", report, "--plot", plot, "--quiet") == 0
    assert plot.read_text().startswith("<svg ")
    poses = json.loads(report.read_text())["pose_map"]
    count = len(poses["frames"])
    assert 2000 < count <= 3000
    assert len(poses["mds"]) == len(poses["pca"]) == len(poses["clips"]) == count
    assert 0 < poses["stress"]["mds"] < 0.5
    # standing frames lie together, apart from running ones
    clips, mds = np.array(poses["clips"]), np.array(poses["mds"])
    idle, runs = mds[clips == "idle"], mds[clips == "run_speeds"]
    spread = np.linalg.norm(idle - idle.mean(axis=0), axis=1).max()
    assert spread < 0.3 * np.linalg.norm(runs.mean(axis=0) - idle.mean(axis=0))


@pytest.mark.slow
def test_a_recorded_performance_replaces_the_scripts(
    walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded, report = tmp_path / "slow.json", tmp_path / "report.json"
    assert (
        run_line("take {} --seconds 6 --set walk=0.7 --save-performance {} --quiet", walk, recorded)
        == 0
    )
    assert run("inspect", walk, "--performance", recorded, "--report", report, "--quiet") == 0
    data = json.loads(report.read_text())
    assert data["settings"]["walk"]["forward"] == 0.7
    wanted = np.array(data["coverage"]["wanted"])
    assert wanted[:2].sum() == pytest.approx(1.0, abs=1e-3)
    # options override the recording
    assert (
        run_line(
            "inspect {} --performance {} --set walk=1.4 --report {} --quiet", walk, recorded, report
        )
        == 0
    )
    assert np.array(json.loads(report.read_text())["coverage"]["wanted"])[2:].sum() > 0.3
    capsys.readouterr()
    for wrong in (
        ["--performance", walk],
        ["--performance", tmp_path / "none.json"],
        ["--set", "sped=1"],
        ["--report", tmp_path / "x.txt"],
        ["--performance", recorded, "--report", recorded],
    ):
        assert run("inspect", walk, *wrong) == 1
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_a_frame_is_inspected_for_a_desired_velocity(
    walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "frame.json"
    assert (
        run("inspect", walk, "--frame", "walk_speeds:150", "--wish", "-1.5,0.2", "--report", report)
        == 0
    )
    told = capsys.readouterr().out
    assert told.startswith("walk_speeds:150: frame ")
    assert "bone_position left_foot" in told
    assert "\n  playing on " in told
    data = json.loads(report.read_text())
    verdicts = {candidate["verdict"].split(":")[0] for candidate in data["candidates"]}
    assert data["clip"] == "walk_speeds"
    assert "entered" in verdicts
    assert data["playing_on"]["verdict"].startswith("left")
    assert data["playing_on"]["cost"] > min(candidate["cost"] for candidate in data["candidates"])
    assert len(data["features"]["trajectory_position +0.33s +0.67s +1.00s"]) == 3
    # without a desired velocity the clip plays on, which costs nothing
    assert (
        run("inspect", walk, "--frame", "walk_speeds:150:mirrored", "--report", report, "--quiet")
        == 0
    )
    data = json.loads(report.read_text())
    assert (data["mirrored"], data["playing_on"]["verdict"], data["playing_on"]["cost"]) == (
        True,
        "played on",
        0,
    )
    capsys.readouterr()
    for wrong in (
        ["--frame", "walk_sped:1"],
        ["--frame", "walk_speeds"],
        ["--wish", "1"],
        ["--tags", "idle"],
        ["--frame", "walk_speeds:9", "--wish", "fast"],
        ["--frame", "walk_speeds:9", "--wish", "1,2,3"],
        ["--frame", "walk_speeds:9", "--tags", "swim"],
        ["--frame", "walk_speeds:9", "--plot", tmp_path / "plot.svg"],
        ["--plot", tmp_path / "plot.png"],
    ):
        assert run("inspect", walk, *wrong) == 1
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_the_states_of_a_field_are_mapped_on_request(walk: Path, tmp_path: Path) -> None:
    """In the report with gait and clip of each frame, and as three pictures."""
    report, plot = tmp_path / "report.json", tmp_path / "plot.svg"
    command = ("inspect", walk, "--map", "field", "--quiet")
    assert run(*command, "--report", report, "--plot", plot) == 0
    states = json.loads(report.read_text())["field_map"]
    assert set(states["gaits"]) == {"standing", "walking", "running"}
    count = len(states["frames"])
    assert len(states["clips"]) == len(states["gaits"]) == len(states["positions"]) == count
    drawn = plot.read_text()
    assert all(f'id="states {name}"' in drawn for name in ("front", "side", "clips"))
    assert drawn.count("By their graph: standing blue") == 1
    titles = re.findall('class="big"[^>]*>([^<]*)<', drawn)
    assert titles
    assert all(8.0 * len(title) < pictures.WIDTH - pictures.MARGIN for title in titles)


@pytest.mark.skipif(importlib.util.find_spec("umap") is not None, reason="umap is installed")
def test_a_map_whose_package_is_missing_is_refused(
    walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("inspect", walk, "--map", "umap", "--report", tmp_path / "report.json") != 0
    said = capsys.readouterr().err
    assert "umap-learn" in said
    assert "--map field" in said
    assert not (tmp_path / "report.json").exists()

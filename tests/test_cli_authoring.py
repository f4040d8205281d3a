"""What an author can tell `build`: tags from and to files, and the path of the simulation bone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from tests.command_line import run, run_line


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two clips of about five seconds."""
    folder = tmp_path_factory.mktemp("clips")
    for seed, name in enumerate(("walk", "stroll")):
        clip = perform(
            name,
            [Move(2.0, 1.2 - 0.4 * seed), Move(1.5, 1.2, turn=40)],
            30.0,
            np.random.default_rng(seed),
        )
        bvh.save(clip, folder / f"{name}.bvh")
    return folder


def test_tags_of_a_folder_are_read_from_and_saved_to_a_file(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tags = {
        "walk": [
            {"name": "curve", "start": 60, "stop": 120},
            {"name": "prefer", "bias": -2},
            {"name": "loop", "start": 70, "stop": 104},
        ],
        "stroll": [{"name": "no_use", "start": 0, "stop": 30}],
    }
    (tmp_path / "tags.json").write_text(json.dumps(tags))
    file, saved = tmp_path / "walk.npz", tmp_path / "saved.json"
    assert (
        run("build", clips, "-o", file, "--tags", tmp_path / "tags.json", "--save-tags", saved) == 0
    )
    assert json.loads(saved.read_text()) == {
        "stroll": [{"name": "no_use", "stop": 30}],
        "walk": tags["walk"],
    }
    database = databases.load(file)
    assert [(r.clip, r.loop) for r in database.ranges] == [
        ("stroll", False),
        ("walk", False),
        ("walk", True),
    ]
    assert database.make_tag_mask({"curve"}).sum() == 60 + 33
    capsys.readouterr()
    assert run("inspect", file) == 0
    told = capsys.readouterr().out
    assert "curve              0.05 min" in told
    assert "in 2 ranges" in told
    assert "cost -2 to -2" in told

    again = tmp_path / "again.npz"
    assert run("build", clips, "-o", again, "--tags", saved, "--quiet") == 0
    assert again.read_bytes() == file.read_bytes()


@pytest.mark.slow
def test_a_take_obeys_the_tags(clips: Path, tmp_path: Path) -> None:
    """Excluded frames are never played, and clips to avoid are played less."""
    played = {}
    for name, tags in (
        ("plain", {}),
        ("avoided", {"walk": [{"name": "prefer", "bias": 100}]}),
        ("barred", {"walk": [{"name": "no_use"}]}),
    ):
        (tmp_path / "tags.json").write_text(json.dumps(tags))
        file, report = tmp_path / f"{name}.npz", tmp_path / f"{name}.json"
        assert (
            run("build", clips, "-o", file, "--mirror", "--quiet", "--tags", tmp_path / "tags.json")
            == 0
        )
        assert (
            run("take", file, "--seconds", 6, "--script", "square", "--report", report, "--quiet")
            == 0
        )
        used = {clip["clip"]: clip["seconds"] for clip in json.loads(report.read_text())["clips"]}
        played[name] = used.get("walk", 0.0) / sum(used.values())
    assert played["plain"] > 0.2
    assert played["avoided"] < 0.5 * played["plain"]
    assert played["barred"] == 0


def test_the_adaptive_simulation_bone_sways_less_while_walking(clips: Path, tmp_path: Path) -> None:
    """Standing does not change."""
    tracks = {}
    for name in ("article", "adaptive"):
        file = tmp_path / f"{name}.npz"
        assert (
            run("build", clips / "walk.bvh", "-o", file, "--simulation-bone", name, "--quiet") == 0
        )
        tracks[name] = databases.load(file)
    assert tracks["adaptive"].settings["simulation_bone"]["standing"] < 1
    rates = {
        name: abs(np.diff(database.track[60:90, 2], 2)).mean() for name, database in tracks.items()
    }
    assert rates["adaptive"] < 0.6 * rates["article"]
    np.testing.assert_allclose(
        tracks["adaptive"].track[:20], tracks["article"].track[:20], atol=0.02
    )


def test_a_take_requests_tags(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tags.json").write_text(json.dumps({"stroll": [{"name": "slow"}]}))
    file, report = tmp_path / "walk.npz", tmp_path / "take.json"
    assert (
        run("build", clips, "-o", file, "--mirror", "--quiet", "--tags", tmp_path / "tags.json")
        == 0
    )
    assert run("take", file, "--seconds", 4, "--tags", "slow", "--report", report, "--quiet") == 0
    assert {clip["clip"] for clip in json.loads(report.read_text())["clips"]} == {"stroll"}
    capsys.readouterr()
    assert run("take", file, "--tags", "slow,fast", "--report", report, "--quiet") == 1
    assert "'fast'; its tags are: slow" in capsys.readouterr().err


@pytest.mark.slow
def test_a_take_follows_labels(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, report, saved = (tmp_path / name for name in ("walk.npz", "take.json", "mine.json"))
    assert run("build", clips, "-o", file, "--mirror", "--quiet", "--auto-tags") == 0
    take = ("take", file, "--seconds", 4, "--report", report)
    assert run(*take, "--set", "labels=ready", "--save-performance", saved) == 0
    assert "Warning: labels name 'plant', 'run', which no" in capsys.readouterr().out
    stored = json.loads(report.read_text())["settings"]["labels"]
    assert [label["tags"] for label in stored] == [["plant"], ["start", "stop"], ["walk", "run"]]
    assert json.loads(saved.read_text())["settings"]["labels"] == stored
    assert run("take", file, "--script", saved, "--report", report, "--quiet") == 0
    assert json.loads(report.read_text())["settings"]["labels"] == stored

    mine = '[{"tags": ["walk"], "settings": {"displacement": "independent", "clamp": false}}]'
    assert run(*take, "--set", f"labels={mine}", "--beside", "labels=[]") == 0
    labelled = json.loads(report.read_text())
    assert labelled["take"] != labelled["beside"]["take"]
    capsys.readouterr()
    for wrong, words in (
        ("slow", "'ready', or a list as JSON"),
        ("3", "list of objects"),
        ('[{"tags": ["walk"], "settings": {"walk": 1}}]', "label 'walk' has the setting 'walk'"),
    ):
        assert run(*take, "--set", f"labels={wrong}") == 1
        assert words in capsys.readouterr().err


def test_proposed_tags_are_saved_and_follow_the_thresholds(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, saved = tmp_path / "walk.npz", tmp_path / "tags.json"
    assert run("build", clips, "-o", file, "--mirror", "--auto-tags", "--save-tags", saved) == 0
    capsys.readouterr()
    assert run("inspect", file) == 0
    told = capsys.readouterr().out
    for name in ("idle", "walk", "turn_left", "turn_right", "start", "stop"):
        assert f"\n  {name} " in told
    tags = json.loads(saved.read_text())
    assert list(tags) == ["stroll", "walk"]
    assert {"turn_left"} < {tag["name"] for tag in tags["walk"]}
    # as ordinary tags they give the same database
    again = tmp_path / "again.npz"
    assert run("build", clips, "-o", again, "--mirror", "--tags", saved, "--quiet") == 0
    first, second = databases.load(file), databases.load(again)
    assert (first.tags == second.tags).all()

    assert (
        run_line(
            "build {} -o {} --auto-tags --set idle_speed=1 --set turn_rate=3 --quiet", clips, file
        )
        == 0
    )
    changed = databases.load(file)
    assert not {"turn_left", "turn_right"} & set(changed.tag_names)
    assert changed.make_tag_mask({"idle"}).mean() > first.make_tag_mask({"idle"}).mean()
    assert changed.settings["auto_tags"]["turn_rate"] == 3
    capsys.readouterr()
    for wrong in (
        ["--set", "idle_speed=1"],
        ["--auto-tags", "--set", "idle=1"],
        ["--auto-tags", "--set", "idle_speed=1,2"],
    ):
        assert run("build", clips, "-o", file, *wrong) == 1
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"wlak": [{"name": "x"}]}', "clip 'wlak'"),
        ('{"walk": [{"name": "x", "bias": 1}]}', "only 'prefer'"),
        ("[]", "tags.json"),
    ],
)
def test_an_invalid_tags_file_is_reported_in_one_sentence(
    clips: Path, tmp_path: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tags.json").write_text(text)
    assert run("build", clips, "-o", tmp_path / "walk.npz", "--tags", tmp_path / "tags.json") == 1
    told = capsys.readouterr()
    assert words in told.err
    assert told.err.count("\n") == 1
    assert not (tmp_path / "walk.npz").exists()


def test_clips_with_equal_names_cannot_share_a_tags_file(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more").mkdir()
    shutil.copy(clips / "walk.bvh", tmp_path / "more")
    assert (
        run_line(
            "build {} {} -o {} --save-tags {}",
            clips,
            tmp_path / "more",
            tmp_path / "walk.npz",
            tmp_path / "tags.json",
        )
        == 1
    )
    assert "rename one" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [tmp_path / "more"]

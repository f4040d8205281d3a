"""The command `direct`: a scene becomes a take that hits its marks, in files."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import DatabaseError
from tests.command_line import check_refusals, run, run_with_errors

SCENE = {
    "seconds": 7,
    "marks": [
        {"time": 3.0, "position": [0.5, -2.0], "facing": 0.4},
        {"time": 6.0, "frame": "walk_speeds:150"},
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database, `walk.npz`, and a scene."""
    folder = tmp_path_factory.mktemp("direct")
    names = ("idle", "walk_speeds", "walk_starts_and_stops")
    clips = [clip for clip in api.make_demo_clips() if clip.name in names]
    api.save(api.build(clips, api.BuildSettings(mirror=True)), folder / "walk.npz")
    (folder / "scene.json").write_text(json.dumps(SCENE))
    return folder


@pytest.mark.slow
def test_a_scene_becomes_motion_capture_and_a_report(folder, tmp_path, capsys):
    out, report = tmp_path / "take.bvh", tmp_path / "take.json"
    assert not run(
        "direct", folder / "walk.npz", folder / "scene.json", "--bvh", out, "--report", report
    )
    assert "2 of 2 marks and paths are met" in capsys.readouterr().out
    told = json.loads(report.read_text())
    assert [mark["reached"] for mark in told["marks"]] == [True, True]
    assert told["marks"][0]["place_error"] < 0.01
    assert told["marks"][0]["facing_error"] < np.radians(2.0)
    assert told["marks"][1]["shown"] == "walk_speeds:150"
    assert told["take"]["jump_price_mean"] > 0.0
    assert bvh.load(out, scale=0.01).frame_count == (7 * 30) + 1


@pytest.mark.slow
def test_a_build_finds_the_jumps_that_scenes_need(tmp_path):
    for clip in api.make_demo_clips():
        if clip.name in ("idle", "walk_speeds"):
            bvh.save(clip, tmp_path / f"{clip.name}.bvh")
    (tmp_path / "scene.json").write_text(json.dumps({**SCENE, "marks": SCENE["marks"][:1]}))
    database, table = tmp_path / "walk.npz", tmp_path / "walk.jumps.npz"
    (tmp_path / "walk.jumps.npz").write_text("a file of mine")
    code, said = run_with_errors("build", tmp_path, "-o", database, "--jumps", "--quiet")
    assert (code, "is no table of jumps" in said) == (1, True)
    table.unlink()
    assert not run("build", tmp_path, "-o", database, "--jumps", "--quiet")
    made = table.read_bytes()
    words = ("--bvh", tmp_path / "a.bvh", "--preview", "--quiet")
    for _ in range(2):
        assert not run("direct", database, tmp_path / "scene.json", *words)
        assert table.read_bytes() == made
        table.unlink()  # the second time it is made by the command itself


@pytest.mark.slow
def test_the_table_of_jumps_is_kept_and_gives_the_same_take(folder, tmp_path):
    table = folder / "walk.jumps.npz"
    table.unlink(missing_ok=True)
    takes = []
    for name in ("first.bvh", "second.bvh"):
        assert not run(
            "direct",
            folder / "walk.npz",
            folder / "scene.json",
            "--bvh",
            tmp_path / name,
            "--quiet",
        )
        assert table.is_file()
        takes.append((tmp_path / name).read_bytes())
    assert takes[0] == takes[1]


def test_the_api_follows_a_recorded_performance_as_the_command_does(folder, tmp_path):
    recorded = tmp_path / "walk.json"
    run("take", folder / "walk.npz", "--seconds", 3, "--save-performance", recorded, "--quiet")
    by_command, by_api = tmp_path / "a.bvh", tmp_path / "b.bvh"
    run("direct", folder / "walk.npz", recorded, "--preview", "--bvh", by_command, "--quiet")
    director = api.open_director(api.open(folder / "walk.npz"), folder / "walk.jumps.npz")
    api.write_bvh(api.direct(director, recorded, preview=True).take, by_api)
    assert by_command.read_bytes() == by_api.read_bytes()


def test_a_scene_is_directed_on_another_ground(folder):
    director = api.open_director(api.open(folder / "walk.npz"), folder / "walk.jumps.npz")
    wall = ((-3.0, -4.0), (3.0, -4.0))
    shot = api.Shot(3.0, marks=(api.Mark(2.0, position=(0.0, -1.0)),))
    done = api.direct(director, shot, ground=(api.FLAT, [wall]), preview=True)
    assert done.take.performance.walls == (wall,)


@pytest.mark.slow
def test_the_api_directs_the_same_take(folder, tmp_path):
    run(
        "direct", folder / "walk.npz", folder / "scene.json", "--bvh", tmp_path / "a.bvh", "--quiet"
    )
    director = api.open_director(api.open(folder / "walk.npz"), folder / "walk.jumps.npz")
    done = api.direct(director, folder / "scene.json")
    api.write_bvh(done.take, tmp_path / "b.bvh")
    assert (tmp_path / "a.bvh").read_bytes() == (tmp_path / "b.bvh").read_bytes()


@pytest.mark.slow
def test_a_performance_is_followed_with_fewer_jumps(folder, tmp_path, capsys):
    database, saved = folder / "walk.npz", tmp_path / "walk.json"
    words = ("--script", "figure_eight", "--seconds", 12, "--save-performance", saved)
    assert not run("take", database, *words, "--report", tmp_path / "live.json", "--quiet")
    assert not run("direct", database, saved, "--report", tmp_path / "told.json", "--quiet")
    told, live = (json.loads((tmp_path / name).read_text()) for name in ("told.json", "live.json"))
    assert told["paths"][0]["place_error"] < 0.02
    assert told["take"]["jumps_per_second"] < 0.7 * live["take"]["jumps_per_second"]


@pytest.mark.slow
def test_variations_are_written_with_numbers(folder, tmp_path, capsys):
    out, report = tmp_path / "take.bvh", tmp_path / "take.json"
    words = ("--variations", 2, "--bvh", out, "--report", report, "--preview")
    assert not run("direct", folder / "walk.npz", folder / "scene.json", *words)
    said = capsys.readouterr().out
    assert "take_1.bvh" in said
    assert "from the most alike of those before" in said
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["take_1.bvh", "take_1.json", "take_2.bvh", "take_2.json"]
    told = json.loads((tmp_path / "take_2.json").read_text())["variation"]
    assert told["frames"] >= 0.5 or told["apart"] >= 0.25
    again = "--seed", told["seed"], "--bvh", tmp_path / "again.bvh", "--preview", "--quiet"
    assert not run("direct", folder / "walk.npz", folder / "scene.json", *again)
    assert (tmp_path / "again.bvh").read_bytes() == (tmp_path / "take_2.bvh").read_bytes()
    report.write_bytes(b"before")
    wrong = ("direct", folder / "walk.npz", folder / "scene.json", "--bvh", out, "--variations", 30)
    check_refusals(run_with_errors, [(wrong, "--variations is 30")], report)


def test_variations_replace_no_file_that_has_their_number(folder, tmp_path):
    (tmp_path / "walk_2.bvh").write_bytes(b"motion capture")
    words = ("--variations", 2, "--bvh", tmp_path / "walk.bvh")
    wrong = ("direct", folder / "walk.npz", folder / "scene.json", *words)
    check_refusals(run_with_errors, [(wrong, "is there already")], tmp_path / "walk_2.bvh")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["database", "archive", "text"])
def test_a_file_of_the_name_of_the_table_is_not_written_over(kind, folder, tmp_path, capsys):
    database, there = tmp_path / "walk.npz", tmp_path / "walk.jumps.npz"
    shutil.copy(folder / "walk.npz", database)
    if kind == "database":
        shutil.copy(folder / "walk.npz", there)
    elif kind == "archive":
        np.savez(there, key=np.zeros(64, np.uint8), poses=np.zeros((30, 156)))
    else:
        there.write_text("jumps that I saw")
    before = there.read_bytes()
    assert not run("direct", database, folder / "scene.json", "--bvh", tmp_path / "a.bvh")
    assert f"not kept, as {there} is another file" in capsys.readouterr().out
    assert there.read_bytes() == before
    with pytest.raises(DatabaseError, match="no table of jumps"):
        api.open_director(api.open(database), there)
    assert there.read_bytes() == before


@pytest.mark.slow
def test_ctrl_c_on_a_terminal_writes_the_best_so_far(folder, tmp_path, monkeypatch, capsys):
    """Before there is a take, nothing is written."""
    words = "direct", folder / "walk.npz", folder / "scene.json", "--bvh", tmp_path / "take.bvh"
    for found, files in (("", []), ("met so far", ["take.bvh"])):
        terminal = _PressesCtrlC(f"Directing{' (2 of 2 ' * bool(found)}{found}")
        monkeypatch.setattr(sys, "stderr", terminal)
        assert run(*words) == 130
        assert [path.name for path in tmp_path.iterdir()] == files
        assert ("Ended early, with the best result so far" in capsys.readouterr().out) == bool(
            files
        )
        assert "cancelled" in terminal.getvalue()
    monkeypatch.undo()
    assert not run(*words[:-1], tmp_path / "preview.bvh", "--preview", "--quiet")
    assert (tmp_path / "take.bvh").read_bytes() == (tmp_path / "preview.bvh").read_bytes()


class _PressesCtrlC(io.StringIO):
    """A terminal at which Ctrl-C is pressed once as soon as a text is shown."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._text and self._text in text:
            self._text = ""
            raise KeyboardInterrupt
        return super().write(text)


def test_a_mark_that_cannot_be_reached_is_told(folder, tmp_path, capsys):
    scene = tmp_path / "far.json"
    scene.write_text(json.dumps({"seconds": 5, "marks": [{"time": 2, "position": [30, 0]}]}))
    assert not run("direct", folder / "walk.npz", scene)
    said = capsys.readouterr().out
    assert "0 of 1 marks" in said
    assert "no motion goes 30.0 m in 2.0 s" in said


def test_wrong_scenes_are_refused_and_nothing_is_written(folder, tmp_path):
    out = tmp_path / "take.bvh"
    out.write_bytes(b"before")
    database = folder / "walk.npz"
    scenes = {
        "none": (None, "does not exist"),
        "list": ("[]", "the file is []"),
        "twice": (
            json.dumps(SCENE | {"marks": [{"time": 1, "facing": 0}, {"time": 1, "facing": 1}]}),
            "contradict",
        ),
        "clip": (json.dumps(SCENE | {"marks": [{"time": 1, "frame": "dance:1"}]}), "dance"),
        "limb": (
            json.dumps(
                SCENE | {"pins": [{"limb": "tail", "start": 1, "stop": 2, "position": [0, 0, 0]}]}
            ),
            "tail",
        ),
    }
    scenes_folder = folder / "wrong"
    scenes_folder.mkdir(exist_ok=True)
    cases = []
    for name, (text, words) in scenes.items():
        path = scenes_folder / f"{name}.json"
        if text is not None:
            path.write_text(text)
        cases.append((("direct", database, path, "--bvh", out), words))
    check_refusals(run_with_errors, cases, out)

"""Batches from end to end: what is done, skipped, stale and failed."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from motion_matching.batch import run as running
from tests.batch.batches import (
    DATABASE,
    Write,
    list_others,
    list_states,
    make_takes,
    read_outputs,
)
from tests.command_line import run, run_with_errors


def test_a_row_alone_equals_one_of_many_and_the_command(write: Write) -> None:
    whole, alone = write(*make_takes(3)), write(*make_takes(3), folder="alone")
    assert run("batch", whole, "--quiet") == 0
    assert run("batch", alone, "--quiet", "--only", "2") == 0
    made = read_outputs(whole)
    assert list(made) == ["0.bvh", "1.bvh", "2.bvh"]
    assert len(set(made.values())) == 3
    assert read_outputs(alone) == {"1.bvh": made["1.bvh"]}
    take = whole.parent / "take.bvh"
    assert run("take", DATABASE, "--script", "turns", "--seconds", 1, "--seed", 2, "--bvh", take, "--quiet") == 0  # fmt: skip
    assert take.read_bytes() == made["2.bvh"]
    assert list_others(whole.parent / "out") == set()


def test_what_is_done_is_skipped_until_it_changes(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "boxes.json").write_text('[{"center": [9, 9], "size": [1, 1]}]')
    rows = make_takes(3)
    rows[1]["obstacles"] = "boxes.json"
    path = write(*rows)
    assert run("batch", path, "--check") == 0
    assert not (tmp_path / "out").exists()
    assert list_states(path, capsys) == ["new", "new", "new"]
    assert run("batch", path) == 0
    assert "3 of 3 rows are done." in capsys.readouterr().out
    times = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()}
    assert run("batch", path) == 0
    assert "3 of 3 rows are done, 3 of them before." in capsys.readouterr().out
    assert times == {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()}

    path = write({**rows[0], "gait": "run"}, *rows[1:])
    (tmp_path / "boxes.json").write_text('[{"center": [8, 8], "size": [1, 1]}]')
    (tmp_path / "out" / "2.bvh").write_text("mine")
    assert run("batch", path, "--list") == 0
    said = capsys.readouterr().out
    assert "Row 1 (0): stale: what it asks for has changed" in said
    assert "Row 2 (1): stale: ../boxes.json has changed" in said
    assert "Row 3 (2): stale: 2.bvh is another file than was written" in said
    assert run("batch", path, "--only", "2-3", "--quiet") == 0
    assert list_states(path, capsys) == ["stale", "done", "done"]
    assert run("batch", path, "--only", "3", "--force", "--json") == 0
    assert json.loads(capsys.readouterr().out)["state"] == "done"


def test_a_batch_that_moves_stays_done(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "boxes.json").write_text("[]")
    path = write({"bvh": "0.bvh", "obstacles": "../boxes.json"}, folder="here")
    assert run("batch", path, "--quiet") == 0
    path = path.parent.rename(tmp_path / "there") / path.name
    monkeypatch.chdir(path.parent)
    assert list_states(Path(path.name), capsys) in (["done"], ["stale"])  # by the database alone
    assert run("batch", path.name, "--list") == 0
    assert "boxes" not in capsys.readouterr().out


def test_a_failed_row_stops_no_other_and_sets_the_exit_code(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.npz").write_text("no database")
    rows = make_takes(3)
    rows[1] |= {"database": "bad.npz", "name": "bad"}
    path = write(*rows)
    code, said = run_with_errors("batch", path)
    assert code == 1
    assert f"row 2 (bad) failed; 'batch {path} --list' says why." in said
    assert list_states(path, capsys) == ["done", "failed", "done"]
    assert run("batch", path, "--list") == 0
    assert "Row 2 (bad): failed: " in (listed := capsys.readouterr().out)
    assert "bad.npz" in listed
    assert "Failed: " in (tmp_path / "out" / "1.bvh.row.log").read_text()

    rows[0]["seconds"] = 1.5
    rows[0]["database"] = "bad.npz"
    rows[2]["seconds"] = 1.5
    path = write(*rows)
    assert run("batch", path, "--stop-at-failure", "--quiet") == 1
    assert list_states(path, capsys) == ["failed", "failed", "stale"]


def test_rows_wait_for_those_they_need(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = {"command": "demo-clips", "folder": "clips"}
    build = {"command": "build", "sources": ["clips/walk_curves.bvh"], "output": "walk.npz"}
    take = {"command": "take", "database": "walk.npz", "bvh": "out/0.bvh"}
    path = write(take, build, shipped)
    code, said = run_with_errors("batch", path, "--only", "1")
    assert code == 1
    assert "walk.npz does not exist; row 2 (walk) makes it, so do that first." in said
    assert run("batch", path, "--check", "--quiet") == 0
    assert run("batch", path, "--quiet") == 0
    assert list_states(path, capsys) == ["done", "done", "done"]
    # another seed: all that follows is done again, or not at all if it fails
    path = write(take, build, {**shipped, "seed": 0, "climbs": False})
    assert list_states(path, capsys) == ["done", "done", "stale"]
    (tmp_path / "clips" / "walk_curves.bvh").write_text("mine")
    code, said = run_with_errors("batch", path)
    assert code == 1
    assert "row 3 (clips), row 2 (walk), row 1 (0) failed" in said
    assert "it needs row 2, which failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"bvh": "a.bvh", "database": "gone.npz"}, "gone.npz does not exist; check its name."),
        ({"bvh": "a.bvh", "seconds": -3}, "--seconds is -3; give a number from"),
        ({"bvh": "a.bvh", "set": {"grace": 1}}, "'grace'; known ones are"),
        ({"bvh": "a.bvh", "set": {"stop_factor": -1}}, "give a number from 0"),
        ({"bvh": "a.txt"}, "a.txt does not end in .bvh"),
        ({"bvh": "a.bvh", "onto": "rig.blend"}, "rig.blend does not exist"),
    ],
)
def test_all_rows_are_checked_before_the_first_runs(
    row: dict[str, Any], words: str, write: Write, tmp_path: Path
) -> None:
    path = write(*make_takes(1), {"name": "wrong", **row})
    for option in ("--check", "--quiet"):
        code, said = run_with_errors("batch", path, option)
        assert code == 1
        assert "row 2 (wrong): " in said
        assert words in said
        assert said.count("\n") == 1
        assert list(tmp_path.iterdir()) == [path] or not read_outputs(path)
    assert not list(tmp_path.rglob("*.row.*"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--only", "6-10"], "asks for row 10"),
        (["--only", "x"], "write it as in 1-5,9"),
        (["--check", "--list"], "two things to do"),
        (["--workers", "0"], "--workers is 0"),
        (["--retries", "-1"], "--retries is -1"),
        (["--time-limit", "0"], "--time-limit is 0"),
        (["--collect", "all.txt"], "does not end in .json"),
    ],
)
def test_wrong_options_of_a_batch_are_one_sentence(
    options: list[str], words: str, write: Write
) -> None:
    code, said = run_with_errors("batch", write(*make_takes(1)), *options)
    assert code == 1
    assert words in said
    assert said.count("\n") == 1


def test_a_surprise_is_tried_again_and_a_sentence_is_not(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = []

    def fail(arguments: Any, out: Any) -> None:
        calls.append(arguments.seed)
        raise ZeroDivisionError("halves of nothing")

    monkeypatch.setattr(running, "run_command", fail)
    path = write(*make_takes(2))
    assert run("batch", path, "--retries", "2", "--quiet") == 1
    assert calls == [0, 0, 0, 1, 1, 1]
    log = (tmp_path / "out" / "0.bvh.row.log").read_text()
    assert log.count("Traceback") == 3
    assert log.count("Failed: ZeroDivisionError: halves of nothing") == 3
    stored = json.loads((tmp_path / "out" / "0.bvh.row.json").read_text())
    assert (stored["state"], stored["attempts"]) == ("failed", 3)


def test_ctrl_c_keeps_what_is_done_and_nothing_half_written(
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def press(self: object, stage: str, part: float | None = None) -> None:
        if stage == "Measuring" and (tmp_path / "out" / "0.bvh").exists():
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(running.RowOutput, "show_progress", press)
    path = write(*make_takes(3))
    code, said = run_with_errors("batch", path)
    assert (code, "cancelled" in said) == (130, True)
    assert list_states(path, capsys) == ["done", "new", "new"]
    assert list(read_outputs(path)) == ["0.bvh"]
    assert list_others(tmp_path / "out") == set()


def test_leftovers_in_a_folder_that_a_row_writes_go(write: Write, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / ".walk.unfinished-01234567.bvh").write_text("half")
    (tmp_path / "clips" / ".hidden").write_text("mine")
    path = write({"command": "demo-clips", "folder": "clips"})
    assert run("batch", path, "--quiet") == 0
    hidden = [file.name for file in (tmp_path / "clips").glob(".*")]
    assert hidden == [".hidden"]


def test_programs_and_farms_can_read_what_happens(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**row, "report": f"out/{row['seed']}.json"} for row in make_takes(2)]
    path = write(*rows)
    assert run("batch", path, "--only", "1", "--progress", "openjd", "--json") == 0
    first, *told = capsys.readouterr().out.splitlines()
    found = json.loads(first)
    assert (found["row"], found["name"], found["state"]) == (1, "0", "done")
    assert told == ["openjd_progress: 100.0", "openjd_status: 1 of 1"]

    joined = tmp_path / "all.json"
    code, said = run_with_errors("batch", path, "--collect", joined)
    assert code == 1
    assert "Not all is done" in said
    assert "row 2 (1)." in said
    first, second = json.loads(joined.read_text())["rows"]
    assert first["reports"]["0.json"]["take"]["seconds"] == pytest.approx(1.0, abs=0.05)
    assert (second["state"], second["reports"]) == ("new", {})
    assert run("batch", path, "--quiet") == 0
    assert run("batch", path, "--collect", joined, "--quiet") == 0
    assert {row["state"] for row in json.loads(joined.read_text())["rows"]} == {"done"}


def test_joined_reports_replace_no_file_of_a_row(write: Write, tmp_path: Path) -> None:
    script = tmp_path / "way.json"
    script.write_text("{}")
    [row] = make_takes(1)
    path = write({**row, "script": "way.json", "report": "out/0.json"})
    (tmp_path / "out").mkdir()
    report, kept = (tmp_path / "out" / name for name in ("0.json", "0.bvh.row.json"))
    for file, does in ((script, "reads"), (report, "writes"), (kept, "writes")):
        before = file.read_bytes() if file.exists() else b""
        code, said = run_with_errors("batch", path, "--collect", file)
        assert code == 1
        assert f"--collect would replace {file}, which row 1 (0) {does}" in said
        assert (file.read_bytes() if file.exists() else b"") == before


@pytest.mark.slow
def test_variations_of_the_last_time_are_replaced_and_others_are_not(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(DATABASE, tmp_path / "walk.npz")  # a table of its jumps comes to lie beside it
    scene = tmp_path / "scene.json"
    scene.write_text('{"seconds": 2}')
    row = {"command": "direct", "database": "walk.npz", "scene": "scene.json", "preview": True}
    path = write({**row, "variations": 1, "bvh": "out/d.bvh"})
    assert run("batch", path, "--quiet") == 0
    before = read_outputs(path)
    assert list(before) == ["d_1.bvh"]
    assert run("batch", path) == 0
    assert "1 of them before" in capsys.readouterr().out
    scene.write_text('{"seconds": 2.5}')
    assert run("batch", path, "--quiet") == 0
    assert len(read_outputs(path)["d_1.bvh"]) > len(before["d_1.bvh"])
    scene.write_text('{"seconds": 3}')
    (tmp_path / "out" / "d_1.bvh").write_text("mine")
    code, said = run_with_errors("batch", path)
    assert code == 1
    assert "d_1.bvh is there already" in said
    assert read_outputs(path) == {"d_1.bvh": b"mine"}

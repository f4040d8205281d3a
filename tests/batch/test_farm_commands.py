"""The command `batch` writes a batch for farms, in a folder of its own."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.batch.farm_jobs import write_batch
from tests.command_line import run, run_with_errors


@pytest.mark.parametrize(
    ("option", "file"),
    [("template", "template.json"), ("slurm", "take.sh"), ("flamenco", "job.json")],
)
def test_a_batch_is_written_for_each_farm(tmp_path: Path, option: str, file: str) -> None:
    batch, folder = write_batch(tmp_path / "batch"), tmp_path / "farm"
    words = ("--chunk", 3, "--retries", 2, "--allow-scripts", "--workers", 2, "--quiet")
    for _ in range(2):  # the second time over what is there
        assert run("batch", batch, f"--{option}", folder, *words) == 0
    text = (folder / file).read_text()
    for part in ("--retries=2", "--allow-scripts", "--workers=2", sys.executable):
        assert part in text
    assert {path.name for path in batch.parent.iterdir()} == {"clips", "jobs.json", "out"}


def test_a_blender_runs_its_command(tmp_path: Path) -> None:
    batch = write_batch(tmp_path / "a batch")
    words = ("--slurm", tmp_path / "farm", "--program", "/opt/blender 5/blender", "--quiet")
    assert run("batch", batch, *words) == 0
    command = (tmp_path / "farm" / "take.sh").read_text().splitlines()[-1]
    start = ["exec", "/opt/blender 5/blender", "--command", "motion_matching", "batch", str(batch)]
    assert shlex.split(command)[:6] == start


def test_other_files_stay_and_wrong_numbers_are_refused(tmp_path: Path) -> None:
    batch, folder = write_batch(tmp_path / "batch"), tmp_path / "farm"
    folder.mkdir()
    (folder / "take.sh").write_text("a script of mine")
    for words, said in (
        ((), "has a file take.sh that is no batch for a farm; choose another folder."),
        (("--chunk", 0), "--chunk is 0; give a number of one or more."),
        (("--minutes", -1), "--minutes is -1; give a number above zero."),
        (("--only", "2-3"), "--slurm writes all rows; leave --only out."),
        (("--list",), "--list and --slurm are two things to do; leave one out."),
    ):
        code, errors = run_with_errors("batch", batch, "--slurm", folder, "--quiet", *words)
        assert (code, said in errors) == (1, True), errors
    assert [path.name for path in folder.iterdir()] == ["take.sh"]
    assert (folder / "take.sh").read_text() == "a script of mine"


def test_wrong_rows_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    batch = write_batch(tmp_path / "batch")
    written = json.loads(batch.read_text())
    written["rows"].append({"command": "take", "database": "missing.npz", "bvh": "a.bvh"})
    batch.write_text(json.dumps(written))
    code, errors = run_with_errors("batch", batch, "--template", tmp_path / "farm", "--quiet")
    assert code == 1
    assert "missing.npz does not exist" in errors
    assert not (tmp_path / "farm").exists()

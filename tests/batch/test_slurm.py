"""A batch as jobs of Slurm: the scripts, and a cluster of one node that runs them."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from building.slurm_here import find_missing, requeue, run_slurm, wait_for_jobs
from motion_matching.batch.farms import FarmTask, slurm
from motion_matching.batch.job import load_job
from motion_matching.engine.errors import SettingsError
from tests.batch.farm_jobs import TAKES, make_environment, read_takes, run_batch, write_batch
from tests.processes import run_process


def write_scripts(batch: Path, folder: Path, **task: Any) -> Path:
    """Write the scripts of a batch into a folder, and return it."""
    folder.mkdir()
    chosen = FarmTask(**{"program": sys.executable, "chunk": 4, **task})
    for name, text in slurm.make_files(load_job(batch), chosen, folder).items():
        (folder / name).write_text(text)
    return folder


def list_options(script: Path) -> list[str]:
    """Return what a script tells Slurm."""
    lines = script.read_text().splitlines()
    return [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")]


def test_a_stage_is_an_array_with_its_resources(tmp_path: Path) -> None:
    batch = write_batch(tmp_path / "batch")
    folder = write_scripts(
        batch, tmp_path / "scripts", minutes=1.5, gigabytes=4, workers=2, partition="long"
    )
    options = list_options(folder / "take.sh")
    asked = ("--array=1-2", "--time=2", "--mem=4096M", "--cpus-per-task=2", "--partition=long")
    assert {*asked, "--requeue", "--job-name=jobs-take"} <= {*options}
    assert "2-5\n6-7\n" in (folder / "take.sh").read_text()
    assert "--workers=2" in (folder / "take.sh").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="writes a shell script")
def test_stages_wait_for_those_they_need(tmp_path: Path) -> None:
    folder = write_scripts(write_batch(tmp_path / "batch"), tmp_path / "scripts")
    sbatch = tmp_path / "sbatch"
    sbatch.write_text(
        f'#!/bin/sh\necho "$@" >>{tmp_path}/submitted\ngrep -c . {tmp_path}/submitted\n'
    )
    sbatch.chmod(0o755)
    submit(folder, {**make_environment(), "PATH": f"{tmp_path}:/usr/bin:/bin"}, "--account=film")
    always = "--parsable --kill-on-invalid-dep=yes"
    assert (tmp_path / "submitted").read_text().splitlines() == [
        f"{always} --account=film build.sh",
        f"{always} --dependency=afterok:1 --account=film take.sh",
        f"{always} --dependency=afterany:1:2 --account=film collect.sh",
    ]


def test_more_tasks_than_slurm_takes_are_refused(tmp_path: Path) -> None:
    batch = write_batch(tmp_path / "batch")
    written = json.loads(batch.read_text())
    written["products"][0]["seed"]["count"] = 501
    batch.write_text(json.dumps(written))
    with pytest.raises(SettingsError, match="give --chunk 2 or more"):
        write_scripts(batch, tmp_path / "scripts", chunk=1)


def submit(folder: Path, environment: dict[str, str], *words: str) -> list[str]:
    """Submit all stages, and return the numbers of their jobs."""
    return run_process(
        ["sh", folder / "submit.sh", *words], folder.parent, environment, 30, "submit.sh"
    ).split()


@pytest.fixture(scope="module")
def cluster() -> Iterator[dict[str, str]]:
    """The environment of a cluster that runs meanwhile."""
    if reason := find_missing():
        pytest.skip(reason)
    with run_slurm() as environment:
        yield environment


@pytest.mark.slow
def test_slurm_runs_what_the_whole_batch_does_though_requeued(
    tmp_path: Path, cluster: dict[str, str]
) -> None:
    batch = write_batch(tmp_path / "farm", seconds=3.0)
    shutil.copytree(batch.parent, tmp_path / "whole")
    run_process(run_batch("jobs.json"), tmp_path / "whole", make_environment(), 120, "batch")
    folder = write_scripts(batch, tmp_path / "scripts", chunk=6)
    _, take, _ = submit(folder, cluster)
    wait_until(lambda: read_takes(batch.parent), 60)
    requeue(take, cluster)
    done = read_takes(batch.parent)
    wait_for_jobs(cluster, 90)
    logs = {path.name: path.read_text() for path in folder.glob("*.log")}
    assert 0 < len(done) < TAKES, logs
    assert read_takes(batch.parent) == read_takes(tmp_path / "whole"), logs
    collected = json.loads((folder / "report.json").read_text())
    assert len(collected["rows"]) == TAKES + 1
    assert find_leftovers(batch.parent) == find_leftovers(tmp_path / "whole")


def wait_until(happened: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def find_leftovers(folder: Path) -> set[str]:
    """Return the names of all files of a batch, to compare with those of another run of it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}

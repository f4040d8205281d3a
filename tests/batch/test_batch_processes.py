"""Batches whose processes are killed or cancelled, or that run out of time or space."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from motion_matching.batch.workers import limit_threads
from tests.batch.batches import Write, list_others, list_states, make_takes, read_outputs
from tests.command_line import run, run_with_errors
from tests.conftest import CHECKOUT


def start(path: Path, *options: object) -> subprocess.Popen[str]:
    """Start a batch in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "motion_matching", "batch", str(path), *map(str, options)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "TMPDIR": str(path.parent)},
    )


def find_workers(parent: int) -> list[int]:
    """Return the processes that another has started."""
    found = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(word) for word in found.read_text().split()] if found.exists() else []


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are found as Linux lists them"
)


def test_workers_compute_with_one_thread_unless_told_otherwise() -> None:
    limited = limit_threads({"OMP_NUM_THREADS": "3", "PATH": "/bin"})
    assert (limited["OPENBLAS_NUM_THREADS"], limited["OMP_NUM_THREADS"]) == ("1", "3")
    assert limited["VECLIB_MAXIMUM_THREADS"] == "1"
    assert limited["PATH"] == "/bin"
    # in this process too: nothing that a batch needs before its rows may load numpy
    code = "import sys, motion_matching.commands.batch; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, check=False).returncode == 0


@on_linux
@pytest.mark.slow
def test_a_killed_worker_loses_one_row_and_leaves_nothing(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, path = write(*make_takes(4), folder="whole"), write(*make_takes(4))
    assert run("batch", whole, "--quiet") == 0
    batch = start(path, "--workers", 2)
    wait_for(lambda: (tmp_path / "out" / "2.bvh.row.log").exists())
    os.kill(find_workers(batch.pid)[0], signal.SIGKILL)
    said, _ = batch.communicate(timeout=100)
    assert batch.returncode == 0, said
    assert read_outputs(path) == read_outputs(whole)
    assert list_states(path, capsys) == ["done"] * 4
    assert list_others(tmp_path / "out") == set()
    assert not list(tmp_path.glob("motion-matching-temporary-*"))
    attempts = [
        json.loads(file.read_text())["attempts"] for file in (tmp_path / "out").glob("*.row.json")
    ]
    assert sorted(attempts) == [1, 1, 1, 2]


@on_linux
@pytest.mark.slow
def test_a_killed_batch_goes_on_where_it_was(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(*make_takes(3))
    batch = start(path, "--workers", 1)
    wait_for(lambda: (tmp_path / "out" / "1.bvh.row.log").exists())
    workers = find_workers(batch.pid)
    batch.kill()
    batch.communicate()
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    (tmp_path / "out" / ".2.unfinished-01234567.bvh").write_text("half")
    before = list_states(path, capsys)
    assert before[0] == "done"
    assert before[2] == "new"
    assert run("batch", path, "--quiet") == 0
    assert list_states(path, capsys) == ["done"] * 3
    assert list_others(tmp_path / "out") == set()
    assert len(read_outputs(path)) == 3


@pytest.mark.slow
def test_ctrl_c_ends_workers_too(write: Write, tmp_path: Path) -> None:
    path = write({"bvh": "out/long.bvh", "seconds": 3600})
    batch = start(path, "--workers", 1)
    wait_for(lambda: (tmp_path / "out" / "long.bvh.row.log").exists())
    workers = find_workers(batch.pid)
    batch.send_signal(signal.SIGINT)
    said, _ = batch.communicate(timeout=60)
    assert (batch.returncode, "cancelled" in said) == (130, True)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"long.bvh.row.log"}


@pytest.mark.slow
def test_a_row_over_its_time_is_stopped_and_failed(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write({"bvh": "out/long.bvh", "seconds": 3600}, *make_takes(1))
    code, said = run_with_errors("batch", path, "--time-limit", 4)
    assert code == 1
    assert "row 1 (long) failed" in said
    assert "it took over 4 s, and was stopped" in capsys.readouterr().out
    assert list_states(path, capsys) == ["failed", "done"]
    assert list_others(tmp_path / "out") == set()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    try:
        made = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        made = False
    if not made:
        pytest.skip("mounting a small disk is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
def test_a_disk_that_fills_fails_rows_and_keeps_those_that_are_done(
    small_disk: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(*make_takes(4), folder="small")
    (small_disk / "filler").write_bytes(bytes(4_194_304 - 100_000))
    code, _ = run_with_errors("batch", path)
    assert code == 1
    assert "cannot be written (No space left on device)" in capsys.readouterr().out
    made = read_outputs(path)
    first, *_, last = list_states(path, capsys)
    assert first == "done"
    assert last != "done"
    assert list_others(small_disk / "out") == set()
    (small_disk / "filler").unlink()
    assert run("batch", path, "--quiet") == 0
    assert list_states(path, capsys) == ["done"] * 4
    assert made.items() <= read_outputs(path).items()

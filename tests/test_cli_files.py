"""The command line with files that clash, are damaged or cannot be written: nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.tags.tags import save_tags
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.files import array_files
from motion_matching.engine.takes import takes
from tests.command_line import run, run_with_errors
from tests.conftest import CHECKOUT
from tests.demo import load_few

TAKE = ("take", "demo.npz", "--seconds", "1", "--quiet")
BUILD = ("build", "list.json", "-o", "new.npz")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with each kind of file that commands read."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "sub").mkdir()
    databases.save(load_few(), folder / "demo.npz")
    shutil.copy(CHECKOUT / "tests" / "data" / "before" / "curves.bvh", folder / "a.bvh")
    (folder / "list.json").write_text('[{"file": "a.bvh"}]')
    save_tags({"a": ()}, folder / "tags.json")
    (folder / "rig.json").write_text("{}")
    preset = CHECKOUT / "presets" / "motion_matching" / "features" / "default.json"
    shutil.copy(preset, folder / "features.json")
    (folder / "obstacles.json").write_text("[]")
    saved = "--save-performance", folder / "p.json", "--save-contacts", folder / "c.json"
    assert run("take", folder / "demo.npz", "--seconds", 1, "--quiet", *saved) == 0
    return folder


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with each kind of file that commands read."""
    folder = tmp_path / "work"
    shutil.copytree(files, folder, copy_function=shutil.copy)
    monkeypatch.chdir(folder)
    Path("link.json").symlink_to("p.json")
    Path("hard.json").hardlink_to("c.json")
    return folder


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ((*BUILD, "--save-tags", "list.json"), "the build reads"),
        ((*BUILD, "--save-tags", "sub/../list.json"), "the build reads"),
        ((*BUILD, "--rig", "rig.json", "--save-tags", "rig.json"), "--rig reads"),
        ((*BUILD, "--tags", "tags.json", "--save-tags", "tags.json"), "--tags reads"),
        ((*BUILD, "--features", "features.json", "--save-tags", "features.json"), "--features"),
        ((*TAKE, "--obstacles", "obstacles.json", "--report", "obstacles.json"), "--obstacles"),
        (
            (*TAKE, "--obstacles", "obstacles.json", "--save-contacts", "obstacles.json"),
            "--obstacles reads",
        ),
        ((*TAKE, "--contacts", "c.json", "--report", "c.json"), "--contacts reads"),
        ((*TAKE, "--contacts", "c.json", "--report", "hard.json"), "--contacts reads"),
        ((*TAKE, "--contacts", "c.json", "--save-contacts", "sub/../c.json"), "--contacts reads"),
        (("take", "demo.npz", "--script", "p.json", "--report", "sub/../p.json"), "--script reads"),
        (
            ("take", "demo.npz", "--script", "p.json", "--save-contacts", "link.json"),
            "--script reads",
        ),
        (
            ("take", "demo.npz", "--script", "p.json", "--save-performance", "p.json"),
            "--script reads",
        ),
        ((*TAKE, "--report", "n.json", "--save-contacts", "sub/../n.json"), "names too"),
        (("inspect", "demo.npz", "--performance", "p.json", "--report", "link.json"), "reads"),
        (("train", "demo.npz", "-o", "sub/../demo.npz"), "the training reads"),
        (("train", "demo.unfinished.npz", "-o", "demo.npz"), "the training reads"),
    ],
)
def test_no_command_writes_over_a_file_that_it_reads(folder: Path, command, said):
    if "demo.unfinished.npz" in command:
        Path("demo.npz").rename("demo.unfinished.npz")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    code, text = run_with_errors(*command)
    assert (code, text.count("\n")) == (1, 1), text
    assert said in text
    assert "choose another name" in text
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_contacts_of_a_blender_file_are_not_lost_to_the_take(folder: Path):
    Path("take.blend").write_bytes(b"the user's")
    code, text = run_with_errors(*TAKE, "--contacts", "take.blend", "-o", "take.blend")
    assert code == 1
    assert "--contacts reads" in text
    assert Path("take.blend").read_bytes() == b"the user's"


def test_a_take_writes_all_its_files_or_none(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The disk becomes full while the last file is written."""

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("p.json", "take.bvh", "report.json"):
        Path(name).write_text("old")
    before = sorted(os.listdir("."))
    monkeypatch.setattr(takes, "write_report", fail)
    outputs = ("--save-performance", "p.json", "--bvh", "take.bvh", "--report", "report.json")
    code, text = run_with_errors(*TAKE, *outputs)
    assert (code, text.count("\n")) == (1, 1), text
    assert [Path(name).read_text() for name in ("p.json", "take.bvh", "report.json")] == ["old"] * 3
    assert sorted(os.listdir(".")) == before
    monkeypatch.undo()
    os.chdir(folder)
    assert run(*TAKE, *outputs) == 0
    assert json.loads(Path("report.json").read_text())["name"] == "figure_eight walk"
    assert bvh.load("take.bvh").frame_count > 1


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, "\x00", "[NaN", ""])
@pytest.mark.parametrize(
    "command",
    [
        ("build", "bad.json", "-o", "new.npz"),
        ("build", "a.bvh", "-o", "new.npz", "--tags", "bad.json"),
        ("build", "a.bvh", "-o", "new.npz", "--rig", "bad.json"),
        ("build", "a.bvh", "-o", "new.npz", "--features", "bad.json"),
        (*TAKE, "--contacts", "bad.json"),
        (*TAKE, "--obstacles", "bad.json"),
        ("take", "demo.npz", "--script", "bad.json"),
        ("inspect", "demo.npz", "--performance", "bad.json"),
    ],
    ids=["sources", "tags", "rig", "features", "contacts", "obstacles", "script", "performance"],
)
def test_json_that_cannot_be_read_is_named_in_one_sentence(folder: Path, command, text):
    Path("bad.json").write_text(text)
    code, said = run_with_errors(*command)
    assert (code, said.count("\n")) == (1, 1), said
    assert "bad.json" in said
    assert len(said) < 1500


@pytest.mark.parametrize("kind", ["database", "field"])
def test_a_header_that_is_nested_too_deeply_is_refused(folder: Path, kind: str):
    header = np.frombuffer(b"[" * 100_000, np.uint8)
    array_files.save_arrays("bad.npz", {"header": header}, DatabaseError)
    command = ("inspect", "bad.npz") if kind == "database" else ()
    command = command or (*TAKE, "--controller", "field", "--field", "bad.npz")
    code, said = run_with_errors(*command)
    assert (code, said.count("\n")) == (1, 1), said
    assert "bad.npz" in said


def test_milliseconds_for_seconds_are_found_before_they_take_memory(folder: Path):
    text = Path("a.bvh").read_text()
    line = next(line for line in text.splitlines() if line.startswith("Frame Time"))
    Path("b.bvh").write_text(text.replace(line, "Frame Time: 33.3333"))
    start = time.perf_counter()
    code, said = run_with_errors("build", "a.bvh", "b.bvh", "-o", "new.npz")
    assert code == 1
    assert "b.bvh" in said
    assert "frame time is 33.3333 s; if milliseconds are written for seconds, change it" in said
    assert time.perf_counter() - start < 5


def test_a_pipe_as_a_source_list_is_not_waited_for(folder: Path):
    os.mkfifo("pipe.json")
    code, said = run_with_errors("build", "pipe.json", "-o", "new.npz")
    assert (code, said.count("\n")) == (1, 1), said
    assert "pipe.json" in said


def test_names_that_are_no_text_can_be_drawn(folder: Path):
    name = os.fsdecode(b"w\xfe.bvh")
    Path("a.bvh").rename(name)
    assert run("build", name, "-o", "new.npz") == 0
    assert run("inspect", "new.npz", "--plot", "new.svg") == 0
    assert "w?" in Path("new.svg").read_text(encoding="utf-8")


def test_the_name_of_a_performance_must_be_text(folder: Path):
    data = json.loads(Path("p.json").read_text()) | {"name": "\ud800"}
    Path("bad.json").write_text(json.dumps(data))
    code, said = run_with_errors("take", "demo.npz", "--script", "bad.json")
    assert (code, said.count("\n")) == (1, 1), said
    assert "'name'" in said


def start(*command: str, **options: object) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    words = [sys.executable, "-m", "motion_matching", *command]
    return subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.slow
def test_a_command_without_an_output_succeeds(folder: Path):
    words = " ".join([sys.executable, "-m", "motion_matching", "inspect", "demo.npz"])
    for closed in (">&-", ">&- 2>&-"):
        shell = ["sh", "-c", f"exec {words} --report report.json {closed}"]
        environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
        ended = subprocess.run(shell, env=environment, check=False, capture_output=True)
        assert (ended.returncode, ended.stderr) == (0, b"")
        Path("report.json").unlink()


@pytest.mark.parametrize("delay", [0.1, 0.3])
def test_ctrl_c_while_modules_are_loaded_is_one_sentence(folder: Path, delay: float):
    with start(*BUILD) as command:
        time.sleep(delay)
        command.send_signal(signal.SIGINT)
        said = command.stderr.read()
    # Python itself may not have started, or all be done
    if command.wait() and "motion_matching" in said:
        assert (command.returncode, said.count("\n")) == (130, 1), said
        assert "cancelled" in said


@pytest.mark.slow
def test_ctrl_c_while_a_library_loads_is_one_sentence(folder: Path):
    words = [sys.executable, str(CHECKOUT / "tests" / "interrupted_command.py"), *BUILD]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    ended = subprocess.run(words, env=environment, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr.count("\n")) == (130, 1), ended.stderr
    assert "cancelled" in ended.stderr
    assert not Path("new.npz").exists()

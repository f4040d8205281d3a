"""Motion fields from the command line: train, stop, resume and perform; errors are one sentence."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.commands import output
from motion_matching.engine.bvh import bvh
from motion_matching.engine.field.states import value_function
from tests.command_line import run, run_line

QUICK = ("--states", 200, "--neighbours", 5, "--directions", 5, "--sweeps", 10)


def read_sentence(capsys: pytest.CaptureFixture[str]) -> str:
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1, printed.err
    return printed.err.strip()


@contextmanager
def write_as_earlier_version() -> Iterator[pytest.MonkeyPatch]:
    """Write files as an earlier version of the program, within the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_function, "VERSION", value_function.VERSION - 1)
        yield patch


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of two walks of a few seconds, tagged by their motion."""
    folder = tmp_path_factory.mktemp("clips")
    for seed, name in enumerate(("walk", "stroll")):
        moves = [Move(2.0, 1.2 - 0.3 * seed), Move(1.5, 1.2, turn=60), Move(1.5, 1.2, turn=-90)]
        bvh.save(perform(name, moves, 30.0, np.random.default_rng(seed)), folder / f"{name}.bvh")
    assert (
        run("build", folder, "-o", folder / "walk.npz", "--mirror", "--auto-tags", "--quiet") == 0
    )
    return folder / "walk.npz"


@pytest.fixture(scope="module")
def field(walk: Path) -> Path:
    """A trained field of it; tests only read it."""
    file = walk.parent / "field.npz"
    assert run("train", walk, "--tags", "walk", *QUICK, "-o", file, "--quiet") == 0
    return file


def test_training_a_field_prints_a_summary(
    walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            "train",
            walk,
            "--task",
            "direction",
            "--tags",
            "walk",
            *QUICK,
            "-o",
            tmp_path / "field.npz",
        )
        == 0
    )
    told = capsys.readouterr().out
    assert "5 actions each, for direction, 'walk'; 10 sweeps" in told
    function = value_function.load(tmp_path / "field.npz")
    assert function.finished
    assert function.tasks.tags == ("walk",)
    assert function.tasks.speeds == ()
    assert function.values.shape == (len(function.frames), 1, 2, 5)


def test_training_ends_when_the_values_converge(walk: Path, field: Path, tmp_path: Path) -> None:
    changes = value_function.load(field).residuals[:, 1]
    enough = changes[4]
    file = tmp_path / "field.npz"
    assert (
        run("train", walk, "--tags", "walk", *QUICK, "--residual", enough, "-o", file, "--quiet")
        == 0
    )
    function = value_function.load(file)
    assert function.finished
    np.testing.assert_array_equal(function.residuals[:, 1], changes[: len(function.residuals)])
    assert function.residuals[-1, 1] <= enough < function.residuals[-2, 1]


def test_speed_tasks_reach_up_to_the_speed_of_the_data(field: Path) -> None:
    speeds = value_function.load(field).tasks.speeds
    assert speeds[0] == 0
    assert 1.0 < speeds[-1] < 2.0


@pytest.mark.parametrize("trained", [True, False], ids=["planning", "greedy"])
def test_a_field_performs_a_take(
    trained: bool, walk: Path, field: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["--field", field] if trained else []
    files = "--bvh", tmp_path / "take.bvh", "--report", tmp_path / "take.json"
    assert (
        run(
            "take",
            walk,
            "--controller",
            "field",
            *chosen,
            "--script",
            "square",
            "--seconds",
            4,
            "--set",
            "idle=false",  # idles are entered by jumps, nothing else is
            *files,
        )
        == 0
    )
    report = json.loads((tmp_path / "take.json").read_text())
    assert report["settings"]["neighbours"] == (5 if trained else 15)
    assert report["take"]["jumps_per_second"] == 0
    assert report["take"]["speed_mean"] > 0.2
    assert bvh.load(tmp_path / "take.bvh").frame_count == 120
    assert "0.0 jumps a second" in capsys.readouterr().out


@pytest.mark.parametrize(
    "asked", [{}, {"neighbours": 4, "drift": 0.3}], ids=["as trained", "as asked"]
)
def test_a_field_performs_a_recording_with_its_trained_actions(
    asked: dict[str, float], walk: Path, field: Path, tmp_path: Path
) -> None:
    """A recording stores all its settings, including actions that the field was not trained for."""
    recorded, report = tmp_path / "wanted.json", tmp_path / "take.json"
    assert (
        run_line(
            "take {} --controller field --seconds 2 --set neighbours=12 --set drift=0.6 "
            "--set walk=0.7 --save-performance {} --quiet",
            walk,
            recorded,
        )
        == 0
    )
    changes = [word for name, value in asked.items() for word in ("--set", f"{name}={value}")]
    assert (
        run(
            "take",
            walk,
            "--controller",
            "field",
            "--field",
            field,
            "--script",
            recorded,
            *changes,
            "--report",
            report,
            "--quiet",
        )
        == 0
    )
    settings, trained = json.loads(report.read_text())["settings"], value_function.load(field)
    assert settings["neighbours"] == asked.get("neighbours", trained.neighbours)
    assert settings["drift"] == asked.get("drift", trained.drift)
    assert settings["walk"]["forward"] == 0.7


@pytest.mark.slow
def test_each_controller_and_control_mode_gives_another_take(
    walk: Path, field: Path, tmp_path: Path
) -> None:
    ways: list[tuple[object, ...]] = [
        (),
        ("--controller", "field"),
        ("--controller", "field", "--field", field),
    ]
    for i, way in enumerate(ways):
        assert (
            run(
                "take",
                walk,
                *way,
                "--script",
                "flips",
                "--seconds",
                5,
                "--bvh",
                tmp_path / f"{i}.bvh",
                "--quiet",
            )
            == 0
        )
    assert len({(tmp_path / f"{i}.bvh").read_bytes() for i in range(3)}) == 3


def stop_at(stage: str, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C when this share of a stage is done."""

    def press(self: object, now: str, part: float | None = None) -> None:
        if now == stage and part is not None and part >= share:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(output.Output, "show_progress", press)


@pytest.mark.parametrize(
    ("stage", "share"), [("Looking where actions lead", 0.3), ("Training", 0.5)]
)
def test_ctrl_c_keeps_progress_and_the_same_command_resumes(
    stage: str,
    share: float,
    walk: Path,
    field: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = "train", walk, "--tags", "walk", *QUICK, "-o", tmp_path / "field.npz"
    with pytest.MonkeyPatch.context() as patch:
        stop_at(stage, share, patch)
        assert run(*command) == 130
    assert [file.name for file in tmp_path.iterdir()] == ["field.unfinished.npz"]
    assert "the same command goes on" in capsys.readouterr().out
    assert (
        run_line(
            "take {} --controller field --field {} --seconds 1",
            walk,
            tmp_path / "field.unfinished.npz",
        )
        == 1
    )
    assert "stopped before its end" in read_sentence(capsys)
    assert run(*command) == 0
    assert "are done already" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["field.npz"]
    np.testing.assert_array_equal(
        value_function.load(tmp_path / "field.npz").values, value_function.load(field).values
    )


def test_ctrl_c_while_writing_the_field_keeps_the_training(
    walk: Path,
    field: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = "train", walk, "--tags", "walk", *QUICK, "-o", tmp_path / "field.npz"
    to_disk = os.fsync

    def press_once(stream: int) -> None:
        monkeypatch.setattr(os, "fsync", to_disk)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "fsync", press_once)
    assert run(*command) == 130
    assert [file.name for file in tmp_path.iterdir()] == ["field.unfinished.npz"]
    assert "keeps the 100% that are done" in capsys.readouterr().out
    assert run(*command) == 0
    assert "Of this training 100% are done already" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["field.npz"]
    np.testing.assert_array_equal(
        value_function.load(tmp_path / "field.npz").values, value_function.load(field).values
    )


def test_a_field_of_another_version_is_trained_again(
    walk: Path, field: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "train", walk, "--tags", "walk", *QUICK, "-o", tmp_path / "field.npz"
    with write_as_earlier_version():
        assert run(*command) == 0
    assert (
        run(
            "take", walk, "--controller", "field", "--field", tmp_path / "field.npz", "--seconds", 1
        )
        == 1
    )
    assert "train it again" in read_sentence(capsys)
    assert run(*command) == 0
    np.testing.assert_array_equal(
        value_function.load(tmp_path / "field.npz").values, value_function.load(field).values
    )


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["of another version", "damaged"])
def test_a_stopped_training_that_cannot_resume_must_be_removed(
    kept: str, walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The advice must not be to train again, as that is the command that failed."""
    command = "train", walk, "--tags", "walk", *QUICK, "-o", tmp_path / "field.npz"
    with write_as_earlier_version() as patch:
        stop_at("Training", 0.5, patch)
        assert run(*command) == 130
    stopped = tmp_path / "field.unfinished.npz"
    if kept == "damaged":
        stopped.write_bytes(stopped.read_bytes()[:100])
    capsys.readouterr()
    assert run(*command) == 1
    told = read_sentence(capsys)
    assert f"{stopped} holds a training that cannot be resumed" in told
    assert "remove the file" in told
    assert "train it again" not in told
    assert run(*command[:-1], tmp_path / "other.npz") == 0
    stopped.unlink()
    assert run(*command) == 0


def test_a_full_disk_keeps_the_training(
    walk: Path,
    field: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = "train", walk, "--tags", "walk", *QUICK, "-o", tmp_path / "field.npz"
    to_disk = os.fsync

    def fill_once(stream: int) -> None:
        monkeypatch.setattr(os, "fsync", to_disk)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fill_once)
    assert run(*command) == 1
    printed = capsys.readouterr()
    assert "No space left on device" in printed.err
    assert f"{tmp_path / 'field.unfinished.npz'} keeps the 100% that are done" in printed.out
    assert [file.name for file in tmp_path.iterdir()] == ["field.unfinished.npz"]
    assert run(*command) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["field.npz"]
    np.testing.assert_array_equal(
        value_function.load(tmp_path / "field.npz").values, value_function.load(field).values
    )


def test_a_training_is_saved_elsewhere_if_its_folder_is_gone(
    walk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, spare = tmp_path / "fields", tmp_path / "spare"
    folder.mkdir()
    spare.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    command = "train", walk, "--tags", "walk", *QUICK, "-o", folder / "field.npz"

    def remove(self: object, now: str, part: float | None = None) -> None:
        if now == "Training":
            shutil.rmtree(folder, ignore_errors=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output.Output, "show_progress", remove)
        assert run(*command) == 1
    printed = capsys.readouterr()
    assert f"{folder / 'field.npz'} cannot be written" in printed.err
    (kept,) = spare.rglob("field.unfinished.npz")
    assert (
        f"{kept} keeps the 100% that are done; move it to {folder / 'field.unfinished.npz'}"
        in printed.out
    )
    folder.mkdir()
    shutil.move(kept, folder / "field.unfinished.npz")
    assert run(*command) == 0
    assert "Of this training 100% are done already" in capsys.readouterr().out


@pytest.mark.parametrize(
    "other", [("--neighbours", 4), ("--drift", 0.3), ("--states", 120), ("--metric", "notebook")]
)
def test_another_stopped_training_is_not_replaced(
    other: tuple[object, ...], walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "train", walk, "--tags", "walk", *QUICK, "-o", tmp_path / "field.npz"
    unfinished = tmp_path / "field.unfinished.npz"
    with pytest.MonkeyPatch.context() as patch:
        stop_at("Looking where actions lead", 0.3, patch)
        assert run(*command) == 130
    kept = unfinished.read_bytes()
    capsys.readouterr()
    assert run(*command, *other) == 1
    said = read_sentence(capsys)
    assert f"{unfinished} holds another training that was stopped" in said
    assert "choose another -o" in said
    assert list(tmp_path.iterdir()) == [unfinished]
    assert unfinished.read_bytes() == kept


def test_ctrl_c_keeps_a_trained_field_unchanged(
    walk: Path,
    field: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "field.npz"
    shutil.copy(field, file)
    stop_at("Training", 0.5, monkeypatch)
    assert run("train", walk, "--task", "direction", *QUICK, "-o", file) == 130
    capsys.readouterr()
    assert file.read_bytes() == field.read_bytes()


def test_a_trained_field_is_not_trained_again(
    walk: Path, field: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "field.npz"
    shutil.copy(field, file)
    assert run("train", walk, "--tags", "walk", *QUICK, "-o", file) == 0
    assert "nothing it was made of has changed" in capsys.readouterr().out
    np.testing.assert_array_equal(
        value_function.load(file).values, value_function.load(field).values
    )


def test_a_field_of_another_database_is_refused(
    walk: Path, field: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.npz"
    assert run("build", walk.parent / "walk.bvh", "-o", other, "--quiet") == 0
    assert run("take", other, "--controller", "field", "--field", field, "--seconds", 1) == 1
    said = read_sentence(capsys)
    assert str(field) in said
    assert "train it again" in said


WRONG = {
    "a field without its controller": (("take", "WALK", "--field", "FIELD"), "--controller field"),
    "a database as a field": (("take", "WALK", "--controller", "field", "--field", "WALK"), "not a trained motion field"),
    "a field that is not there": (
        ("take", "WALK", "--controller", "field", "--field", "none.npz"), "none.npz does not "
                                                                          "exist; make it first"),
    "a clip as a field": (("take", "WALK", "--controller", "field", "--field", "CLIP"), "make it again"),
    "a tag that was not trained": (
        ("take", "WALK", "--controller", "field", "--field", "FIELD", "--tags", "idle"), "idle"),
    "an unknown task": (("train", "WALK", "--task", "juggle", "-o", "new.npz"), "'juggle'"),
    "an unknown tag": (("train", "WALK", "--tags", "limp", "-o", "new.npz"), "'limp'"),
    "the database as the target": (("train", "WALK", "-o", "WALK"), "which the training reads"),
    "a field as the database": (("train", "FIELD", "-o", "new.npz"), "not a motion-matching "
                                                                     "database"),
    "no directions": (("train", "WALK", "--directions", "0", "-o", "new.npz"), "number of directions is 0"),
    "too few directions": (("train", "WALK", "--directions", "1", "-o", "new.npz"), "directions"),
    "no neighbours": (("train", "WALK", "--neighbours", "0", "-o", "new.npz"), "neighbours"),
    "a discount above one": (("train", "WALK", "--discount", "1.5", "-o", "new.npz"), "discount"),
    "another ending": (("train", "WALK", "-o", "new.blend"), ".npz"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_field_errors_are_reported_in_one_sentence(
    what: str,
    walk: Path,
    field: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words, part = WRONG[what]
    monkeypatch.chdir(tmp_path)
    before = walk.read_bytes()
    files = {"WALK": walk, "FIELD": field, "CLIP": walk.parent / "walk.bvh"}
    assert run(*(files.get(word, word) for word in words)) == 1
    assert part in read_sentence(capsys)
    assert list(tmp_path.iterdir()) == []
    assert walk.read_bytes() == before


def test_without_speed_tasks_the_gait_requests_its_tag(walk: Path, tmp_path: Path) -> None:
    """A field trained to walk and to run performs the gait of a script."""
    tags = {
        "walk": [
            {"name": "walk", "start": 0, "stop": 75},
            {"name": "run", "start": 75, "stop": 150},
        ]
    }
    (tmp_path / "tags.json").write_text(json.dumps(tags))
    database = tmp_path / "tagged.npz"
    assert (
        run_line(
            "build {} -o {} --tags {} --quiet",
            walk.parent / "walk.bvh",
            database,
            tmp_path / "tags.json",
        )
        == 0
    )
    file, saved = tmp_path / "field.npz", tmp_path / "wanted.json"
    assert (
        run(
            "train",
            database,
            "--task",
            "direction",
            "--tags",
            "walk,run",
            *QUICK,
            "-o",
            file,
            "--quiet",
        )
        == 0
    )
    assert (
        run_line(
            "take {} --controller field --field {} --gait run --seconds 2 "
            "--save-performance {} --quiet",
            database,
            file,
            saved,
        )
        == 0
    )
    assert all(intent["tags"] == ["run"] for intent in json.loads(saved.read_text())["intents"])


def test_the_notebooks_field_is_a_quality_and_is_played_so(
    walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is for directions on a circle, by the notebook's metric, and a take with it plays it."""
    file, report = tmp_path / "field.npz", tmp_path / "take.json"
    quick = QUICK[:4] + QUICK[6:]
    assert run("train", walk, "--quality", "notebook", *quick, "-o", file) == 0
    tasks = value_function.load(file).tasks
    assert (tasks.as_notebook, tasks.directions, tasks.speeds) == (True, 17, ())
    take = ("take", walk, "--seconds", 2, "--controller", "field")
    assert run(*take, "--field", file, "--save-performance", report) == 0
    assert json.loads(report.read_text())["settings"]["field"] == "notebook"
    greedy = tmp_path / "greedy.json"
    assert run(*take, "--settings", "notebook", "--save-performance", greedy) == 0
    assert json.loads(greedy.read_text())["settings"]["field"] == "notebook"
    capsys.readouterr()

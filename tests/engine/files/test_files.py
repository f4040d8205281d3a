"""Files are written completely or not at all, and never over one that is read."""

from __future__ import annotations

import os
import stat
import time
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from motion_matching.engine.errors import SettingsError
from motion_matching.engine.files import json_files
from motion_matching.engine.files.file_paths import (
    check_clashes,
    describe_no_file,
    replacing,
    write_text,
)
from motion_matching.engine.sources.sources import find_sources
from tests.engine.sentences import check_sentence

# ---------------------------------------------------------------- replacing


def test_a_file_is_replaced_as_a_whole(tmp_path: Path):
    file = tmp_path / "report.json"
    for text in ("first", "second"):
        with replacing(file, SettingsError) as temporary:
            assert temporary.parent == tmp_path
            assert temporary.suffix == ".json"
            temporary.write_text(text)
            assert not file.exists() or file.read_text() == "first"
        assert file.read_text() == text
        assert os.listdir(tmp_path) == ["report.json"]


@pytest.mark.parametrize(
    "failure", [ValueError("no"), KeyboardInterrupt(), OSError(28, "No space left on device")]
)
def test_a_failed_write_leaves_only_the_old_file(tmp_path: Path, failure: BaseException):
    file = tmp_path / "report.json"
    file.write_text("old")

    def write() -> None:
        with replacing(file, SettingsError) as temporary:
            temporary.write_text("half of the n")
            raise failure

    with pytest.raises(SettingsError if isinstance(failure, OSError) else type(failure)) as error:
        write()
    if isinstance(failure, OSError):
        check_sentence(error, file, "No space left on device")
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.json"]


@pytest.mark.parametrize(
    "name", ["nowhere/report.json", "a folder", "x" * 300, "read-only.json", "/proc/report.json"]
)
def test_a_target_that_cannot_be_written_is_named(tmp_path: Path, name: str):
    (tmp_path / "a folder").mkdir()
    (tmp_path / "read-only.json").write_text("old")
    (tmp_path / "read-only.json").chmod(0o444)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(SettingsError) as error, replacing(tmp_path / name, SettingsError):
        pytest.fail("this cannot be written")
    check_sentence(error, name)
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "read-only.json").read_text() == "old"


def test_a_saved_file_has_ordinary_permissions(tmp_path: Path):
    (tmp_path / "other").write_text("")
    with replacing(tmp_path / "mine", SettingsError) as temporary:
        temporary.write_text("")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("other", "mine")]
    assert modes[0] == modes[1]


def test_a_private_file_stays_private(tmp_path: Path):
    file = tmp_path / "report.json"
    file.write_text("old")
    file.chmod(0o600)
    with replacing(file, SettingsError) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) & 0o077 == 0
        temporary.write_text("new")
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_stays_a_link_to_what_is_written(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    for text in ("new", "newer"):
        write_text(link, text, SettingsError)
        assert link.is_symlink()
        assert target.read_text() == text
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "elsewhere",
        "link.json",
        "target.json",
    ]


def test_a_pipe_is_neither_written_nor_waited_for(tmp_path: Path):
    pipe = tmp_path / "pipe.npz"
    os.mkfifo(pipe)
    with pytest.raises(SettingsError) as error:
        write_text(pipe, "text", SettingsError)
    check_sentence(error, pipe)
    with pytest.raises(SettingsError) as error:
        json_files.read(pipe, "source list")
    check_sentence(error, pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["x" * 250 + ".svg", "\u00e9" * 125 + ".svg", "." + "y" * 254])
def test_the_longest_names_can_be_written(tmp_path: Path, name: str):
    write_text(tmp_path / name, "text", SettingsError)
    assert os.listdir(tmp_path) == [name]


def test_what_a_killed_program_left_goes_with_the_next_write_after_a_day(tmp_path: Path):
    file, day = tmp_path / "take.bvh", 24 * 3600
    left = []
    for age in (0, 2 * day):
        with suppress(SystemExit), replacing(file, SettingsError) as temporary:
            raise SystemExit
        for name in (temporary.name, f"{temporary.name}@"):
            left.append(tmp_path / name)
            left[-1].write_text("half")
            os.utime(left[-1], (time.time() - age,) * 2)
    mine = tmp_path / ".take.backup99.bvh"  # a file of the user, however old
    mine.write_text("mine")
    os.utime(mine, (0, 0))
    write_text(tmp_path / "other.bvh", "another file", SettingsError)
    assert all(path.exists() for path in left)
    write_text(file, "whole", SettingsError)
    assert [path.exists() for path in left] == [True, True, False, False]
    assert mine.read_text() == "mine"


def test_what_cannot_be_encoded_is_written_as_a_question_mark(tmp_path: Path):
    write_text(tmp_path / "a.svg", "w\udcfe", SettingsError)
    assert (tmp_path / "a.svg").read_text() == "w?"


# ---------------------------------------------------------------- files that are the same


def make_files(folder: Path) -> None:
    """Make a file with a link and a hard link, and a folder."""
    (folder / "sub").mkdir()
    (folder / "a.json").write_text("{}")
    (folder / "link.json").symlink_to("a.json")
    (folder / "hard.json").hardlink_to(folder / "a.json")
    (folder / "folder").symlink_to("sub")


@pytest.mark.parametrize(
    "name", ["a.json", "sub/../a.json", "link.json", "hard.json", "folder/../a.json"]
)
def test_a_file_that_is_read_is_not_written_whatever_it_is_called(tmp_path: Path, name: str):
    make_files(tmp_path)
    outputs = [("-o", None), ("--report", tmp_path / name)]
    with pytest.raises(SettingsError, match=r"--report would replace .*, which --contacts reads"):
        check_clashes([("--script", "square"), ("--contacts", tmp_path / "a.json")], outputs)


@pytest.mark.parametrize("names", [("a.json", "hard.json"), ("sub/b.json", "folder/b.json")])
def test_two_files_to_write_must_differ(tmp_path: Path, names: tuple[str, str]):
    make_files(tmp_path)
    first, second = (tmp_path / name for name in names)
    with pytest.raises(SettingsError, match=r"--save-tags names .*, which --report names too"):
        check_clashes([], [("--save-tags", first), ("--report", second)])


def test_other_files_may_be_written(tmp_path: Path):
    make_files(tmp_path)
    (tmp_path / "A.json").touch()
    is_case_ignored = len(list(tmp_path.glob("[aA].json"))) == 1
    outputs = [("--report", tmp_path / "b.json"), ("--plot", tmp_path / "B.json")]
    inputs = [("--tags", tmp_path / "a.json"), ("--rig", None), ("-s", "missing.json")]
    with pytest.raises(SettingsError) if is_case_ignored else nullcontext():
        check_clashes(inputs, outputs)
    assert not (tmp_path / "b.json").exists()


def test_a_temporary_file_of_a_temporary_one_is_swept_with_it(tmp_path: Path):
    """As of a report that is written together with others."""
    file, day = tmp_path / "take.json", 24 * 3600
    with suppress(SystemExit), replacing(file, SettingsError) as outer:
        with replacing(outer, SettingsError) as inner:
            names = [inner.name, outer.name]
        raise SystemExit
    # as earlier versions named it
    names.append(f".{outer.stem}.unfinished-0123abcd.json")
    for name in names:
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (time.time() - 2 * day,) * 2)
    write_text(file, "whole", SettingsError)
    assert os.listdir(tmp_path) == ["take.json"]


def test_a_path_that_names_no_ordinary_file_says_what_it_names(tmp_path):
    assert describe_no_file(tmp_path / "lost") == f"{tmp_path / 'lost'} does not exist"
    assert describe_no_file(tmp_path) == f"{tmp_path} is a folder"
    assert describe_no_file("/dev/null").startswith("/dev/null is no ordinary file")
    for sources in (["/dev/zero"], [tmp_path / "list.json"]):
        (tmp_path / "list.json").write_text('[{"file": "/dev/zero"}]')
        with pytest.raises(SettingsError, match=r"/dev/zero.* is no ordinary file"):
            find_sources(sources)

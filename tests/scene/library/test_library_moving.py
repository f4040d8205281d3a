"""Databases move to another folder whole, or stay as they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.files import own_files
from motion_matching.scene.library import library_moving
from tests.steps import run_steps

BEFORE = Path(__file__).parents[2] / "data" / "before"
DATABASE, FIELD = ((BEFORE / name).read_bytes() for name in ("curves.npz", "curves_field.npz"))
ONE, TWO, THREE = (f"{digit * 32}.npz" for digit in "123")
FILES = {ONE: DATABASE, TWO: DATABASE, f"{'2' * 32}.base": b"1" * 32, THREE: DATABASE}
MINE = {"of the user.txt", "thesis.npz", f"{'9' * 32}.npz", "notes.base"}
FILES |= {f"field-{THREE}": FIELD}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "old"
    folder.mkdir()
    for number, (name, content) in enumerate(FILES.items()):
        (folder / name).write_bytes(content)
        os.utime(folder / name, (1_000_000 + number, 1_000_000 + number))
    for name in MINE:
        (folder / name).write_bytes(b"stays")
    return folder


@pytest.fixture(params=["linked", "copied"])
def way(request, monkeypatch) -> str:
    """Whether the new folder is on the same disk, or one that files have to be copied to."""
    if request.param == "copied":

        def refuse(*_: object) -> None:
            raise OSError("Invalid cross-device link")

        monkeypatch.setattr(library_moving.os, "link", refuse)
        monkeypatch.setattr(library_moving, "_CHUNK", 4096)
    return request.param


def read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in MINE}


def test_databases_move_whole_and_keep_when_they_were_used(source, tmp_path, way):
    target = tmp_path / "new" / "databases"
    files = run_steps(library_moving.copy_steps(source, target))
    assert read(source) == read(target) == FILES, "nothing goes before everything is there"
    assert library_moving.remove_files(files) == 0
    assert {path.name for path in source.iterdir()} == MINE
    assert read(target) == FILES
    assert (target / TWO).stat().st_mtime == 1_000_001
    assert (target / TWO).stat().st_nlink == 1


def test_progress_grows_to_the_end(source, tmp_path, way):
    parts = [part for _, part in library_moving.copy_steps(source, tmp_path / "new")]
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_a_cancelled_move_leaves_both_folders_as_they_were(source, tmp_path, way):
    target = tmp_path / "new"
    target.mkdir()
    (target / "there.npz").write_bytes(b"before")
    steps = library_moving.copy_steps(source, target)
    next(steps)
    next(steps)
    steps.close()
    assert read(source) == FILES
    assert read(target) == {"there.npz": b"before"}


def test_what_is_there_already_is_not_copied_again(source, tmp_path, way):
    target = tmp_path / "new"
    target.mkdir()
    (target / TWO).write_bytes(FILES[TWO])
    (target / ONE).write_bytes(DATABASE[:5000])  # cut off
    inode = (target / TWO).stat().st_ino
    files = run_steps(library_moving.copy_steps(source, target))
    assert read(target) == FILES
    assert (target / TWO).stat().st_ino == inode
    assert len(files) == len(FILES)


def test_another_file_of_such_a_name_is_not_written_over(source, tmp_path, way):
    target = tmp_path / "new"
    target.mkdir()
    (target / THREE).write_bytes(b"mine")
    with pytest.raises(DatabaseError, match=f"{THREE} is another file"):
        run_steps(library_moving.copy_steps(source, target))
    assert read(source) == FILES
    assert read(target) == {THREE: b"mine"}


def test_what_lies_in_the_chosen_folder_is_taken_over(source):
    """Earlier versions stored databases beside what else is there."""
    folder = source / own_files.FOLDER
    folder.mkdir()
    library_moving.adopt_files(source, folder)
    assert read(folder) == FILES
    assert {path.name for path in source.iterdir()} == {*MINE, own_files.FOLDER}
    assert (folder / TWO).stat().st_mtime == 1_000_001


def test_a_folder_that_cannot_be_used_changes_nothing(source, tmp_path, way):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    with pytest.raises(DatabaseError, match=r"cannot be moved.*choose a folder"):
        run_steps(library_moving.copy_steps(source, blocked / "new"))
    assert read(source) == FILES


def test_a_full_disk_changes_nothing(source, tmp_path, way, monkeypatch):
    target, replace = tmp_path / "new", Path.replace
    moved = []

    def fill(path: Path, goal: Path) -> Path:
        if len(moved) == 2:
            raise OSError(28, "No space left on device")
        moved.append(goal)
        return replace(path, goal)

    monkeypatch.setattr(Path, "replace", fill)
    with pytest.raises(DatabaseError, match="No space left"):
        run_steps(library_moving.copy_steps(source, target))
    assert read(source) == FILES
    assert read(target) == {}

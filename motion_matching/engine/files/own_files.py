"""Recognise the program's own files before any is removed, moved or overwritten.

People name the files of most commands and panels. Files that nobody named, such as databases in the
library, tables of jumps, stopped trainings and cut recordings, may clash with a user's file. So a
file is removed, moved or overwritten only if its content is recognised, and in a shared folder only
under a name that is a key. No numpy here.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import DatabaseError, SettingsError
from .file_paths import ABANDONED, open_regular

FOLDER = "Motion Matching Databases"  # made in a folder that the user chooses
DATABASE = "database"
FIELD = "motion field"
JUMPS = "table of jumps"
CLIP = "clip"
NOTE = "note"
RECORDING = "recording"
EMPTY = "empty file"

_KEY = "[0-9a-f]{32}"
_HEAD = 4096  # bytes at the start of a file that show its kind
# an archive whose first array begins with our padding, see `array_files`
_ARCHIVE = rb"PK\x03\x04.{26}%s\.npyMM.*?NUMPY.*?\n%s"
_CONTENTS = {
    DATABASE: _ARCHIVE % (b"header", rb'\{"format": ?"motion-matching database"'),
    FIELD: _ARCHIVE % (b"header", rb'\{"format": ?"motion-matching field"'),
    JUMPS: _ARCHIVE % (b"key", b"[0-9a-f]{64}"),
    CLIP: _ARCHIVE % (b"header", rb'\{"format": ?"motion-matching clip"'),
    NOTE: rb"[0-9a-f]{32}\Z",
    RECORDING: rb'H.{8}\{"format": ?\d',
}
# the key by which a database is stored, empty if a user built it as a separate file; earlier
# versions did not write it
_STORED_AS = re.compile(rb'\{"format": ?"motion-matching database", ?"key": ?"([0-9a-f]*)"')
_IN_LIBRARY = {
    DATABASE: rf"{_KEY}\.npz",
    FIELD: rf"field-{_KEY}(\.stopped)?\.npz",
    JUMPS: rf"{_KEY}\.jumps\.npz",
    CLIP: rf"{_KEY}\.clip",
    NOTE: rf"{_KEY}\.base",
}
_HALF_WRITTEN = re.compile(rf"\.(field-)?{_KEY}\.[\w.-]*(npz|base|clip)(\.part)?")
_WRITTEN_WITHIN = 3600.0  # seconds after which the writer of a library file is surely gone
_TEMPORARY = "motion-matching-temporary-"  # starts the names of temporary folders


def find_kind(path: Path) -> str:
    """Return the kind of one of our files by its content, whatever its name; "" for others."""
    try:
        head = _read_head(path)
    except (OSError, ValueError):
        return ""
    if head == b"":
        return EMPTY
    alike = (kind for kind, start in _CONTENTS.items() if re.match(start, head, re.DOTALL))
    return next(alike, "")


def _read_head(path: Path) -> bytes:
    with open(path, "rb", opener=open_regular) as stream:
        return stream.read(_HEAD)


def is_free(path: Path, kind: str) -> bool:
    """Return whether a file of a kind may be written where nobody named one.

    It may if nothing is there, or a file of the same kind, or an empty one.
    """
    return not os.path.lexists(path) or find_kind(path) in (kind, EMPTY)


def check_unnamed(paths: Iterable[Path | str], name: str) -> None:
    """Raise SettingsError if one of the files to write exists already.

    They were given together by a `name`, such as "--bvh walk.bvh", not one by one.
    """
    for path in paths:
        if os.path.lexists(path):
            raise SettingsError(
                f"{path} is there already, and {name} would replace it; move it elsewhere, or "
                "choose another name."
            )


def make_way(path: Path, kind: str) -> None:
    """Rename a file that writing one of a kind would destroy. DatabaseError if that fails."""
    if is_free(path, kind):
        return
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.kept{number}")):
        number += 1
    try:
        path.rename(aside)
    except OSError as cause:
        raise DatabaseError(
            f"{path} is no {kind}, and cannot be renamed ({cause.strerror}); move it elsewhere."
        ) from cause


def remove(path: Path) -> bool:
    """Delete a file if it is our own; return whether it is gone.

    Some systems keep a file that is in use.
    """
    if os.path.lexists(path) and not find_kind(path):
        return False
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


# ---------------------------------------------------------------- the library of databases


def get_own_folder(chosen: Path) -> Path:
    """Return the folder for our files in one that the user chose, which may be that folder."""
    return chosen if chosen.name == FOLDER else chosen / FOLDER


def remove_own_folder(folder: Path) -> None:
    """Delete a folder that was made in one of the user's, if nothing is left in it."""
    if folder.name == FOLDER:
        with suppress(OSError):
            folder.rmdir()


def list_stored(folder: Path) -> list[Path]:
    """Return the files of a library, by name: named by a key, and of the kind that it states."""
    return [path for path in _list_files(folder) if _is_stored(path)]


def _is_stored(path: Path) -> bool:
    """Return whether a file is named by a key and of the kind it states; copies keep their key."""
    kinds = (kind for kind, name in _IN_LIBRARY.items() if re.fullmatch(name, path.name))
    kind = next(kinds, "")
    if not kind or find_kind(path) != kind:
        return False
    with suppress(OSError, ValueError):  # it is gone, or replaced
        written = _STORED_AS.search(_read_head(path)) if kind == DATABASE else None
        return written is None or written[1].decode() == path.stem
    return False


def sweep(folder: Path) -> int:
    """Delete half-written files in a library; return the bytes freed."""
    freed = 0
    for path in _list_files(folder):
        if _HALF_WRITTEN.fullmatch(path.name):
            with suppress(OSError):  # it is gone, or somebody else's
                found = path.stat()
                if time.time() - found.st_mtime > _WRITTEN_WITHIN:
                    path.unlink()
                    freed += found.st_size
    return freed


def _list_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError:  # it does not exist, or its disk is not connected
        return []


# ---------------------------------------------------------------- temporary folders


@contextmanager
def make_temporary_folder() -> Iterator[Path]:
    """Yield a folder that is deleted in the end, with leftovers of killed programs."""
    _sweep_temporary_folders(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_TEMPORARY, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _sweep_temporary_folders(folder: Path) -> None:
    with suppress(OSError):
        for path in folder.glob(f"{_TEMPORARY}*"):
            with suppress(OSError):  # it is gone, or somebody else's
                newest = max(each.lstat().st_mtime for each in (path, *path.rglob("*")))
                if time.time() - newest > ABANDONED:
                    shutil.rmtree(path)

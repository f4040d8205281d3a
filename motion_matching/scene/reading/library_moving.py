"""Move the files of a library to another folder, on the same disk or another one.

Each file is there in both folders, whole, before any of the old ones goes: a crash, a full disk or
a cancelled move leaves the old folder as it was.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

from ...engine.errors import DatabaseError

_ENDINGS = (".npz", ".base")  # databases with fields, and notes of what was tagged
_CHUNK = 16 * 1024**2  # bytes copied at once


def list_files(folder: Path) -> list[Path]:
    """Return the files of a library."""
    return sorted(path for path in folder.glob("*") if path.suffix in _ENDINGS and path.is_file())


def copy_steps(source: Path, target: Path) -> Generator[tuple[str, float], None, list[Path]]:
    """Bring the files of a library into another folder too, and return them in the old one.

    A file that has the same name and size there counts as the same, for names are keys of contents.
    Raises DatabaseError if the folder cannot be used; then, and if the steps are closed early, the
    new folder is left as it was.
    """
    created: list[Path] = []
    done = False
    try:
        target.mkdir(parents=True, exist_ok=True)
        files = list_files(source)
        sizes = {path: path.stat().st_size for path in files}
        total, copied = max(sum(sizes.values()), 1), 0
        for path in files:
            goal = target / path.name
            if not (goal.is_file() and goal.stat().st_size == sizes[path]):
                created.append(goal)
                for count in _copy_file(path, goal):
                    yield "Moving Databases", min((copied + count) / total, 1.0)
            copied += sizes[path]
        done = True
        return files
    except OSError as cause:
        reason = cause.strerror or str(cause)
        raise DatabaseError(
            f"The databases cannot be moved to {target} ({reason}); choose a folder with enough "
            "space that Blender may write to."
        ) from cause
    finally:
        for path in () if done else created:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def remove_files(files: list[Path]) -> int:
    """Delete files; return how many stay, as some systems keep those that are in use."""
    left = 0
    for path in files:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            left += 1
    return left


def _copy_file(path: Path, goal: Path) -> Iterator[int]:
    """Copy a file by its content and times, and yield the bytes so far; linked if that is possible.

    Under its name, a file is always whole.
    """
    part = goal.with_name(f".{goal.name}.part")
    try:
        try:
            part.unlink(missing_ok=True)
            os.link(path, part)
        except OSError:  # on another disk, or without links
            with path.open("rb") as reader, part.open("wb") as writer:
                while chunk := reader.read(_CHUNK):
                    writer.write(chunk)
                    yield writer.tell()
                writer.flush()
                os.fsync(writer.fileno())
            shutil.copystat(path, part)
        part.replace(goal)
    finally:
        part.unlink(missing_ok=True)
    yield goal.stat().st_size

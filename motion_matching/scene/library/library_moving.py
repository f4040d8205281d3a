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
from ...engine.files import own_files

_CHUNK = 16 * 1024**2  # bytes copied at once


def copy_steps(source: Path, target: Path) -> Generator[tuple[str, float], None, list[Path]]:
    """Bring the files of a library into another folder too, and return them in the old one.

    A file that has the same name and size there counts as the same, for names are keys of contents.
    Raises DatabaseError if the folder cannot be used, or has another file of such a name; then, and
    if the steps are closed early, the new folder is left as it was.
    """
    created: list[Path] = []
    done = False
    try:
        target.mkdir(parents=True, exist_ok=True)
        files = own_files.list_stored(source)
        sizes = {path: path.stat().st_size for path in files}
        total = max(sum(sizes.values()), 1)
        copied = 0
        for path in files:
            goal = target / path.name
            if not own_files.is_free(goal, own_files.find_kind(path)):
                raise FileExistsError(0, f"{goal.name} is another file there")
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
        if not done:
            own_files.remove_own_folder(target)


def remove_files(files: list[Path]) -> int:
    """Delete files; return how many stay, because some systems keep files in use."""
    return sum(not own_files.remove(path) for path in files)


def adopt_files(chosen: Path, folder: Path) -> None:
    """Take over what earlier versions stored in the very folder that the user chose.

    That is named by its content, and recognised.
    """
    for path in own_files.list_stored(chosen):
        with suppress(OSError):  # it is in use, or another Blender was faster
            if not (goal := folder / path.name).exists():
                path.rename(goal)


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

"""What commands load: a database, and Blender's module where a file needs it."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import PROGRAM
from ..engine.errors import DatabaseError, SettingsError
from ..engine.silence import silent

if TYPE_CHECKING:
    from ..engine.matching.database import Database


def load_database(path: Path) -> Database:
    """The database of a file. DatabaseError where it is none."""
    from ..engine.matching import database

    if path.is_dir() or path.suffix.lower() == ".bvh":
        raise DatabaseError(
            f"{path} is not a database; make one from it with '{PROGRAM} build {path} -o walk.npz'."
        )
    return database.load(path)


def check_blender(path: Path | None, command: str) -> None:
    """Say that a file needs Blender where there is none."""
    if path and "bpy" not in sys.modules and importlib.util.find_spec("bpy") is None:
        raise SettingsError(
            f"{path} needs Blender's module bpy, which this Python lacks; install bpy, or "
            f"run 'blender --command {PROGRAM} {command} …'."
        )


@contextmanager
def blender_loading() -> Iterator[None]:
    """Make Ctrl-C wait for the end of the block, as Blender's module crashes when its import is interrupted.

    What it prints then, such as the colour configuration it found, is none of a command's results.
    """
    if (
        signal.getsignal(signal.SIGINT) is None
    ):  # the Blender program handles Ctrl-C itself, out of Python's reach
        yield
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        with silent():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt

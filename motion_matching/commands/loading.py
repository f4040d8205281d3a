"""Load what commands need: a database, and Blender's module if a file requires it."""

from __future__ import annotations

import importlib.util
import signal
import sys
from pathlib import Path

from ..engine.database import database
from ..engine.database.database import Database
from ..engine.errors import DatabaseError, SettingsError
from ..engine.silence import silence_output
from .arguments import PROGRAM
from .output import Output, say_warnings


def load_database(path: Path, out: Output | None = None) -> Database:
    """Load a database, and print what a build would mend. DatabaseError if the file is not one."""
    if path.is_dir() or path.suffix.lower() == ".bvh":
        raise DatabaseError(
            f"{path} is not a database; make one from it with '{PROGRAM} build {path} -o walk.npz'."
        )
    loaded = database.load(path)
    if out and not out.quiet:
        say_warnings(loaded.unmended, out)
    return loaded


def check_blender(path: Path | None, command: str) -> None:
    """Raise SettingsError if a file needs Blender and there is none."""
    if path and "bpy" not in sys.modules and importlib.util.find_spec("bpy") is None:
        raise SettingsError(
            f"{path} needs Blender's module bpy, which this Python lacks; install bpy, or "
            f"run 'blender --command {PROGRAM} {command} …'."
        )


def load_blender() -> None:
    """Load Blender's module, with what it prints hidden, such as its colour configuration.

    Ctrl-C waits until that is done: an interrupted import crashes the module.
    """
    if signal.getsignal(signal.SIGINT) is None:  # the Blender program handles Ctrl-C itself
        importlib.import_module("bpy")
        return
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        with silence_output():
            importlib.import_module("bpy")
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
        raise KeyboardInterrupt

"""Load a database for a command, tell what it lacks, and load Blender's module if needed."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from ..api import motion
from ..engine import building  # few commands build
from ..engine.database import database
from ..engine.database.database import Database
from ..engine.errors import DatabaseError
from ..engine.performance.published import PublishedSet, find_published
from ..engine.silence import silence_output
from .arguments import PROGRAM
from .output import Output, say_warnings

_MOST_KEPT = 4  # databases that stay open; each may have derived facts of many megabytes


class KeptDatabases:
    """Databases that stay open for the commands of a process, with what was derived from them."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int, int], Database] = {}

    def load(self, path: Path) -> Database:
        """Return the database of a file, which is opened again when it has changed.

        Raises DatabaseError for another file.
        """
        try:
            found = path.stat()
        except OSError:
            return database.load(path)  # which says what is wrong
        key = os.path.realpath(path), found.st_mtime_ns, found.st_size
        loaded = self._kept.pop(key, None) or database.load(path)
        while len(self._kept) >= _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = loaded  # the last used last
        return loaded


def load_database(path: Path, out: Output | None = None) -> Database:
    """Load a database, and print faults that a build would mend. DatabaseError for other files."""
    if path.is_dir() or path.suffix.lower() == ".bvh":
        raise DatabaseError(
            f"{path} is not a database; make one from it with '{PROGRAM} build {path} -o walk.npz'."
        )
    loaded = out.kept.load(path) if out and out.kept else database.load(path)
    if out and not out.quiet:
        say_warnings(loaded.derive(building.unmended.find_unmended), out)
    return loaded


def check_blender(path: Path | None, command: str) -> None:
    """Raise SettingsError if a file needs Blender and there is none."""
    if path:
        motion.check_blender(str(path), f"run 'blender --command {PROGRAM} {command} …'")


def load_blender() -> None:
    """Load Blender's module."""
    with protect_blender_import():
        import_module("bpy")


@contextmanager
def protect_blender_import() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block: an interrupted import crashes Blender's module.

    Blender's output meanwhile, such as its colour configuration, is hidden.
    """
    if signal.getsignal(signal.SIGINT) is None:  # the Blender program handles Ctrl-C itself
        yield
        return
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        with silence_output():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
        raise KeyboardInterrupt


def find_set(arguments: argparse.Namespace) -> PublishedSet | None:
    """Return the set that the arguments choose, None without one."""
    return find_published(arguments.as_published) if arguments.as_published else None


def tell_differences(arguments: argparse.Namespace, database: Database, out: Output) -> None:
    """Report how a database differs from a set, and the set from its article."""
    published = find_set(arguments)
    if published is None:
        return
    out.say(f"{published.describe()}.")
    articles = building.published_build
    if missing := ", ".join(articles.list_missing(database, published)):
        out.say(f"Warning: the database is not built --as-published {published.name}: {missing}.")
    if apart := [*published.apart, *articles.list_lacking_motion(database, published)]:
        out.say(f"Not as published: {'; '.join(apart)}.")

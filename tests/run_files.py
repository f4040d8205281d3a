"""Files that take long to make, made once in a run of the tests and read by all its processes."""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")

# The folder of the run: set by its first process, inherited by workers and by what tests start.
RUN_FOLDER = "MOTION_MATCHING_TESTS_RUN"
LONGEST_WAIT = 300.0  # seconds for another process to make a file; it may have crashed


@cache
def get_run_folder() -> Path:
    """Return the folder of this run, which the process that made it removes at its end."""
    if RUN_FOLDER not in os.environ:
        os.environ[RUN_FOLDER] = tempfile.mkdtemp(prefix="motion-matching-run-")
        atexit.register(shutil.rmtree, os.environ[RUN_FOLDER], ignore_errors=True)
    return Path(os.environ[RUN_FOLDER])


def make_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file of this name, which `make(path)` writes in the process that asks first."""
    path, lock = get_run_folder() / name, get_run_folder() / f"{name}.lock"
    started = time.monotonic()
    while not path.exists():
        try:
            lock.mkdir()
        except FileExistsError:
            if time.monotonic() - started > LONGEST_WAIT:
                shutil.rmtree(lock, ignore_errors=True)
            time.sleep(0.05)
            continue
        try:
            if not path.exists():  # made between the question and the lock
                unfinished = lock / path.name
                make(unfinished)
                unfinished.replace(path)
        finally:
            shutil.rmtree(lock)
    return path


def pickle_once(name: str, make: Callable[[], Made]) -> Made:
    """Return what `make()` returns in the process of the run that asks first; each has its copy."""

    def write(path: Path) -> None:
        path.write_bytes(pickle.dumps(make(), pickle.HIGHEST_PROTOCOL))

    return pickle.loads(make_once(f"{name}.pickle", write).read_bytes())

"""Virtual environments: the Python that fits a Blender, its module bpy, and what the work needs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Iterator

from .pins import BLENDERS, PINS

ROOT = Path(__file__).resolve().parent.parent
LOCK = ".venv.lock"
STAMP = "set-up-is-complete"
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")


class BuildError(Exception):
    """The work cannot go on; the message says what to do."""


# Which Python


def choose_python(blender: str = "") -> tuple[str, str]:
    """Return a Blender, and the path of a Python for its module: the running one, or one on PATH.

    Without a Blender's name, that is the first of BLENDERS for which there is one.
    """
    running = "{}.{}".format(*sys.version_info[:2])
    wanted = {blender: BLENDERS[blender]} if blender else BLENDERS
    for name, version in wanted.items():
        if version == running:
            return name, getattr(sys, "_base_executable", None) or sys.executable
    for name, version in wanted.items():
        for words in (["python" + version], ["py", "-" + version]):
            if path := find_python(words, version):
                text = f"This is Python {running}: working with Python {version} at {path} instead."
                print(text, flush=True)
                return name, path
    first_blenders: dict[str, str] = {}
    for name, version in wanted.items():
        first_blenders.setdefault(version, name)
    fitting = " or ".join(f"{v} (for Blender {name})" for v, name in first_blenders.items())
    command = f"python{next(iter(first_blenders))} build.py test"
    raise BuildError(
        f"This is Python {running}, and Blender's module exists for others only: install Python "
        f"{fitting} and run this again with it, as in '{command}'."
    )


def find_python(command: list[str], version: str) -> str | None:
    """Return the path of the Python that `command` starts, or None: names on PATH may start none.

    One of them is pyenv's: unless its settings choose a Python, it starts that one only if a
    variable names it.
    """
    question = "import sys; print('{}.{}'.format(*sys.version_info[:2])); print(sys.executable)"
    executable = shutil.which(command[0])
    if not executable:
        return None
    for variables in ({}, {"PYENV_VERSION": version}):
        try:
            answer = subprocess.run(
                [executable, *command[1:], "-c", question],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=30,
                env={**os.environ, **variables},
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        lines = answer.stdout.splitlines()
        if answer.returncode == 0 and lines[:1] == [version]:
            return lines[1]
    return None


# Set-up


class Environment:
    """A folder with a virtual environment: `.venv`, or one in `.venvs` for a Blender by name."""

    def __init__(self, root: Path, blender: str = "") -> None:
        self.root = root
        self.blender = blender
        self.folder = root / ".venvs" / blender if blender else root / ".venv"
        # written last, so an interrupted set-up has none
        self.stamp = self.folder / STAMP
        self.python = self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def set_up(self) -> None:
        """Make it anew if it is missing, unfinished or of other pins."""
        blender, python = choose_python(self.blender)
        if not self.is_complete(blender):
            with lock_set_up(self.root / LOCK):
                if not self.is_complete(blender):  # another build.py may have done it meanwhile
                    self.make(blender, python)

    def is_complete(self, blender: str) -> bool:
        """Return whether set-up has ended, for this Blender and these pins, and Python is there."""
        try:
            return self.stamp.read_text() == make_stamp(blender) and self.python.exists()
        except OSError:
            return False

    def make(self, blender: str, python: str) -> None:
        """Replace it: pip takes a half-unpacked package of an unfinished one for installed."""
        version, place = BLENDERS[blender], self.folder.relative_to(self.root)
        text = f"Setting up {place} with Blender {blender} for Python {version}"
        print(f"{text} (a minute or two, once) ...", flush=True)
        if self.stamp.exists():
            self.stamp.unlink()
        if self.folder.exists():
            shutil.rmtree(self.folder)
        run_quietly(
            [python, "-c", "import ensurepip, venv"],
            f"Python {version} comes without its venv module: install the package "
            f"python{version}-venv "
            f"(on Debian and Ubuntu: sudo apt install python{version}-venv) and run this again.",
        )
        run_quietly(
            [python, "-m", "venv", str(self.folder)],
            f"No virtual environment could be made in {self.folder}: see whether the folder is "
            "writable and the disk has room, and run this again.",
        )
        pins = list_requirements(blender)
        run_quietly(
            [str(self.python), *PIP, "install", "--only-binary=:all:", *pins],
            "The requirements could not be installed: see that the network is there and the disk "
            "has 2 GB of room, and run this again.",
        )
        unfinished = self.stamp.with_suffix(".tmp")
        unfinished.write_text(make_stamp(blender))
        unfinished.replace(self.stamp)

    def run(self, *command: str) -> int:
        """Run a module in its Python and the checkout's folder; return the exit code."""
        code = subprocess.run([str(self.python), "-m", *command], cwd=self.root).returncode
        return code if code >= 0 else 128 - code  # as a shell reports the end by a signal


def run_quietly(command: list[str], advice: str) -> None:
    """Run a step; if it fails, raise BuildError with its last lines and the advice."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        raise BuildError("\n".join([*done.stdout.splitlines()[-12:], advice]))


def list_requirements(blender: str) -> list[str]:
    """Return what is installed beside a Blender, as pip takes it."""
    return [f"{name}=={versions[blender]}" for name, versions, _ in PINS if blender in versions]


def make_stamp(blender: str) -> str:
    """Return a text that changes with the pins of a Blender."""
    pins = "\n".join([BLENDERS[blender], *list_requirements(blender)])
    return hashlib.sha256(pins.encode()).hexdigest() + "\n"


@contextlib.contextmanager
def lock_set_up(path: Path) -> Iterator[None]:
    """Let one build.py at a time set up; the system frees the lock however a process ends."""
    with open(path, "w") as file:
        if not try_lock(file):
            print("Another build.py is setting up: waiting for it ...", flush=True)
            while not try_lock(file):
                time.sleep(0.5)
        yield


def try_lock(file: IO[str]) -> bool:
    """Lock a file if nobody else has, and return whether that worked."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True

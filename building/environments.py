"""Virtual environments: the Python that fits a Blender, its module bpy, and what is needed to work
with it.
"""

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


class SetUpError(Exception):
    """Set-up cannot go on; the message says what to do."""


# Which Python


def choose_python(blender: str = "") -> tuple[str, str]:
    """Return a Blender and the path of a Python for its module: of the running Python, or else of
    one on PATH.

    Without a Blender's name, that is the first of BLENDERS for which there is one.
    """
    running = "{}.{}".format(*sys.version_info[:2])
    wanted = {blender: BLENDERS[blender]} if blender else BLENDERS
    for name, version in wanted.items():
        if version == running:
            return name, getattr(sys, "_base_executable", None) or sys.executable
    for name, version in wanted.items():
        for command in (["python" + version], ["py", "-" + version]):
            found = ask_for_path(command, version)
            if found:
                print(
                    f"This is Python {running}: working with Python {version} at {found} instead.",
                    flush=True,
                )
                return name, found
    fitting = " or ".join(
        f"{version} (for Blender {name})" for name, version in first_for_each_python(wanted).items()
    )
    version = next(iter(wanted.values()))
    raise SetUpError(
        f"This is Python {running}, and Blender's module exists for others only: install Python "
        f"{fitting} and run this again with it, as in 'python{version} build.py test'."
    )


def first_for_each_python(blenders: dict[str, str]) -> dict[str, str]:
    return {
        name: version
        for name, version in blenders.items()
        if name == next(other for other in blenders if blenders[other] == version)
    }


def ask_for_path(command: list[str], version: str) -> str | None:
    """Return the path of the Python that `command` starts, or None: on PATH there are names that
    start nothing.

    One of them is pyenv's: it starts a Python that is not chosen in its settings only where a
    variable asks for it.
    """
    question = "import sys; print('{}.{}'.format(*sys.version_info[:2])); print(sys.executable)"
    executable = shutil.which(command[0])
    if not executable:
        return None
    for asking in ({}, {"PYENV_VERSION": version}):
        try:
            answer = subprocess.run(
                [executable, *command[1:], "-c", question],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=30,
                env={**os.environ, **asking},
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        lines = answer.stdout.splitlines()
        if answer.returncode == 0 and lines[:1] == [version]:
            return lines[1]
    return None


# Set-up


class Environment:
    """A folder with a virtual environment for one Blender: `.venv`, or one in `.venvs` for a
    Blender asked for by name.
    """

    def __init__(self, root: Path, blender: str = "") -> None:
        self.root = root
        self.asked = blender
        self.folder = root / ".venvs" / blender if blender else root / ".venv"
        self.stamp = (
            self.folder / "set-up-is-complete"
        )  # written last, so a set-up that was interrupted has none
        self.python = self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def set_up(self) -> None:
        """Make it anew where it is missing, unfinished or of other pins."""
        blender, python = choose_python(self.asked)
        if not self.is_complete(blender):
            with set_up_lock(self.root / LOCK):
                if not self.is_complete(blender):  # another build.py may have done it meanwhile
                    self.make(blender, python)

    def is_complete(self, blender: str) -> bool:
        """Tell whether set-up ran to its end, for this Blender and these pins, and its Python is
        still there.
        """
        try:
            return self.stamp.read_text() == stamp_text(blender) and self.python.exists()
        except OSError:
            return False

    def make(self, blender: str, python: str) -> None:
        """Replace it. Nothing in an unfinished one is trusted: pip takes a half-unpacked package
        for installed.
        """
        version = BLENDERS[blender]
        place = self.folder.relative_to(self.root)
        print(
            f"Setting up {place} with Blender {blender} for Python {version} (a minute or two, "
            "once) ...",
            flush=True,
        )
        if self.stamp.exists():
            self.stamp.unlink()
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.run_quietly(
            [python, "-c", "import ensurepip, venv"],
            f"Python {version} comes without its venv module: install the package "
            f"python{version}-venv "
            f"(on Debian and Ubuntu: sudo apt install python{version}-venv) and run this again.",
        )
        self.run_quietly(
            [python, "-m", "venv", str(self.folder)],
            f"No virtual environment could be made in {self.folder}: see whether the folder is "
            "writable and the disk has room, and run this again.",
        )
        self.run_quietly(
            [
                str(self.python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-input",
                "--only-binary=:all:",
                *requirements(blender),
            ],
            "The requirements could not be installed: see that the network is there and the disk "
            "has 2 GB of room, and run this again.",
        )
        unfinished = self.stamp.with_suffix(".tmp")
        unfinished.write_text(stamp_text(blender))
        unfinished.replace(self.stamp)

    def run_quietly(self, command: list[str], advice: str) -> None:
        """Run a step; where it fails, raise SetUpError with its last lines and the advice."""
        done = subprocess.run(
            command,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if done.returncode != 0:
            raise SetUpError("\n".join([*done.stdout.splitlines()[-12:], advice]))

    def run(self, *command: str) -> int:
        """Run a module in its Python with the checkout as working folder, and return the
        exit code.
        """
        code = subprocess.run([str(self.python), "-m", *command], cwd=self.root).returncode
        return code if code >= 0 else 128 - code  # ended by a signal: what a shell would say


def requirements(blender: str) -> list[str]:
    return [f"{name}=={versions[blender]}" for name, versions, _ in PINS if blender in versions]


def stamp_text(blender: str) -> str:
    pins = "\n".join([BLENDERS[blender], *requirements(blender)])
    return hashlib.sha256(pins.encode()).hexdigest() + "\n"


@contextlib.contextmanager
def set_up_lock(path: Path) -> Iterator[None]:
    """Let one build.py at a time set up. The system frees the lock when a process dies, however it
    dies.
    """
    with open(path, "w") as file:
        if not try_lock(file):
            print("Another build.py is setting up: waiting for it ...", flush=True)
            while not try_lock(file):
                time.sleep(0.5)
        yield


def try_lock(file: IO[str]) -> bool:
    """Lock a file if nobody else has."""
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

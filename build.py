#!/usr/bin/env python3
"""One door for people who work on Motion Matching. It needs Python alone and sets up the rest in `.venv`.

    python3 build.py demo            build and solve the demo, say where the results lie
    python3 build.py test [...]      run the tests; what follows goes to pytest
    python3 build.py lint            ruff and mypy
    python3 build.py bench [names]   measure building, searching and the tick; all benchmarks, or those named
"""

from __future__ import annotations  # this file has to start on a Python too old for the project, to say so

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Iterator

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "set-up-is-complete"  # written last, so a set-up that was interrupted has none
LOCK = ROOT / ".venv.lock"

# What is installed: the name, its version on each Python that Blender's module exists for, and why this one.
PINS = (
    ("bpy", {"3.11": "5.0.1", "3.13": "5.2.3"}, "the newest Blender as a module for this Python"),
    ("numpy", {"3.11": "1.26.4", "3.13": "2.2.6"}, "bpy 5.0 needs one below 2, bpy 5.2 takes none below 2.2"),
    ("scipy", {"3.11": "1.15.3", "3.13": "1.15.3"}, "the newest that runs with either numpy"),
    ("pytest", {"3.11": "9.2.0", "3.13": "9.2.0"}, "test"),
    ("pytest-timeout", {"3.11": "2.4.0", "3.13": "2.4.0"}, "test: a time limit for each"),
    ("ruff", {"3.11": "0.17.5", "3.13": "0.17.5"}, "lint"),
    ("mypy", {"3.11": "2.4.1", "3.13": "2.4.1"}, "lint"),
    ("fake-bpy-module-5.0", {"3.11": "20260730", "3.13": "20260730"}, "lint: bpy's types, the same for both"),
)
PYTHONS = {"3.11": "Blender 5.0", "3.13": "Blender 5.2"}

DEMO = (
    ("demo-clips", "demo/clips"),
    ("build", "demo/clips", "-o", "demo/walk.npz", "--mirror"),
    ("take", "demo/walk.npz", "--script", "figure_eight", "--seconds", "30",
     "--bvh", "demo/take.bvh", "--report", "demo/take.json", "-o", "demo/take.blend"),
)
DEMO_RESULTS = (
    ("demo/clips/", "the generated motion capture"),
    ("demo/walk.npz", "the database built from it"),
    ("demo/take.bvh", "the take, as motion capture"),
    ("demo/take.json", "what the take measures, beside its sources"),
    ("demo/take.blend", "the take, as an action on a character: open it in Blender and press play"),
)


class SetUpError(Exception):
    """Set-up cannot go on; the message says what to do."""


# Which Python

def choose_python() -> tuple[str, str]:
    """Return version ("3.11") and path of the Python to work with: this one, or else a fitting one on PATH."""
    running = "{}.{}".format(*sys.version_info[:2])
    if running in PYTHONS:
        return running, getattr(sys, "_base_executable", None) or sys.executable
    for version in PYTHONS:
        for command in (["python" + version], ["py", "-" + version]):
            found = ask_for_path(command, version)
            if found:
                print(f"This is Python {running}: working with Python {version} at {found} instead.", flush=True)
                return version, found
    fitting = " or ".join(f"{version} (for {blender})" for version, blender in PYTHONS.items())
    raise SetUpError(f"This is Python {running}, and Blender's module exists for others only: install Python "
                     f"{fitting} and run this again with it, as in 'python{next(iter(PYTHONS))} build.py test'.")


def ask_for_path(command: list[str], version: str) -> str | None:
    """Return the path of the Python that `command` starts, or None: on PATH there are names that start nothing."""
    question = "import sys; print('{}.{}'.format(*sys.version_info[:2])); print(sys.executable)"
    executable = shutil.which(command[0])
    if not executable:
        return None
    try:
        answer = subprocess.run([executable, *command[1:], "-c", question], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = answer.stdout.splitlines()
    return lines[1] if answer.returncode == 0 and lines[:1] == [version] else None


# Set-up

def set_up() -> Path:
    """Return the Python of a complete `.venv`, made anew where it is missing, unfinished or of other pins."""
    version, python = choose_python()
    if not is_complete(version):
        with set_up_lock():
            if not is_complete(version):  # another build.py may have done it meanwhile
                make_venv(version, python)
    return venv_python()


def requirements(version: str) -> list[str]:
    return [f"{name}=={versions[version]}" for name, versions, _ in PINS]


def stamp_text(version: str) -> str:
    pins = "\n".join([version, *requirements(version)])
    return hashlib.sha256(pins.encode()).hexdigest() + "\n"


def is_complete(version: str) -> bool:
    """Tell whether set-up ran to its end, for this version and these pins, and its Python is still there."""
    try:
        return STAMP.read_text() == stamp_text(version) and venv_python().exists()
    except OSError:
        return False


def venv_python() -> Path:
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_venv(version: str, python: str) -> None:
    """Replace `.venv`. Nothing in an unfinished one is trusted: pip takes a half-unpacked package for installed."""
    print(f"Setting up .venv for Python {version} (a minute or two, once) ...", flush=True)
    if STAMP.exists():
        STAMP.unlink()
    if VENV.exists():
        shutil.rmtree(VENV)
    run_quietly([python, "-c", "import ensurepip, venv"],
                f"Python {version} comes without its venv module: install the package python{version}-venv "
                f"(on Debian and Ubuntu: sudo apt install python{version}-venv) and run this again.")
    run_quietly([python, "-m", "venv", str(VENV)],
                f"No virtual environment could be made in {VENV}: see whether the folder is writable and the disk "
                "has room, and run this again.")
    run_quietly([str(venv_python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
                 "--only-binary=:all:", *requirements(version)],
                "The requirements could not be installed: see that the network is there and the disk has 2 GB of "
                "room, and run this again.")
    unfinished = STAMP.with_suffix(".tmp")
    unfinished.write_text(stamp_text(version))
    unfinished.replace(STAMP)


def run_quietly(command: list[str], advice: str) -> None:
    """Run a step of set-up; where it fails, raise SetUpError with its last lines and the advice."""
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        raise SetUpError("\n".join([*done.stdout.splitlines()[-12:], advice]))


@contextlib.contextmanager
def set_up_lock() -> Iterator[None]:
    """Let one build.py at a time set up. The system frees the lock when a process dies, however it dies."""
    with open(LOCK, "w") as file:
        if not try_lock(file):
            print("Another build.py is setting up .venv: waiting for it ...", flush=True)
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


# Commands: each takes what follows its name and returns an exit code

def run(*command: str) -> int:
    """Run a module in `.venv`'s Python with the checkout as working folder, and return its exit code."""
    code = subprocess.run([str(venv_python()), "-m", *command], cwd=ROOT).returncode
    return code if code >= 0 else 128 - code  # ended by a signal: what a shell would say


def demo() -> int:
    for command in DEMO:
        code = run("motion_matching", *command)
        if code != 0:
            return code
    print("\nThe demo's results:")
    for path, what in DEMO_RESULTS:
        print(f"  {ROOT / path}: {what}")
    return 0


def test(*arguments: str) -> int:
    return run("pytest", "--ignore=tests/benchmarks", *arguments)


def lint() -> int:
    codes = [run("ruff", "check", "."), run("mypy")]
    return max(codes)


def bench(*names: str) -> int:
    return run("tests.benchmarks", *names)


def main(arguments: list[str]) -> int:
    commands = {"demo": demo, "test": test, "lint": lint, "bench": bench}
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(__doc__)
        return 0
    if name not in commands or (rest and name in ("demo", "lint")):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        set_up()
        return commands[name](*rest)
    except (SetUpError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Submit an exported job: run the program of the preferences with its arguments, and no shell."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from pathlib import Path

import bpy

from ...engine.errors import SettingsError
from ..steps import Steps
from .exporting import JOBS, get_folder

JOB = "{job}"  # stands for the job's folder in arguments
_LOOKS = 0.02  # seconds between two looks whether the program has ended
_WHERE = "'Submit Command' in the preferences of the extension"


def read_arguments(command: str, folder: Path) -> list[str]:
    """Return a command as a list of arguments, with the folder of a job in its place.

    Raises SettingsError if the command is empty, or names no job.
    """
    try:
        words = shlex.split(command, posix=os.name != "nt")
    except ValueError as cause:
        raise SettingsError(f"{_WHERE} cannot be read ({cause}); close its quotes.") from cause
    if not any(JOB in word for word in words):
        text = f"{_WHERE} has to name the job as {JOB}"
        raise SettingsError(f"{text}; write it as in: deadline bundle submit {JOB}.")
    return [word.replace(JOB, str(folder)) for word in words]


def submit_steps(obj: bpy.types.Object, command: str) -> Steps[str]:
    """Submit the exported job of an armature; return the last line that the program printed.

    Raises SettingsError if nothing was exported, or if the program is missing or fails.
    """
    folder = get_folder(obj)
    if not (folder / JOBS).is_file():
        raise SettingsError(f"There is no job in {folder}; export it first.")
    arguments = read_arguments(command, folder)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        try:
            program = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        except OSError as cause:
            text = f"The program '{arguments[0]}' cannot be run ({cause.strerror})"
            raise SettingsError(f"{text}; correct {_WHERE}.") from cause
        try:
            while program.poll() is None:
                yield "Submitting", 0.5
                time.sleep(_LOOKS)
        finally:
            program.kill()
            program.wait()
        output.seek(0)
        lines = output.read().split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    if program.returncode:
        text = f"'{arguments[0]}' ended with code {program.returncode}"
        raise SettingsError(f"{text}: {said}" if said else f"{text}; correct {_WHERE}.")
    return f"Submitted: {said}" if said else "Submitted"

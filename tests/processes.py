"""Run a program to its end, and fail the test if it does not get there."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest


def run_process(
    command: Sequence[object], folder: Path, environment: dict[str, str], timeout: float, name: str
) -> str:
    """Run a command in a folder and return its output; `timeout` in seconds."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
        )
    except subprocess.TimeoutExpired as stopped:
        pytest.fail(f"{name} did not end within {timeout:g} s; it had printed: {stopped.stdout!r}")
    if done.returncode != 0:
        pytest.fail(f"{name} ended with code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout

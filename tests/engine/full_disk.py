"""A disk that is full while a script saves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def assert_old_file_survives(script: str, target: Path, *arguments: object) -> None:
    """Run a script that fails to save `target`; check that it says so and keeps the old file."""
    target.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=CHECKOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert str(target) in done.stdout
    assert target.read_text() == "old"

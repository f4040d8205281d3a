"""Run the command line in this process."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable
from pathlib import Path

from motion_matching.cli import main


def run(*args: object) -> int:
    """Run a command and return its exit code."""
    return main([str(arg) for arg in args])


def run_line(line: str, *values: object) -> int:
    """Run a command written as in a shell, with a value for each word `{}`."""
    rest = iter(values)
    return run(*[next(rest) if word == "{}" else word for word in line.split()])


def run_with_errors(*args: object) -> tuple[int, str]:
    """Run a command and return its exit code and its errors."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        code = run(*args)
    return code, errors.getvalue()


def check_refusals(
    run_command: Callable[..., tuple[int, str]],
    cases: Iterable[tuple[tuple[object, ...], str]],
    out: Path,
) -> None:
    """Check that each case's arguments are refused with its words and do not touch `out`'s folder."""
    there = sorted(out.parent.iterdir()), out.read_bytes()
    for arguments, words in cases:
        code, said = run_command(*arguments)
        assert code == 1, (arguments, said)
        assert words in said, (arguments, said)
        assert said.count("\n") == 1, (arguments, said)
        assert there == (sorted(out.parent.iterdir()), out.read_bytes()), arguments

"""Run work that is done in slices."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_steps(work: Generator[Any, Any, Result]) -> Result:
    """Run a generator to its end and return its value."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value

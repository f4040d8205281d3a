"""Work on controls in pieces, between which Blender may go on."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")

# what is yielded is the part (0..1) that is done, or None where it is not known
Steps = Generator[float | None, None, Result]


def run_to_end(steps: Steps[Result]) -> Result:
    """Run steps at once, and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result

"""Report the progress of long work: by callbacks, which may raise to cancel it, or in steps."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")
Step = TypeVar("Step")
Told = TypeVar("Told")

# the stage of the work and the share of it done, 0 to 1; or the share alone
ReportProgress = Callable[[str, float], None]
ReportShare = Callable[[float], None]
# work in pieces, which yields the share done, or None if unknown
ShareSteps = Generator[float | None, None, Result]


def name_stage(progress: ReportProgress | None, stage: str) -> ReportShare | None:
    """Return a callback that reports the share done of one stage."""
    return None if progress is None else partial(progress, stage)


def report_part(progress: ReportShare | None, begun: float, part: float) -> ReportShare | None:
    """Return a callback that reports a part of the work, which begins at a share of it."""
    if progress is None:
        return None
    report = progress
    return lambda share: report(begun + share * part)


def ignore_progress(*progress: str | float) -> None:
    """Do nothing: no progress is shown."""


def run_to_end(steps: Generator[Any, None, Result]) -> Result:
    """Run steps at once, and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result


def map_steps(
    steps: Generator[Step, None, Result], report: Callable[[Step], Told]
) -> Generator[Told, None, Result]:
    """Run steps, and yield their progress converted by `report`."""
    try:
        while True:
            yield report(next(steps))
    except StopIteration as done:
        result: Result = done.value
        return result
    finally:
        steps.close()

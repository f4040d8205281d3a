"""Callbacks that long work calls with how much is done; they may raise to cancel it."""

from __future__ import annotations

from collections.abc import Callable

# the stage of the work and the share of it done, 0 to 1; or the share alone
ReportProgress = Callable[[str, float], None]
ReportShare = Callable[[float], None]


def report_part(progress: ReportShare | None, begun: float, part: float) -> ReportShare | None:
    """Return what reports a part of the work, which begins at a share of it."""
    if progress is None:
        return None
    report = progress
    return lambda share: report(begun + share * part)


def ignore_progress(*progress: str | float) -> None:
    """Do nothing, where no progress is shown."""

"""Callbacks of long work, which are told how much is done and may raise to cancel it."""

from __future__ import annotations

from collections.abc import Callable

# the stage of the work and the share of it done, 0 to 1; or the share alone
ReportProgress = Callable[[str, float], None]
ReportShare = Callable[[float], None]


def ignore_progress(*progress: str | float) -> None:
    """Do nothing, for work whose progress nobody wants to know."""

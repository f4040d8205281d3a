"""Solve a shot in passes, so that a complete take exists long before the best one."""

from __future__ import annotations

from collections.abc import Iterator

from ..progress import ReportShare, report_part
from .director import PREVIEW_STATES, TAKE_STATES, Directed, Director
from .shot.shot import Shot


def improve(
    director: Director,
    shot: Shot,
    feet: str | None = None,
    states: int = TAKE_STATES,
    progress: ReportShare | None = None,
) -> Iterator[Directed]:
    """Yield finished takes of a shot: a preview, then the take of the whole search.

    The last one is the take of `Director.make`. If the work is stopped, the take before it remains.
    Raises as `Director.make`.
    """
    passes = [PREVIEW_STATES, states] if states > PREVIEW_STATES else [states]
    total = sum(passes)
    begun = 0
    for each in passes:
        yield director.make(shot, feet, each, report_part(progress, begun / total, each / total))
        begun += each

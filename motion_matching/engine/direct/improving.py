"""Solve a shot in passes, so that there is a whole take long before the best one is found."""

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
    """Yield finished takes of a shot: that of a preview, then that of the whole search.

    The last one is what `Director.make` returns; a preview has no other before it. Whoever ends the
    work between has the take before. Raises as `Director.make`.
    """
    passes = [PREVIEW_STATES, states] if states > PREVIEW_STATES else [states]
    total, begun = sum(passes), 0
    for each in passes:
        yield director.make(shot, feet, each, report_part(progress, begun / total, each / total))
        begun += each

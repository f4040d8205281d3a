"""Make a shot of a performance: the whole way of its simulation object."""

from __future__ import annotations

import numpy as np

from ...control import rollout
from ...errors import SettingsError
from ...performance.performance import Performance
from ...performance.settings import PerformerSettings
from ..numbers import NUMBERS
from .shot import LONGEST_SHOT, Mark, Shot, TimedPath


def build_shot(performance: Performance, settings: PerformerSettings, skipped: int = 0) -> Shot:
    """Return the shot whose character follows the performance's simulation object.

    It begins after the ticks that are `skipped`. Raises SettingsError for one that is too long.
    """
    seconds = performance.seconds - skipped / performance.fps
    if seconds > LONGEST_SHOT:
        raise SettingsError(
            f"The performance '{performance.name}' is {seconds:.0f} s long, but only "
            f"{LONGEST_SHOT:g} s can be directed at once; shorten it."
        )
    fps = performance.fps
    way = rollout.simulate(performance, settings, fps)
    way = np.vstack([[*performance.position, performance.facing], way])[skipped:]
    x, y, yaw = way[0].tolist()
    count = len(way)
    every = max(round(fps / NUMBERS.way_rate), 1)
    ticks = np.unique([*range(0, count, every), count - 1])
    path = TimedPath(
        tuple((ticks / fps).tolist()),
        tuple((x, y) for x, y in way[ticks, :2].tolist()),
        tuple(way[ticks, 2].tolist()),
    )
    changes = _list_changes(performance, skipped)
    return Shot(
        seconds,
        (x, y),
        yaw,
        changes[0].gait or "walk",
        changes[1:] if changes[0].tags == () else changes,
        (path,),
        obstacles=performance.obstacles,
        walls=performance.walls,
        seed=performance.seed,
        name=performance.name,
    )


def _list_changes(performance: Performance, skipped: int) -> tuple[Mark, ...]:
    """Return marks at which a performance asks for another gait or other tags; the first at 0."""
    kinds = [(intent.gait > 0.5, intent.tags) for intent in performance.intents[skipped:]]
    marks = []
    for tick, (runs, tags) in enumerate(kinds):
        if tick == 0 or kinds[tick - 1] != kinds[tick]:
            gait = "run" if runs else "walk"
            marks.append(Mark(tick / performance.fps, gait=gait, tags=tuple(sorted(tags))))
    return tuple(marks)

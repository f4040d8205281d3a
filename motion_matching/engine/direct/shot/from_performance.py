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
    every = max(round(NUMBERS.step * fps), 1)
    last = len(way) - 1
    ticks = np.unique([*range(0, last, every), last])
    positions = tuple((x, y) for x, y in way[ticks, :2].tolist())
    path = TimedPath(tuple((ticks / fps).tolist()), positions, tuple(way[ticks, 2].tolist()))
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
    marks = []
    before = None
    for tick, intent in enumerate(performance.intents[skipped:]):
        kind = "run" if intent.gait > 0.5 else "walk", tuple(sorted(intent.tags))
        if kind != before:
            marks.append(Mark(tick / performance.fps, gait=kind[0], tags=kind[1]))
        before = kind
    return tuple(marks)

"""Goals of one tick, as a simulation object gives them to a motion field."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.field.paths import TIMES


def make_goal(
    vx: float,
    vy: float,
    yaw: float = 0.0,
    now: float | None = None,
    tags: AbstractSet[str] = frozenset(),
) -> Goal:
    """Make a goal that goes straight on at a velocity in m/s and faces `yaw`, at first `now`."""
    first = TrajectoryPoint(0.0, 0.0, yaw if now is None else now, vx, vy)
    ahead = (TrajectoryPoint(time * vx, time * vy, yaw, vx, vy) for time in TIMES)
    return Goal([first, *ahead], frozenset(tags))

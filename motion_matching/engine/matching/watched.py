"""A performance as the search saw it: beside the take, what was wanted at each tick, to inspect any of them afterwards."""

from __future__ import annotations

from typing import NamedTuple

from ..control.ground import Ground
from ..control.method import Goal, Motion
from ..control.performance import Performance
from ..control.performer import Performer
from ..control.rollout import Progress, solve
from ..control.settings import PerformerSettings
from ..control.take import Take
from .database import Database
from .method import MotionMatching


class Watched(NamedTuple):
    """A take of T ticks, and for each the goal that its pose was found for, with the settings of that tick."""

    take: Take
    wishes: tuple[tuple[Goal, PerformerSettings], ...]

    def wish_after(self, tick: int) -> tuple[Goal, PerformerSettings]:
        """What is wanted of the search that the pose of a tick meets next: the wish of the tick after it."""
        return self.wishes[min(tick + 1, len(self.wishes) - 1)]

    def sliced(self, start: int) -> Watched:
        """The ticks from `start` on."""
        return Watched(self.take.sliced(start), self.wishes[start:])


def watch(
    database: Database, settings: PerformerSettings, wanted: Performance, progress: Progress | None = None,
    ground: Ground | None = None,
) -> Watched:
    """The take that motion matching makes of a performance, on its own ground if no other is given, and what it met."""
    method = _Noting(database, settings)
    take = solve(Performer(method, settings, ground or wanted.ground), wanted, progress)
    return Watched(take, tuple(method.wishes))


class _Noting(MotionMatching):
    """Motion matching that notes what it is asked for."""

    def __init__(self, database: Database, settings: PerformerSettings) -> None:
        self.wishes: list[tuple[Goal, PerformerSettings]] = []
        super().__init__(database, settings)

    def advance(self, goal: Goal) -> Motion:
        self.wishes.append((goal, self._settings))
        return super().advance(goal)

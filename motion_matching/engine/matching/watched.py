"""A performance as its method saw it: beside the take, what was wanted at each tick, to inspect any of them afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from ..control.ground import Ground
from ..control.method import Goal, Method, Motion
from ..control.performance import Performance
from ..control.performer import Performer
from ..control.rollout import Progress, solve
from ..control.settings import PerformerSettings
from ..control.take import Take
from .database import Database
from .method import MotionMatching


class Choice(NamedTuple):
    """Of the actions of a motion field at a tick, the frames (k,) that they favour, what each was worth (k,), and which
    was chosen."""

    frames: np.ndarray
    scores: np.ndarray
    chosen: int


class Watched(NamedTuple):
    """A take of T ticks, and for each the goal that its pose was found for, with the settings of that tick, and among what
    it was chosen, None for motion matching."""

    take: Take
    wishes: tuple[tuple[Goal, PerformerSettings], ...]
    choices: tuple[Choice | None, ...]

    def wish_after(self, tick: int) -> tuple[Goal, PerformerSettings]:
        """What is wanted of the search that the pose of a tick meets next: the wish of the tick after it."""
        return self.wishes[min(tick + 1, len(self.wishes) - 1)]

    def choice_after(self, tick: int) -> Choice | None:
        """Among what the pose of the next tick was chosen."""
        return self.choices[min(tick + 1, len(self.choices) - 1)]

    def sliced(self, start: int) -> Watched:
        """The ticks from `start` on."""
        return Watched(self.take.sliced(start), self.wishes[start:], self.choices[start:])


def watch(
    database: Database,
    settings: PerformerSettings,
    wanted: Performance,
    progress: Progress | None = None,
    ground: Ground | None = None,
    controller: Callable[[Database, PerformerSettings], Method] = MotionMatching,
) -> Watched:
    """The take that a method makes of a performance, on its own ground if no other is given, and what it met."""
    method = _Noting(controller(database, settings), settings)
    take = solve(
        Performer(cast(Method, method), settings, ground or wanted.ground), wanted, progress
    )
    return Watched(
        take, tuple(zip(method.goals, method.settings, strict=True)), tuple(method.choices)
    )


class _Noting:
    """A method that notes what it is asked for, and among what it chose."""

    def __init__(self, method: Method, settings: PerformerSettings) -> None:
        self._method, self._settings = method, settings
        self.goals: list[Goal] = []
        self.settings: list[PerformerSettings] = []
        self.choices: list[Choice | None] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def apply(self, settings: PerformerSettings) -> None:
        self._method.apply(settings)
        self._settings = settings

    def advance(self, goal: Goal) -> Motion:
        motion = self._method.advance(goal)
        self.goals.append(goal)
        self.settings.append(self._settings)
        decision: Any = getattr(self._method, "decision", None)
        self.choices.append(
            decision and Choice(decision.frames.copy(), decision.scores.copy(), decision.chosen)
        )
        return motion

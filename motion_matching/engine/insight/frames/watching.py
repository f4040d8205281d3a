"""Watch a performance: record the goal of each tick beside the take, to inspect it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from ...control.method import Goal, Method, Motion
from ...control.rollout import Take, solve
from ...database.database import Database
from ...matching.method import MotionMatching
from ...performance.performance import Performance
from ...performance.settings import PerformerSettings
from ...progress import ReportShare
from ...takes.performers import create_performer


class Choice(NamedTuple):
    """The actions of a motion field at a tick: frames (k,), scores (k,), and the chosen one."""

    frames: np.ndarray
    scores: np.ndarray
    chosen: int


class WatchedTake(NamedTuple):
    """A take of T ticks with the goal and settings of each, and the choice that was made.

    A choice is None for motion matching.
    """

    take: Take
    goals: tuple[tuple[Goal, PerformerSettings], ...]
    choices: tuple[Choice | None, ...]

    def get_goal_after(self, tick: int) -> tuple[Goal, PerformerSettings]:
        """Return the goal and settings of the search that follows the pose of a tick."""
        return self.goals[min(tick + 1, len(self.goals) - 1)]

    def get_choice_after(self, tick: int) -> Choice | None:
        """Return the choice that led to the pose of the next tick."""
        return self.choices[min(tick + 1, len(self.choices) - 1)]

    def crop(self, start: int) -> WatchedTake:
        """Return the ticks from `start` on."""
        return WatchedTake(self.take.crop(start), self.goals[start:], self.choices[start:])


def watch(
    database: Database,
    settings: PerformerSettings,
    performance: Performance,
    progress: ReportShare | None = None,
    controller: Callable[[Database, PerformerSettings], Method] = MotionMatching,
) -> WatchedTake:
    """Perform with a method on the performance's ground, and record its goals."""
    method = _GoalRecorder(controller(database, settings), settings)
    performer = create_performer(cast(Method, method), settings, performance.ground)
    take = solve(performer, performance, progress)
    return WatchedTake(take, tuple(method.goals), tuple(method.choices))


class _GoalRecorder:
    """A method that records its goals and choices."""

    def __init__(self, method: Method, settings: PerformerSettings) -> None:
        self._method = method
        self._settings = settings
        self._scale = method.world.scale
        self.goals: list[tuple[Goal, PerformerSettings]] = []
        self.choices: list[Choice | None] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def apply(self, settings: PerformerSettings) -> None:
        self._method.apply(settings)
        self._settings = self._scale.to_world(settings)

    def advance(self, goal: Goal) -> Motion:
        motion = self._method.advance(goal)
        self.goals.append((self._scale.to_world(goal), self._settings))
        self.choices.append(self._get_choice(motion))
        return motion

    def _get_choice(self, motion: Motion) -> Choice | None:
        """Return the options of a motion field; while it idles, only the played one."""
        if not hasattr(self._method, "decision"):
            return None
        decision: Any = self._method.decision
        if decision is None:
            return Choice(np.array([motion.frame]), np.zeros(1), 0)
        return Choice(decision.frames.copy(), decision.scores.copy(), decision.chosen)

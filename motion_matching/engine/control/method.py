"""What a controller's method takes and gives: the one interface that motion matching and motion fields share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..motion.skeleton import Skeleton
from .legs import LegGeometry
from .settings import PerformerSettings
from .trajectory import TrajectoryPoint


class Goal(NamedTuple):
    """What is wanted of the next tick, in the character's own frame.

    `trajectory` has a point for each of the method's `trajectory_times`; `sharp` says that the wish has just changed
    so much that a search should not wait; `fading`, that the last jump is still more there than not, so that another
    one had better wait. `push` in m/s is that of the intent, if it has one: the trajectory knows of it already.
    """

    trajectory: Sequence[TrajectoryPoint]
    tags: frozenset[str] = frozenset()
    jump_to: str | None = None
    sharp: bool = False
    fading: bool = False
    push: tuple[float, float] | None = None


class Jump(NamedTuple):
    """The two poses (7, B), their velocities (6, B) and root velocities (3,) of one instant that a jump connects."""

    left: np.ndarray
    left_velocity: np.ndarray
    left_root: np.ndarray
    entered: np.ndarray
    entered_velocity: np.ndarray
    entered_root: np.ndarray


class Motion(NamedTuple):
    """What the method plays next: a local pose (7, B) and how it got there.

    `root` (3,) is the motion of the simulation bone over this tick in its own axes: x, y per second and turn rate.
    `contacts` (L,), `frame` of the database and `cost` of the last decision are for those who look.
    """

    pose: np.ndarray
    root: np.ndarray
    contacts: np.ndarray
    jump: Jump | None
    frame: int
    cost: float


@dataclass(frozen=True)
class Candidate:
    """A frame that a search looked at: its cost as a whole and by feature."""

    frame: int
    cost: float
    by_feature: tuple[float, ...]


@dataclass(frozen=True)
class Explanation:
    """A search for people: the cost of playing on, the best candidates from the best on, and how long it took."""

    labels: tuple[str, ...]
    continuing: Candidate
    candidates: tuple[Candidate, ...]
    seconds: float


class Method(Protocol):
    """A way to turn goals into motion."""

    @property
    def skeleton(self) -> Skeleton: ...

    @property
    def fps(self) -> float: ...

    @property
    def hips(self) -> int: ...

    @property
    def acceleration_limits(
        self,
    ) -> np.ndarray: ...  # (2, B) linear and angular, of each bone against its parent

    @property
    def legs(self) -> tuple[LegGeometry, ...]: ...  # in the order of contacts

    @property
    def trajectory_times(self) -> tuple[float, ...]: ...

    def apply(self, settings: PerformerSettings) -> None: ...

    def reset(self) -> Motion: ...

    def advance(self, goal: Goal) -> Motion: ...

    def explain(
        self, count: int
    ) -> Explanation | None: ...  # of the last search, None before the first

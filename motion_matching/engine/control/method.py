"""The interface that motion matching and motion fields share: a goal goes in, motion comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..motion.skeleton import Skeleton
from .footholds import Footing
from .ground_ahead import ClimbSpeeds
from .jump import Jump, MeasureSeams
from .legs import LegGeometry
from .looking import Gaze
from .played_toes import PlayedToes
from .settings import PerformerSettings
from .start_state import MovingPose
from .trajectory import TrajectoryPoint


class Goal(NamedTuple):
    """The goal of the next tick, in the character's own frame.

    `trajectory` has a point for each of the method's `trajectory_times`. `sharp`: the goal changed
    so much that a search should not wait. `fading`: less than half of the last jump has faded, so
    another one should wait. `push` in m/s is the intent's; the trajectory includes it already.
    `enter` is the intent's, too. `rests`: the simulation object rests, and nothing is requested;
    `stands`: besides, the character faces as it does, so that there is nothing to do but to stand.
    `measure_seams` tells how hard jumps would shake a joint; `measure_prices` what jumps (J,) cost
    the eye, in metre-seconds.
    `feet` (L, 3) are where toes are shown, and how far the body has gone since each stands; None
    where that does not matter.
    """

    trajectory: Sequence[TrajectoryPoint]
    tags: frozenset[str] = frozenset()
    jump_to: str | None = None
    sharp: bool = False
    fading: bool = False
    push: tuple[float, float] | None = None
    enter: str | None = None
    stands: bool = False
    rests: bool = False
    measure_seams: MeasureSeams | None = None
    measure_prices: Callable[[Sequence[Jump]], np.ndarray] | None = None
    feet: np.ndarray | None = None


class Motion(NamedTuple):
    """What the method plays next: a local pose (7, B) and where it comes from.

    `root` (3,) is the velocity of the simulation bone over this tick in its own axes: x and y in
    m/s and the turn rate in rad/s. `contacts` (L,) are those of the pose; `frame` of the database
    and `cost` of the last decision are for display. `toes` are known where it plays single frames.
    `labels` have 1 for that of the settings' labels which is played, if any, and 0 for the others.
    `hardest` is how fast a joint accelerates in the data around the frame, in m/s², if known. It
    `holds` a pose that no data moves. `footing` is that of a frame whose ground is not level.
    What is shown is a `share` of a frame later than it, from -0.5 to 0.5, and played at a `rate`.
    """

    pose: np.ndarray
    root: np.ndarray
    contacts: np.ndarray
    jump: Jump | None
    frame: int
    cost: float
    toes: PlayedToes | None = None
    labels: tuple[float, ...] = ()
    hardest: float = math.inf
    holds: bool = False
    footing: Footing | None = None
    share: float = 0.0
    rate: float = 1.0


@dataclass(frozen=True)
class Candidate:
    """A frame that a search considered: its total cost and the cost of each feature.

    `feet` is what of the total is for feet that stand elsewhere, `terms` what each cost term adds.
    """

    frame: int
    cost: float
    by_feature: tuple[float, ...]
    feet: float = 0.0
    terms: tuple[float, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """A search: the features' labels, the cost of playing on, and the best candidates in order.

    `terms` are the names of cost terms.
    """

    labels: tuple[str, ...]
    continuing: Candidate
    candidates: tuple[Candidate, ...]
    terms: tuple[str, ...] = ()


class Method(Protocol):
    """A way to turn goals into motion.

    `start_from` enters the motion that is most like a pose and its velocities; the motion's jump
    leads from there to what was entered, whose pose is that of this instant.

    `acceleration_limits` (2, B) are linear and angular, of each bone against its parent; `legs` are
    in the order of contacts. `gaze` is what turns for a look, None if there is no known head. Goals
    tell a motion that `climbs` how far the ground rises. `explain` returns the last search, None
    before the first.
    """

    @property
    def skeleton(self) -> Skeleton: ...
    @property
    def fps(self) -> float: ...
    @property
    def hips(self) -> int: ...
    @property
    def acceleration_limits(self) -> np.ndarray: ...
    @property
    def legs(self) -> tuple[LegGeometry, ...]: ...
    @property
    def gaze(self) -> Gaze | None: ...
    @property
    def trajectory_times(self) -> tuple[float, ...]: ...
    @property
    def climbs(self) -> ClimbSpeeds | None: ...
    def apply(self, settings: PerformerSettings) -> None: ...
    def reset(self) -> Motion: ...
    def start_from(self, state: MovingPose) -> Motion: ...
    def advance(self, goal: Goal) -> Motion: ...
    def explain(self, count: int) -> Explanation | None: ...

"""Define the interface of motion matching and motion fields: a goal goes in, motion comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..blending.jump import Jump, MeasureSeams
from ..feet.played_toes import PlayedToes
from ..ground.footholds import Footing
from ..ground.ground_ahead import ClimbSpeeds
from ..legs.legs import LegGeometry
from ..motion.simulation_bone import SIMULATION_BONE_NAME
from ..performance.settings import PerformerSettings
from ..performance.start_state import MovingPose
from ..scale import Scale
from ..skeleton.skeleton import Skeleton
from ..units import measured
from .life.looking import Gaze
from .trajectory import TrajectoryPoint

_BODY = Skeleton(
    (SIMULATION_BONE_NAME,), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]])
)
_POSE = np.array([[0.0], [0.0], [0.0], [1.0], [0.0], [0.0], [0.0]], np.float32)


@measured(push="m/s", feet="m")
class Goal(NamedTuple):
    """The goal of the next tick, in the character's own frame.

    `trajectory` has a point for each of the method's `trajectory_times`. `sharp`: the goal changed
    so much that a search should not wait. `fading`: less than half of the last jump has faded, so
    another one should wait. `push` in m/s is the intent's; the trajectory includes it already.
    `enter` is the intent's, too. `rests`: the simulation object rests, and nothing is requested;
    `stands`: the character also faces as it does, so that it only has to stand. `measure_seams`
    returns how hard jumps would shake a joint, `measure_prices` the visible cost of jumps (J,) in
    metre-seconds.
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
    """The motion played next: a local pose (7, B) and its origin.

    `root` (3,) is the velocity of the simulation bone over this tick in its own axes: x and y in
    m/s and the turn rate in rad/s. `contacts` (L,) are those of the pose; `frame` of the database
    and `cost` of the last decision are for display. `toes` are known where it plays single frames.
    `labels` have 1 for that of the settings' labels which is played, if any, and 0 for the others.
    `hardest` is how fast a joint accelerates in the data around the frame, in m/s², if known. It
    `holds` a pose that no data moves. `footing` is that of a frame whose ground is not level.
    The moment shown is a `share` of a frame later, from -0.5 to 0.5, and played at a `rate`.
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

    `feet` is the part of the total for feet that stand elsewhere, `terms` that of each cost term.
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


class WorldBody(Protocol):
    """A body in the units of the world, ticks per second, and the scale to its body units."""

    @property
    def skeleton(self) -> Skeleton: ...
    @property
    def fps(self) -> float: ...
    @property
    def scale(self) -> Scale: ...


class Method(Protocol):
    """A way to turn goals into motion, in body units. In those of the world, the body is `world`.

    `start_from` enters the motion that is most like a pose and its velocities; the motion's jump
    leads from there to the entered frame, whose pose is that of this instant.

    `acceleration_limits` (2, B) are linear and angular, of each bone against its parent; `legs` are
    in the order of contacts. `gaze` has the bones that turn for a look, None without a known head.
    Goals of a motion that `climbs` include how far the ground rises. `explain` returns the last
    search, None before the first.
    """

    @property
    def world(self) -> WorldBody: ...
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


class Ideal:
    """Moves to the trajectory's next point each tick, to try speeds and halflives without data."""

    scale = Scale()
    skeleton = _BODY
    hips = 0
    acceleration_limits = np.ones((2, 1), np.float32)
    legs: tuple[LegGeometry, ...] = ()
    gaze: Gaze | None = None

    def __init__(self, fps: float) -> None:
        self.fps = fps
        self.world = self
        self.trajectory_times = (1.0 / fps,)
        self.climbs = None

    def apply(self, settings: PerformerSettings) -> None:
        """Do nothing: no setting applies."""

    def reset(self) -> Motion:
        """Return a standing pose."""
        return self._build_motion(np.zeros(3))

    def start_from(self, state: MovingPose) -> Motion:
        """Return a standing pose: there is no body to go on with."""
        return self.reset()

    def advance(self, goal: Goal) -> Motion:
        """Return the motion to the trajectory's point."""
        point = goal.trajectory[0]
        return self._build_motion(self.fps * np.array([point.x, point.y, point.yaw]))

    def explain(self, count: int) -> Explanation | None:
        """Return None, as there is no search."""
        return None

    def _build_motion(self, root: np.ndarray) -> Motion:
        return Motion(_POSE.copy(), root, np.zeros(0, bool), None, 0, 0.0)

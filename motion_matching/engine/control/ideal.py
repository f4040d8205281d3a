"""A method without data, which does just what is asked of it: what is left of a performer is the simulation object."""

from __future__ import annotations

import numpy as np

from ..motion.simulation_bone import NAME
from ..motion.skeleton import Skeleton
from .legs import LegGeometry
from .method import Explanation, Goal, Motion
from .settings import PerformerSettings

_BODY = Skeleton((NAME,), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]))
_POSE = np.array([[0.0], [0.0], [0.0], [1.0], [0.0], [0.0], [0.0]], np.float32)


class Ideal:
    """Moves where the trajectory is after a tick of 1 / `fps`, so that speeds and halflives can be felt without a database.

    The body is the simulation bone alone.
    """

    skeleton = _BODY
    hips = 0
    acceleration_limits = np.ones((2, 1), np.float32)
    legs: tuple[LegGeometry, ...] = ()

    def __init__(self, fps: float) -> None:
        self.fps = fps
        self.trajectory_times = (1.0 / fps,)

    def apply(self, settings: PerformerSettings) -> None:
        """There is nothing that settings would change."""

    def reset(self) -> Motion:
        """Stand."""
        return self._moving(np.zeros(3))

    def advance(self, goal: Goal) -> Motion:
        """Be at the trajectory's point."""
        point = goal.trajectory[0]
        return self._moving(self.fps * np.array([point.x, point.y, point.yaw]))

    def explain(self, count: int) -> Explanation | None:
        """Nothing was searched for."""
        return None

    def _moving(self, root: np.ndarray) -> Motion:
        return Motion(_POSE.copy(), root, np.zeros(0, bool), None, 0, 0.0)

"""A method without data that reaches its goal exactly: the simulation object drives alone."""

from __future__ import annotations

import numpy as np

from ..motion.simulation_bone import SIMULATION_BONE_NAME
from ..motion.skeleton import Skeleton
from .legs import LegGeometry
from .looking import Gaze
from .method import Explanation, Goal, Motion
from .settings import PerformerSettings
from .start_state import MovingPose

_BODY = Skeleton(
    (SIMULATION_BONE_NAME,), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]])
)
_POSE = np.array([[0.0], [0.0], [0.0], [1.0], [0.0], [0.0], [0.0]], np.float32)


class Ideal:
    """Moves to the trajectory's next point each tick, to try speeds and halflives without data."""

    skeleton = _BODY
    hips = 0
    acceleration_limits = np.ones((2, 1), np.float32)
    legs: tuple[LegGeometry, ...] = ()
    gaze: Gaze | None = None

    def __init__(self, fps: float) -> None:
        self.fps = fps
        self.trajectory_times, self.climbs = (1.0 / fps,), None

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

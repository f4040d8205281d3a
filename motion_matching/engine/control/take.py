"""What a performer did: poses and where they came from, tick by tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..maths import quat
from ..motion.clip import Clip
from ..motion.skeleton import Skeleton
from .method import Explanation
from .performance import Performance


@dataclass(frozen=True)
class Take:
    """T ticks: poses (T, 7, B) with bone 0 the character in the world, and what explains them.

    unlocked_poses (T, 7, B) are those before the feet were locked; locked (T, L) tells which toes were held.

    frames (T,) of the database, jumped (T,), cost (T,); character and simulation (T, 3) as x, y, yaw, and
    apart (T, 3), how far their steps of a tick led away from each other; desired_velocity
    (T, 2) and desired_yaw (T,) as they were wanted; contacts (T, L) of the source frames;
    decisions, the search behind every jump with its tick.
    """

    name: str
    skeleton: Skeleton
    fps: float
    poses: np.ndarray
    unlocked_poses: np.ndarray
    locked: np.ndarray
    frames: np.ndarray
    jumped: np.ndarray
    cost: np.ndarray
    character: np.ndarray
    simulation: np.ndarray
    apart: np.ndarray
    desired_velocity: np.ndarray
    desired_yaw: np.ndarray
    contacts: np.ndarray
    decisions: tuple[tuple[int, Explanation], ...]
    performance: Performance
    settings: dict[str, Any]

    @property
    def frame_count(self) -> int:
        return len(self.poses)

    def clip(self) -> Clip:
        """The poses as a clip whose bone 0 is the simulation bone."""
        poses = self.poses.transpose(0, 2, 1)
        rotations = quat.unroll(quat.normalize(poses[..., 3:]))
        return Clip(self.name, self.skeleton, np.ascontiguousarray(poses[..., :3]), rotations, self.fps)

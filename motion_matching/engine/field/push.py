"""A shove: the spine is bent and the hips are moved, in pose and velocity; the field finds its way back (notebook 003).

The notebook pushes by one amount each tick that its button is held; here a shove is spread over a tenth of a second, so
that it looks the same at any frame rate and nothing pops.
"""

from __future__ import annotations

import math

import numpy as np

from ..maths import quat
from ..motion.rig import Roles
from ..motion.skeleton import Skeleton
from .poses import add_joints, subtract_joints

FULL = 2.0  # m/s: the push of full strength
_BEND = 0.2  # radians of every joint of the spine
_SHIFT = 0.1  # metres of the hips
_SECONDS = 0.1


class Shove:
    """What is left of the last push, in the character's frame; it is given in equal parts, one a tick."""

    def __init__(self, skeleton: Skeleton, roles: Roles, fps: float) -> None:
        self._skeleton, self._hips = skeleton, roles.hips
        above = skeleton.ancestors(roles.spine)
        self._spine = (
            [roles.spine, *above[: above.index(roles.hips)]][::-1] if roles.hips in above else []
        )
        self._ticks = max(round(_SECONDS * fps), 1)
        self.reset()

    def reset(self) -> None:
        self._left, self._x, self._y = 0, 0.0, 0.0

    def push(self, x: float, y: float) -> None:
        """Be pushed at x, y m/s in the character's axes."""
        self._left, self._x, self._y = (
            self._ticks,
            x / (FULL * self._ticks),
            y / (FULL * self._ticks),
        )

    def turned(self, turn: float) -> None:
        """The character has turned by so many radians: the push keeps its direction in the world."""
        c, s = math.cos(turn), math.sin(turn)
        self._x, self._y = c * self._x + s * self._y, c * self._y - s * self._x

    def apply(self, pose: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A pose and its velocity (7, B) with this tick's part of the push, if there is one."""
        if not self._left:
            return pose, velocity
        self._left -= 1
        pushed = self._moved(pose, 1.0)
        return pushed, subtract_joints(self._moved(add_joints(pose, velocity), 2.0), pushed)

    def _moved(self, pose: np.ndarray, times: float) -> np.ndarray:
        x, y = times * self._x, times * self._y
        result = pose.copy()
        bones = [*self._skeleton.ancestors(self._hips)[::-1], self._hips]
        above = quat.IDENTITY  # the parent's rotation as the character sees it
        for bone in bones[1:]:
            if bone == self._hips:
                shift = quat.inv_mul_vec(above, _SHIFT * np.array([x, y, 0.0]))
                result[:3, bone] += shift
            above = quat.mul(above, pose[3:, bone].astype(np.float64))
        for bone in self._spine:
            # about the level axis that tips what is upright into the direction of the push
            bend = quat.from_scaled_angle_axis(
                _BEND * quat.inv_mul_vec(above, np.array([-y, x, 0.0]))
            )
            result[3:, bone] = quat.mul(bend, pose[3:, bone].astype(np.float64))
            above = quat.mul(above, result[3:, bone].astype(np.float64))
        return result

"""A shove bends the spine and moves the hips, in pose and velocity; the field finds its way back.

It is spread over a tenth of a second, so that it looks the same at any frame rate and nothing pops.
Source: notebook 003, which pushes by a fixed amount each tick while its button is held.
"""

from __future__ import annotations

import numpy as np

from ..maths import quat
from ..maths.planar import rotate_xy
from ..motion.rig import Roles
from ..motion.skeleton import Skeleton
from .poses import add_joints, subtract_joints

FULL = 2.0  # m/s: the push of full strength
_BEND = 0.2  # radians of every joint of the spine
_SHIFT = 0.1  # metres of the hips
_SECONDS = 0.1


class Shove:
    """What is left of the last push, in the character's frame; it is applied in equal parts, one
    per tick.
    """

    def __init__(self, skeleton: Skeleton, roles: Roles, fps: float) -> None:
        self._skeleton, self._hips = skeleton, roles.hips
        above = skeleton.get_ancestors(roles.spine)
        self._spine = (
            [roles.spine, *above[: above.index(roles.hips)]][::-1] if roles.hips in above else []
        )
        self._ticks = max(round(_SECONDS * fps), 1)
        self.reset()

    def reset(self) -> None:
        self._ticks_left, self._x, self._y = 0, 0.0, 0.0

    def push(self, x: float, y: float) -> None:
        """Start a push of x, y m/s in the character's axes."""
        self._ticks_left, self._x, self._y = (
            self._ticks,
            x / (FULL * self._ticks),
            y / (FULL * self._ticks),
        )

    def turn(self, turn: float) -> None:
        """Keep the push's direction in the world after the character has turned by an angle in
        radians.
        """
        self._x, self._y = rotate_xy(self._x, self._y, -turn)

    def apply(self, pose: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a pose and its velocity (7, B) with this tick's part of the push, if there
        is one.
        """
        if not self._ticks_left:
            return pose, velocity
        self._ticks_left -= 1
        pushed = self._bend_pose(pose, 1.0)
        return pushed, subtract_joints(self._bend_pose(add_joints(pose, velocity), 2.0), pushed)

    def _bend_pose(self, pose: np.ndarray, times: float) -> np.ndarray:
        x, y = times * self._x, times * self._y
        result = pose.copy()
        bones = [*self._skeleton.get_ancestors(self._hips)[::-1], self._hips]
        above = quat.IDENTITY  # the parent's rotation as the character sees it
        for bone in bones[1:]:
            if bone == self._hips:
                shift = quat.inv_mul_vec(above, _SHIFT * np.array([x, y, 0.0]))
                result[:3, bone] += shift
            above = quat.mul(above, pose[3:, bone].astype(np.float64))
        for bone in self._spine:
            # about the horizontal axis that tilts an upright spine in the direction of the push
            bend = quat.from_scaled_angle_axis(
                _BEND * quat.inv_mul_vec(above, np.array([-y, x, 0.0]))
            )
            result[3:, bone] = quat.mul(bend, pose[3:, bone].astype(np.float64))
            above = quat.mul(above, result[3:, bone].astype(np.float64))
        return result

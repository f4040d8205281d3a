"""Push a body: bend its spine and move its hips, in pose and velocity; the field recovers.

It is spread over a fifth of a second, so that it looks the same at any frame rate and nothing pops.
A harder push than one of full strength moves the body farther, but bends it no more.
Source: notebook 003, which pushes by a fixed amount each tick while its button is held.
"""

from __future__ import annotations

import math

import numpy as np

from ..body.rig import Roles
from ..maths.planar import rotate_xy
from ..maths.rotations import quat
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS
from .states.poses import add_joints, subtract_joints

FULL = NUMBERS.full_push


class Shove:
    """The rest of the last push, in the character's frame, applied in equal parts per tick."""

    def __init__(self, skeleton: Skeleton, roles: Roles, fps: float) -> None:
        self._hips = roles.hips
        self._chain = [*skeleton.get_ancestors(roles.hips)[::-1], roles.hips][1:]
        above = [roles.spine, *skeleton.get_ancestors(roles.spine)]
        self._spine = above[: above.index(roles.hips)][::-1] if roles.hips in above else []
        self._ticks = max(round(NUMBERS.push_seconds * fps), 1)
        self.reset()

    def reset(self) -> None:
        self._ticks_left = 0
        self._x = 0.0
        self._y = 0.0

    def push(self, x: float, y: float) -> None:
        """Start a push of x, y m/s in the character's axes; it bends no more than a full one."""
        full = max(FULL, math.hypot(x, y)) * self._ticks
        self._ticks_left = self._ticks
        self._x = x / full
        self._y = y / full

    def turn(self, turn: float) -> None:
        """Keep the push's direction in the world after the character has turned by some radians."""
        self._x, self._y = rotate_xy(self._x, self._y, -turn)

    def apply(self, pose: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a pose and its velocity (7, B) with this tick's part of the push, if any."""
        if not self._ticks_left:
            return pose, velocity
        self._ticks_left -= 1
        pushed = self._bend_pose(pose, 1.0)
        return pushed, subtract_joints(self._bend_pose(add_joints(pose, velocity), 2.0), pushed)

    def _bend_pose(self, pose: np.ndarray, times: float) -> np.ndarray:
        x, y = times * self._x, times * self._y
        # a spine tilts in the direction of the push about the horizontal axis across it
        axis = np.array([-y, x, 0.0])
        shift = NUMBERS.push_shift * np.array([x, y, 0.0])
        result = pose.copy()
        above = quat.IDENTITY  # the parent's rotation in the character's frame
        for bone in self._chain:
            if bone == self._hips:
                result[:3, bone] += quat.inv_mul_vec(above, shift)
            above = quat.mul(above, pose[3:, bone].astype(np.float64))
        for bone in self._spine:
            bend = quat.from_scaled_angle_axis(NUMBERS.push_bend * quat.inv_mul_vec(above, axis))
            result[3:, bone] = quat.mul(bend, pose[3:, bone].astype(np.float64))
            above = quat.mul(above, result[3:, bone].astype(np.float64))
        return result

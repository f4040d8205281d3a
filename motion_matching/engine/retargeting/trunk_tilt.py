"""Raise or lower the chest of a four-legged body until its forelegs can stand as the source's."""

from __future__ import annotations

import numpy as np

from ..maths.along_time import compute_window
from ..maths.easing import smoothstep
from ..maths.rotations import quat
from .foot_goals import smooth
from .frames.neutral_pose import UP
from .numbers import NUMBERS

TILT_SLACK = NUMBERS.tilt_slack


def find_tilt(way: np.ndarray, rise: np.ndarray, slack: float, fps: float) -> np.ndarray:
    """Return turns (F, 4) of the trunk that raise the chest by `rise` (F,).

    `way` (F, 3) leads to the chest from where the trunk turns. Turns are smaller by up to `slack`
    radians, for which the forelegs bend instead.
    """
    level = np.linalg.norm(way[:, :2], axis=-1)
    length = np.maximum(np.hypot(level, way[:, 2]), 1e-9)
    present = np.arctan2(way[:, 2], level)
    angle = np.arcsin(np.clip((way[:, 2] + rise) / length, -0.99, 0.99)) - present
    angle -= np.clip(angle, -slack, slack)
    steep = smoothstep((np.abs(present) - NUMBERS.rearing) / (NUMBERS.reared - NUMBERS.rearing))
    angle = np.clip(angle, -NUMBERS.most_tilt, NUMBERS.most_tilt) * (1.0 - steep)
    axis = quat.normalize_vectors(np.cross(way * [1.0, 1.0, 0.0], UP))
    return quat.from_angle_axis(smooth(angle, compute_window(NUMBERS.steady, fps)), axis)

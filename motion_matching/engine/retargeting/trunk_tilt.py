"""Raise or lower the chest of a four-legged body until its forelegs can stand as the source's."""

from __future__ import annotations

import numpy as np

from ..maths.along_time import compute_window
from ..maths.easing import smoothstep
from ..maths.rotations import quat
from .foot_goals import smooth
from .frames.neutral_pose import UP

TILT_SLACK = np.radians(4.0)  # by which a trunk may lean otherwise than the source's
_MOST = np.radians(35.0)
_STEEP, _STEEPEST = np.radians(45.0), np.radians(75.0)  # a rearing trunk is tilted less and less
_STEADY = 0.12  # seconds over which tilts are smoothed


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
    steep = smoothstep((np.abs(present) - _STEEP) / (_STEEPEST - _STEEP))
    angle = np.clip(angle, -_MOST, _MOST) * (1.0 - steep)
    axis = quat.normalize_vectors(np.cross(way * [1.0, 1.0, 0.0], UP))
    return quat.from_angle_axis(smooth(angle, compute_window(_STEADY, fps)), axis)

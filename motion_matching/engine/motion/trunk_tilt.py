"""Raise or lower the chest of a four-legged body, so that its forelegs can stand as the source's."""

from __future__ import annotations

import numpy as np

from ..maths import quat
from ..maths.easing import smoothstep
from .foot_goals import smooth
from .neutral_pose import UP
from .smoothing import compute_window

_MOST = np.radians(35.0)
_STEEP, _STEEPEST = np.radians(45.0), np.radians(75.0)  # a rearing trunk is tilted less and less
_STEADY = 0.12  # seconds over which tilts are smoothed


def find_tilt(pivot: np.ndarray, chest: np.ndarray, heights: np.ndarray, fps: float) -> np.ndarray:
    """Return the turns (F, 4) about `pivot` that bring `chest` (F, 3) to `heights` (F,)."""
    way = chest - pivot
    level = np.linalg.norm(way[:, :2], axis=-1)
    length = np.maximum(np.hypot(level, way[:, 2]), 1e-9)
    present = np.arctan2(way[:, 2], level)
    wanted = np.arcsin(np.clip((heights - pivot[:, 2]) / length, -0.99, 0.99))
    steep = smoothstep((np.abs(present) - _STEEP) / (_STEEPEST - _STEEP))
    angle = np.clip(wanted - present, -_MOST, _MOST) * (1.0 - steep)
    axis = quat.normalize_vectors(np.cross(way * [1.0, 1.0, 0.0], UP))
    return quat.from_angle_axis(smooth(angle, compute_window(_STEADY, fps)), axis)

"""Describe a jump between two frames: poses and velocities on both sides, and after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class Jump(NamedTuple):
    """Poses (7, B), velocities (6, B) and root velocities (3,) of one instant around a jump."""

    source_pose: np.ndarray
    source_velocity: np.ndarray
    source_root: np.ndarray
    target_pose: np.ndarray
    target_velocity: np.ndarray
    target_root: np.ndarray


class Seam(NamedTuple):
    """A jump, the poses (K, 7, B) after it and the root's velocities (K, 3) on the way to them."""

    jump: Jump
    following: np.ndarray
    roots: np.ndarray


# how hard a joint accelerates at most around each of some jumps (J,), in m/s²
MeasureSeams = Callable[[Sequence[Seam]], np.ndarray]

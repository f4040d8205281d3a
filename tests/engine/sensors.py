"""Motion as a sensor records it: at a rate of its own, and with its noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip, resample

MILLIMETRES, DEGREES = 0.5, 0.1  # of a good optical system


def record(clip: Clip, fps: float, seed: int = 0) -> Clip:
    """Return a clip at another rate, with noise on the first bone's position and all rotations."""
    clip, random = resample(clip, fps), np.random.default_rng(seed)
    positions = clip.positions.copy()
    positions[:, 0] += random.normal(0.0, MILLIMETRES / 1000.0, positions[:, 0].shape)
    turns = random.normal(0.0, np.radians(DEGREES), (*clip.rotations.shape[:2], 3))
    rotations = quat.mul(clip.rotations, quat.from_scaled_angle_axis(turns))
    rotations = quat.unroll(quat.normalize(rotations)).astype(np.float32)
    return replace(clip, positions=positions, rotations=rotations)

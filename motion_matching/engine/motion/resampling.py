"""Clips at another frame rate or another speed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from math import isclose, isfinite

import numpy as np

from ..errors import SettingsError
from ..maths import quat
from .clip import Clip


def resample(clip: Clip, fps: float, speed: float = 1.0) -> Clip:
    """The clip at `fps` frames per second, played `speed` times as fast.

    Positions follow cubic splines through all frames. So do the components of the rotations, first brought onto one
    hemisphere and afterwards back to unit length. The first frame stays the first, and nothing lies beyond the last:
    the duration is kept (divided by `speed`) to within a frame. Where every frame would stay as it is, the arrays are
    the clip's own. Raises SettingsError for a rate or speed that is not a positive number.
    """
    for value, what in ((fps, "frame rate"), (speed, "speed")):
        if not (isfinite(value) and value > 0):
            raise SettingsError(f"The {what} must be a positive number, not {value}")
    step = speed * clip.fps / fps  # in frames of the clip
    if isclose(step, 1.0, rel_tol=1e-6) or clip.frame_count < 2:
        return replace(clip, fps=fps)
    last = clip.frame_count - 1
    # a rate such as 29.97 leaves the last frame a hair beyond the end
    count = int(last / step + 1e-6) + 1
    times = np.minimum(np.arange(count) * step, last)
    rotations = _spline(quat.unroll(clip.rotations), times)
    return replace(
        clip,
        positions=_spline(clip.positions, times).astype(np.float32),
        rotations=quat.unroll(quat.normalize(rotations)).astype(np.float32),
        fps=fps,
    )


def common_rate(rates: Iterable[float]) -> float:
    """The most frequent of the frame rates, the highest of equally frequent ones; ValueError where there is none."""
    counts = Counter(rates)
    return max(counts, key=lambda rate: (counts[rate], rate))


def _spline(frames: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Values (T, ...), float64, at `times` in frames, of the cubic spline through `frames` (F, ...)."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(np.arange(len(frames)), frames.astype(np.float64), axis=0)(times)

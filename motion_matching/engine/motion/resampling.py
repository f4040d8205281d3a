"""Clips at another frame rate or another speed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from math import isclose, isfinite

import numpy as np

from ..errors import SettingsError
from ..maths import quat
from .clip import Clip, check_size


def resample(clip: Clip, fps: float, speed: float = 1.0) -> Clip:
    """Return the clip at `fps` frames per second, played `speed` times as fast.

    Positions and the components of unrolled rotations follow cubic splines through all frames. The
    first frame stays the first and no frame lies beyond the last, so the duration (divided by
    `speed`) is preserved to within a frame. If no frame changes, the arrays are the clip's own.
    Raises SettingsError for a rate or speed that is not a positive number, and MotionDataError for
    more frames than memory holds.
    """
    for value, what in ((fps, "frame rate"), (speed, "speed")):
        if not (isfinite(value) and value > 0):
            raise SettingsError(f"The {what} must be a positive number, not {value}")
    step = speed * clip.fps / fps  # in frames of the clip
    if isclose(step, 1.0, rel_tol=1e-6) or clip.frame_count < 2:
        return replace(clip, fps=fps)
    last = clip.frame_count - 1
    # at a rate such as 29.97 rounding puts the last frame a hair beyond the end
    count = int(last / step + 1e-6) + 1
    cause = f"it lasts {last / clip.fps:.4g} s, so its frame time may be wrong: correct or crop it"
    check_size(clip.name, count, clip.skeleton.bone_count, cause)
    times = np.minimum(np.arange(count) * step, last)
    positions = _sample_spline(clip.positions, times).astype(np.float32)
    rotations = quat.normalize(_sample_spline(quat.unroll(clip.rotations), times))
    rotations = quat.unroll(rotations).astype(np.float32)
    return replace(clip, positions=positions, rotations=rotations, fps=fps)


def find_common_rate(rates: Iterable[float]) -> float:
    """Return the most frequent frame rate, the highest of several; ValueError if there is none."""
    counts = Counter(rates)
    return max(counts, key=lambda rate: (counts[rate], rate))


def _sample_spline(frames: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return float64 values (T, ...) at `times` in frames of the spline through `frames`."""
    from scipy.interpolate import CubicSpline  # loads in 0.2 s

    return CubicSpline(np.arange(len(frames)), frames.astype(np.float64), axis=0)(times)

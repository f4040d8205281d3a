"""Filters over windows of time, along the first axis of arrays."""

from __future__ import annotations

import numpy as np

# seconds over which speeds of people are measured: from one frame to the next, the noise of a
# sensor becomes a speed that grows with the rate
MOMENT = 1.0 / 30.0


def count_frames(fps: float, seconds: float = MOMENT) -> int:
    """Return how many frames a span lasts, at least one."""
    return max(round(seconds * fps), 1)


def compute_window(seconds: float, fps: float, longest: int | None = None) -> int:
    """Return the odd number of frames nearest to a span (the larger of two), at most `longest`."""
    window = 2 * int(seconds * fps / 2) + 1  # odd windows are symmetric about their frame
    return window if longest is None else min(window, longest - 1 + longest % 2)


def apply_savitzky_golay(values: np.ndarray, window: int, order: int) -> np.ndarray:
    """Smooth by a Savitzky-Golay filter; a window too short for its order changes nothing."""
    if window <= order + 1:
        return values
    from scipy.signal import savgol_filter  # loads in 0.5 s

    return savgol_filter(values, window, order, axis=0, mode="nearest")  # callers cut off the ends


def compute_windowed_minimum(values: np.ndarray, window: int) -> np.ndarray:
    """Return the minimum (F,) within windows of that many frames, smoothed over half a window."""
    from scipy.ndimage import minimum_filter1d, uniform_filter1d  # loads in 0.15 s

    lowest = minimum_filter1d(values, window, mode="nearest")
    return uniform_filter1d(lowest, window // 4 * 2 + 1, mode="nearest")

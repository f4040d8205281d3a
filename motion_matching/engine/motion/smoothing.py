"""Filters over windows of time, along the first axis of arrays."""

from __future__ import annotations

import numpy as np


def compute_odd_window(seconds: float, fps: float) -> int:
    """Return the odd number of frames nearest to a span, the larger of two: filters are symmetric
    about their frame.
    """
    return 2 * int(seconds * fps / 2) + 1


def compute_window(seconds: float, fps: float, longest: int | None) -> int:
    """Return the odd number of frames of a filter, at most `longest`."""
    window = compute_odd_window(seconds, fps)
    return window if longest is None else min(window, longest - 1 + longest % 2)


def apply_savitzky_golay(values: np.ndarray, window: int, order: int) -> np.ndarray:
    """Smooth along the first axis by a Savitzky-Golay filter; a window too short for its order
    changes nothing.
    """
    from scipy.signal import savgol_filter  # loads in 0.5 s

    # the cheapest mode will do, as callers cut off the ends
    return (
        savgol_filter(values, window, order, axis=0, mode="nearest")
        if window > order + 1
        else values
    )


def compute_windowed_minimum(values: np.ndarray, window: int) -> np.ndarray:
    """Return the minimum (F,) within windows of that many frames, smoothed over half a window."""
    from scipy.ndimage import minimum_filter1d, uniform_filter1d  # loads in 0.15 s

    return uniform_filter1d(
        minimum_filter1d(values, window, mode="nearest"), window // 4 * 2 + 1, mode="nearest"
    )

"""Filters over windows of time, along the first axis of arrays."""

from __future__ import annotations

import numpy as np


def odd_frames(seconds: float, fps: float) -> int:
    """The odd number of frames nearest to a span, of two the larger: filters are symmetric about their frame."""
    return 2 * int(seconds * fps / 2) + 1


def window_frames(seconds: float, fps: float, longest: int | None) -> int:
    """Frames of a filter: an odd number, and a shorter one for a clip of fewer frames."""
    window = odd_frames(seconds, fps)
    return window if longest is None else min(window, longest - 1 + longest % 2)


def savitzky_golay(values: np.ndarray, window: int, order: int) -> np.ndarray:
    """Savitzky-Golay along the first axis; a window too short for its order, as tiny clips have, changes nothing."""
    from scipy.signal import savgol_filter

    # what is done at the ends is cut off with the margin: the cheapest will do
    return (
        savgol_filter(values, window, order, axis=0, mode="nearest")
        if window > order + 1
        else values
    )


def least_within(part: np.ndarray, window: int) -> np.ndarray:
    """The least part (F,) within windows of so many frames, blended over half of one."""
    from scipy.ndimage import minimum_filter1d, uniform_filter1d

    return uniform_filter1d(
        minimum_filter1d(part, window, mode="nearest"), window // 4 * 2 + 1, mode="nearest"
    )

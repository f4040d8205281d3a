"""Find runs of True, and filter over windows, along the first axis (time) of arrays."""

from __future__ import annotations

import numpy as np

# seconds over which speeds of people are measured: between adjacent frames, sensor noise becomes
# a speed that grows with the rate
MOMENT = 1.0 / 30.0


def count_frames(fps: float, seconds: float = MOMENT) -> int:
    """Return the number of frames in a span, at least one."""
    return max(round(seconds * fps), 1)


def compute_window(seconds: float, fps: float, longest: int | None = None) -> int:
    """Return the odd number of frames nearest to a span (the larger of two), at most `longest`."""
    window = 2 * int(seconds * fps / 2) + 1  # odd windows are symmetric about their frame
    return window if longest is None else min(window, longest - 1 + longest % 2)


def apply_savitzky_golay(values: np.ndarray, window: int, order: int) -> np.ndarray:
    """Smooth by a Savitzky-Golay filter; a window too short for its order changes nothing.

    Source: `scipy.signal.savgol_filter`, with the nearest value beyond the ends.
    """
    if window <= order + 1:
        return values
    from scipy.linalg import lstsq  # whose last bits numpy's does not always have
    from scipy.ndimage import convolve1d  # both load in 0.1 s, scipy.signal in 0.3 s

    half = window // 2
    powers = np.arange(half, -half - 1.0, -1.0) ** np.arange(order + 1)[:, None]
    weights = lstsq(powers, np.eye(order + 1)[0])[0]
    return convolve1d(values, weights, axis=0, mode="nearest")  # callers cut off the ends


def compute_windowed_minimum(values: np.ndarray, window: int) -> np.ndarray:
    """Return the minimum (F,) within windows of that many frames, smoothed over half a window."""
    from scipy.ndimage import minimum_filter1d, uniform_filter1d  # loads in 0.15 s

    lowest = minimum_filter1d(values, window, mode="nearest")
    return uniform_filter1d(lowest, window // 4 * 2 + 1, mode="nearest")


def find_runs(mask: np.ndarray) -> np.ndarray:
    """Return the start and stop (K, 2) of each run of True in a mask (N,)."""
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    return np.flatnonzero(edges).reshape(-1, 2)


def find_parts(mask: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return the start and stop (K, 2) of each run of True, cut where `begins` (N,) is True."""
    starts = np.flatnonzero(mask & (begins | ~np.append(False, mask[:-1])))
    stops = np.flatnonzero(mask & np.append(begins[1:] | ~mask[1:], True)) + 1
    return np.stack([starts, stops], axis=1)


def count_frames_to(mask: np.ndarray) -> np.ndarray:
    """Return how many frames (T,) each is away from the nearest where `mask` (T,) is True."""
    at = np.flatnonzero(mask)
    frames = np.arange(len(mask))
    after = np.minimum(np.searchsorted(at, frames), len(at) - 1)
    return np.minimum(np.abs(at[after] - frames), np.abs(at[np.maximum(after - 1, 0)] - frames))

"""Put a clip on the floor if its feet stand on it in some poses only.

Rotations copied onto other proportions cause this: the more a knee bends, the higher feet hover, or
the deeper they sink. Hovering feet are classified as airborne, so they slide.
"""

from __future__ import annotations

import numpy as np

from ..maths.along_time import compute_window
from .numbers import NUMBERS

STAIRS = NUMBERS.stairs


def may_be_uneven(heights: np.ndarray, leg: float) -> bool:
    """Return whether heights (N,) of standing feet in metres differ, but less than on stairs."""
    low, high = np.percentile(heights, (5, 95))
    return bool(NUMBERS.uneven_feet * leg < high - low < STAIRS * leg)


def find_rises(
    toes: np.ndarray, contacts: np.ndarray, lowest: np.ndarray, fps: float, leg: float
) -> np.ndarray | None:
    """Return the smooth excess height (F,) of standing feet; None if they do not differ.

    Toes (F, L, 3) and the `lowest` (F,) part of the body are in metres, contacts (F, L).
    """
    carries = contacts & (toes[..., 2] - lowest[:, None] < NUMBERS.carrying * leg)
    stood = np.flatnonzero(carries.any(axis=1))
    if not len(stood):
        return None
    heights = toes[..., 2][carries]
    if not may_be_uneven(heights, leg):
        return None
    low, middle, high = np.percentile(heights, (5, 50, 95))
    off = np.clip(toes[..., 2], low, high) - middle
    rises = np.sum(off * carries, axis=1)[stood] / carries.sum(axis=1)[stood]
    filled = np.interp(np.arange(len(toes)), stood, rises)
    smooth = _smooth(filled, compute_window(NUMBERS.body_window, fps))
    left = np.percentile((toes[..., 2] - smooth[:, None])[carries], (5, 95))
    return smooth if np.ptp(left) < NUMBERS.uneven_rest * (high - low) else None


def _smooth(values: np.ndarray, window: int) -> np.ndarray:
    """Return values (F,) as weighted means of an odd `window` about each."""
    weights = np.hanning(window + 2)[1:-1]
    padded = np.pad(values, window // 2, mode="edge")
    return np.convolve(padded, weights / weights.sum(), "valid")

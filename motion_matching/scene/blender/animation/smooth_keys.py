"""Curves with few keys whose handles keep the slope: cubics, as Blender's Bezier keys make them.

Handles lie a third of the way to the next key, so that time runs evenly along a curve, and both of
a key point the same way. Two equal keys with level handles hold what lies between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_BEZIER, _ALIGNED = 2, 5  # numbers of an interpolation and of a type of handles, for foreach_set


def evaluate_smooth_keys(
    keys: np.ndarray, values: np.ndarray, slopes: np.ndarray, count: int
) -> np.ndarray:
    """Return curves (C, count) of keys on frames (K,), of `values` and `slopes` per frame (C, K).

    The first key is on frame 0 and the last one on frame count - 1.
    """
    gaps = np.diff(keys)
    stretch = np.minimum(np.repeat(np.arange(len(gaps)), gaps), len(gaps) - 1)
    stretch = np.append(stretch, len(gaps) - 1)
    gap = gaps[stretch].astype(np.float64)
    t = (np.arange(count) - keys[stretch]) / gap
    s = 1.0 - t
    low, high = values[:, stretch], values[:, stretch + 1]
    rise, fall = slopes[:, stretch] * gap, slopes[:, stretch + 1] * gap
    return s * s * ((1.0 + 2.0 * t) * low + t * rise) + t * t * ((1.0 + 2.0 * s) * high - s * fall)


def write_smooth_keys(
    curve: Any, frames: np.ndarray, values: np.ndarray, slopes: np.ndarray
) -> None:
    """Give an empty curve keys: `values` (K,) at rising `frames` (K,), `slopes` (K,) per frame."""
    points, gaps = curve.keyframe_points, np.diff(frames)
    points.add(len(frames))
    points.foreach_set("co", np.stack([frames, values], axis=-1).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(frames), _BEZIER, np.uint8))
    before, after = np.append(gaps[:1], gaps) / 3.0, np.append(gaps, gaps[-1:]) / 3.0
    for side, away in (("left", -before), ("right", after)):
        points.foreach_set(f"handle_{side}_type", np.full(len(frames), _ALIGNED, np.uint8))
        handles = np.stack([frames + away, values + slopes * away], axis=-1)
        points.foreach_set(f"handle_{side}", handles.astype(np.float32).ravel())
    curve.update()

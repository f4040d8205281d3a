"""Runs of True along time."""

from __future__ import annotations

import numpy as np


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
    at, frames = np.flatnonzero(mask), np.arange(len(mask))
    after = np.minimum(np.searchsorted(at, frames), len(at) - 1)
    return np.minimum(np.abs(at[after] - frames), np.abs(at[np.maximum(after - 1, 0)] - frames))

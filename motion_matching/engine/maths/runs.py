"""Runs of True along time."""

from __future__ import annotations

import numpy as np


def find_runs(mask: np.ndarray) -> np.ndarray:
    """Return the start and stop (K, 2) of each run of True in a mask (N,)."""
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    return np.flatnonzero(edges).reshape(-1, 2)

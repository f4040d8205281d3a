"""Even paths that pass through given values: banded least squares."""

from __future__ import annotations

import numpy as np


def solve_least_squares(
    known: np.ndarray,
    values: np.ndarray,
    steps: np.ndarray,
    weights: np.ndarray,
    stiffness: np.ndarray | float,
    pull: float = 1e-9,
    toward: np.ndarray | float = 0.0,
    change: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return the path x (T, K), of steps d, that equals `values` where `known` (T,).

    Elsewhere it has the least weights |d - steps|² + stiffness |change of d - change|² + pull
    |x - toward|². `stiffness` is one number, or one for each change (T - 2,).
    """
    from scipy.linalg import solveh_banded  # late: 0.1 s, and only bakes need it

    count = len(values)
    bands = np.zeros((3, count))
    bands[0] = pull
    bands[0, :-1] += weights
    bands[0, 1:] += weights
    bands[1, :-1] -= weights
    stiffness = stiffness * np.ones(count - 2)
    for first, share in enumerate((1.0, 4.0, 1.0)):
        bands[0, first : count - 2 + first] += share * stiffness
    bands[1, :-2] -= 2.0 * stiffness
    bands[1, 1:-1] -= 2.0 * stiffness
    bands[2, :-2] += stiffness
    right = np.zeros_like(values) + pull * toward
    right[1:] += weights[:, None] * steps
    right[:-1] -= weights[:, None] * steps
    change = stiffness[:, None] * change
    right[:-2] += change
    right[1:-1] -= 2.0 * change
    right[2:] += change
    # known values move to the right side, and their own rows state them
    given = np.where(known[:, None], values, 0.0)
    for band in (1, 2):
        off = bands[band, :-band, None]
        right[:-band] -= off * given[band:]
        right[band:] -= off * given[:-band]
        bands[band, :-band] *= ~known[:-band] & ~known[band:]
    bands[0, known] = 1.0
    return np.asarray(solveh_banded(bands, np.where(known[:, None], values, right), lower=True))

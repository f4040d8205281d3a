"""Measure on which side of each other feet are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...legs.legs import LegGeometry
from ...maths.rotations import quat


def measure_sides(legs: Sequence[LegGeometry], positions: np.ndarray) -> np.ndarray:
    """Return how far (T, L) ankles are on their own side, of bones at positions (T, B, 3).

    It is relative to the first other leg that they keep clear of, in metres, seen from above along
    the line of the hips; negative where legs cross, and 0 without another leg.
    """
    sides = np.zeros((len(positions), len(legs)))
    for k, leg in enumerate(legs):
        if leg.beside:
            other = legs[leg.beside[0].leg]
            hips, ankles = (
                (positions[:, leg.chain[a]] - positions[:, other.chain[b]])[:, :2]
                for a, b in ((leg.thigh, other.thigh), (leg.foot, other.foot))
            )
            sides[:, k] = np.sum(quat.normalize_vectors(hips) * ankles, axis=-1)
    return sides

"""Measure ankles: how far up about the toe, and on which side of each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...legs.legs import LegGeometry
from ...maths.numeric import arctan2
from ...maths.rotations import quat
from ...skeleton.skeleton import Skeleton


def measure_pitches(leg: LegGeometry, skeleton: Skeleton, poses: np.ndarray) -> np.ndarray:
    """Return by which angles (T,) heels are up in poses (T, 7, B), in radians.

    They are 0 where the ankle is level with the toe, and a quarter turn on the toe's tip.
    """
    path = skeleton.get_chain_to_root(leg.chain[-1])[::-1]
    rotations, positions = quat.compute_world(poses[:, :, path], np.arange(len(path)) - 1)
    shin, foot = (path.index(leg.chain[k]) for k in (leg.shin, leg.foot))
    return compute_pitches(
        positions[:, foot] - positions[:, -1], find_level_axes(leg, rotations[:, shin])
    )


def find_level_axes(leg: LegGeometry, shins: np.ndarray) -> np.ndarray:
    """Return the level axes (T, 3) about which heels come down, of rotations (T, 4) of shins.

    They are the knee's axes, because a foot on its tip does not show where it points.
    """
    hinge = quat.mul_vec(shins, np.array(leg.hinge)) * [1.0, 1.0, 0.0]
    return quat.normalize_vectors(hinge if leg.toes_ahead else -hinge)


def compute_pitches(arm: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Return by which angles (T,) ways (T, 3) from toe to ankle are up, about axes (T, 3)."""
    behind = across[:, 1] * arm[:, 0] - across[:, 0] * arm[:, 1]
    angle = arctan2(arm[:, 2], behind)
    # an ankle far ahead of its toe has gone over the top, not below
    return np.where(angle < -0.5 * np.pi, angle + 2.0 * np.pi, angle)


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

"""Compute with poses and velocities, component first `(..., 7, B)` (notebook 003).

A velocity leads from one pose to the next within one tick, in the layout of a pose: for every bone
the change of its position in the parent's frame and the rotation x⁻¹x'. Bone 0, the simulation
bone, rests at the origin, so that its velocity is the movement in its own axes and the turn.
"""

from __future__ import annotations

import numpy as np

from ...maths.rotations import component_quat
from ..numbers import NUMBERS

# cosine of half the angle between rotations above which a line is as exact as an arc
_ALIKE = np.float32(NUMBERS.alike_cosine)


def add_joints(pose: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return the poses x ⊕ v (..., 7, B) to which velocities lead."""
    turns = component_quat.mul(pose[..., 3:, :], velocity[..., 3:, :])
    return _join(pose[..., :3, :] + velocity[..., :3, :], component_quat.normalize(turns))


def subtract_joints(later: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Return the velocities x' ⊖ x (..., 7, B) that lead from poses to later ones."""
    turns = component_quat.inv_mul(pose[..., 3:, :], later[..., 3:, :])
    square = np.einsum("...ij,...ij->...j", turns, turns)
    # the shorter way around, so that rotations can be blended
    turns /= np.copysign(np.sqrt(square, out=square), turns[..., 0, :])[..., None, :]
    return _join(later[..., :3, :] - pose[..., :3, :], turns)


def blend(parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return A weighted means (..., A, *rest, 7, B) of K poses or velocities (..., K, *rest, 7, B).

    `weights` (..., A, K) sum to one. Rotations must lie on one hemisphere, as in velocities and in
    similar poses of one clip.
    """
    *lead, actions, count = weights.shape
    rest = parts.shape[len(lead) + 1 :]
    result = np.matmul(weights, parts.reshape(*lead, count, -1)).reshape(*lead, actions, *rest)
    component_quat.normalize(result[..., 3:, :])
    return result


def interpolate(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """Interpolate poses or velocities (..., 7, B): positions linearly, rotations along an arc."""
    p, q = a[..., 3:, :], b[..., 3:, :]
    cosine = np.einsum("...ij,...ij->...j", p, q)
    angle = np.arccos(np.minimum(np.abs(cosine), _ALIKE))
    p_share = np.sin((1.0 - share) * angle)
    q_share = np.copysign(np.sin(share * angle), cosine)
    turns = p * p_share[..., None, :] + q * q_share[..., None, :]
    positions = a[..., :3, :] * (1.0 - share) + b[..., :3, :] * share
    return _join(positions, component_quat.normalize(turns))


def _join(positions: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Join positions (..., 3, B) and rotations (..., 4, B) to poses (..., 7, B)."""
    return np.concatenate([positions, turns], axis=-2)

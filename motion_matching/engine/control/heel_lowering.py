"""Lower heels that a blend of two motions lifts although both of them stand on flat feet.

A fading jump turns hip, knee and ankle each at its own pace. Between a crouch and a stand the foot
so pitches by as much as the shin, until its heel points up.
"""

from __future__ import annotations

import numpy as np

from ..maths import quat
from ..motion.skeleton import Skeleton
from .legs import CLOSE, LegGeometry

_EVEN = 0.08  # seconds over which a heel comes down


def measure_pitches(leg: LegGeometry, skeleton: Skeleton, poses: np.ndarray) -> np.ndarray:
    """Return by which angles (T,) heels are up in poses (T, 7, B), in radians.

    They are 0 where the ankle is level with the toe, and a quarter turn on the toe's tip.
    """
    path = skeleton.get_chain_to_root(leg.chain[-1])[::-1]
    rotations, positions = quat.compute_world(poses[:, :, path], np.arange(len(path)) - 1)
    shin, foot = (path.index(leg.chain[k]) for k in (leg.shin, leg.foot))
    across = _find_axes(leg, rotations[:, shin])
    return _measure_pitches(positions[:, foot] - positions[:, -1], across)


def lower_heels(
    leg: LegGeometry,
    poses: np.ndarray,
    rotations: np.ndarray,
    positions: np.ndarray,
    parents: np.ndarray,
    most: np.ndarray,
    fps: float,
) -> bool:
    """Turn feet of `poses` (T, 7, B) in place, evenly: heels are up by at most angles (T,).

    Ankles stay where they are. Tips of toes come up no farther than those of a standing foot.
    World rotations are (T, B, 4), positions (T, B, 3). Returns whether any heel was lowered.
    """
    from scipy.ndimage import gaussian_filter1d  # late: only bakes need it

    foot, toe = leg.chain[leg.foot], leg.chain[-1]
    if foot == toe:
        return False
    across = _find_axes(leg, rotations[:, leg.chain[leg.shin]])
    pitches = _measure_pitches(positions[:, foot] - positions[:, toe], across)
    turn = gaussian_filter1d(np.maximum(pitches - most, 0.0), _EVEN * fps)
    lowered = np.flatnonzero(turn > CLOSE)
    if not len(lowered):
        return False
    pitch, rotations = quat.from_angle_axis(turn[lowered], across[lowered]), rotations[lowered]
    level, below = quat.mul(pitch, rotations[:, foot]), leg.chain[leg.foot + 1]
    poses[lowered, 3:, foot] = quat.inv_mul(rotations[:, parents[foot]], level)
    if leg.tip is not None and below == toe:
        tip = quat.mul_vec(rotations[:, toe], np.array(leg.tip))
        raised = quat.mul_vec(pitch, tip)
        highest = np.maximum(tip[:, 2], leg.tip_height - leg.toe_height)
        flat = np.column_stack([raised[:, :2], np.minimum(raised[:, 2], highest)])
        pitch = quat.mul(quat.between(raised, flat), pitch)
        poses[lowered, 3:, toe] = quat.inv_mul(level, quat.mul(pitch, rotations[:, toe]))
    return True


def _find_axes(leg: LegGeometry, shins: np.ndarray) -> np.ndarray:
    """Return the level axes (T, 3) about which heels come down, of rotations (T, 4) of shins.

    They are the knee's: where a foot points tells nothing while it stands on its tip.
    """
    hinge = quat.mul_vec(shins, np.array(leg.hinge)) * [1.0, 1.0, 0.0]
    return quat.normalize_vectors(hinge if leg.toes_ahead else -hinge)


def _measure_pitches(arm: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Return by which angles (T,) ways (T, 3) from toe to ankle are up, about axes (T, 3)."""
    behind = across[:, 1] * arm[:, 0] - across[:, 0] * arm[:, 1]
    angle = np.arctan2(arm[:, 2], behind)
    # an ankle far ahead of its toe has gone over the top, not below
    return np.where(angle < -0.5 * np.pi, angle + 2.0 * np.pi, angle)

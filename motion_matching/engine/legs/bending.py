"""Bend legs so that toes and ankles reach their targets, in all frames of a take at once."""

from __future__ import annotations

import numpy as np

from ..maths.numeric import ARRAYS, join, split
from ..maths.rotations import quat
from .legs import LegGeometry
from .two_bones import bend_to, pitch_to_height, turn_limbs


def bend_leg(
    leg: LegGeometry,
    poses: np.ndarray,
    world: tuple[np.ndarray, np.ndarray],
    parents: np.ndarray,
    toes: np.ndarray,
    arms: np.ndarray,
    floor: np.ndarray,
) -> None:
    """Turn hip, knee, ankle and toe of `poses` (T, 7, B) in place, to reach `toes` (T, 3).

    The `world` is their rotations (T, B, 4) and positions (T, B, 3). `arms` (T, 3) lead from the
    toe to the ankle. The toe keeps its attitude to the foot, but its tip stays above the `floor`
    (T,).
    """
    rotations, positions = world
    thigh, shin, foot, toe = (leg.chain[i] for i in (leg.thigh, leg.shin, leg.foot, -1))
    hip = positions[:, thigh]
    knee = positions[:, shin]
    ankle = positions[:, foot]
    hinge = quat.mul_vec(rotations[:, shin], np.array(leg.hinge))
    whole, lower = bend_to(knee - hip, ankle - knee, toes + arms - hip, hinge)
    pitch = quat.between(ankle - positions[:, toe], arms)
    attitude = quat.mul(pitch, rotations[:, foot])
    bones = parents[thigh], thigh, parents[shin], shin, parents[foot]
    turned = turn_limbs([rotations[:, bone] for bone in bones], whole, lower, attitude)
    for bone, local in zip((thigh, shin, foot), turned, strict=True):
        poses[:, 3:, bone] = local
    if toe != foot:
        below = leg.chain[leg.foot + 1]
        raised = quat.mul(pitch, rotations[:, below])
        if leg.tip is not None and below == toe:
            raised = _raise_tip(leg, raised, rotations[:, toe], floor - toes[:, 2])
        poses[:, 3:, below] = quat.normalize(quat.inv_mul(attitude, raised))


def _raise_tip(
    leg: LegGeometry, rotations: np.ndarray, before: np.ndarray, floor: np.ndarray
) -> np.ndarray:
    """Return rotations (T, 4) of a toe with its tip above the floor (T,), relative to the toe.

    It comes up no farther than it stands or was `before` (T, 4).
    """
    tip, own = (quat.mul_vec(each, np.array(leg.tip)) for each in (rotations, before))
    most = np.maximum(own[:, 2], leg.tip_height - leg.toe_height)
    height = np.maximum(np.minimum(tip[:, 2], most), floor + leg.tip_height)
    pitched = join(pitch_to_height(split(tip), height, ARRAYS))
    return quat.mul(quat.between(tip, pitched), rotations)

"""Bend legs so that toes reach their targets, all frames of a take at once.

The two-bone inverse kinematics of live foot locking (article 002, Sliding and Foot Locking), for
arrays. It also corrects knees that a blend between two poses has bent the wrong way.
"""

from __future__ import annotations

import numpy as np

from ..maths import quat
from .legs import CLOSE, FIRM, LegGeometry

_STRAIGHT = (
    0.2  # sine of the bend below which the knee's hinge is more exact than the plane of the leg
)


def bend_leg(
    leg: LegGeometry,
    poses: np.ndarray,
    rotations: np.ndarray,
    positions: np.ndarray,
    parents: np.ndarray,
    targets: np.ndarray,
    lowest: np.ndarray,
    buffer: float,
) -> None:
    """Turn hip, knee and ankle of `poses` (T, 7, B) in place, so that the toe reaches `targets` (T,
    3).

    `rotations` (T, B, 4) and `positions` (T, B, 3) are those of the bones in the world. The leg
    stays `buffer` metres short of straight. The foot keeps its attitude, unless the heel would come
    below `lowest` (T,), the height of the ankle of a standing foot, or the tip of the toe below the
    floor.
    """
    thigh, shin, foot, toe = (
        leg.chain[leg.thigh],
        leg.chain[leg.shin],
        leg.chain[leg.foot],
        leg.chain[-1],
    )
    hip, knee, ankle = positions[:, thigh], positions[:, shin], positions[:, foot]
    arm = ankle - positions[:, toe]
    pitched = _raise_heel(arm, lowest - targets[:, 2])
    upper, lower = knee - hip, ankle - knee
    leg_vector = targets + pitched - hip
    # a step up may fold a leg further than the data, which has flat ground only
    step = np.maximum(lowest - leg.foot_height - poses[:, 2, 0], 0.0)
    goal = hip + _move_aside(
        leg_vector, np.maximum(leg.folded_length - step - np.linalg.norm(leg_vector, axis=-1), 0.0)
    )
    a, b, now, requested = (
        np.linalg.norm(v, axis=-1) for v in (upper, lower, ankle - hip, goal - hip)
    )
    reach = _limit_reach(requested, now, a, b, buffer)
    axis = _compute_knee_axis(
        quat.mul_vec(rotations[:, shin], np.array(leg.hinge)), upper, lower, a * b
    )
    bent = np.arctan2(
        np.sum(np.cross(lower, upper) * axis, axis=-1), np.sum(lower * upper, axis=-1)
    )
    cosine = (a * a + b * b - reach * reach) / np.maximum(2.0 * a * b, 1e-12)
    # the hinge straightens: a smaller angle between the bones is a turn against it
    at_knee = quat.from_angle_axis(bent - (np.pi - np.arccos(np.clip(cosine, -1.0, 1.0))), axis)
    at_hip = quat.between(upper + quat.mul_vec(at_knee, lower), goal - hip)
    of_shin = quat.mul(at_hip, at_knee)
    of_foot = quat.mul(quat.between(arm, pitched), rotations[:, foot])
    moved = (np.linalg.norm(targets - positions[:, toe], axis=-1) > CLOSE) | (
        now < leg.folded_length
    )

    def set_rotation(bone: int, above: np.ndarray, rotation: np.ndarray) -> None:
        poses[moved, 3:, bone] = quat.normalize(quat.inv_mul(above, rotation))[moved]

    set_rotation(thigh, rotations[:, parents[thigh]], quat.mul(at_hip, rotations[:, thigh]))
    set_rotation(
        shin, quat.mul(at_hip, rotations[:, parents[shin]]), quat.mul(of_shin, rotations[:, shin])
    )
    set_rotation(foot, quat.mul(of_shin, rotations[:, parents[foot]]), of_foot)
    if toe != foot:
        below = leg.chain[leg.foot + 1]
        raised = quat.mul(quat.between(arm, pitched), rotations[:, below])
        if leg.tip is not None and below == toe:
            # the toe keeps its attitude to the foot, but its tip is not bent into the floor
            tip = quat.mul_vec(raised, np.array(leg.tip))
            floor = lowest - leg.foot_height + leg.tip_height
            raised = quat.mul(quat.between(tip, _raise_heel(tip, floor - targets[:, 2])), raised)
        set_rotation(below, of_foot, raised)


def _move_aside(leg_vector: np.ndarray, further: np.ndarray) -> np.ndarray:
    """Lengthen vectors (T, 3) from hip to ankle by `further` (T,) at the same height.

    Where a leg would be folded further than ever in the data, its foot moves aside, not into the
    floor.
    """
    square = np.sum(leg_vector[:, :2] ** 2, axis=-1)
    least = (np.linalg.norm(leg_vector, axis=-1) + further) ** 2 - leg_vector[:, 2] ** 2
    scale = np.where(further > 0.0, np.sqrt(np.maximum(least, 0.0) / np.maximum(square, 1e-9)), 1.0)
    return leg_vector * np.stack([scale, scale, np.ones_like(scale)], axis=-1)


def _limit_reach(
    desired: np.ndarray, now: np.ndarray, a: np.ndarray, b: np.ndarray, buffer: float
) -> np.ndarray:
    """Return how far (T,) from the hip the ankle gets: a leg that cannot reach gives way softly,
    and never snaps.
    """
    length = a + b
    soft = np.maximum((1.0 - FIRM) * length - buffer, 1e-6)

    def soften(reach: np.ndarray) -> np.ndarray:
        beyond = reach - FIRM * length
        return np.where(
            beyond <= 0.0,
            reach,
            FIRM * length + soft * (1.0 - np.exp(-np.maximum(beyond, 0.0) / soft)),
        )

    reach = np.where(desired > now, now + soften(desired) - soften(now), desired)
    return np.maximum(np.minimum(reach, np.maximum(length - buffer, now)), np.abs(a - b) + 1e-3)


def _compute_knee_axis(
    hinge: np.ndarray, upper: np.ndarray, lower: np.ndarray, area: np.ndarray
) -> np.ndarray:
    """Return the knee's axis (T, 3): the normal of a bent leg's plane, or the hinge of one that is
    straight or bent back.
    """
    normal = np.cross(lower, upper) / np.maximum(area, 1e-12)[:, None]
    backward = np.minimum(np.sum(normal * hinge, axis=-1, keepdims=True), 0.0)
    axis = normal + (_STRAIGHT - backward) * hinge
    return axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-12)


def _raise_heel(arm: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Pitch vectors from toe to ankle (T, 3) so that they rise by at least `least` (T,), as far as
    their length allows.
    """
    length, flat = np.linalg.norm(arm, axis=-1), np.linalg.norm(arm[:, :2], axis=-1)
    rise = np.minimum(np.maximum(arm[:, 2], least), np.maximum(0.999 * length, arm[:, 2]))
    shorter = np.sqrt(np.maximum(length**2 - rise**2, 0.0)) / np.maximum(flat, 1e-9)
    return np.where(
        (least > arm[:, 2])[:, None], np.column_stack([arm[:, :2] * shorter[:, None], rise]), arm
    )

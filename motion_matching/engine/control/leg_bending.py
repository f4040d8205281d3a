"""Legs bent so that toes come where they are wanted, all frames of a take at once.

The same two-bone inverse kinematics as of live foot locking (article 002, Sliding and Foot Locking), for arrays; beyond
that, it brings back knees that a blend between two poses has bent the wrong way.
"""

from __future__ import annotations

import numpy as np

from ..maths import quat
from .legs import LegGeometry

_FIRM = 0.92  # part of a leg's length up to which it reaches as far as it is asked
_CLOSE = 1e-5  # metres: a toe this near to where it is to be needs no bending
_STRAIGHT = (
    0.2  # sine of the bend below which the knee's own hinge says more than the plane of the leg
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
    """Turn hip, knee and ankle of `poses` (T, 7, B), whose bones are in the world as (T, B, 4) and (T, B, 3) say.

    The toe comes to `targets` (T, 3) as far as the leg reaches, `buffer` metres short of straight. The foot keeps its
    attitude, but for a heel that would come below `lowest` (T,), the height of the ankle when it stands, and for a toe whose
    tip would come into the floor.
    """
    thigh, shin, foot, toe = (
        leg.chain[leg.thigh],
        leg.chain[leg.shin],
        leg.chain[leg.foot],
        leg.chain[-1],
    )
    hip, knee, ankle = positions[:, thigh], positions[:, shin], positions[:, foot]
    arm = ankle - positions[:, toe]
    pitched = _heel_up(arm, lowest - targets[:, 2])
    upper, lower = knee - hip, ankle - knee
    way = targets + pitched - hip
    # a step up may fold a leg further than the data, which knows flat ground only
    step = np.maximum(lowest - leg.foot_height - poses[:, 2, 0], 0.0)
    goal = hip + _aside(way, np.maximum(leg.folded - step - np.linalg.norm(way, axis=-1), 0.0))
    a, b, now, wanted = (
        np.linalg.norm(v, axis=-1) for v in (upper, lower, ankle - hip, goal - hip)
    )
    reach = _reach(wanted, now, a, b, buffer)
    axis = _knee_axis(quat.mul_vec(rotations[:, shin], np.array(leg.hinge)), upper, lower, a * b)
    bent = np.arctan2(
        np.sum(np.cross(lower, upper) * axis, axis=-1), np.sum(lower * upper, axis=-1)
    )
    cosine = (a * a + b * b - reach * reach) / np.maximum(2.0 * a * b, 1e-12)
    # the hinge straightens: a smaller angle between the bones is a turn against it
    at_knee = quat.from_angle_axis(bent - (np.pi - np.arccos(np.clip(cosine, -1.0, 1.0))), axis)
    at_hip = quat.between(upper + quat.mul_vec(at_knee, lower), goal - hip)
    of_shin = quat.mul(at_hip, at_knee)
    of_foot = quat.mul(quat.between(arm, pitched), rotations[:, foot])
    moved = (np.linalg.norm(targets - positions[:, toe], axis=-1) > _CLOSE) | (now < leg.folded)

    def turn(bone: int, above: np.ndarray, rotation: np.ndarray) -> None:
        poses[moved, 3:, bone] = quat.normalize(quat.inv_mul(above, rotation))[moved]

    turn(thigh, rotations[:, parents[thigh]], quat.mul(at_hip, rotations[:, thigh]))
    turn(shin, quat.mul(at_hip, rotations[:, parents[shin]]), quat.mul(of_shin, rotations[:, shin]))
    turn(foot, quat.mul(of_shin, rotations[:, parents[foot]]), of_foot)
    if toe != foot:
        below = leg.chain[leg.foot + 1]
        raised = quat.mul(quat.between(arm, pitched), rotations[:, below])
        if leg.tip is not None and below == toe:
            # the toe keeps its attitude to the foot, but its tip is not bent into the floor
            tip = quat.mul_vec(raised, np.array(leg.tip))
            floor = lowest - leg.foot_height + leg.tip_height
            raised = quat.mul(quat.between(tip, _heel_up(tip, floor - targets[:, 2])), raised)
        turn(below, of_foot, raised)


def _aside(way: np.ndarray, further: np.ndarray) -> np.ndarray:
    """Ways (T, 3) from hip to ankle, longer by `further` (T,) at the same height: where a leg would be folded further than
    it ever is in the data, its foot goes aside by as much, not into the floor."""
    square = np.sum(way[:, :2] ** 2, axis=-1)
    least = (np.linalg.norm(way, axis=-1) + further) ** 2 - way[:, 2] ** 2
    part = np.where(further > 0.0, np.sqrt(np.maximum(least, 0.0) / np.maximum(square, 1e-9)), 1.0)
    return way * np.stack([part, part, np.ones_like(part)], axis=-1)


def _reach(
    wanted: np.ndarray, now: np.ndarray, a: np.ndarray, b: np.ndarray, buffer: float
) -> np.ndarray:
    """How far (T,) from the hip the ankle gets: a leg asked for more than it has gives way softly, and never snaps."""
    length = a + b
    soft = np.maximum((1.0 - _FIRM) * length - buffer, 1e-6)

    def softened(reach: np.ndarray) -> np.ndarray:
        beyond = reach - _FIRM * length
        return np.where(
            beyond <= 0.0,
            reach,
            _FIRM * length + soft * (1.0 - np.exp(-np.maximum(beyond, 0.0) / soft)),
        )

    reach = np.where(wanted > now, now + softened(wanted) - softened(now), wanted)
    return np.maximum(np.minimum(reach, np.maximum(length - buffer, now)), np.abs(a - b) + 1e-3)


def _knee_axis(
    hinge: np.ndarray, upper: np.ndarray, lower: np.ndarray, area: np.ndarray
) -> np.ndarray:
    """The axis (T, 3) of the knee: square to the plane of a bent leg, the hinge of one that is straight or bent back."""
    normal = np.cross(lower, upper) / np.maximum(area, 1e-12)[:, None]
    backward = np.minimum(np.sum(normal * hinge, axis=-1, keepdims=True), 0.0)
    axis = normal + (_STRAIGHT - backward) * hinge
    return axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-12)


def _heel_up(arm: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The way from toe to ankle (T, 3), pitched so that it rises by `least` (T,) at least, as far as its length allows."""
    length, flat = np.linalg.norm(arm, axis=-1), np.linalg.norm(arm[:, :2], axis=-1)
    rise = np.minimum(np.maximum(arm[:, 2], least), np.maximum(0.999 * length, arm[:, 2]))
    shorter = np.sqrt(np.maximum(length**2 - rise**2, 0.0)) / np.maximum(flat, 1e-9)
    return np.where(
        (least > arm[:, 2])[:, None], np.column_stack([arm[:, :2] * shorter[:, None], rise]), arm
    )

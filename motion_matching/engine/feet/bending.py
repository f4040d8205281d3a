"""Bend legs so that toes and ankles are where they are wanted, all frames of a take at once.

The two-bone inverse kinematics of live foot locking (article 002, Sliding and Foot Locking), for
arrays.
"""

from __future__ import annotations

import numpy as np

from ..control.legs import LegGeometry
from ..maths import quat

_STRAIGHT = 0.2  # sine of the bend below which the knee's hinge is more exact than the leg's plane
_LEAST_BEND = 1e-3  # metres: a leg is never shorter than its bones allow


def find_knee_axis(hinge: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the knee's axis (T, 3): the normal of a bent leg's plane, a straight leg's hinge."""
    backward = np.minimum(np.sum(normal * hinge, axis=-1, keepdims=True), 0.0)
    axis = normal + (_STRAIGHT - backward) * hinge
    return axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-12)


def bend_leg(
    leg: LegGeometry,
    poses: np.ndarray,
    rotations: np.ndarray,
    positions: np.ndarray,
    parents: np.ndarray,
    toes: np.ndarray,
    arms: np.ndarray,
    floor: np.ndarray,
) -> None:
    """Turn hip, knee, ankle and toe of `poses` (T, 7, B) in place, to reach `toes` (T, 3).

    World rotations are (T, B, 4), positions (T, B, 3). `arms` (T, 3) lead from the toe to the
    ankle. The toe keeps its attitude to the foot, but its tip stays above the `floor` (T,).
    """
    thigh, shin, foot, toe = (leg.chain[i] for i in (leg.thigh, leg.shin, leg.foot, -1))
    hip, knee, ankle = positions[:, thigh], positions[:, shin], positions[:, foot]
    upper, lower, goal = knee - hip, ankle - knee, toes + arms - hip
    a, b = (np.linalg.norm(v, axis=-1) for v in (upper, lower))
    reach = np.clip(np.linalg.norm(goal, axis=-1), np.abs(a - b) + _LEAST_BEND, a + b)
    hinge = quat.mul_vec(rotations[:, shin], np.array(leg.hinge))
    normal = np.cross(lower, upper)
    axis = find_knee_axis(hinge, normal / np.maximum(a * b, 1e-12)[:, None])
    # only what is across the axis turns about it
    along = np.sum(upper * axis, axis=-1) * np.sum(lower * axis, axis=-1)
    cosine, sine = np.sum(lower * upper, axis=-1) - along, np.sum(normal * axis, axis=-1)
    bent = 0.5 * (reach * reach - a * a - b * b) - along
    bent = np.clip(bent / np.maximum(np.hypot(cosine, sine), 1e-12), -1.0, 1.0)
    # the hinge straightens: a smaller angle between the bones is a turn against it
    at_knee = quat.from_angle_axis(np.arctan2(sine, cosine) - np.arccos(bent), axis)
    at_hip = quat.between(upper + quat.mul_vec(at_knee, lower), goal)
    shin_turn = quat.mul(at_hip, at_knee)
    pitch = quat.between(ankle - positions[:, toe], arms)
    foot_rotation = quat.mul(pitch, rotations[:, foot])

    def turn(bone: int, above: np.ndarray, rotation: np.ndarray) -> None:
        poses[:, 3:, bone] = quat.normalize(quat.inv_mul(above, rotation))

    above_hip, above_knee, above_ankle = (rotations[:, parents[b]] for b in (thigh, shin, foot))
    turn(thigh, above_hip, quat.mul(at_hip, rotations[:, thigh]))
    turn(shin, quat.mul(at_hip, above_knee), quat.mul(shin_turn, rotations[:, shin]))
    turn(foot, quat.mul(shin_turn, above_ankle), foot_rotation)
    if toe != foot:
        below = leg.chain[leg.foot + 1]
        raised = quat.mul(pitch, rotations[:, below])
        if leg.tip is not None and below == toe:
            # it stays above the floor, and comes up no farther than it stands or was before
            tip, before = (
                quat.mul_vec(each, np.array(leg.tip)) for each in (raised, rotations[:, toe])
            )
            least = floor + leg.tip_height - toes[:, 2]
            most = np.maximum(before[:, 2], leg.tip_height - leg.toe_height)
            flat = _set_height(tip, np.maximum(np.minimum(tip[:, 2], most), least))
            raised = quat.mul(quat.between(tip, flat), raised)
        turn(below, foot_rotation, raised)


def _set_height(vectors: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Pitch vectors (T, 3): their ends come to `heights` (T,), as their lengths allow."""
    length = np.linalg.norm(vectors, axis=-1)
    level = np.maximum(np.linalg.norm(vectors[:, :2], axis=-1), 1e-9)
    steepest = np.maximum(0.999 * length, np.abs(vectors[:, 2]))
    heights = np.clip(heights, -steepest, steepest)
    share = np.sqrt(np.maximum(length**2 - heights**2, 0.0)) / level
    pitched = np.column_stack([vectors[:, :2] * share[:, None], heights])
    return np.where((heights == vectors[:, 2])[:, None], vectors, pitched)

"""Bend legs so that toes reach their targets, all frames of a take at once.

The two-bone inverse kinematics of live foot locking (article 002, Sliding and Foot Locking), for
arrays. It also corrects knees that a blend of two poses has bent the wrong way.
"""

from __future__ import annotations

import numpy as np

from ..maths import quat
from .legs import CLOSE, FIRM, LegGeometry

_PEEL = 0.35  # radians by which a heel comes up freely for the leg to reach; hardly twice that
_BACKWARD = 0.5  # radians up to which a knee bent backward is hardly bent forward instead
_STRAIGHT = 0.2  # sine of the bend below which the knee's hinge is more exact than the leg's plane


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
    """Turn hip, knee and ankle of `poses` (T, 7, B) in place: the toe reaches `targets` (T, 3).

    World rotations are (T, B, 4), positions (T, B, 3). The leg stays `buffer` metres short of
    straight. The foot keeps its attitude, unless the heel would come below `lowest` (T,), the
    ankle's height in a standing foot, or the toe's tip below the floor.
    """
    thigh, shin, foot, toe = (leg.chain[i] for i in (leg.thigh, leg.shin, leg.foot, -1))
    hip, knee, ankle = positions[:, thigh], positions[:, shin], positions[:, foot]
    arm = ankle - positions[:, toe]
    pitched = raise_end(arm, lowest - targets[:, 2])
    upper, lower = knee - hip, ankle - knee
    leg_vector = targets + pitched - hip
    # a step up may fold a leg further than the data, which has flat ground only
    step = np.maximum(lowest - leg.foot_height - poses[:, 2, 0], 0.0)
    further = np.maximum(leg.folded_length - step - np.linalg.norm(leg_vector, axis=-1), 0.0)
    above = np.minimum(
        targets[:, 2] - leg.toe_height, targets[:, 2] + pitched[:, 2] - leg.foot_height
    )
    room = np.maximum(above + leg.foot_height - lowest, 0.0)
    goal = hip + _lengthen(leg_vector, further, room)
    sides = upper, lower, ankle - hip, goal - hip
    a, b, now, requested = (np.linalg.norm(v, axis=-1) for v in sides)
    reach = _limit_reach(requested, now, a, b, buffer)
    pitched = _peel_heel(pitched, hip - targets, reach, requested - reach)
    goal = np.where((reach < requested)[:, None], targets + pitched, goal)
    hinge = quat.mul_vec(rotations[:, shin], np.array(leg.hinge))
    normal = np.cross(lower, upper)
    axis = _compute_knee_axis(hinge, normal / np.maximum(a * b, 1e-12)[:, None])
    # only what is across the axis turns about it
    along = np.sum(upper * axis, axis=-1) * np.sum(lower * axis, axis=-1)
    cosine, sine = np.sum(lower * upper, axis=-1) - along, np.sum(normal * axis, axis=-1)
    bent = (0.5 * (reach * reach - a * a - b * b) - along) / np.maximum(
        np.hypot(cosine, sine), 1e-12
    )
    # the hinge straightens: a smaller angle between the bones is a turn against it
    turn = np.arctan2(sine, cosine) - np.arccos(np.clip(bent, -1.0, 1.0))
    at_knee = quat.from_angle_axis(turn, axis)
    at_hip = quat.between(upper + quat.mul_vec(at_knee, lower), goal - hip)
    shin_turn, pitch = quat.mul(at_hip, at_knee), quat.between(arm, pitched)
    foot_rotation = quat.mul(pitch, rotations[:, foot])
    distance = np.linalg.norm(targets - positions[:, toe], axis=-1)
    moved = (distance > CLOSE) | (now < leg.folded_length)

    def set_rotation(bone: int, above: np.ndarray, rotation: np.ndarray) -> None:
        poses[moved, 3:, bone] = quat.normalize(quat.inv_mul(above, rotation))[moved]

    above_hip, above_knee, above_ankle = (rotations[:, parents[b]] for b in (thigh, shin, foot))
    set_rotation(thigh, above_hip, quat.mul(at_hip, rotations[:, thigh]))
    set_rotation(shin, quat.mul(at_hip, above_knee), quat.mul(shin_turn, rotations[:, shin]))
    set_rotation(foot, quat.mul(shin_turn, above_ankle), foot_rotation)
    if toe != foot:
        below = leg.chain[leg.foot + 1]
        raised = quat.mul(pitch, rotations[:, below])
        if leg.tip is not None and below == toe:
            # the toe keeps its attitude to the foot, but its tip is not bent into the floor
            tip = quat.mul_vec(raised, np.array(leg.tip))
            floor = lowest - leg.foot_height + leg.tip_height
            raised = quat.mul(quat.between(tip, raise_end(tip, floor - targets[:, 2])), raised)
        set_rotation(below, foot_rotation, raised)


def raise_end(arm: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Pitch vectors (T, 3): their ends rise by at least `least` (T,), as their length allows."""
    length, flat = np.linalg.norm(arm, axis=-1), np.linalg.norm(arm[:, :2], axis=-1)
    rise = np.minimum(np.maximum(arm[:, 2], least), np.maximum(0.999 * length, arm[:, 2]))
    shorter = np.sqrt(np.maximum(length**2 - rise**2, 0.0)) / np.maximum(flat, 1e-9)
    raised = np.column_stack([arm[:, :2] * shorter[:, None], rise])
    return np.where((least > arm[:, 2])[:, None], raised, arm)


def open_knees(
    leg: LegGeometry,
    poses: np.ndarray,
    rotations: np.ndarray,
    positions: np.ndarray,
    parents: np.ndarray,
) -> bool:
    """Open knees of `poses` (T, 7, B) in place that fold further than in the data.

    Thighs stay, and feet keep their attitude, as with `legs.unfold`. Knees bent backward stay, too.
    World rotations are (T, B, 4), positions (T, B, 3). Returns whether any knee was opened.
    """
    thigh, shin, foot = (leg.chain[i] for i in (leg.thigh, leg.shin, leg.foot))
    folded = np.linalg.norm(positions[:, foot] - positions[:, thigh], axis=-1) < leg.folded_length
    if not folded.any():
        return False
    upper, lower, hinge = _get_fold(leg, rotations[folded], positions[folded])
    # only what is across the hinge turns about it
    along = np.sum(upper * hinge, axis=-1) * np.sum(lower * hinge, axis=-1)
    sine = np.sum(np.cross(lower, upper) * hinge, axis=-1)
    cosine = np.sum(upper * lower, axis=-1) - along
    opens = (sine >= 0.0) | (cosine <= 0.0)
    if not opens.any():
        return False
    folded[folded] = opens
    rotations = rotations[folded]
    upper, lower, hinge, along, sine, cosine = (
        each[opens] for each in (upper, lower, hinge, along, sine, cosine)
    )
    squares = np.sum(upper**2, axis=-1) + np.sum(lower**2, axis=-1)
    bent = 0.5 * (leg.folded_length**2 - squares) - along
    most = np.arccos(np.clip(bent / np.maximum(np.hypot(cosine, sine), 1e-12), -1.0, 1.0))
    angle = np.arctan2(sine, cosine) % (2.0 * np.pi)
    turn = quat.from_angle_axis(angle - most, hinge)
    above_knee, above_ankle = rotations[:, parents[shin]], rotations[:, parents[foot]]
    opened = quat.mul(turn, rotations[:, shin])
    poses[folded, 3:, shin] = quat.inv_mul(above_knee, opened)
    poses[folded, 3:, foot] = quat.inv_mul(quat.mul(turn, above_ankle), rotations[:, foot])
    return True


def straighten_knees(
    leg: LegGeometry,
    poses: np.ndarray,
    rotations: np.ndarray,
    positions: np.ndarray,
    parents: np.ndarray,
) -> bool:
    """Straighten knees of `poses` (T, 7, B) in place that are bent backward, as by a fading jump.

    Knees bent far backward are bent forward instead. Ankles stay on their way from the hip, and
    feet keep their attitude. World rotations are (T, B, 4), positions (T, B, 3). Returns whether
    any knee was bent backward.
    """
    thigh, shin, foot = (leg.chain[i] for i in (leg.thigh, leg.shin, leg.foot))
    upper, lower, hinge = _get_fold(leg, rotations, positions)
    sine = np.sum(np.cross(lower, upper) * hinge, axis=-1)
    backward = sine < 0.0
    if not backward.any():
        return False
    upper, lower, hinge, sine = upper[backward], lower[backward], hinge[backward], sine[backward]
    rotations = rotations[backward]
    # only what is across the hinge turns about it
    along = np.sum(upper * hinge, axis=-1) * np.sum(lower * hinge, axis=-1)
    angle = np.arctan2(sine, np.sum(upper * lower, axis=-1) - along)
    # one that passes straight for a moment does not swing forward and back
    forward = -angle - _BACKWARD * np.tanh(-angle / _BACKWARD)
    at_knee = quat.from_angle_axis(angle - forward, hinge)
    at_hip = quat.between(upper + quat.mul_vec(at_knee, lower), upper + lower)
    whole = quat.mul(at_hip, at_knee)
    above_hip, above_knee, above_ankle = (rotations[:, parents[b]] for b in (thigh, shin, foot))
    turned = (
        (thigh, above_hip, quat.mul(at_hip, rotations[:, thigh])),
        (shin, quat.mul(at_hip, above_knee), quat.mul(whole, rotations[:, shin])),
        (foot, quat.mul(whole, above_ankle), rotations[:, foot]),
    )
    for bone, above, rotation in turned:
        poses[backward, 3:, bone] = quat.inv_mul(above, rotation)
    return True


def _get_fold(
    leg: LegGeometry, rotations: np.ndarray, positions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return upper and lower leg (T, 3) of a body, and the axis of its knee (T, 3)."""
    hip, knee, ankle = (positions[:, leg.chain[k]] for k in (leg.thigh, leg.shin, leg.foot))
    hinge = quat.mul_vec(rotations[:, leg.chain[leg.shin]], np.array(leg.hinge))
    return knee - hip, ankle - knee, hinge


def _lengthen(leg_vector: np.ndarray, further: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Lengthen vectors (T, 3) from hip to ankle by `further` (T,), down by at most `room` (T,)."""
    length = np.linalg.norm(leg_vector, axis=-1)
    longer = length + further
    fall = leg_vector[:, 2] * further / np.maximum(length, 1e-9)
    height = leg_vector[:, 2] + np.maximum(fall, -room)
    # what the floor takes of the length goes aside
    level = np.sqrt(np.maximum(longer**2 - height**2, 0.0))
    scale = level / np.maximum(np.linalg.norm(leg_vector[:, :2], axis=-1), 1e-9)
    return np.column_stack(
        [leg_vector[:, :2] * np.where(further > 0.0, scale, 1.0)[:, None], height]
    )


def _limit_reach(
    desired: np.ndarray, now: np.ndarray, a: np.ndarray, b: np.ndarray, buffer: float
) -> np.ndarray:
    """Return how far (T,) from the hip the ankle gets: a leg gives way softly, and never snaps."""
    length = a + b
    soft = np.maximum((1.0 - FIRM) * length - buffer, 1e-6)

    def soften(reach: np.ndarray) -> np.ndarray:
        beyond = reach - FIRM * length
        softened = FIRM * length + soft * (1.0 - np.exp(-np.maximum(beyond, 0.0) / soft))
        return np.where(beyond <= 0.0, reach, softened)

    reach = np.where(desired > now, now + soften(desired) - soften(now), desired)
    return np.maximum(np.minimum(reach, np.maximum(length - buffer, now)), np.abs(a - b) + 1e-3)


def _peel_heel(
    arm: np.ndarray, leg_vector: np.ndarray, reach: np.ndarray, missing: np.ndarray
) -> np.ndarray:
    """Turn arms (T, 3) from toe to ankle toward the hip where `missing` (T,) of the reach (T,).

    A toe stays so where it is planted as its leg cannot reach any farther: its heel comes up.
    `leg_vector` (T, 3) are the ways from toe to hip.
    """
    length, far = np.linalg.norm(arm, axis=-1), np.linalg.norm(leg_vector, axis=-1)
    around = np.maximum(2.0 * length * far, 1e-12)
    wanted = np.arccos(np.clip((length**2 + far**2 - reach**2) / around, -1.0, 1.0))
    angle = np.arccos(np.clip(2.0 * np.sum(arm * leg_vector, axis=-1) / around, -1.0, 1.0))
    turn = np.where(missing > 0.0, np.maximum(angle - wanted, 0.0), 0.0)
    turn = np.where(turn > _PEEL, _PEEL * (2.0 - np.exp(1.0 - turn / _PEEL)), turn)
    axis = np.cross(arm, leg_vector)
    axis /= np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-12)
    return quat.mul_vec(quat.from_angle_axis(turn, axis), arm)


def _compute_knee_axis(hinge: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the knee's axis (T, 3): the normal of a bent leg's plane, a straight leg's hinge."""
    backward = np.minimum(np.sum(normal * hinge, axis=-1, keepdims=True), 0.0)
    axis = normal + (_STRAIGHT - backward) * hinge
    return axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-12)

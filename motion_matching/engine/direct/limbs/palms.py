"""Turn palms as marks ask: the forearm about its axis, and the wrist, within people's ranges.

The direction of a palm comes from the knuckles of fingers, or else from a standing rest pose. Elbow
and wrist stay in place.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...control.rollout import Take
from ...errors import RigError
from ...maths.easing import smoothstep
from ...maths.rotations import quat
from ...retargeting.frames.end_frames import EndFrames
from ...retargeting.frames.frame_axes import rotate
from ...skeleton.skeleton import Skeleton
from ..objective import COSTS
from ..shot.mark import HANDS, Mark
from .limbs import find_known_roles, find_limbs
from .numbers import NUMBERS

# in frames of hands: to the knuckles, and out of the palm, because Z points up from the back
_FINGERS = np.array([0.0, 1.0, 0.0])
_PALM = np.array([0.0, 0.0, -1.0])


class _Angles(NamedTuple):
    """Turns of hands (K,) in radians.

    `twist` is the pronation of the forearm, `bend` the flexion of the wrist, and `aside` how far
    that leads fingers to the thumb's side.
    """

    twist: np.ndarray
    bend: np.ndarray
    aside: np.ndarray


class _ForearmView(NamedTuple):
    """An arm at K ticks, as directions (K, 3)."""

    sign: float  # 1 on the left, -1 on the right
    forearm: np.ndarray
    neutral: np.ndarray  # direction of the palm halfway between pronation and supination
    palm: np.ndarray
    fingers: np.ndarray
    frame: np.ndarray  # rotation (4,) from the hand's bone, as of `find_palm_frame`

    @classmethod
    def from_poses(cls, poses: np.ndarray, skeleton: Skeleton, part: str) -> _ForearmView | None:
        """Return the arm of a hand in poses (K, 7, B), None if no palm is known."""
        frame = find_palm_frame(skeleton, part)
        if frame is None:
            return None
        limb = find_limbs(skeleton)[part]
        rotations, joints = quat.compute_world(poses.astype(np.float64), skeleton.parents)
        root, middle, end = (joints[:, bone] for bone in limb)
        length = np.linalg.norm(middle - root, axis=1) + np.linalg.norm(end - middle, axis=1)
        way = quat.normalize_vectors(end - root)
        aside = middle - root
        aside = aside - np.sum(aside * way, axis=1, keepdims=True) * way
        lacking = np.maximum(NUMBERS.elbow_shown * length - np.linalg.norm(aside, axis=1), 0.0)
        aside = aside + lacking[:, None] * find_elbow_side(part, rotations[:, 0], way)
        sign = 1.0 if part == HANDS[0] else -1.0
        hinge = np.cross(way, aside)
        forearm = quat.normalize_vectors(end - middle)
        neutral = -sign * (hinge - np.sum(hinge * forearm, axis=1, keepdims=True) * forearm)
        hand = quat.mul(rotations[:, limb.end], frame)
        palm = rotate(hand, _PALM)
        fingers = rotate(hand, _FINGERS)
        return cls(sign, forearm, quat.normalize_vectors(neutral), palm, fingers, frame)

    def measure(self) -> _Angles:
        """Return the turns of the hand."""
        twist, bend = self.measure_palm(self.palm)
        along = np.sum(self.forearm * self.palm, axis=1, keepdims=True)
        ahead = self.forearm - along * self.palm
        aside = np.sum(np.cross(ahead, self.fingers) * self.palm, axis=1)
        turned = np.arctan2(self.sign * aside, np.sum(ahead * self.fingers, axis=1))
        return _Angles(twist, bend, _unwind(turned))

    def measure_palm(self, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return twist and bend of a hand whose palm faces in directions (K, 3)."""
        along = np.sum(faces * self.forearm, axis=1)
        flat = faces - along[:, None] * self.forearm
        turned = np.sum(np.cross(self.neutral, flat) * self.forearm, axis=1)
        twist = np.arctan2(self.sign * turned, np.sum(self.neutral * flat, axis=1))
        return _unwind(twist), np.arcsin(np.clip(-along, -1.0, 1.0))


def find_palm_frame(skeleton: Skeleton, part: str) -> np.ndarray | None:
    """Return the rotation (4,) from a hand's bone to its frame, None if that is unknown.

    Y leads to the knuckles, and Z up from the back of the hand. Paws have none.
    """
    roles = find_known_roles(skeleton)
    if roles is None or roles.four_legged or part not in find_limbs(skeleton):
        return None
    try:
        ends = EndFrames.from_body(skeleton, roles)
    except RigError:
        return None
    return ends.palms.get(part, ends.frames.get(part))


def find_elbow_side(part: str, headings: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """Return the side (K, 3) to which a relaxed elbow of a hand points, by headings (K, 4).

    Ways (K, 3) lead from the shoulder to the hand.
    """
    sides = np.array([1.0 if part == HANDS[0] else -1.0, 1.0, 1.0])
    both = sides * [NUMBERS.elbow_reach, NUMBERS.elbow_side]
    reaches, elbow = (quat.mul_vec(headings, np.tile(each, (len(ways), 1))) for each in both)
    turns = quat.between(quat.normalize_vectors(reaches), quat.normalize_vectors(ways))
    return np.asarray(quat.mul_vec(turns, elbow))


def turn_palm(
    take: Take, mark: Mark, stay: tuple[int, int], ticks: np.ndarray, shares: np.ndarray
) -> Take:
    """Return a take whose palm faces as a mark asks from the first to the last tick of a stay.

    At ticks (K,) it is turned by shares (K,) of the missing turn at the nearest tick of the stay.
    Without a palm nothing is turned.
    """
    first, last = (min(max(tick, 0), take.frame_count - 1) for tick in stay)
    arm = _ForearmView.from_poses(take.poses[first : last + 1], take.skeleton, mark.part)
    if arm is None or not len(ticks):
        return take
    own = arm.measure()
    asked = arm.measure_palm(_get_direction(mark, len(arm.palm)))
    reached = _limit(own, *asked)
    at = np.clip(ticks, first, last) - first
    lacks = (shares * (new - old)[at] for new, old in zip(reached, own, strict=True))
    return replace(take, poses=_turn(take, mark.part, ticks, _Angles(*lacks)))


def rate_elbow(poses: np.ndarray, skeleton: Skeleton, mark: Mark, swing: float) -> float:
    """Return the cost in radians of swinging an elbow to its place in poses (K, 7, B).

    It is the largest turn that the palm then still lacks, plus a share of the swing.
    """
    arm = _ForearmView.from_poses(poses, skeleton, mark.part)
    if arm is None:
        return abs(swing)
    twist, bend = arm.measure_palm(_get_direction(mark, len(poses)))
    reached = _limit(arm.measure(), twist, bend)
    level = np.cos(reached.bend) * np.cos(bend) * np.cos(reached.twist - twist)
    least = float(np.min(level + np.sin(reached.bend) * np.sin(bend)))
    return math.acos(min(max(least, -1.0), 1.0)) + COSTS.swing * abs(swing)


def _get_direction(mark: Mark, count: int) -> np.ndarray:
    """Return the direction (K, 3) that a mark wants its palm to face."""
    assert mark.palm is not None
    return np.tile(quat.normalize_vectors(np.array(mark.palm, float)), (count, 1))


def _unwind(angles: np.ndarray) -> np.ndarray:
    """Unwind angles (K,), so that the middle one is within half a turn of zero."""
    angles = np.unwrap(angles)
    turns = np.round(angles[len(angles) // 2] / (2.0 * np.pi))
    return np.asarray(angles - 2.0 * np.pi * turns)


def _limit(own: _Angles, twist: np.ndarray, bend: np.ndarray) -> _Angles:
    """Limit a twist (K,) and a bend (K,) to a person's range, which the motion's own may exceed."""
    share = smoothstep(np.cos(bend) / np.sin(NUMBERS.along_forearm))
    twist = own.twist + share * (twist - own.twist)
    inward = NUMBERS.pronation
    outward = -NUMBERS.supination
    forward = NUMBERS.flexion
    back = -NUMBERS.extension
    return _Angles(
        np.clip(twist, np.minimum(outward, own.twist), np.maximum(inward, own.twist)),
        np.clip(bend, np.minimum(back, own.bend), np.maximum(forward, own.bend)),
        np.clip(own.aside, -NUMBERS.ulnar, NUMBERS.radial),
    )


def _turn(take: Take, part: str, ticks: np.ndarray, angles: _Angles) -> np.ndarray:
    """Return poses (T, 7, B) whose hand is turned about its forearm, then bent at the wrist."""
    limb = find_limbs(take.skeleton)[part]
    parents = take.skeleton.parents
    poses = take.poses[ticks].astype(np.float64)
    arm = _ForearmView.from_poses(poses, take.skeleton, part)
    assert arm is not None
    rotations, _ = quat.compute_world(poses, parents)
    half, whole = (
        quat.from_angle_axis(arm.sign * share * angles.twist, arm.forearm)
        for share in (NUMBERS.forearm_twist, 1.0)
    )
    hand = quat.mul(whole, rotations[:, limb.end])
    hinge = np.cross(arm.forearm, quat.mul_vec(whole, arm.palm))
    hand = quat.mul(quat.from_angle_axis(angles.bend, quat.normalize_vectors(hinge)), hand)
    palm = rotate(quat.mul(hand, arm.frame), _PALM)
    hand = quat.mul(quat.from_angle_axis(arm.sign * angles.aside, palm), hand)
    above, before_hand = (rotations[:, parents[bone]] for bone in (limb.middle, limb.end))
    forearm = quat.inv_mul(above, quat.mul(half, rotations[:, limb.middle]))
    result = take.poses.copy()
    result[ticks, 3:, limb.middle] = quat.normalize(forearm)
    wrist = quat.inv_mul(quat.mul(half, before_hand), hand)
    result[ticks, 3:, limb.end] = quat.normalize(wrist)
    return result


def measure_palm(take: Take, mark: Mark) -> tuple[float | None, str]:
    """Return the largest angle in radians between a held palm and its direction, and the reason.

    The reason is given for an angle that can be seen. Without a palm the angle is None.
    """
    first, last = (min(tick, take.frame_count - 1) for tick in mark.find_span(take.fps))
    hand = mark.part.replace("_", " ")
    arm = _ForearmView.from_poses(take.poses[first : last + 1], take.skeleton, mark.part)
    if arm is None:
        return None, (
            f"this body does not show where the palm of the {hand} faces, so it is not turned; "
            "give its armature two fingers on each hand, or a rest pose that stands"
        )
    direction = _get_direction(mark, len(arm.palm))
    away = np.arctan2(
        np.linalg.norm(np.cross(arm.palm, direction), axis=1), np.sum(arm.palm * direction, axis=1)
    )
    worst = int(np.argmax(away))
    most = float(away[worst])
    if most <= NUMBERS.palm_met:
        return most, ""
    twist = float(arm.measure_palm(direction)[0][worst])
    why = "another mark turns the hand then"
    if twist > NUMBERS.pronation:
        why = f"the forearm turns inward by {math.degrees(NUMBERS.pronation):.0f}° at most"
    elif twist < -NUMBERS.supination:
        why = f"the forearm turns outward by {math.degrees(NUMBERS.supination):.0f}° at most"
    return most, (
        f"the palm of the {hand} is {math.degrees(most):.0f}° short, as {why}; move the mark, or "
        "let the palm face elsewhere"
    )

"""Bend one leg so that its toe reaches its target, no harder than the played motion.

Source: article 002, Sliding and Foot Locking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...legs.legs import CLOSE, Joint, LegGeometry, bend, is_bent_backward, roll_foot
from ...legs.two_bones import pitch_to_height, turn_limb, unfold
from ...maths.numeric import FLOATS
from ...maths.rotations.scalar_quat import Quaternion, Vector, between, inv_mul, mul, mul_vec
from ...motion.margins import MARGINS
from ..numbers import NUMBERS
from .contact_lock import ContactLock
from .knee_limit import KneeLimit
from .leap_limit import LeapLimit

# the joints that a leg turns, each after its parent: hip, knee, ankle, toe
LegJoints = tuple[Joint, ...]


class Tick(NamedTuple):
    """Values common to all legs in a tick of `dt` seconds.

    Legs stay `buffer` metres short of straight. The `hardest` that joints accelerate is in m/s²,
    and `most` is by how many metres their step changes in this tick.
    """

    dt: float
    buffer: float
    hardest: float
    most: float


class _Bent(NamedTuple):
    """World rotations of a leg about its hip and, before that, of the lower leg about the knee.

    The leg is too short by `short` metres, and has its knee at a place.
    """

    whole: Quaternion
    lower: Quaternion
    short: float
    knee: Vector


class LegSolver:
    """Bends a leg; its foot moves as a whole, and none of its joints leaps."""

    def __init__(self, leg: LegGeometry, lock: ContactLock) -> None:
        self._leg = leg
        self._lock = lock
        self._knee, self._leap = KneeLimit(leg), LeapLimit()

    def reset(self) -> None:
        self._knee.reset()
        self._leap.reset()

    def start_from(self, joints: LegJoints, before: LegJoints, dt: float) -> None:
        """Go on with a leg at joints, which were those `before` a tick ago."""
        _, (hip, _), _, (knee, _), _, (ankle, _), *_ = joints
        self._knee.start_from(
            math.dist(hip, ankle),
            math.dist(before[1][0], before[5][0]),
            math.dist(hip, knee),
            math.dist(knee, ankle),
            dt,
        )

    def solve(
        self,
        joints: LegJoints,
        bones: Sequence[list[float]],
        target: Vector,
        floors: Vector,
        tick: Tick,
    ) -> list[float]:
        """Return the local rotations of thigh, shin, foot and toe that bring the toe to its target.

        Heel and tip of the foot stay on or above the floor; `floors` are its heights under toe,
        heel and tip. `bones` are the same four before. Where foot and toe are one bone, its
        rotation is returned once.
        """
        leg = self._leg
        ankle = joints[5]
        toe = joints[7]
        self._knee.hardest = tick.hardest
        lowest = floors[0] + leg.toe_height, floors[1] + leg.foot_height
        arm, pitch = self._keep_heel_up(ankle[0], toe[0], target, floors)
        target, rolled, spare = self._reach(joints, target, arm, lowest, tick)
        target, turned = self._leap.limit(target, rolled, lowest, MARGINS.foot * tick.most)
        roll = None if turned is arm else between(*arm, *turned)
        ways = [way for way in (pitch, roll) if way is not None]
        bent = self._bend(joints, target, turned, lowest, spare, tick, bool(ways))
        attitude = ankle[1]
        for way in ways:
            attitude = mul(way, attitude)
        result = _turn_bones(joints, bones, bent, attitude)
        if leg.tip is not None:
            above = joints[6][1]
            own = toe[1]
            for way in ways:
                above = mul(way, above)
            own = own if pitch is None else mul(pitch, own)
            depth = floors[2] + leg.tip_height - target[2]
            raised = _raise_tip(leg.tip, own, depth, self._lock, tick.dt)
            if raised is None and roll is None:
                result += bones[3][3:]
            else:
                result += inv_mul(above, own if raised is None else raised)
        return result

    def _keep_heel_up(
        self, ankle: Vector, toe: Vector, target: Vector, floors: Vector
    ) -> tuple[Vector, Quaternion | None]:
        """Return the way from a toe to its ankle, and the foot's pitch rotation, if any.

        The foot keeps its attitude to the floor, but its heel is not pushed into it.
        """
        leg = self._leg
        z = target[2]
        ex = ankle[0] - toe[0]
        ey = ankle[1] - toe[1]
        ez = ankle[2] - toe[2]
        rise = max(ez + floors[1] - floors[0], floors[1] + leg.foot_height - z)
        if leg.tip is None or abs(rise - ez) <= CLOSE:
            return (ex, ey, ez), None
        arm = pitch_to_height((ex, ey, ez), rise, FLOATS)
        return arm, between(ex, ey, ez, *arm)

    def _reach(
        self,
        joints: LegJoints,
        target: Vector,
        arm: Vector,
        lowest: tuple[float, float],
        tick: Tick,
    ) -> tuple[Vector, Vector, float]:
        """Return toe and arm of a leg that folds no further than in the data, and is long enough.

        Also return by how many metres it may stretch freely.
        """
        leg = self._leg
        lock = self._lock
        (hip, _) = joints[1]
        knee = joints[3]
        (ankle, _) = joints[5]
        goal = _add(target, arm)
        now = math.dist(hip, ankle)
        spare = lock.spare
        if now < leg.folded_length:
            goal = _unfold_goal(leg, hip, knee, ankle, goal, _find_room(target, goal, lowest))
            target = goal[0] - arm[0], goal[1] - arm[1], goal[2] - arm[2]
        # a body that stands comes to be above its feet by itself
        if not lock.is_held and math.dist(hip, goal) > now + spare:
            rolled, spare = roll_foot(hip, knee[0], ankle, target, goal, tick.buffer, spare)
            if rolled is not goal:
                x, y, z = target
                return target, (rolled[0] - x, rolled[1] - y, rolled[2] - z), spare
        return target, arm, spare

    def _bend(
        self,
        joints: LegJoints,
        target: Vector,
        arm: Vector,
        lowest: tuple[float, float],
        spare: float,
        tick: Tick,
        moves: bool,
    ) -> _Bent | None:
        """Bend the leg to where a toe and its arm are, None if it `moves` nothing."""
        limit = self._knee
        leap = self._leap
        (hip, _) = joints[1]
        knee = joints[3]
        (ankle, _), goal = joints[5], _add(target, arm)
        room = _find_room(target, goal, lowest)
        limit.lean = math.dist(hip, goal) / max(hip[2] - goal[2], CLOSE)
        if not (moves or self._is_moved(hip, knee, ankle, goal, room, tick.dt)):
            leap.bend_knee(knee[0])
            return None
        state = limit.state
        bent = self._bend_to(joints, goal, room, spare, tick)
        if leap.is_leap(bent.knee, tick.most):
            calm = leap.go_on(arm)
            limit.state = state
            calmest = self._bend_to(joints, calm, room, spare, tick).knee
            for _ in range(NUMBERS.knee_tries):
                share = leap.find_calm_share(bent.knee, calmest, tick.most)
                x, y, z = ((1.0 - share) * (c - g) for g, c in zip(goal, calm, strict=True))
                leap.settle(x, y, z)
                goal = _add(goal, (x, y, z))
                limit.state = state
                bent = self._bend_to(joints, goal, room, spare, tick)
                if not leap.is_leap(bent.knee, tick.most):
                    break
        if not -CLOSE <= bent.short <= CLOSE:
            share = -bent.short / math.dist(hip, goal)
            leap.settle(*(share * (g - h) for g, h in zip(goal, hip, strict=True)))
        leap.bend_knee(bent.knee)
        return bent

    def _bend_to(
        self, joints: LegJoints, goal: Vector, room: float, spare: float, tick: Tick
    ) -> _Bent:
        hip = joints[1][0]
        knee = joints[3]
        ankle = joints[5][0]
        whole, lower, short = bend(
            *(hip, knee, ankle, goal, self._leg.hinge, tick.buffer),
            *(self._knee.limit_reach, room, tick.dt, spare),
        )
        (hx, hy, hz) = hip
        (kx, ky, kz) = knee[0]
        x, y, z = mul_vec(whole, (kx - hx, ky - hy, kz - hz))
        return _Bent(whole, lower, short, (hx + x, hy + y, hz + z))

    def _is_moved(
        self, hip: Vector, knee: Joint, ankle: Vector, goal: Vector, room: float, dt: float
    ) -> bool:
        """Return whether a leg, whose foot is not turned, is elsewhere than in the motion."""
        if math.dist(goal, ankle) > CLOSE or is_bent_backward(hip, knee, ankle, self._leg.hinge):
            return True
        lengths = math.dist(hip, knee[0]), math.dist(knee[0], ankle)
        return self._knee.holds(math.dist(hip, ankle), *lengths, room, dt)


def _add(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _find_room(toe: Vector, ankle: Vector, lowest: tuple[float, float]) -> float:
    """Return how far a foot may sink until its toe or heel is on the floor."""
    return max(min(toe[2] - lowest[0], ankle[2] - lowest[1]), 0.0)


def _turn_bones(
    joints: LegJoints, bones: Sequence[list[float]], bent: _Bent | None, attitude: Quaternion
) -> list[float]:
    """Return the local rotations of thigh, shin and foot, of a foot at an attitude in the world."""
    if bent is None:
        return [*bones[0][3:], *bones[1][3:], *bones[2][3:]]
    rotations = [rotation for _, rotation in joints[:5]]
    thigh, shin, foot = turn_limb(rotations, bent.whole, bent.lower, attitude)
    return [*thigh, *shin, *foot]


def _unfold_goal(
    leg: LegGeometry, hip: Vector, knee: Joint, ankle: Vector, goal: Vector, room: float
) -> Vector:
    """Return a goal for an ankle at most `room` lower, so that the leg folds as in the data."""
    (kx, ky, kz), attitude = knee
    upper = kx - hip[0], ky - hip[1], kz - hip[2]
    lower = ankle[0] - kx, ankle[1] - ky, ankle[2] - kz
    hinge = mul_vec(attitude, leg.hinge)
    x, y, z = unfold(upper, lower, hinge, leg.folded_length, FLOATS)
    fall = min(max(-z, 0.0), room)
    goal = goal[0] + x, goal[1] + y, goal[2] + (z if z > 0.0 else -fall)
    further = leg.folded_length - math.dist(hip, goal)
    return _lengthen(hip, goal, further, room - fall) if further > 0.0 else goal


def _lengthen(hip: Vector, goal: Vector, further: float, room: float) -> Vector:
    """Return a goal that is `further` from the hip, and at most `room` lower: a leg folds less."""
    x, y, z = goal[0] - hip[0], goal[1] - hip[1], goal[2] - hip[2]
    length = math.sqrt(x * x + y * y + z * z)
    level = math.hypot(x, y)
    height = z + max(z * further / (length + 1e-9), -room)
    # length that the floor takes goes aside
    share = math.sqrt(max((length + further) ** 2 - height * height, 0.0)) / (level + 1e-9)
    return hip[0] + x * share, hip[1] + y * share, hip[2] + height


def _raise_tip(
    tip: Vector, attitude: Quaternion, lowest: float, lock: ContactLock, dt: float
) -> Quaternion | None:
    """Return a toe's attitude with its tip raised to `lowest` above the joint; None if it is."""
    turned = mul_vec(attitude, tip)
    lifted = lock.raise_tip(lowest - turned[2], dt)
    if lifted < CLOSE:
        return None
    raised = pitch_to_height(turned, turned[2] + lifted, FLOATS)
    return mul(between(*turned, *raised), attitude)

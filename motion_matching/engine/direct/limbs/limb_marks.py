"""Bring limbs to their marks: bend them only by the gap that the motion leaves.

The motion passes a leading mark, so only the remaining distance is added, which fades in and out.
Any other mark may be far from the motion, and draws its limb to it and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...control.rollout import Take
from ...database.database import Database
from ...maths.easing import smoothstep
from ...maths.rotations import quat
from ..obstacles.obstruction import Obstruction
from ..shot.mark import HANDS, Mark
from .hands_clear import keep_hands_out
from .leaning import lean_to_marks
from .limbs import Bend, LimbChain, bend_limb, find_limbs
from .numbers import NUMBERS
from .palms import find_elbow_side, rate_elbow, turn_palm


class _Span(NamedTuple):
    """The ticks at which a limb is moved all of the way, and the durations of both transitions."""

    first: int
    last: int
    before: int
    after: int

    def list_ticks(self, count: int) -> np.ndarray:
        """Return the ticks (K,), of a take with `count` ticks, at which a limb is moved."""
        return np.arange(max(self.first - self.before, 0), min(self.last + self.after + 1, count))

    def compute_shares(self, ticks: np.ndarray) -> np.ndarray:
        """Return shares (K,) of the time in which a limb comes to its mark, or leaves it."""
        early = np.maximum(self.first - ticks, 0) / max(self.before, 1)
        late = np.maximum(ticks - self.last, 0) / max(self.after, 1)
        return np.asarray(1.0 - np.maximum(early, late))


def is_leg(database: Database, part: str) -> bool:
    """Return whether a part of the body is the end of a leg."""
    limbs = find_limbs(database.skeleton)
    return part in limbs and _find_leg(limbs[part], database) is not None


def _find_leg(limb: LimbChain, database: Database) -> int | None:
    """Return the index of a limb's leg, if it is one."""
    bones = database.roles.leg_bones
    return next((leg for leg, chain in enumerate(bones) if limb.end in chain), None)


def reach_marks(
    take: Take,
    marks: Sequence[Mark],
    database: Database,
    begins: float = 0.0,
    obstruction: Obstruction | None = None,
) -> Take:
    """Return a take, whose feet are planted, with its limbs at their marks.

    It `begins` at a second of the shot. A limb that is much too far from a leading mark, or too
    near, stays unchanged. Hands come to surfaces of an obstruction from above.
    """
    leading = [mark for mark in marks if mark.leads]
    take = lean_to_marks(take, leading, database, begins, obstruction)
    of_limbs = sorted((mark for mark in marks if mark.is_limb), key=lambda mark: mark.time)
    for mark in of_limbs:
        if mark.leads:
            take = _reach(take, mark, database, begins, obstruction)
    if obstruction:
        take = keep_hands_out(take, leading, obstruction, begins)
    for mark in of_limbs:
        if not mark.leads:
            take = _reach(take, mark, database, begins, obstruction)
    for mark in of_limbs:
        if mark.palm is not None:
            take = _face(take, mark, begins)
    return take


def _face(take: Take, mark: Mark, begins: float) -> Take:
    """Return a take whose palm faces as a mark asks while its hand is there."""
    stay = _find_stay(take, mark, find_limbs(take.skeleton)[mark.part], begins, False)
    if stay is None:
        return take
    ease = round(NUMBERS.ease * take.fps)
    span = _Span(*stay, ease, ease)
    ticks = span.list_ticks(take.frame_count)
    return turn_palm(take, mark, stay, ticks, smoothstep(span.compute_shares(ticks)))


def _reach(
    take: Take, mark: Mark, database: Database, begins: float, obstruction: Obstruction | None
) -> Take:
    """Return a take with a limb moved to its mark as far as it reaches."""
    limb = find_limbs(take.skeleton)[mark.part]
    leg = _find_leg(limb, database)
    stay = _find_stay(take, mark, limb, begins, leg is not None)
    if stay is None:
        return take
    span = _find_span(take, mark, stay, limb, database)
    ticks = span.list_ticks(take.frame_count)
    metres = _measure_away(take, mark, limb, np.clip(ticks, *stay) if mark.leads else ticks)
    if np.abs(metres).max(initial=0.0) <= NUMBERS.limb_worth:
        return take
    linear = span.compute_shares(ticks)
    bend = None
    is_arm = mark.leads and leg is None
    is_over = is_arm and _is_over(mark, take, stay[0], obstruction)
    goal = _find_joint(take, limb.end, ticks) + _ease(linear, is_over) * metres
    if is_arm:
        way = goal - _find_joint(take, limb.root, ticks)
        side = find_elbow_side(mark.part, take.poses[ticks, 3:, 0], way)
        bend = Bend(side, smoothstep(linear / NUMBERS.foot_turn_share))
        if mark.palm is not None:
            bend = _swing_elbow(take, mark, span, goal, bend)
    return replace(take, poses=bend_limb(take.poses, ticks, take.skeleton, limb, goal, bend))


def _swing_elbow(take: Take, mark: Mark, span: _Span, goal: np.ndarray, bend: Bend) -> Bend:
    """Return the bend of an arm with goals (K, 3), its elbow swung as far as the palm needs."""
    limb = find_limbs(take.skeleton)[mark.part]
    skeleton = take.skeleton
    ticks = span.list_ticks(take.frame_count)
    shares = smoothstep(span.compute_shares(ticks))
    way = quat.normalize_vectors(goal - _find_joint(take, limb.root, ticks))
    sign = 1.0 if mark.part == HANDS[0] else -1.0

    def turn(swing: float) -> Bend:
        turned = quat.from_angle_axis(sign * swing * shares, way)
        return bend._replace(side=quat.mul_vec(turned, bend.side))

    def rate(swing: float) -> float:
        poses = bend_limb(take.poses, ticks, skeleton, limb, goal, turn(swing))
        return rate_elbow(poses[span.first : span.last + 1], skeleton, mark, swing)

    return turn(min(NUMBERS.elbow_swings, key=rate))


def _find_joint(take: Take, bone: int, ticks: np.ndarray) -> np.ndarray:
    """Return where (K, 3) a bone is at ticks (K,)."""
    return take.skeleton.compute_bone_positions([bone], take.poses[ticks])[:, 0]


def _measure_away(take: Take, mark: Mark, limb: LimbChain, ticks: np.ndarray) -> np.ndarray:
    """Return the way (K, 3) in metres from a limb to its mark at ticks (K,)."""
    end = _find_joint(take, limb.end, ticks)
    return mark.find_goals(end) - end


def _find_stay(
    take: Take, mark: Mark, limb: LimbChain, begins: float, is_leg: bool
) -> tuple[int, int] | None:
    """Return the first and last tick of a limb at its mark, None if it cannot be there.

    If the motion goes on during the hold of a leading mark, the limb is there only for a moment,
    instead of being dragged.
    """
    first, last = mark.find_span(take.fps, begins)
    first = first if begins else min(first, take.frame_count - 1)
    if not mark.leads:
        return first, last
    ticks = np.arange(first, min(last + 1, take.frame_count))
    if first < 0 or not len(ticks):
        return None
    root, middle, end = (_find_joint(take, bone, ticks) for bone in limb)
    metres = mark.find_goals(end) - end
    length = np.linalg.norm(middle - root, axis=1) + np.linalg.norm(end - middle, axis=1)
    reach = np.linalg.norm(end + metres - root, axis=1) / length
    if reach[0] > NUMBERS.out_of_reach or reach[0] < NUMBERS.folded:
        return None
    far = reach > NUMBERS.beyond
    dragged = np.linalg.norm((metres - metres[0])[:, :2], axis=1) > NUMBERS.dragged * length
    is_left = far[1:] & ~far[0] | dragged[1:] & is_leg
    return first, first if np.any(is_left) else first + len(metres) - 1


def _find_span(
    take: Take, mark: Mark, stay: tuple[int, int], limb: LimbChain, database: Database
) -> _Span:
    """Return when a limb is moved for a mark: a foot as long as it stands, lest it slides."""
    (first, last), ease = stay, round(NUMBERS.ease * take.fps)
    leg = _find_leg(limb, database)
    if leg is None or not mark.leads:
        return _Span(first, last, ease, ease)
    stands = take.locked[:, leg]
    moves = np.flatnonzero(~stands)
    [[*_, rise]] = _measure_away(take, mark, limb, np.array([first]))
    is_lifted = rise > NUMBERS.foot_lift
    shortest = round((NUMBERS.foot_lift_time if is_lifted else NUMBERS.foot_ease) * take.fps)
    if stands[first] and not is_lifted:
        first = int(moves[moves < first].max(initial=-1)) + 1
    if stands[last] and not is_lifted:
        last = int(moves[moves > last].min(initial=len(stands))) - 1
    stood = np.flatnonzero(stands)
    free = first - int(stood[stood < first].max(initial=-ease)) - 1
    rest = int(stood[stood > last].min(initial=len(stands) + ease)) - last - 1
    return _Span(first, last, min(max(free, shortest), ease), min(max(rest, shortest), ease))


def _is_over(mark: Mark, take: Take, tick: int, obstruction: Obstruction | None) -> bool:
    """Return whether a mark is above a surface that a hand has to rise to."""
    if obstruction is None or mark.position is None:
        return False
    stands = take.poses[tick, 2, :1].astype(np.float64)
    surface = obstruction.find_surfaces(np.array([mark.position], float), stands, 0.0)
    return bool(np.isfinite(surface[0]))


def _ease(linear: np.ndarray, is_over: bool) -> np.ndarray:
    """Return shares (K, 3) of a way by shares (K,) of its time; over a surface hands rise first."""
    rising = level = linear
    if is_over:
        share = NUMBERS.hand_rise_share
        rising = linear / share
        level = (linear - 1.0 + share) / share
    return smoothstep(np.column_stack([level, level, rising]))

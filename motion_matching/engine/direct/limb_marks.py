"""Bring limbs to their marks: bend them by what the motion lacks, so that it stays as it is.

A pin draws a limb to its point and holds it there. A mark is passed: all that is added is how far
the limb is from it then, which fades in and out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..control.take import Take
from ..database.database import Database
from ..maths import quat
from ..maths.easing import smoothstep
from ..takes.sizes import find_size
from .hands_clear import keep_hands_out
from .leaning import lean_to_marks
from .obstruction import Obstruction
from .pins import EASE, Bend, PinnedLimb, bend_limb, find_limbs
from .shot import Mark

_BEYOND = 1.1  # times its length that a limb is stretched to a mark
_OUT_OF_REACH = 2.0  # times its length beyond which it does not even reach out to a mark
_NEAREST = 0.35  # times its length to which it is folded at most, as it would fling about then
_DRAGGED = 0.2  # times its length by which a foot is held at most, if the motion goes on
_SHORTEST = 0.2  # seconds in which a foot comes to its mark, though it has just stood
_LIFT, _LIFTS = 0.02, 0.3  # metres that a standing foot is lifted, and seconds that it takes
_ELBOW = np.array([0.7, 0.5, -1.0])  # where a left elbow points at ease: outward, back and down
_TURNED = 0.6  # share of its way's time in which it turns there
_RISEN = 0.7  # share of its way's time in which a hand rises to a surface, or leaves it level
_ENOUGH = 1e-5  # metres that are not worth bending a limb for


class _Missing(NamedTuple):
    """How far (K, 3) a limb is from its mark in metres, from the first tick on."""

    first: int
    metres: np.ndarray

    @property
    def last(self) -> int:
        return self.first + len(self.metres) - 1


class _Span(NamedTuple):
    """The ticks at which a limb is moved all of the way, and how long that takes on both sides."""

    first: int
    last: int
    before: int
    after: int

    def compute_shares(self, ticks: np.ndarray) -> np.ndarray:
        """Return shares (K,) of the time in which a limb comes to its mark, or leaves it."""
        early = np.maximum(self.first - ticks, 0) / max(self.before, 1)
        late = np.maximum(ticks - self.last, 0) / max(self.after, 1)
        return np.asarray(1.0 - np.maximum(early, late))


def is_leg(database: Database, part: str) -> bool:
    """Return whether a part of the body is the end of a leg."""
    limbs = find_limbs(database.skeleton)
    return part in limbs and _find_leg(limbs[part], database) is not None


def _find_leg(limb: PinnedLimb, database: Database) -> int | None:
    """Return which leg a limb is, if it is one."""
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

    It `begins` at a second of the shot. A limb that is much too far from its mark, or too near, is
    left as it is. Hands come to surfaces of an obstruction from above.
    """
    take = lean_to_marks(take, marks, database, begins, obstruction)
    listed = sorted((mark for mark in marks if mark.is_limb), key=lambda mark: mark.time)
    limbs = find_limbs(take.skeleton) if listed else {}
    for mark in listed:
        limb = limbs[mark.part]
        of_leg = _find_leg(limb, database) is not None
        missing = _find_missing(take, mark, limb, begins, of_leg)
        if missing is not None and np.abs(missing.metres).max() > _ENOUGH:
            span = _find_span(take, missing, limb, database)
            is_over = not of_leg and _is_over(mark, take, missing.first, obstruction)
            poses = _move(take, limb, missing, span, not of_leg, is_over)
            take = replace(take, poses=poses)
    return keep_hands_out(take, listed, obstruction, begins) if obstruction else take


def _find_missing(
    take: Take, mark: Mark, limb: PinnedLimb, begins: float, is_leg: bool
) -> _Missing | None:
    """Return what a limb lacks to be at its mark, if that is within the take and its reach.

    Where the motion goes on during a hold, the limb is there for a moment, and is not dragged.
    """
    first, last = (round((time - begins) * take.fps) for time in (mark.time, mark.time + mark.hold))
    if first < 0 or mark.position is None:
        return None
    first = first if begins else min(first, take.frame_count - 1)
    poses = take.poses[first : last + 1]
    if not len(poses):
        return None
    root, middle, end = (take.skeleton.compute_bone_positions([bone], poses)[:, 0] for bone in limb)
    goal = end.copy()
    goal[:, :2] = mark.position
    if mark.height is not None:
        goal[:, 2] = mark.height
    metres = goal - end
    length = np.linalg.norm(middle - root, axis=1) + np.linalg.norm(end - middle, axis=1)
    reach = np.linalg.norm(goal - root, axis=1) / length
    if reach[0] > _OUT_OF_REACH or reach[0] < _NEAREST:
        return None
    far = reach > _BEYOND
    dragged = np.linalg.norm((metres - metres[0])[:, :2], axis=1) > _DRAGGED * length
    is_left = far[1:] & ~far[0] | dragged[1:] & is_leg
    count = 1 if np.any(is_left) else len(metres)
    return _Missing(first, metres[:count])


def _find_span(take: Take, missing: _Missing, limb: PinnedLimb, database: Database) -> _Span:
    """Return when a limb is moved for a mark: a foot that stands as long as it stands.

    Then it does not slide, and neither does it where it stood before and stands after that. One
    that is to be higher than it stands is lifted.
    """
    first, last, ease = missing.first, missing.last, round(EASE * take.fps)
    leg = _find_leg(limb, database)
    if leg is None:
        return _Span(first, last, ease, ease)
    stands = take.locked[:, leg]
    moves = np.flatnonzero(~stands)
    is_lifted = missing.metres[0, 2] > _LIFT * find_size(database)
    shortest = round((_LIFTS if is_lifted else _SHORTEST) * take.fps)
    if stands[first] and not is_lifted:
        first = int(moves[moves < first].max(initial=-1)) + 1
    if stands[last] and not is_lifted:
        last = int(moves[moves > last].min(initial=len(stands))) - 1
    stood = np.flatnonzero(stands)
    free = first - int(stood[stood < first].max(initial=-ease)) - 1
    rest = int(stood[stood > last].min(initial=len(stands) + ease)) - last - 1
    return _Span(first, last, min(max(free, shortest), ease), min(max(rest, shortest), ease))


def _is_over(mark: Mark, take: Take, tick: int, obstruction: Obstruction | None) -> bool:
    """Return whether a mark is over something that a hand has to rise to."""
    if obstruction is None or mark.position is None:
        return False
    stands = take.poses[tick, 2, :1].astype(np.float64)
    surface = obstruction.find_surfaces(np.array([mark.position], float), stands, 0.0)
    return bool(np.isfinite(surface[0]))


def _move(
    take: Take, limb: PinnedLimb, missing: _Missing, span: _Span, is_arm: bool, is_over: bool
) -> np.ndarray:
    """Return poses (T, 7, B) with a limb moved by what it lacks over a span."""
    first, stop = max(span.first - span.before, 0), span.last + span.after + 1
    ticks = np.arange(first, min(stop, take.frame_count))
    metres = missing.metres[np.clip(ticks, missing.first, missing.last) - missing.first]
    shown = take.skeleton.compute_bone_positions([limb.end], take.poses[ticks])[:, 0]
    linear = span.compute_shares(ticks)
    level, upright = smoothstep(linear)[:, None], smoothstep(linear)
    if is_over:  # it rises first, and comes down last
        upright = smoothstep(np.minimum(linear / _RISEN, 1.0))
        level = smoothstep(np.maximum((linear - 1.0 + _RISEN) / _RISEN, 0.0))[:, None]
    goal = shown + np.column_stack([level * metres[:, :2], upright * metres[:, 2]])
    bend = None
    if is_arm:
        bend = Bend(
            _find_elbow_side(take, limb, ticks), smoothstep(np.minimum(linear / _TURNED, 1.0))
        )
    return bend_limb(take.poses, ticks, take.skeleton, limb, goal, bend)


def _find_elbow_side(take: Take, limb: PinnedLimb, ticks: np.ndarray) -> np.ndarray:
    """Return to which side (K, 3) an elbow points at ease: down, outward and back."""
    rotations, joints = quat.compute_world(take.poses[ticks], take.skeleton.parents)
    seen = quat.inv_mul_vec(rotations[:, 0], joints[:, limb.root] - joints[:, 0])
    side = np.where(seen[:, :1] > 0.0, _ELBOW, _ELBOW * [-1.0, 1.0, 1.0])
    return np.asarray(quat.mul_vec(rotations[:, 0], side))

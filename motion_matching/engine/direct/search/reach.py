"""Find marks that are too far away, or too near to another one, for the available time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..footage.footage import Footage
from ..numbers import NUMBERS
from ..shot.shot import Mark, Point, Shot


class Reach(NamedTuple):
    """The longest way in metres that the data covers in a time, and its first frame."""

    metres: float
    frame: int


def compute_reach(footage: Footage, seconds: float) -> Reach:
    """Return how far the data goes within some seconds of footage, in its metres."""
    frames = max(round(seconds * footage.fps), 1)
    allowed = np.flatnonzero(footage.candidates)
    ahead = footage.compute_ahead(frames)[allowed]
    far = np.hypot(ahead[:, 0], ahead[:, 1])
    best = int(np.argmax(far))
    return Reach(float(far[best]), int(allowed[best]))


def estimate_reach(footage: Footage, seconds: float) -> float:
    """Estimate how far in metres the data goes within some seconds of footage."""
    far = footage.farthest
    share = seconds / NUMBERS.reach_seconds
    times = NUMBERS.reach_step * np.arange(len(far))
    return float(np.interp(seconds, times, far)) * max(share, 1.0)


def find_before(shot: Shot, mark: Mark) -> tuple[Point, float]:
    """Return the place of a character before a mark, and the seconds that it has from there."""
    place = shot.position
    time = 0.0
    for other in shot.marks:
        end = other.time + other.hold
        if other.position and other is not mark and other.time <= mark.time and end >= time:
            place = other.position
            time = end
    return place, mark.time - time


def leave_out_unreachable(shot: Shot, footage: Footage) -> tuple[Shot, frozenset[int]]:
    """Return a shot with marks that the data may reach, and the marks that are only approached.

    A mark that is too far away is moved to the place reached on the way to it, or freed if the next
    one can only be reached without it. The shot is in body units.
    """
    marks = list(shot.marks)
    near = set()
    for i, mark in enumerate(marks):
        if mark.position is None or mark.time <= 0.0:
            continue
        place, seconds = find_before(replace(shot, marks=tuple(marks)), mark)
        reach = estimate_reach(footage, seconds) if seconds > 0.0 else 0.0
        away = np.subtract(mark.position, place)
        distance = float(np.linalg.norm(away))
        if distance <= max(reach, mark.tolerance):
            continue
        near.add(i)
        x, y = (place + away * (NUMBERS.almost_reach * reach / distance)).tolist()
        marks[i] = replace(mark, position=(x, y))
        following = next((m for m in marks[i + 1 :] if m.position is not None), None)
        if following is None or following.position is None:
            continue
        rest, direct = (np.hypot(*np.subtract(following.position, p)) for p in ((x, y), place))
        between = following.time - mark.time
        left = between - mark.hold
        can_go_on = left > 0.0 and rest <= estimate_reach(footage, left)
        if not can_go_on and direct <= estimate_reach(footage, between + seconds):
            marks[i] = mark.free()
    return replace(shot, marks=tuple(marks)), frozenset(near)


def find_conflict(shot: Shot, missed: Sequence[int], fps: float) -> tuple[int, ...]:
    """Return two marks, by index, that are close in time and not both met, or none.

    The first to give up comes first: a missed one that asks for more.
    """
    listed = [i for i, mark in enumerate(shot.marks) if mark.is_place or mark.frame is not None]
    listed.sort(key=lambda i: shot.marks[i].time)
    lost = {i for i in listed if round(shot.marks[i].time * fps) in missed}
    pairs = [
        pair
        for pair in itertools.pairwise(listed)
        if lost.intersection(pair) and _are_close(*(shot.marks[i] for i in pair))
    ]
    pair = max(pairs, key=lambda each: len(lost.intersection(each)), default=())
    return tuple(sorted(pair, key=lambda i: (i not in lost, -_count_wishes(shot.marks[i]), -i)))


def _are_close(first: Mark, second: Mark) -> bool:
    return first.time < second.time < first.time + first.hold + NUMBERS.marks_together


def _count_wishes(mark: Mark) -> int:
    wishes = mark.position, mark.facing, mark.frame, mark.pose, mark.hold or None
    return sum(wish is not None for wish in wishes)


def free_mark(shot: Shot, index: int) -> Shot:
    """Return a shot in which a mark no longer asks for a place, a heading or a stand."""
    mark = replace(shot.marks[index].free(), frame=None, pose=None)
    return replace(shot, marks=(*shot.marks[:index], mark, *shot.marks[index + 1 :]))

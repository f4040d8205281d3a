"""Find marks too far away for the available time, and the motion that comes nearest to them."""

from __future__ import annotations

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
    far, share = footage.farthest, seconds / NUMBERS.reach_seconds
    times = NUMBERS.reach_step * np.arange(len(far))
    return float(np.interp(seconds, times, far)) * max(share, 1.0)


def find_before(shot: Shot, mark: Mark) -> tuple[Point, float]:
    """Return the place of a character before a mark, and the seconds that it has from there."""
    place, time = shot.position, 0.0
    for other in shot.marks:
        end = other.time + other.hold
        if other.position and other is not mark and other.time <= mark.time and end >= time:
            place, time = other.position, end
    return place, mark.time - time


def leave_out_unreachable(shot: Shot, footage: Footage) -> tuple[Shot, frozenset[int]]:
    """Return a shot with marks that the data may reach, and the marks that are only approached.

    A mark that is too far away is moved to the place reached on the way to it, or freed if the next
    one can only be reached without it. The shot is in the footage's size.
    """
    marks, near = list(shot.marks), set()
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

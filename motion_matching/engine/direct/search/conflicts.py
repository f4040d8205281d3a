"""Resolve marks with too little time between them: give up one of two to meet the other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from ..numbers import NUMBERS
from ..shot.shot import Shot


def find_conflict(shot: Shot, missed: Sequence[int], fps: float) -> tuple[int, ...]:
    """Return two marks, by index, that are close in time and not both met.

    None if there are no such marks. The first to give up comes first: a missed one that asks for
    more.
    """
    ticks = set(missed)
    listed = [i for i, mark in enumerate(shot.marks) if mark.is_place or mark.frame is not None]
    listed.sort(key=lambda i: shot.marks[i].time)
    lost = {i for i in listed if round(shot.marks[i].time * fps) in ticks}
    pairs = [
        (a, b) for a, b in itertools.pairwise(listed) if {a, b} & lost and _is_close(shot, a, b)
    ]
    if not pairs:
        return ()
    pair = max(pairs, key=lambda each: len(lost & set(each)))
    return tuple(sorted(pair, key=lambda i: (i not in lost, -_count_wishes(shot, i), -i)))


def _is_close(shot: Shot, a: int, b: int) -> bool:
    first, second = shot.marks[a], shot.marks[b]
    return first.time < second.time < first.time + first.hold + NUMBERS.marks_together


def _count_wishes(shot: Shot, index: int) -> int:
    mark = shot.marks[index]
    wishes = mark.position, mark.facing, mark.frame, mark.pose, mark.hold or None
    return sum(wish is not None for wish in wishes)


def free_mark(shot: Shot, index: int) -> Shot:
    """Return a shot in which a mark no longer asks for a place, a heading or a stand."""
    mark = replace(shot.marks[index].free(), frame=None, pose=None)
    return replace(shot, marks=(*shot.marks[:index], mark, *shot.marks[index + 1 :]))

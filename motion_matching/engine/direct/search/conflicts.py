"""Resolve marks with too little time between them: give up one of two to meet the other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from ..numbers import NUMBERS
from ..shot.shot import Mark, Shot


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

"""Marks that obstacles keep a character from: it goes as near to them as it can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..shot.shot import Shot
from .obstruction import Obstruction
from .routing import find_route


def stop_before_obstacles(shot: Shot, obstruction: Obstruction) -> tuple[Shot, frozenset[int]]:
    """Return a shot whose marks can be walked to, and which marks are only come near to.

    All its marks are for the character itself. The next mark is walked to from where one gets.
    """
    marks, near, place = list(shot.marks), set(), np.array(shot.position, float)
    for i, mark in enumerate(marks):
        if mark.position is None:
            continue
        goal = np.array(mark.position, float)
        if mark.time > 0.0:
            route = find_route(place, goal, obstruction)
            if not route.complete:
                goal = route.end
                x, y = goal.tolist()
                marks[i] = replace(mark, position=(x, y))
                near.add(i)
        place = goal
    return replace(shot, marks=tuple(marks)), frozenset(near)

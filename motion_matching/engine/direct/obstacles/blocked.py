"""Stop a character before marks that obstacles block, as near to them as it can get."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..shot.shot import Shot
from .obstruction import Obstruction
from .routing import find_route


def stop_before_obstacles(shot: Shot, obstruction: Obstruction) -> tuple[Shot, frozenset[int]]:
    """Return a shot with marks that can be walked to, and the marks that are only approached.

    All its marks are for the character itself. Each way starts at the place reached before.
    """
    marks, near, place = list(shot.marks), set(), np.array(shot.position, float)
    for i, mark in enumerate(marks):
        if mark.position is None:
            continue
        goal = np.array(mark.position, float)
        route = find_route(place, goal, obstruction)
        place = goal
        if mark.time > 0.0 and not route.complete:
            place = route.end
            x, y = place.tolist()
            marks[i] = replace(mark, position=(x, y))
            near.add(i)
    return replace(shot, marks=tuple(marks)), frozenset(near)

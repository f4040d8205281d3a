"""Find the shortest way round obstacles, from corner to corner, or how near it gets to a mark."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..numbers import NUMBERS
from ..shot.shot import Shot
from .obstruction import Obstruction

_ROUNDING = 1e-6
_SHARES = np.linspace(0.0, 1.0, NUMBERS.blocked_places + 1)[1:]


class Route(NamedTuple):
    """Places (K, 2) on a way, its end (2,), and its length in metres.

    It is `complete` if it ends at the goal.
    """

    places: np.ndarray
    end: np.ndarray
    length: float
    complete: bool


def find_route(start: np.ndarray, stop: np.ndarray, obstruction: Obstruction) -> Route:
    """Return the shortest free way to a goal, or else to the free place nearest to it."""
    if _is_free(start, stop[None], obstruction)[0]:
        return Route(np.zeros((0, 2)), stop, float(np.linalg.norm(stop - start)), True)
    corners = obstruction.list_corners(obstruction.radius + NUMBERS.corner_room)
    points = np.vstack([start, stop, corners[_has_room(corners, obstruction)]])
    lengths, before = _search(points, obstruction)
    complete = bool(np.isfinite(lengths[1]))
    end, at = (stop, int(before[1])) if complete else _find_nearest(points, lengths, obstruction)
    route: list[int] = []
    while at > 0:
        route.insert(0, at)
        at = int(before[at])
    inner = points[np.array(route, int)]
    steps = np.diff(np.vstack([start, inner, end]), axis=0)
    return Route(inner, end, float(np.linalg.norm(steps, axis=1).sum()), complete)


def _search(points: np.ndarray, obstruction: Obstruction) -> tuple[np.ndarray, np.ndarray]:
    """Return the length (P,) of free ways from the first point, and the point before each.

    Ways are checked when the search gets there, until the second point is reached.
    """
    lengths = np.full(len(points), np.inf)
    before = np.zeros(len(points), int)
    lengths[0], done = 0.0, np.zeros(len(points), bool)
    to_goal = np.linalg.norm(points - points[1], axis=1)
    while True:
        at = int(np.argmin(np.where(done, np.inf, lengths + to_goal)))
        if done[at] or not np.isfinite(lengths[at]) or at == 1:
            return lengths, before
        done[at] = True
        further = lengths[at] + np.linalg.norm(points - points[at], axis=1)
        others = np.flatnonzero(~done & (further < lengths))
        others = others[_is_free(points[at], points[others], obstruction)]
        lengths[others] = further[others]
        before[others] = at


def _find_nearest(
    points: np.ndarray, lengths: np.ndarray, obstruction: Obstruction
) -> tuple[np.ndarray, int]:
    """Return the reachable place (2,) nearest to the second point, and the point before it."""
    known = np.flatnonzero(np.isfinite(lengths))
    ways = points[1] - points[known]
    places = points[known, None] + _SHARES[:, None] * ways[:, None]
    best = points[0], 0, float(np.linalg.norm(points[1] - points[0]))
    for at, row in zip(known.tolist(), places, strict=True):
        free = _is_free(points[at], row, obstruction) & _has_room(row, obstruction)
        options = np.vstack([points[at], row[free]])
        away = np.linalg.norm(options - points[1], axis=1)
        if away.min() < best[2] - _ROUNDING:
            best = options[int(np.argmin(away))], at, float(away.min())
    return best[0], best[1]


def _has_room(points: np.ndarray, obstruction: Obstruction) -> np.ndarray:
    """Return at which points (P, 2) a body has room on all sides."""
    return obstruction.measure_distances(points) >= obstruction.radius + NUMBERS.least_room


def _is_free(start: np.ndarray, stops: np.ndarray, obstruction: Obstruction) -> np.ndarray:
    """Return which straight ways (P,) from a start (2,) to stops (P, 2) keep clear of obstacles.

    The start may be nearer, and the stops as near as the radius, like marks.
    """
    if not len(stops):
        return np.zeros(0, bool)
    at_start = obstruction.measure_distances(start[None])
    at_stops = np.maximum(obstruction.measure_distances(stops), obstruction.radius)
    needed = np.minimum(np.minimum(at_start, at_stops), obstruction.radius + NUMBERS.least_room)
    away = obstruction.measure_ways(np.broadcast_to(start, stops.shape), stops)
    return np.asarray(away >= np.maximum(needed - _ROUNDING, _ROUNDING))


def stop_before_obstacles(shot: Shot, obstruction: Obstruction) -> tuple[Shot, frozenset[int]]:
    """Return a shot with marks that can be walked to, and the marks that are only approached.

    All its marks are for the character itself. Each way starts at the place reached before.
    """
    marks = list(shot.marks)
    near = set()
    place = np.array(shot.position, float)
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

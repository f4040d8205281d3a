"""The shortest way round obstacles: from corner to corner of what is in the way."""

from __future__ import annotations

import numpy as np

from .obstruction import Obstruction

_CLEAR = 0.15  # metres beyond the radius of the character at which corners are passed
_TOUCH = 0.05  # metres beyond it that a way keeps at least
_STEP = 0.1  # metres between the points of a way that are looked at


def find_route(start: np.ndarray, stop: np.ndarray, obstruction: Obstruction) -> np.ndarray:
    """Return the places (K, 2) by which the shortest free way leads; none if it is straight.

    Where there is no free way, there are none either.
    """
    if _is_free(start[None], stop[None], obstruction)[0]:
        return np.zeros((0, 2))
    from scipy.sparse.csgraph import dijkstra

    corners = obstruction.list_corners(obstruction.radius + _CLEAR)
    corners = corners[obstruction.measure_distances(corners) >= obstruction.radius + _TOUCH]
    points = np.vstack([start, stop, corners])
    a, b = np.triu_indices(len(points), 1)
    free = _is_free(points[a], points[b], obstruction)
    lengths = np.zeros((len(points), len(points)))
    lengths[a[free], b[free]] = np.linalg.norm(points[a[free]] - points[b[free]], axis=1)
    _, before = dijkstra(lengths, directed=False, indices=0, return_predecessors=True)
    route, at = [], int(before[1])
    while at > 0:
        route.append(at)
        at = int(before[at])
    return points[route[::-1]]


def _is_free(start: np.ndarray, stop: np.ndarray, obstruction: Obstruction) -> np.ndarray:
    """Return which straight ways (P,) from start to stop (P, 2) keep clear of obstacles.

    Their ends may be nearer, as marks may be.
    """
    longest = float(np.linalg.norm(stop - start, axis=1).max(initial=0.0))
    shares = np.linspace(0.0, 1.0, max(int(longest / _STEP), 2) + 1)[1:-1]
    result = np.ones(len(start), bool)
    for share in shares:
        left = np.flatnonzero(result)
        points = start[left] + share * (stop[left] - start[left])
        near = obstruction.measure_distances(points) < obstruction.radius + _TOUCH
        result[left[near]] = False
    return result

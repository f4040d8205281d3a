"""Where a character cannot be: obstacles and walls, grown by how wide it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..control.ground import Box, Wall
from ..maths import planar


class Obstruction:
    """Boxes and walls that a disc of a radius in metres may not overlap, all at once."""

    def __init__(self, boxes: Sequence[Box], walls: Sequence[Wall], radius: float) -> None:
        centres = [box.center for box in boxes] + [
            (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])) for a, b in walls
        ]
        lengths = [np.subtract(b, a) for a, b in walls]
        sizes = [box.size for box in boxes] + [(float(np.hypot(*v)), 0.0) for v in lengths]
        yaws = [box.yaw for box in boxes] + [float(np.arctan2(v[1], v[0])) for v in lengths]
        self.centres = np.array(centres, float).reshape(-1, 2)
        self.halves = 0.5 * np.array(sizes, float).reshape(-1, 2)
        self.yaws = np.array(yaws, float)
        self.radius = radius

    def measure_distances(self, points: np.ndarray) -> np.ndarray:
        """Return how far points (P, 2) are from the nearest obstacle, 0 inside of one."""
        if not len(self.centres):
            return np.full(len(points), np.inf)
        local = planar.rotate(points[:, None] - self.centres, -self.yaws)
        outside = np.maximum(np.abs(local) - self.halves, 0.0)
        return np.asarray(np.linalg.norm(outside, axis=-1).min(axis=1))

    def list_corners(self, margin: float) -> np.ndarray:
        """Return the corners (C, 2) of all obstacles, grown by a margin in metres."""
        signs = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        local = signs * (self.halves[:, None] + margin)
        return (self.centres[:, None] + planar.rotate(local, self.yaws[:, None])).reshape(-1, 2)

    def find_inside(self, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return which ways (P,), from start to stop (P, 2), lead through an obstacle."""
        middle = 0.5 * (start + stop)
        return np.asarray(
            (self.measure_distances(middle) < self.radius)
            | (self.measure_distances(stop) < self.radius)
        )

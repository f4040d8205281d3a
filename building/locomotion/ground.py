"""Describe ground that rises and falls along the way: ramps and stairs between flat ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motion_matching.engine.maths.planar import yaw_to_forward

Array = np.ndarray


def measure_along(points: Array) -> Array:
    """Return how far points (..., 2) lie ahead of the origin, along the heading at yaw 0."""
    return points @ yaw_to_forward(np.array(0.0))


@dataclass(frozen=True)
class GroundProfile:
    """Ground of straight pieces along the heading at yaw 0, equally high to the left and right.

    Piece i reaches from `edges[i - 1]` to `edges[i]` (K,), metres along; the first and the last one
    have no end. `heights` (K + 1,) are those at the end towards the origin (of the first piece: at
    its only edge), `slopes` (K + 1,) the rise for each metre along.
    """

    edges: Array
    heights: Array
    slopes: Array

    @classmethod
    def from_stairs(cls, start: float, tread: float, riser: float, treads: int) -> GroundProfile:
        """Return stairs from the first edge at `start`; a negative `riser` leads down.

        The lower end lies at height zero.
        """
        edges = start + tread * np.arange(treads + 1)
        heights = riser * np.arange(treads + 2)
        return cls(edges, heights - heights.min(), np.zeros(treads + 2))

    @classmethod
    def from_ramp(cls, start: float, stop: float, angle: float) -> GroundProfile:
        """Return a ramp at an `angle` in radians, negative downhill; its lower end has height 0."""
        slope = float(np.tan(angle))
        rise = slope * (stop - start)
        heights = np.array([0.0, 0.0, rise]) - min(rise, 0.0)
        return cls(np.array([start, stop]), heights, np.array([0.0, slope, 0.0]))

    @property
    def stepped(self) -> bool:
        """True of stairs."""
        return not np.any(self.slopes)

    def compute_height(self, points: Array) -> Array:
        """Return the height (...) of the ground at points (..., 2)."""
        along = measure_along(points)
        piece = self._find_piece_along(along)
        return self.heights[piece] + self.slopes[piece] * (along - self._starts[piece])

    def compute_slope(self, points: Array, yaw: Array) -> Array:
        """Return the angle (...) by which ground at points (..., 2) rises ahead of a heading."""
        return np.arctan(self.slopes[self.find_piece(points)] * np.cos(yaw))

    def find_piece(self, points: Array) -> Array:
        """Return the number (...) of the piece below points (..., 2)."""
        return self._find_piece_along(measure_along(points))

    def compute_highest(self, points: Array, around: Array) -> Array:
        """Return the greatest height (...) within `around` (...) metres along the way."""
        step = yaw_to_forward(np.array(0.0)) * np.asarray(around)[..., None]
        near = (self.compute_height(points + side * step) for side in (-1.0, 0.0, 1.0))
        return np.max(list(near), axis=0)

    def fit_between_edges(self, along: Array, behind: float, ahead: float) -> Array:
        """Return the places nearest to `along` (...) at which something clears both edges.

        It reaches `behind` and `ahead` of its place. On a piece that is too short for it, it
        reaches over both edges by the same length.
        """
        piece = self._find_piece_along(along)
        least = np.append(-np.inf, self.edges)[piece] + behind
        most = np.append(self.edges, np.inf)[piece] - ahead
        inside = np.clip(along, least, np.maximum(most, least))
        return np.where(most < least, 0.5 * (least + most), inside)

    @property
    def _starts(self) -> Array:
        return np.append(self.edges[:1], self.edges)

    def _find_piece_along(self, along: Array) -> Array:
        return np.searchsorted(self.edges, along, side="right")

"""Measure distances to obstacles and walls, seen from above and up to their heights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ground.ground import FLAT, STEP, Box, Ground, Wall, is_flat
from ...maths import planar
from ..numbers import NUMBERS
from ..shot.shot import Shot


@dataclass(frozen=True, eq=False)
class Obstruction:
    """Sides of obstacles and walls, which a disc of a radius in metres may not overlap.

    Each of the S sides leads from `starts` to `stops` (S, 2) and is as high as its top (S,). The
    `boxes` are solid, and so are parts of the `floor` more than a step above the character.
    """

    starts: np.ndarray
    stops: np.ndarray
    tops: np.ndarray
    boxes: tuple[Box, ...]
    radius: float
    floor: Ground = FLAT

    @classmethod
    def from_shot(cls, shot: Shot, radius: float) -> Obstruction:
        """Return the obstacles and walls of a shot, which stand on its floor."""
        floor = shot.floor
        boxes = shot.obstacles
        placed = [box._replace(height=box.height + floor.height(*box.center)) for box in boxes]
        sides = [*shot.walls, *(side for box in placed for side in box.sides)]
        tops = [_find_top(wall, floor) for wall in shot.walls]
        tops += [box.height for box in placed for _ in box.sides]
        ends = np.array(sides, float).reshape(-1, 2, 2)
        return cls(ends[:, 0], ends[:, 1], np.array(tops, float), tuple(placed), radius, floor)

    def measure_distances(self, points: np.ndarray, reach: float = np.inf) -> np.ndarray:
        """Return how far points (P, 2) are from the nearest side, 0 inside of a box.

        What is farther than a reach may count as infinitely far.
        """
        near = self._cull(points, reach)
        nearest = self._measure_sides(points, near).min(axis=1, initial=np.inf)
        return np.where(self._is_in(points), 0.0, nearest)

    def measure_ways(
        self, start: np.ndarray, stop: np.ndarray, reach: float = np.inf
    ) -> np.ndarray:
        """Return how near straight ways (P,), from start to stop (P, 2), come to an obstacle.

        What is farther than a reach may count as infinitely far.
        """
        sides = self._cull(np.vstack([start, stop]), reach)
        a, b = self.starts[sides], self.stops[sides]
        distances = [self._measure_sides(start, sides), self._measure_sides(stop, sides)]
        distances += [_measure_to_segments(end, start, stop).T for end in (a, b)]
        nearest = np.minimum.reduce(distances)
        nearest[_find_crossings(start, stop, a, b)] = 0.0
        inside = self._is_in(start) | self._is_in(stop)
        return np.where(inside, 0.0, nearest.min(axis=1, initial=np.inf))

    def find_ways_out(self, points: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        """Return how far points (P, 2) are from the nearest side, and the direction (P, 2) from it.

        Beyond a reach, distances are infinite. Inside a box, they are negative and directions lead
        out.
        """
        sides = self._cull(points, reach)
        if not len(sides):
            return np.full(len(points), np.inf), np.zeros(points.shape)
        distances = self._measure_sides(points, sides)
        nearest = sides[np.argmin(distances, axis=1)]
        start = self.starts[nearest]
        way = self.stops[nearest] - self.starts[nearest]
        square = np.maximum(np.sum(way**2, axis=1), 1e-18)
        share = np.clip(np.sum((points - start) * way, axis=1) / square, 0.0, 1.0)
        away = points - start - share[:, None] * way
        far = np.linalg.norm(away, axis=1)
        inside = self._is_in(points)
        out = away / np.maximum(far, 1e-9)[:, None] * np.where(inside, -1.0, 1.0)[:, None]
        return np.where(inside, -far, far), out

    def find_tops(self, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the height (P,) of the highest side that straight ways lead across, 0 for none."""
        sides = self._cull(np.vstack([start, stop]), 0.0)
        crossed = _find_crossings(start, stop, self.starts[sides], self.stops[sides])
        return np.asarray(np.where(crossed, self.tops[sides], 0.0).max(axis=1, initial=0.0))

    def find_first_crossing(
        self, start: np.ndarray, stop: np.ndarray, heights: np.ndarray
    ) -> np.ndarray:
        """Return the share (P,) of their ways after which points meet a side, 1 without one.

        Points go straight from start to stop (P, 2), at heights (P,); lower sides do not count.
        """
        sides = self._cull(np.vstack([start, stop]), 0.0)
        a, b = self.starts[sides], self.stops[sides]
        meets = _find_crossings(start, stop, a, b) & (self.tops[sides] > heights[:, None])
        turned = _cross((stop - start)[:, None], b - a)
        share = _cross(a - start[:, None], b - a) / np.where(meets, turned, 1.0)
        return np.asarray(np.where(meets, share, 1.0).min(axis=1, initial=1.0))

    def find_surfaces(self, points: np.ndarray, stands: np.ndarray, margin: float) -> np.ndarray:
        """Return heights (P,) of surfaces at points (P, 2), or within a margin; -inf without one.

        Endlessly high walls have no surface. `stands` is as in `measure_depths`.
        """
        sides = self._cull(points, margin)
        tops = np.where(np.isfinite(self.tops[sides]), self.tops[sides], -np.inf)
        near = self._measure_sides(points, sides) < margin
        surfaces = np.where(near, tops, -np.inf).max(axis=1, initial=-np.inf)
        for box in self.boxes:
            is_in = _measure_inward(box, points) > 0.0
            surfaces = np.where(is_in, np.maximum(surfaces, box.height), surfaces)
        if not is_flat(self.floor):
            heights = np.array([self.floor.height(x, y) for x, y in points.tolist()])
            surfaces = np.where(heights > stands + STEP, np.maximum(surfaces, heights), surfaces)
        return np.asarray(surfaces)

    def list_corners(self, margin: float) -> np.ndarray:
        """Return corners (C, 2) round the ends of all sides, at a margin in metres on both axes."""
        way = self.stops - self.starts
        lengths = np.linalg.norm(way, axis=1, keepdims=True)
        along = np.where(lengths > 0.0, way / np.maximum(lengths, 1e-12), [1.0, 0.0])
        across = np.column_stack([-along[:, 1], along[:, 0]])
        corners = [
            end + margin * (outward * along + side * across)
            for end, outward in ((self.starts, -1.0), (self.stops, 1.0))
            for side in (-1.0, 1.0)
        ]
        return np.concatenate(corners)

    def measure_depths(self, points: np.ndarray, stands: np.ndarray) -> np.ndarray:
        """Return how deep points (P, 3) are inside, negative outside.

        `stands` (P,) are the heights of the ground under each point. Points far from any side are
        not examined: they are entered through a side.
        """
        beside = self._cull(points[:, :2], NUMBERS.wall_near)
        sides = self._measure_sides(points[:, :2], beside)
        above = np.maximum(points[:, 2:] - self.tops[beside], 0.0)
        depths = -np.hypot(sides, above).min(axis=1, initial=np.inf)
        for box in self.boxes:
            inward = _measure_inward(box, points[:, :2])
            deep = np.minimum(inward, box.height - points[:, 2])
            depths = np.where(deep > 0.0, np.maximum(depths, deep), depths)
        if not is_flat(self.floor) and len(beside):
            nearest = sides.min(axis=1)
            for i in np.flatnonzero(nearest < NUMBERS.wall_near).tolist():
                height = self.floor.height(*points[i, :2].tolist())
                # feet may stand at the edge of a step, with their tips in the next one
                if height > max(stands[i], points[i, 2]) + STEP:
                    depths[i] = max(depths[i], min(height - points[i, 2], float(nearest[i])))
        return depths

    def _cull(self, points: np.ndarray, reach: float) -> np.ndarray:
        """Return the sides that may be within a reach of points (P, 2), by index."""
        if not len(self.starts) or not len(points):
            return np.zeros(0, int)
        low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
        first, last = np.minimum(self.starts, self.stops), np.maximum(self.starts, self.stops)
        return np.flatnonzero(np.all((last >= low) & (first <= high), axis=1))

    def _measure_sides(self, points: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Return how far (P, K) points (P, 2) are from some sides (K,)."""
        return _measure_to_segments(points, self.starts[sides], self.stops[sides])

    def _is_in(self, points: np.ndarray) -> np.ndarray:
        """Return which points (P, 2) are inside a box."""
        inside = [_measure_inward(box, points) > 0.0 for box in self.boxes]
        return np.any(inside, axis=0) if inside else np.zeros(len(points), bool)


def _find_top(wall: Wall, floor: Ground) -> float:
    """Return the height of the obstacle behind a wall; a wall alone is higher than anyone."""
    if is_flat(floor):
        return np.inf
    (ax, ay), (bx, by) = wall
    length = max(float(np.hypot(bx - ax, by - ay)), 1e-9)
    aside = np.array([ay - by, bx - ax]) / length
    along = [np.add(wall[0], s * np.subtract(wall[1], wall[0])) for s in NUMBERS.wall_shares]
    points = [at + side * aside for at in along for side in (-NUMBERS.wall_side, NUMBERS.wall_side)]
    heights = [floor.height(float(x), float(y)) for x, y in points]
    return max(heights) if max(heights) - min(heights) > STEP else np.inf


def _measure_inward(box: Box, points: np.ndarray) -> np.ndarray:
    """Return how far (P,) points (P, 2) are from the nearest side of a box, negative outside."""
    local = planar.rotate(points - np.array(box.center), -box.yaw)
    return np.asarray((0.5 * np.array(box.size) - np.abs(local)).min(axis=1))


def _measure_to_segments(points: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return how far (P, K) points (P, 2) are from segments that lead between (K, 2)."""
    way = stops - starts
    square = np.maximum(np.sum(way**2, axis=1), 1e-18)
    dx, dy = (points[:, None, axis] - starts[:, axis] for axis in (0, 1))
    share = np.clip((dx * way[:, 0] + dy * way[:, 1]) / square, 0.0, 1.0)
    return np.hypot(dx - share * way[:, 0], dy - share * way[:, 1])


def _find_crossings(
    start: np.ndarray, stop: np.ndarray, a: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """Return which ways (P,) cross which segments from a to b (K, 2), as (P, K)."""

    first, last = start[:, None], stop[:, None]
    way = last - first
    side = b - a
    apart = _cross(side, first - a) * _cross(side, last - a) < 0.0
    return np.asarray(apart & (_cross(way, a - first) * _cross(way, b - first) < 0.0))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cross products (...) of vectors on the ground (..., 2)."""
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])

"""Model the ground: its height, and the obstacles along which characters slide.

All obstacles are walls seen from above, straight and without thickness. A disc that moves among
walls is a point among capsules, the walls grown by its radius: it moves to the first one it meets,
and slides along it for the rest of its way. So a disc of any speed never tunnels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from ..maths.planar import rotate_xy
from ..scale import Scale
from ..units import measured
from .numbers import NUMBERS

Point = tuple[float, float]
Place3 = Sequence[float]  # x, y and a height
Wall = tuple[Point, Point]
# x and y of one end, direction and length
_Segment = tuple[float, float, float, float, float]

STEP = NUMBERS.highest_step
_SKIN = 1e-5  # metres left free, so that rounding never leaves a disc inside
_CELL = NUMBERS.cell
_MARGIN = NUMBERS.cell_margin
_TOUCH = 1e-7  # metres within which a wall counts as touched
_SHORTEST = 1e-9  # metres: a shorter movement may be rounding, such as toward a touched wall


class Ground(Protocol):
    """Places where a character can be, in metres and in the world."""

    def height(self, x: float, y: float) -> float:
        """Return the height of the floor."""
        ...

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        """Return where a disc ends that moves toward `stop` and slides along obstacles.

        Without an obstacle this is `stop` itself. A disc that starts inside one is moved out first.
        """
        ...


class _Flat:
    """A plane at height zero without obstacles."""

    def height(self, x: float, y: float) -> float:
        return 0.0

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        return stop


FLAT: Ground = _Flat()


class ScaledGround:
    """Ground for a body of another size, scaled by `along` horizontally and by `up` in height."""

    def __init__(self, floor: Ground, along: float, up: float) -> None:
        self.floor = floor
        self._along = along
        self._up = up

    def height(self, x: float, y: float) -> float:
        """See `Ground`."""
        return self._up * self.floor.height(x / self._along, y / self._along)

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        """See `Ground`."""
        along = self._along
        (a, b) = start
        (c, d) = stop
        way = (a / along, b / along), (c / along, d / along)
        x, y = self.floor.slide(*way, radius / along)
        return stop if (x, y) == way[1] else (along * x, along * y)


def to_body_units(ground: Ground, scale: Scale) -> Ground:
    """Return the ground as creatures of a scale meet it, in body units."""
    if ground is FLAT or scale.is_of_people:
        return ground
    return ScaledGround(ground, 1.0 / scale.length, 1.0 / scale.length)


class Walls:
    """Vertical walls with two sides; only the height of their floor counts."""

    def __init__(self, walls: Sequence[Wall], floor: Ground = FLAT) -> None:
        self._walls = tuple(_segment_from_ends(a, b) for a, b in walls)
        self._cells: dict[tuple[int, int], list[_Segment]] = {}
        for wall in self._walls:
            for cell in _iterate_cells(wall):
                self._cells.setdefault(cell, []).append(wall)
        self.floor = floor
        self.height = floor.height

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        """See `Ground`."""
        dx, dy = stop[0] - start[0], stop[1] - start[1]
        distance = math.hypot(dx, dy)
        reach = radius + _SKIN
        walls = self._find_near(start, distance + reach)
        if not walls:
            return stop
        x, y = start = _push_out(start, radius, walls)
        dx, dy = stop[0] - x, stop[1] - y
        for bounce in range(NUMBERS.bounces):
            share, nx, ny = _find_first_contact(x, y, dx, dy, walls, reach)
            if share is None:
                return (x + dx, y + dy) if bounce else stop
            x = x + share * dx
            y = y + share * dy
            left = 1.0 - share
            into = dx * nx + dy * ny
            dx, dy = left * (dx - into * nx), left * (dy - into * ny)
            # no movement is left, or walls have turned it around, in a corner
            forward = dx * (stop[0] - start[0]) + dy * (stop[1] - start[1])
            if abs(dx) + abs(dy) < _SHORTEST or forward <= 0.0:
                break
        return x, y

    def _find_near(self, point: Point, reach: float) -> Sequence[_Segment]:
        """Return at least all walls within reach of a point."""
        x, y = point
        if reach <= _MARGIN:
            return self._cells.get((math.floor(x / _CELL), math.floor(y / _CELL)), ())
        reach -= _MARGIN
        left, right, low, high = (
            math.floor(edge / _CELL) for edge in (x - reach, x + reach, y - reach, y + reach)
        )
        if (right - left + 1) * (high - low + 1) > len(self._cells):
            return self._walls
        near: dict[_Segment, None] = {}
        for i in range(left, right + 1):
            for j in range(low, high + 1):
                if (i, j) in self._cells:
                    near.update(dict.fromkeys(self._cells[i, j]))
        return tuple(near)


def _segment_from_ends(a: Point, b: Point) -> _Segment:
    length = math.dist(a, b)
    ux, uy = ((b[0] - a[0]) / length, (b[1] - a[1]) / length) if length > 0.0 else (1.0, 0.0)
    return a[0], a[1], ux, uy, length


def _iterate_cells(wall: _Segment) -> Iterator[tuple[int, int]]:
    """Yield the squares that a wall crosses or comes near, column by column."""
    ax, ay, ux, uy, length = wall
    first, last = sorted((ax, ax + ux * length))
    for column in _find_squares(first, last):
        ends = [ay, ay + uy * length]
        if last - first > _SHORTEST:
            borders = column * _CELL - _MARGIN, (column + 1) * _CELL + _MARGIN
            ends = [ay + uy * max(0.0, min(length, (border - ax) / ux)) for border in borders]
        for row in _find_squares(min(ends), max(ends)):
            yield column, row


def _find_squares(low: float, high: float) -> range:
    """Return the numbers of the squares from one coordinate to another, with their margins."""
    return range(math.floor((low - _MARGIN) / _CELL), math.floor((high + _MARGIN) / _CELL) + 1)


def _push_out(point: Point, radius: float, walls: Sequence[_Segment]) -> Point:
    """Return the point, or one near it at which a disc is inside no wall."""
    x, y = point
    for _ in range(NUMBERS.pushes):
        nearest = radius * radius
        inside = None
        for wall in walls:
            ax, ay, ux, uy, length = wall
            ox, oy = x - ax, y - ay
            along = ox * ux + oy * uy
            if along > length:
                along = length
            if along > 0.0:
                ox, oy = ox - along * ux, oy - along * uy
            square = ox * ox + oy * oy
            if square < nearest:
                nearest = square
                inside = wall
                out = (ox, oy)
        if inside is None:
            break
        distance = math.sqrt(nearest)
        (nx, ny) = (-inside[3], inside[2])
        if distance > 0.0:
            nx, ny = out[0] / distance, out[1] / distance
        x, y = x + (radius + 2 * _SKIN - distance) * nx, y + (radius + 2 * _SKIN - distance) * ny
    return x, y


def _find_first_contact(
    x: float, y: float, dx: float, dy: float, walls: Sequence[_Segment], reach: float
) -> tuple[float | None, float, float]:
    """Return the share of a movement (dx, dy) until a wall is in reach or None, and the way out.

    Of several touched walls, the one that the movement points into most counts.
    """
    first = None
    nx = 0.0
    ny = 0.0
    soonest = 1.0
    deepest = -_SHORTEST
    touch = (reach + _TOUCH) * (reach + _TOUCH)
    for ax, ay, ux, uy, length in walls:
        # in the wall's own axes, mirrored so that the disc is on the positive side
        rx, ry = x - ax, y - ay
        off = ry * ux - rx * uy
        come = dy * ux - dx * uy
        side = 1.0
        if off < 0.0:
            off = -off
            come = -come
            side = -1.0
        if off > reach + _TOUCH and off + come > reach:
            continue
        along = rx * ux + ry * uy
        go = dx * ux + dy * uy
        past = along if along < 0.0 else along - length if along > length else 0.0
        square = past * past + off * off
        if square <= touch:
            # distances to a convex shape only grow on a movement that starts outward
            gap = math.sqrt(square) or 1.0
            closing = (past * go + off * come) / gap
            if closing >= deepest:
                continue
            share = 0.0
            ma = past / gap
            mo = off / gap
            deepest = closing
        else:
            share, ma, mo = _intersect_capsule(along, off, go, come, length, reach)
            if share >= soonest:
                continue
        first = soonest = share
        mo *= side
        nx, ny = ma * ux - mo * uy, ma * uy + mo * ux
    return first, nx, ny


def _intersect_capsule(
    along: float, off: float, go: float, come: float, length: float, reach: float
) -> tuple[float, float, float]:
    """Return where a point outside a capsule along the first axis meets it, as above, or never."""
    if come < -_SHORTEST and off > reach:
        share = (off - reach) / -come
        if 0.0 <= along + share * go <= length:
            return share, 0.0, 1.0
    first = math.inf
    ma = 0.0
    mo = 0.0
    square = go * go + come * come
    for past in (along, along - length):
        closing = past * go + off * come
        inside = closing * closing - square * (past * past + off * off - reach * reach)
        if closing < -_SHORTEST * reach and inside >= 0.0:
            share = max(0.0, (-closing - math.sqrt(inside)) / square)
            if share < first:
                first = share
                ma = (past + share * go) / reach
                mo = (off + share * come) / reach
    return first, ma, mo


@measured(center="m", size="m", height="m")
class Box(NamedTuple):
    """A box on the ground: center, full size along its own axes, yaw in radians, and height."""

    center: Point
    size: Point
    yaw: float = 0.0
    height: float = 1.0

    @property
    def corners(self) -> tuple[Point, ...]:
        """The four corners on the ground, counterclockwise."""
        (x, y), c, s = self.center, math.cos(self.yaw), math.sin(self.yaw)
        a, b = 0.5 * self.size[0], 0.5 * self.size[1]
        halves = ((-a, -b), (a, -b), (a, b), (-a, b))
        return tuple((x + c * i - s * j, y + s * i + c * j) for i, j in halves)

    @property
    def sides(self) -> tuple[Wall, ...]:
        """The four sides on the ground."""
        corners = self.corners
        return tuple(zip(corners, (*corners[1:], corners[0]), strict=True))


def is_flat(ground: Ground) -> bool:
    """Return whether the floor is a plane at height zero, whatever stands on it."""
    return ground is FLAT or (isinstance(ground, (Walls, ScaledGround)) and is_flat(ground.floor))


def compute_step_height(ground: Ground, x: float, y: float, body: Place3) -> float:
    """Return the floor's height, or that below a body at (x, y, floor) if no steps lead there.

    The way is looked at in its middle: a foot may be two steps away.
    """
    bx, by, below = body
    height = ground.height(x, y)
    if abs(height - below) <= STEP:
        return height
    middle = ground.height(0.5 * (x + bx), 0.5 * (y + by))
    leads = abs(middle - below) <= STEP and abs(height - middle) <= STEP
    return height if leads else below


def compute_step_heights(ground: Ground, points: np.ndarray, bodies: np.ndarray) -> np.ndarray:
    """Return `compute_step_height` (N,) for points (N, 2) and bodies (N, 3)."""
    if is_flat(ground):
        return np.zeros(len(points))
    rows = zip(points.tolist(), bodies.tolist(), strict=True)
    return np.array([compute_step_height(ground, x, y, body) for (x, y), body in rows])


def follow_floor(ground: Ground, points: np.ndarray) -> np.ndarray:
    """Return the points (T, 2) of a body's way with the floor's height below it (T, 3).

    A floor that is more than a step higher or lower than the one before is not stepped onto.
    """
    heights: list[float] = []
    if is_flat(ground):
        return np.column_stack([points, np.zeros(len(points))])
    for x, y in points.tolist():
        before = heights[-1] if heights else ground.height(x, y)
        heights.append(compute_step_height(ground, x, y, (x, y, before)))
    return np.column_stack([points, heights])


def follow_steps(
    toe: np.ndarray, stances: Sequence[tuple[int, int, float]], below: np.ndarray
) -> np.ndarray:
    """Return the height (T,) of the ground below a foot that goes along points (T, 2).

    `stances` are the first frame, the frame after the last, and the height of each stance. Between
    two, the ground is the line from one to the next: stairs are a slope for a foot in the air. A
    foot that never stands has the ground `below` (T,).
    """
    if not stances:
        return below
    ground = np.empty(len(toe))
    ground[: stances[0][0]] = stances[0][2]
    ground[stances[-1][0] :] = stances[-1][2]
    for (start, stop, height), (after, _, higher) in pairwise(stances):
        ground[start:stop] = height
        way = toe[after] - toe[stop - 1]
        along = (toe[stop:after] - toe[stop - 1]) @ way / max(float(way @ way), _SHORTEST)
        ground[stop:after] = height + np.clip(along, 0.0, 1.0) * (higher - height)
    return ground


class Boxes(Walls):
    """Solid boxes and walls on a floor. However low a box is, nobody steps onto it."""

    def __init__(
        self, boxes: Sequence[Box], floor: Ground = FLAT, walls: Sequence[Wall] = ()
    ) -> None:
        super().__init__([*walls, *(side for box in boxes for side in box.sides)], floor)
        self._bounds = [
            (min(xs), max(xs), min(ys), max(ys), box)
            for box in boxes
            for xs, ys in [zip(*box.corners, strict=True)]
        ]

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        """See `Ground`."""
        return super().slide(self._leave_boxes(start, radius), stop, radius)

    def _leave_boxes(self, place: Point, radius: float) -> Point:
        """Return a place, or the nearest found beside all boxes if walls would push it into one."""
        if self._find_box(place, radius) is None:
            return place
        pushed = _push_out(place, radius, self._find_near(place, radius + _SKIN))
        if self._find_box(pushed, radius) is None:
            return place
        return _find_place_beside([box for *_, box in self._bounds], place, radius + _SKIN)

    def _find_box(self, place: Point, radius: float) -> Box | None:
        """Return a box that a disc at a place enters."""
        x, y = place
        for left, right, low, high, box in self._bounds:
            near = left - radius < x < right + radius and low - radius < y < high + radius
            if near and _measure_gap(box, place) < radius:
                return box
        return None


def _find_place_beside(boxes: Sequence[Box], place: Point, reach: float) -> Point:
    """Return the nearest place that is `reach` beside all boxes.

    It is straight out of a side, or where the lines beside two sides cross.
    """
    yaws = np.array([box.yaw + 0.5 * math.pi * side for box in boxes for side in range(4)])
    normals = np.column_stack([np.cos(yaws), np.sin(yaws)])
    centers = np.repeat([box.center for box in boxes], 4, axis=0)
    halves = 0.5 * np.array([(*box.size, *box.size) for box in boxes]).ravel()
    ends = (centers * normals).sum(axis=1) + halves + reach
    straight = place + (ends - normals @ place)[:, None] * normals
    one, other = np.triu_indices(len(yaws), 1)
    sines = np.sin(yaws[other] - yaws[one])
    one, other, sines = (each[np.abs(sines) > _SHORTEST] for each in (one, other, sines))
    turned = normals[:, ::-1] * (1.0, -1.0)
    crossing = (ends[one, None] * turned[other] - ends[other, None] * turned[one]) / sines[:, None]
    ways = sorted(np.concatenate([straight, crossing]).tolist(), key=partial(math.dist, place))
    free = reach - 0.5 * _SKIN
    return next((x, y) for x, y in ways if all(_measure_gap(box, (x, y)) >= free for box in boxes))


def _measure_gap(box: Box, point: Point) -> float:
    """Return how far a point is from a box: zero on its edge and inside."""
    a, b = rotate_xy(point[0] - box.center[0], point[1] - box.center[1], -box.yaw)
    return math.hypot(max(abs(a) - 0.5 * box.size[0], 0.0), max(abs(b) - 0.5 * box.size[1], 0.0))

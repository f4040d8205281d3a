"""Keep feet as far apart, and on their own side, as in the data.

Feet are lines from the ankle to the tip of the toe. A foot off the ground goes round another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from ...legs.legs import Beside, Joint, LegGeometry
from ...maths.numeric import ARRAYS, FLOATS, split
from ...maths.rotations.scalar_quat import Vector
from ...maths.springs import spring
from ..numbers import NUMBERS
from .segments import find_nearest

_NO_LENGTH = 1e-4  # metres


LegJoints = tuple[Joint, ...]
# x, y and z of a toe, of the way from there to the ankle, and how far the tip is beyond the toe, as
# a share of the way from the ankle
Foot = tuple[float, float, float, float, float, float, float]
Aside = tuple[float, float, float, float]  # x and y of a foot, and its velocity


def measure_feet_apart(
    legs: Sequence[LegGeometry], positions: np.ndarray
) -> tuple[LegGeometry, ...]:
    """Return legs with the closest approaches of their feet, from places of bones (F, B, 3)."""
    legs = [replace(leg, tip_share=_measure_tip_share(leg, positions)) for leg in legs]
    lines = [get_line(leg, positions) for leg in legs]
    result = []
    for i, leg in enumerate(legs):
        # only a pair, left and right: a hind foot often lands where the forefoot stood
        j = i + 1
        beside = tuple[Beside, ...]()
        if i % 2 == 0 and j < len(legs):
            hips = (positions[:, each.chain[each.thigh], :2] for each in (leg, legs[j]))
            measured = _measure_pair(*lines[i], *lines[j], next(hips) - next(hips))
            beside = (Beside(j, *measured),) if measured else ()
        result.append(replace(leg, beside=beside))
    return tuple(result)


def _measure_tip_share(leg: LegGeometry, positions: np.ndarray) -> float:
    if leg.tip is None:
        return 0.0
    foot = positions[:, leg.chain[leg.foot]] - positions[:, leg.chain[-1]]
    length = float(np.linalg.norm(foot, axis=-1).mean())
    return math.hypot(*leg.tip) / length if length > _NO_LENGTH else 0.0


def get_line(leg: LegGeometry, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ankles and tips (F, 3)."""
    ankles = positions[:, leg.chain[leg.foot]]
    toes = positions[:, leg.chain[-1]]
    return ankles, toes + leg.tip_share * (toes - ankles)


def _measure_pair(
    ankle_a: np.ndarray,
    tip_a: np.ndarray,
    ankle_b: np.ndarray,
    tip_b: np.ndarray,
    hips: np.ndarray,
) -> tuple[float, float, float] | None:
    """Return how near two feet come, as in `Beside`; None for an unconstrained pair."""
    width = np.linalg.norm(hips, axis=-1)
    distance = measure_distances(ankle_a, tip_a, ankle_b, tip_b)
    apart = float(np.percentile(distance, NUMBERS.usual_distance))
    if width.min() < NUMBERS.hips_line or apart > NUMBERS.meeting_distance:
        return None
    n = hips / width[:, None]
    sides = np.sum((ankle_a - ankle_b)[:, :2] * n, axis=-1)
    side, crossed = (
        float(np.percentile(sides, low)) for low in (NUMBERS.usual_distance, NUMBERS.crossed_share)
    )
    # feet that change sides freely, like a hind and a foreleg's at a gallop, have none
    return None if side < -width.mean() else (apart, side, min(crossed, side))


def measure_distances(
    ankle_a: np.ndarray, tip_a: np.ndarray, ankle_b: np.ndarray, tip_b: np.ndarray
) -> np.ndarray:
    """Return the distances (F,) of two lines from ankles to tips (F, 3)."""
    return np.linalg.norm(measure_nearest(ankle_a, tip_a, ankle_b, tip_b), axis=-1)


def measure_nearest(
    ankle_a: np.ndarray, tip_a: np.ndarray, ankle_b: np.ndarray, tip_b: np.ndarray
) -> np.ndarray:
    """Return the shortest ways (F, 3) from the second to the first of two lines."""
    u = tip_a - ankle_a
    v = tip_b - ankle_b
    w = ankle_a - ankle_b
    s, t = find_nearest(split(u), split(v), split(w), ARRAYS)
    return w + s[:, None] * u - t[:, None] * v


class Plant(Protocol):
    """A toe that may be locked, as by `ContactLock`."""

    locked: bool
    plant: Vector
    offset: tuple[float, float, float, float, float, float]

    @property
    def is_firm(self) -> bool: ...


class FeetApart:
    """Moves feet that are off the ground around others, smoothly."""

    def __init__(self, legs: Sequence[LegGeometry]) -> None:
        self._pairs = [
            (k, beside, leg.tip_share, legs[beside.leg].tip_share)
            for k, leg in enumerate(legs)
            for beside in leg.beside
        ]
        self._count = len(legs)
        self.reset()

    def reset(self) -> None:
        # sideways offset of each foot, x and y, and its velocity
        self._asides = [(0.0, 0.0, 0.0, 0.0)] * self._count
        self._is_aside = False
        self._sides = [(0.0, 0.0)] * len(self._pairs)
        self._toes: list[Vector] = []
        # seconds since feet were compared, and until the next comparison
        self._age = self._rest = 0.0

    def update(
        self, legs: Sequence[LegJoints], locks: Sequence[Plant], dt: float
    ) -> list[Aside] | None:
        """Return the sideways offsets of feet, x and y, and their velocities; None if all are zero.

        `legs` are the joints of legs in the data. Locked feet stay where they are.
        """
        self._age += dt
        pushes = None
        if self._age >= self._rest:
            pushes = self._compute_pushes(legs, locks)
            # if nothing is near: feet are foreseen for longer than the rest
            rest = NUMBERS.compared_every if not self._is_aside else 0.5 * NUMBERS.compared_every
            self._age = 0.0
            self._rest = 0.0 if pushes else rest
        if pushes is None:
            if not self._is_aside:
                return None
            pushes = [(0.0, 0.0)] * len(legs)
        asides = self._asides
        self._is_aside = False
        for k, (x, y) in enumerate(pushes):
            ax, ay, vx, vy = asides[k]
            if not (x or y or ax or ay):
                continue
            if locks[k].is_firm:  # it stays as far aside as it stands, or it would be released
                asides[k] = (ax, ay, 0.0, 0.0)
                self._is_aside = True
                continue
            ax, vx = spring(ax, vx, x, NUMBERS.aside_halflife, dt)
            ay, vy = spring(ay, vy, y, NUMBERS.aside_halflife, dt)
            if x or y or max(abs(ax), abs(ay)) > _NO_LENGTH:
                asides[k] = ax, ay, vx, vy
                self._is_aside = True
            else:
                asides[k] = (0.0, 0.0, 0.0, 0.0)
        return asides

    def _compute_pushes(
        self, legs: Sequence[LegJoints], locks: Sequence[Plant]
    ) -> list[tuple[float, float]] | None:
        """Return how far feet have to go aside, x and y; None if no foot has to."""
        pushes: list[tuple[float, float]] | None = None
        age = self._age
        toes = self._toes
        self._toes = [joints[-1][0] for joints in legs]
        for p, (i, beside, share_a, share_b) in enumerate(self._pairs):
            j = beside.leg
            lock_a = locks[i]
            lock_b = locks[j]
            if lock_a.locked and lock_b.locked:
                self._sides[p] = 0.0, 0.0
                continue
            (_, hip_a, *_, ankle_a, _, toe_a) = legs[i]
            (_, hip_b, *_, ankle_b, _, toe_b) = legs[j]
            (nx, ny, _) = hip_a[0]
            (x, y, _) = hip_b[0]
            nx, ny = nx - x, ny - y
            width = math.sqrt(nx * nx + ny * ny)
            if width < _NO_LENGTH:
                continue
            nx, ny = nx / width, ny / width
            a, ux, uy = _find_foot(lock_a, toe_a[0], ankle_a[0], share_a)
            b, vx, vy = _find_foot(lock_b, toe_b[0], ankle_b[0], share_b)
            ux, uy = ux - vx, uy - vy
            if toes:
                if not lock_a.locked:
                    ux += (toe_a[0][0] - toes[i][0]) / age
                    uy += (toe_a[0][1] - toes[i][1]) / age
                if not lock_b.locked:
                    ux -= (toe_b[0][0] - toes[j][0]) / age
                    uy -= (toe_b[0][1] - toes[j][1]) / age
            # seen from the hips, which turn
            px, py = self._sides[p]
            self._sides[p] = nx, ny
            if px or py:
                px, py = (nx - px) / age, (ny - py) / age
            x, y = a[0] - b[0], a[1] - b[1]
            across = NUMBERS.passing_seconds * (ux * nx + uy * ny + x * px + y * py)
            along = NUMBERS.passing_seconds * (uy * nx - ux * ny + y * px - x * py)
            (ax, ay, _) = ankle_a[0]
            (bx, by, _) = ankle_b[0]
            side = beside.compute_side((ax - bx) * nx + (ay - by) * ny)
            push = compute_push(a, b, nx, ny, beside, side, across, along)
            if push:
                if pushes is None:
                    pushes = [(0.0, 0.0)] * len(legs)
                # a foot that stands, or goes straight to its place, does not go aside
                firm_a = lock_a.is_firm
                firm_b = lock_b.is_firm
                share = 0.5 if firm_a == firm_b else float(firm_b)
                (ax, ay) = pushes[i]
                (bx, by) = pushes[j]
                pushes[i] = ax + share * push * nx, ay + share * push * ny
                share = 1.0 - share
                pushes[j] = bx - share * push * nx, by - share * push * ny
        return pushes

    def find_room(
        self, k: int, legs: Sequence[LegJoints], locks: Sequence[Plant], turned: float
    ) -> tuple[float, float]:
        """Return how far, x and y, to move a landing clear of feet that land or stand.

        The body will have `turned` by an angle in radians until then.
        """
        x = 0.0
        y = 0.0
        c = math.cos(turned)
        s = math.sin(turned)
        for i, beside, *shares in self._pairs:
            j = beside.leg
            if k not in (i, j) or not locks[i + j - k].is_firm:
                continue
            nx, ny = (legs[i][1][0][n] - legs[j][1][0][n] for n in (0, 1))
            width = math.hypot(nx, ny)
            if width < _NO_LENGTH:
                continue
            nx, ny = (c * nx - s * ny) / width, (s * nx + c * ny) / width
            (a, *_), (b, *_) = (
                _find_foot(locks[n], legs[n][-1][0], legs[n][-3][0], share, is_landing=True)
                for n, share in zip((i, j), shares, strict=True)
            )
            (ax, ay, _), (bx, by, _) = (legs[n][-3][0] for n in (i, j))
            side = beside.compute_side((ax - bx) * nx + (ay - by) * ny)
            push = compute_push(a, b, nx, ny, beside, side)
            push = push if k == i else -push
            x, y = x + push * nx, y + push * ny
        return x, y


def _find_foot(
    lock: Plant, toe: Vector, ankle: Vector, tip_share: float, is_landing: bool = False
) -> tuple[Foot, float, float]:
    """Return a foot where it would be, or lands if it `is_landing`; and its speed, x and y.

    The speed lacks that of the data.
    """
    x, y, z = toe
    ax, ay, az = ankle
    ax = ax - x
    ay = ay - y
    az = az - z
    ox, oy, _, ux, uy, _ = lock.offset
    if is_landing:
        ox = oy = 0.0
    if is_landing or lock.locked:
        x, y, _ = lock.plant
    return (x + ox, y + oy, z, ax, ay, az, tip_share), ux, uy


def compute_push(
    a: Foot,
    b: Foot,
    nx: float,
    ny: float,
    beside: Beside,
    side: float,
    moved: float = 0.0,
    along: float = 0.0,
) -> float:
    """Return how far in metres two feet have to move apart along n, the first from the second.

    Their ankles keep to the `side`. `moved` and `along` are how far the first will have moved
    against the second, from its side and forward. The closest point of that motion decides.
    """
    x, y, z, ax, ay, az, share_a = a
    ox, oy, oz, bx, by, bz, share_b = b
    x, y = x - ox, y - oy
    # across (d) and along (f) the line of the hips
    d = x * nx + y * ny
    heel_b = bx * nx + by * ny
    ad = ax * nx + ay * ny
    heel_a = d + ad
    tip_a = d - share_a * ad
    tip_b = -share_b * heel_b
    closing = moved if moved < 0.0 else 0.0
    push = side - heel_a + heel_b - closing
    if push < 0.0:
        push = 0.0
    apart = beside.apart + NUMBERS.lateness_margin
    nearest = (heel_a if heel_a < tip_a else tip_a) - (heel_b if heel_b > tip_b else tip_b)
    if nearest + closing > apart:
        return push
    f = y * nx - x * ny
    af = ay * nx - ax * ny
    bf = by * nx - bx * ny
    # from the middle of the one to that of the other
    middle = f + 0.5 * ((1.0 - share_a) * af - (1.0 - share_b) * bf)
    passing = middle * along < 0.0
    share = (1.0 if middle * middle > along * along else -middle / along) if passing else 0.0
    middle += share * along
    length_a = (1.0 + share_a) * af
    length_b = (1.0 + share_b) * bf
    if abs(middle) - 0.5 * (abs(length_a) + abs(length_b)) > apart:
        return push
    way = heel_a + share * moved - heel_b, f + af + share * along - bf, z + az - oz - bz
    line_a = tip_a - heel_a, -length_a, -(1.0 + share_a) * az
    line_b = tip_b - heel_b, -length_b, -(1.0 + share_b) * bz
    return max(push, _separate(way, line_a, line_b, apart))


def _separate(way: Vector, line_a: Vector, line_b: Vector, apart: float) -> float:
    """Return how far across the first line has to move, to which there is a way from the second.

    Vectors are across, along and up.
    """
    s, t = find_nearest(line_a, line_b, way, FLOATS)
    across, along, up = (w + s * u - t * v for w, u, v in zip(way, line_a, line_b, strict=True))
    room = apart * apart - along * along - up * up
    return math.sqrt(room) - across if room > 0.0 else 0.0

"""Step while a character stands: a toe planted in the wrong place steps to the right one.

A foot comes down where the motion has it from the feet that are planted already, because a body
that stands comes to be above its feet by itself. One foot steps at a time, and only while all
others are planted. Distances and times are in body units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...maths.rotations.scalar_quat import Vector
from ...maths.springs import spring
from ..numbers import NUMBERS

Offset = tuple[float, float]

_NONE: Offset = (0.0, 0.0)


class Stepping:
    """Where the feet of a character come down when it stands; `foot` is the one that steps, or -1.

    `offset` (x, y) is how far the feet are planted from where the motion has them, on average; 0
    while one is not.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self.reset()

    def reset(self) -> None:
        """Leave the feet to the motion."""
        self.foot = -1
        self._age = 0.0
        self._pause = 0.0
        self._lift = 0.0
        self._start: Vector = (0.0, 0.0, 0.0)
        self._stood = 0.0  # seconds
        self.is_active = False
        self.offset = _NONE
        # distance of each foot's place from that in the motion, its speed, and its goal
        self._shifts: list[tuple[float, float, float, float]] = [(0.0, 0.0, 0.0, 0.0)] * self._count
        self._targets = [_NONE] * self._count

    def move(self) -> None:
        """Stop standing, but finish a step that was begun."""
        if not self.is_active:
            return
        self._stood = 0.0
        self.offset = _NONE
        self._targets = [_NONE] * self._count
        rests = all(abs(part) < 1e-4 for shift in self._shifts for part in shift)
        if self.foot < 0 and rests:
            self.reset()

    def stand(self, toes: Sequence[Vector], plants: Sequence[Vector | None], dt: float) -> bool:
        """Stand for a tick; return whether a foot begins to step.

        `toes` are where the motion has them, `plants` where they are planted, None if they are not.
        """
        self.is_active = True
        self._stood += dt
        self._pause += dt
        offsets = [_measure_offset(toe, plant) for toe, plant in zip(toes, plants, strict=True)]
        others = [_average(offsets, k) for k in range(len(offsets))]
        self._targets = [
            _shorten(other) if each is None else _NONE
            for each, other in zip(offsets, others, strict=True)
        ]
        if None in offsets:
            self.offset = _NONE
            return False
        self.offset = _average(offsets)
        if self._pause < NUMBERS.step_pause:
            return False
        far = (
            NUMBERS.stance_off
            if self._stood < NUMBERS.settling_seconds
            else NUMBERS.later_stance_off
        )
        foot = _find_farthest(offsets, others, far)
        if foot >= 0:
            self._begin(foot, toes[foot], plants[foot], _shorten(others[foot]))
        return foot >= 0

    def _begin(self, foot: int, toe: Vector, plant: Vector | None, shift: Offset) -> None:
        assert plant is not None
        self.foot = foot
        self._age = 0.0
        self._start = plant
        self._targets[foot] = shift
        self._shifts[foot] = (*shift, 0.0, 0.0)
        away = math.hypot(toe[0] + shift[0] - plant[0], toe[1] + shift[1] - plant[1])
        self._lift = min(
            NUMBERS.least_step_height + NUMBERS.step_steepness * away, NUMBERS.greatest_step_height
        )

    def place(self, foot: int, toe: Vector, dt: float) -> Vector:
        """Return the place, a tick later, of a toe that the motion has elsewhere.

        A step ends once its toe has reached its place.
        """
        (sx, sy, ux, uy) = self._shifts[foot]
        (wx, wy) = self._targets[foot]
        (sx, ux), (sy, uy) = (
            spring(sx, ux, wx, NUMBERS.follow_halflife, dt),
            spring(sy, uy, wy, NUMBERS.follow_halflife, dt),
        )
        self._shifts[foot] = sx, sy, ux, uy
        x, y, z = toe[0] + sx, toe[1] + sy, toe[2]
        if foot != self.foot:
            return x, y, z
        self._age += dt
        share = min(self._age / NUMBERS.step_seconds, 1.0)
        along = share * share * (3.0 - 2.0 * share)
        up = self._lift * math.sin(math.pi * share) ** 2
        if share > 1.0 - 1e-6:
            self.foot = -1
            self._pause = 0.0
        px, py, _ = self._start
        return px + (x - px) * along, py + (y - py) * along, z + up


def _measure_offset(toe: Vector, plant: Vector | None) -> Offset | None:
    return None if plant is None else (plant[0] - toe[0], plant[1] - toe[1])


def _shorten(offset: Offset) -> Offset:
    share = min(NUMBERS.landing_off / (math.hypot(*offset) + 1e-9), 1.0)
    return share * offset[0], share * offset[1]


def _average(offsets: Sequence[Offset | None], without: int = -1) -> Offset:
    """Return the mean of the offsets that are known, of all feet but one."""
    known = [each for k, each in enumerate(offsets) if each is not None and k != without]
    if not known:
        return _NONE
    return sum(x for x, _ in known) / len(known), sum(y for _, y in known) / len(known)


def _find_farthest(offsets: Sequence[Offset | None], others: Sequence[Offset], far: float) -> int:
    """Return the foot farthest from its place relative to the others, -1 if none is `far`.

    Two feet are equally far from each other: the one farther from its place by the body counts.
    """
    result = -1
    most = 0.0
    for k, (each, other) in enumerate(zip(offsets, others, strict=True)):
        x, y = each or _NONE
        away = math.hypot(x - other[0], y - other[1])
        apart = math.hypot(x, y)
        if (away > far or apart > NUMBERS.toe_off) and away + apart > most:
            result = k
            most = away + apart
    return result

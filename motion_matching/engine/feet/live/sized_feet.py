"""Foot locking for creatures of any size: solved at human size, with time scaled to match.

Distances, speeds and times of the foot lock are those of people. A creature `size` times as large
moves alike if its lengths are divided by that, and its times by the root of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...ground.footholds import Footing
from ...ground.ground import FLAT, Ground, Point, is_flat
from ...legs.legs import LegGeometry
from ...maths.rotations.scalar_quat import Vector
from ...performance.settings import FootLocking
from ..played_toes import PlayedToes
from .foot_lock import FootLock


def create_foot_lock(legs: Sequence[LegGeometry], ground: Ground = FLAT) -> FootLock:
    """Return a foot lock that fits the size of the legs."""
    size = legs[0].size if legs else 1.0
    return FootLock(legs, ground) if size == 1.0 else SizedFootLock(legs, ground)


class SizedFootLock(FootLock):
    """Locks the toes of a creature that is smaller or larger than people."""

    def __init__(self, legs: Sequence[LegGeometry], ground: Ground = FLAT) -> None:
        self._size, self._slowness = legs[0].size, legs[0].slowness
        scaled = [_divide(leg, self._size) for leg in legs]
        super().__init__(scaled, FLAT if is_flat(ground) else SizedGround(ground, self._size))

    def start_from(
        self, pose: np.ndarray, before: np.ndarray, settings: FootLocking, dt: float
    ) -> float:
        now, then = self._divide(pose), self._divide(before)
        return self._size * super().start_from(now, then, settings, self._slow(dt))

    @property
    def plants(self) -> list[Vector | None]:
        size = self._size
        return [
            each and (size * each[0], size * each[1], size * each[2]) for each in super().plants
        ]

    @property
    def shown(self) -> list[Vector]:
        size = self._size
        return [(size * x, size * y, size * z) for x, y, z in super().shown]

    def allow_stretch(self, spare: Sequence[float]) -> None:
        super().allow_stretch([metres / self._size for metres in spare])

    @property
    def offset(self) -> tuple[float, float]:
        x, y = super().offset
        return self._size * x, self._size * y

    @property
    def below(self) -> float:
        return self._size * super().below

    def update_height(
        self,
        x: float,
        y: float,
        settings: FootLocking,
        dt: float,
        footing: Footing | None = None,
    ) -> float:
        size = self._size
        if footing is not None:
            feet = tuple([higher / size for higher in footing.feet])
            footing = Footing(feet, footing.climbs * self._slowness / size)
        return size * super().update_height(x / size, y / size, settings, self._slow(dt), footing)

    def apply(
        self,
        pose: np.ndarray,
        contacts: np.ndarray,
        settings: FootLocking,
        dt: float,
        stands: bool = False,
        toes: PlayedToes | None = None,
        hardest: float = math.inf,
        calm: float = math.inf,
    ) -> None:
        size, slowness = self._size, self._slowness
        scaled, small = self._divide(pose), toes and toes.divide(size, slowness)
        most, at_most = (each * slowness * slowness / size for each in (hardest, calm))
        super().apply(scaled, contacts, settings, self._slow(dt), stands, small, most, at_most)
        pose[3:] = scaled[3:]

    def _divide(self, pose: np.ndarray) -> np.ndarray:
        result = pose.copy()
        result[:3] /= self._size
        return result

    def _slow(self, dt: float) -> float:
        return dt / self._slowness


class SizedGround:
    """The ground for a creature `size` times larger than the foot lock assumes."""

    def __init__(self, ground: Ground, size: float) -> None:
        self._ground, self._size = ground, size

    def height(self, x: float, y: float) -> float:
        return self._ground.height(x * self._size, y * self._size) / self._size

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        size = self._size
        (ax, ay), (bx, by) = start, stop
        way = (ax * size, ay * size), (bx * size, by * size)
        x, y = self._ground.slide(*way, radius * size)
        return x / size, y / size


def _divide(leg: LegGeometry, size: float) -> LegGeometry:
    """Return a leg that is smaller by a factor."""
    x, y, z = leg.tip or (0.0, 0.0, 0.0)
    tip = leg.tip and (x / size, y / size, z / size)
    lengths = ("folded_length", "toe_height", "foot_height", "tip_height")
    return replace(
        leg,
        tip=tip,
        size=1.0,
        knee_rate=leg.knee_rate * leg.slowness,
        knee_acceleration=leg.knee_acceleration * leg.slowness**2,
        beside=tuple(
            each._replace(
                apart=each.apart / size,
                side=each.side / size,
                crossed=each.crossed / size,
            )
            for each in leg.beside
        ),
        **{name: getattr(leg, name) / size for name in lengths},
    )

"""Grounds to walk and run over: ramps, stairs, hills and terraces, and what is performed on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from motion_matching.engine.direct.shot.shot import Mark, Shot
from motion_matching.engine.ground.ground import FLAT, Ground, Point
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import takes

from .quality import Loaded

BEGIN = 3.0  # metres ahead, forward being -Y, at which ramps and stairs begin
_LONG = 3.0  # metres of a ramp, seen from above
STEPS = 8  # of stairs
TREADS = {15: 0.30, 17: 0.29, 20: 0.28}  # metres, by risers in cm: those of the built-in clips
DEGREES = (10, 22, 30)  # of ramps: the middle one is between two clips
_STAND, _STOP = 0.5, 2.5  # seconds of standing before and after a walk straight ahead
# A shot leads as far ahead in so many seconds: level ground at 1.1 m/s, stairs at 0.55 m/s.
_FAR, _SHOT_SECONDS = 9.0, 12.5
_TERRACE, _TERRACES = 0.15, 8.0  # metres: a step of the terraces, and how far they reach
_WIDE = 0.6  # metres of a terrace


@dataclass(frozen=True)
class Terrain:
    """Ground without obstacles whose height in metres is a function of x and y."""

    compute: Callable[[float, float], float]

    def height(self, x: float, y: float) -> float:
        """See `Ground`."""
        return self.compute(x, y)

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        """See `Ground`."""
        return stop


class StudyGround(NamedTuple):
    """A ground by its title; `straight` ahead is walked over it, or else walked and run about."""

    title: str
    ground: Ground
    straight: bool
    directed: bool = False

    @property
    def gaits(self) -> tuple[str, ...]:
        return ("walk",) if self.straight else ("walk", "run")


def _make_ramp(degrees: float) -> Terrain:
    slope = math.tan(math.radians(degrees))
    return Terrain(lambda x, y: slope * min(max(-y - BEGIN, 0.0), _LONG))


def _make_stairs(riser: float, tread: float) -> Terrain:
    def compute(x: float, y: float) -> float:
        return riser * min(max(math.floor((-y - BEGIN) / tread) + 1, 0), STEPS)

    return Terrain(compute)


def _compute_hill(x: float, y: float) -> float:
    """Return the height of hills of up to 20 degrees."""
    return 0.45 * math.sin(x / 2) * math.cos(y / 2) + 0.3 * math.sin(x / 3 + y / 2.5)


def _compute_terrace(x: float, y: float) -> float:
    """Return the height of a square hill of steps around (4, -4)."""
    return _TERRACE * math.floor(max(0.0, _TERRACES - max(abs(x - 4.0), abs(y + 4.0))) / _WIDE)


def _list_grounds() -> dict[str, StudyGround]:
    found = {"flat": StudyGround("flat", FLAT, True, True)}
    for way, sign in (("up", 1.0), ("down", -1.0)):
        for degrees in DEGREES:
            title = f"ramp {way} {degrees}°"
            found[f"ramp_{way}_{degrees}"] = StudyGround(title, _make_ramp(sign * degrees), True)
    for way, sign in (("up", 1.0), ("down", -1.0)):
        for riser, tread in TREADS.items():
            stairs = _make_stairs(0.01 * sign * riser, tread)
            title = f"stairs {way} {riser} cm"
            found[f"stairs_{way}_{riser}"] = StudyGround(title, stairs, True, True)
    found["open"] = StudyGround("flat", FLAT, False)
    found["hills"] = StudyGround("hills", Terrain(_compute_hill), False)
    found["terraces"] = StudyGround("terraces", Terrain(_compute_terrace), False)
    return found


GROUNDS = _list_grounds()


def make_performance(
    which: StudyGround, loaded: Loaded, gait: str, seconds: float, seed: int
) -> Performance:
    """Return what is performed on a ground: a walk straight ahead and a stop, or a seeded script."""
    if not which.straight:
        performance = takes.prepare_performance(
            loaded.database, loaded.settings, "random", gait=gait, seconds=seconds, seed=seed
        )
        return replace(performance, floor=which.ground)
    fps = loaded.database.fps
    stand, stop = round(_STAND * fps), round(_STOP * fps)
    walk = [Intent(move=(0.0, -1.0), gait=float(gait == "run"))] * (
        round(seconds * fps) - stand - stop
    )
    intents = [Intent()] * stand + walk + [Intent()] * stop
    return Performance("straight", fps, tuple(intents), floor=which.ground)


def make_shot(which: StudyGround) -> Shot:
    """Return the shot that leads straight over a ground to a mark."""
    marks = (Mark(_SHOT_SECONDS, (0.0, -_FAR)),)
    return Shot(_SHOT_SECONDS + _STOP, marks=marks, floor=which.ground)

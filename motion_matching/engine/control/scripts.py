"""Scripted performances: the standard tests of a controller."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import SettingsError
from .intent import Intent
from .performance import Performance
from .settings import Speeds

_LEAD_IN = 1.0  # seconds of standing before a script moves


def _toward(yaw: float, effort: float = 1.0) -> tuple[float, float]:
    return effort * math.sin(yaw), -effort * math.cos(yaw)


def _figure_eight(
    t: float, speeds: Speeds, rng: np.random.Generator
) -> tuple[tuple[float, float], float | None]:
    """Two circles, one each way round; a lap of one takes as long as its length at full speed."""
    radius = 1.5 * max(speeds.forward, 1.0)
    lap = 2 * math.pi * radius / speeds.forward
    angle = 2 * math.pi * (t % (2 * lap)) / lap
    return _toward(angle if angle < 2 * math.pi else -angle), None


def _square(
    t: float, speeds: Speeds, rng: np.random.Generator
) -> tuple[tuple[float, float], float | None]:
    """A quarter turn every three seconds."""
    return _toward(0.5 * math.pi * int(t / 3.0)), None


def _stop_and_go(
    t: float, speeds: Speeds, rng: np.random.Generator
) -> tuple[tuple[float, float], float | None]:
    """Three seconds of going, two of standing, each time off in another direction."""
    number, phase = divmod(t, 5.0)
    return (_toward(0.8 * number) if phase < 3.0 else (0.0, 0.0)), None


def _flips(
    t: float, speeds: Speeds, rng: np.random.Generator
) -> tuple[tuple[float, float], float | None]:
    """Straight back every three seconds."""
    return _toward(math.pi * (int(t / 3.0) % 2)), None


def _strafe_circle(
    t: float, speeds: Speeds, rng: np.random.Generator
) -> tuple[tuple[float, float], float | None]:
    """The movement turns once round in sixteen seconds while the character faces one way."""
    return _toward(2 * math.pi * t / 16.0), 0.0


Steering = Callable[[float, Speeds, np.random.Generator], tuple[tuple[float, float], float | None]]
_SCRIPTS: dict[str, Steering] = {
    "figure_eight": _figure_eight,
    "square": _square,
    "stop_and_go": _stop_and_go,
    "flips": _flips,
    "strafe_circle": _strafe_circle,
}
NAMES = (*_SCRIPTS, "random")
GAITS = {"walk": 0.0, "run": 1.0}


def script(
    name: str,
    seconds: float,
    fps: float,
    walk: Speeds,
    run: Speeds,
    *,
    gait: str = "walk",
    seed: int = 0,
) -> Performance:
    """A scripted performance at full speed of a gait; 'random' is drawn from `seed`. SettingsError for unknown names."""
    if name not in NAMES:
        raise SettingsError(
            f"There is no script '{name}'; use one of {', '.join(NAMES)} or a recorded performance."
        )
    if gait not in GAITS:
        raise SettingsError(f"There is no gait '{gait}'; use one of {', '.join(GAITS)}.")
    if not seconds > 0:
        raise SettingsError(
            f"A take of {seconds} seconds cannot be made; give a length above zero."
        )
    rng = np.random.default_rng(seed)
    count, speeds = max(round(seconds * fps), 1), run if gait == "run" else walk
    if name == "random":
        intents = _random(count, fps, gait, rng)
    else:
        steer, intents = _SCRIPTS[name], []
        for i in range(count):
            t = i / fps - _LEAD_IN
            move, facing = steer(t, speeds, rng) if t >= 0 else ((0.0, 0.0), None)
            intents.append(Intent(move=move, facing=facing, gait=GAITS[gait]))
    return Performance(f"{name} {gait}", fps, tuple(intents), seed=seed)


def _random(count: int, fps: float, gait: str, rng: np.random.Generator) -> list[Intent]:
    """A new direction every one to four seconds; now and then slower, still, or facing elsewhere."""
    intents = [Intent()] * round(_LEAD_IN * fps)
    while len(intents) < count:
        effort = rng.choice([1.0, 1.0, 1.0, 0.6, 0.0])
        yaw = rng.uniform(-math.pi, math.pi)
        facing = (
            yaw + rng.choice([-0.5, 0.5]) * math.pi
            if gait == "walk" and rng.random() < 0.2
            else None
        )
        length = round(rng.uniform(1.0, 4.0) * fps)
        intents += [
            Intent(move=_toward(yaw, float(effort)), facing=facing, gait=GAITS[gait])
        ] * length
    return intents[:count]

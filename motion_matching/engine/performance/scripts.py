"""Scripted performances, the standard tests of a controller."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import files, performance
from ..errors import SettingsError
from .intent import Intent
from .numbers import NUMBERS
from .settings import LARGEST_SPEED, Speeds

if TYPE_CHECKING:
    from .performance import Performance

Steering = tuple[tuple[float, float], float | None]  # direction to move in, and heading to face


def _compute_move(yaw: float, effort: float = 1.0) -> tuple[float, float]:
    return effort * math.sin(yaw), -effort * math.cos(yaw)


def _compute_lap(speeds: Speeds) -> float:
    """Return the seconds of one circle of the figure eight."""
    radius = 1.5 * max(speeds.forward, 1.0)
    return 2 * math.pi * radius / max(speeds.forward, NUMBERS.slowest)


def _measure_laps(speeds: Speeds) -> float:
    return 2 * _compute_lap(speeds)


def _steer_figure_eight(t: float, speeds: Speeds) -> Steering:
    """Walk two circles, one to each side, at full speed."""
    lap = _compute_lap(speeds)
    angle = 2 * math.pi * (t % (2 * lap)) / lap
    return _compute_move(angle if angle < 2 * math.pi else -angle), None


def _steer_square(t: float, speeds: Speeds) -> Steering:
    """Turn by 90 degrees every three seconds."""
    return _compute_move(0.5 * math.pi * int(t / 3.0)), None


def _steer_stop_and_go(t: float, speeds: Speeds) -> Steering:
    """Go for three seconds and stand for two, each time in another direction."""
    number, phase = divmod(t, 5.0)
    return (_compute_move(0.8 * number) if phase < 3.0 else (0.0, 0.0)), None


def _steer_flips(t: float, speeds: Speeds) -> Steering:
    """Reverse the direction every three seconds."""
    return _compute_move(math.pi * (int(t / 3.0) % 2)), None


def _steer_strafe_circle(t: float, speeds: Speeds) -> Steering:
    """Move in all directions within sixteen seconds while the character faces one."""
    return _compute_move(2 * math.pi * t / 16.0), 0.0


GAITS = {"walk": 0.0, "run": 1.0}


Drawn = Iterator[tuple[Intent, float]]  # intents, with the seconds that each is held


def _draw_random(gait: str, speeds: Speeds, rng: np.random.Generator) -> Drawn:
    """Change direction every one to four seconds; sometimes go slower, stand, or face elsewhere."""
    while True:
        effort = float(rng.choice([1.0, 1.0, 1.0, 0.6, 0.0]))
        yaw = rng.uniform(-math.pi, math.pi)
        facing = None
        if gait == "walk" and rng.random() < 0.2:
            facing = yaw + rng.choice([-0.5, 0.5]) * math.pi
        intent = Intent(move=_compute_move(yaw, effort), facing=facing, gait=GAITS[gait])
        yield intent, rng.uniform(1.0, 4.0)


def _draw_turns(gait: str, speeds: Speeds, rng: np.random.Generator) -> Drawn:
    """Turn by 90 to 180 degrees to either side, and go on for two to four seconds."""
    yaw = 0.0
    while True:
        yaw += rng.choice([-1.0, 1.0]) * rng.uniform(0.5 * math.pi, math.pi)
        yield Intent(move=_compute_move(yaw), gait=GAITS[gait]), rng.uniform(2.0, 4.0)


def _draw_pushes(gait: str, speeds: Speeds, rng: np.random.Generator) -> Drawn:
    """Go straight ahead, and be pushed to any side every 2.5 to 4 seconds.

    A push adds the full speed ahead: one from ahead stops the character.
    """
    ahead = Intent(move=_compute_move(0.0), gait=GAITS[gait])
    while True:
        yield ahead, rng.uniform(*NUMBERS.pushed_after)
        x, y = _compute_move(rng.uniform(-math.pi, math.pi), speeds.forward)
        yield ahead._replace(push=(x, y)), 0.0  # for one tick


class ScriptKind(NamedTuple):
    """A standard performance, with its words in the panel and the manual.

    It either steers by the time in seconds, or is drawn from a seed. `measure` returns the seconds
    of movement until it is complete.
    """

    label: str
    help: str
    steer: Callable[[float, Speeds], Steering] | None = None
    measure: Callable[[Speeds], float] = lambda _: NUMBERS.seeded_length
    draw: Callable[[str, Speeds, np.random.Generator], Drawn] | None = None


# by name; Blender files store the place, so further ones come last
SCRIPTS: MappingProxyType[str, ScriptKind] = MappingProxyType(
    {
        "figure_eight": ScriptKind(
            "Figure Eight", "Two circles, one in each direction", _steer_figure_eight, _measure_laps
        ),
        "square": ScriptKind(
            "Square", "A quarter turn every three seconds", _steer_square, lambda _: 12.0
        ),
        "stop_and_go": ScriptKind(
            "Stop and Go",
            "Three seconds of moving in a new direction, two of standing",
            _steer_stop_and_go,
            lambda _: 20.0,
        ),
        "flips": ScriptKind(
            "Flips", "A turn straight back every three seconds", _steer_flips, lambda _: 12.0
        ),
        "strafe_circle": ScriptKind(
            "Strafe Circle",
            "A full circle in sixteen seconds while facing one way",
            _steer_strafe_circle,
            lambda _: 16.0,
        ),
        "random": ScriptKind(
            "Random",
            "A new direction every few seconds, now and then slower, still, or facing elsewhere",
            draw=_draw_random,
        ),
        "turns": ScriptKind(
            "Turns",
            "Turns by 90° to 180°, to either side, every two to four seconds",
            draw=_draw_turns,
        ),
        "pushes": ScriptKind(
            "Pushes",
            "Straight ahead, pushed to any side every few seconds, as hard as the character is "
            "fast",
            draw=_draw_pushes,
        ),
    }
)
NAMES = tuple(SCRIPTS)
SEEDED = tuple(name for name, script in SCRIPTS.items() if script.draw)
UNDISTURBED = tuple(name for name in NAMES if name != "pushes")


def build_script(
    name: str,
    seconds: float,
    fps: float,
    walk: Speeds,
    run: Speeds,
    *,
    gait: str = "walk",
    seed: int = 0,
) -> Performance:
    """Return a scripted performance at the full speed of a gait; SEEDED ones are drawn from `seed`.

    With 0 `seconds`, it is as long as the whole script needs, which ends at rest.
    Raises SettingsError for unknown names and for a length out of its limits.
    """
    script = SCRIPTS.get(name)
    if script is None:
        known = ", ".join(NAMES)
        raise SettingsError(
            f"There is no script '{name}'; use one of {known} or a recorded performance."
        )
    if gait not in GAITS:
        raise SettingsError(f"There is no gait '{gait}'; use one of {', '.join(GAITS)}.")
    longest = performance.performance.LONGEST_TAKE
    if not 0 <= seconds <= longest:
        raise SettingsError(
            f"A take of {seconds} seconds cannot be made; give a length above zero, and up to "
            f"{longest:g}, or 0 for the whole script."
        )
    speeds = run if gait == "run" else walk
    end = math.inf if seconds else script.measure(speeds)
    seconds = seconds or min(NUMBERS.lead_in + end + NUMBERS.stop, longest)
    count = max(round(seconds * fps), 1)
    if script.draw:
        intents = [Intent()] * round(NUMBERS.lead_in * fps)
        for intent, held in script.draw(gait, speeds, np.random.default_rng(seed)):
            intents += [intent] * max(round(held * fps), 1)
            if len(intents) >= count:
                break
        intents = intents[:count]
        rest = math.ceil(min((NUMBERS.lead_in + end) * fps, count))
        intents[rest:] = [Intent()] * (count - rest)
    elif script.steer:
        intents = []
        for i in range(count):
            t = i / fps - NUMBERS.lead_in
            is_moving = 0 <= t < end
            move, facing = script.steer(t, speeds) if is_moving else ((0.0, 0.0), None)
            intents.append(Intent(move=move, facing=facing, gait=GAITS[gait]))
    return performance.performance.Performance(f"{name} {gait}", fps, tuple(intents), seed=seed)


def build_from_arrays(
    name: str,
    fps: float,
    velocities: np.ndarray,
    facings: np.ndarray | None = None,
    gaits: np.ndarray | float = 0.0,
) -> Performance:
    """Return a performance of desired velocities (T, 2) in m/s in the world, at `fps` per second.

    `facings` (T,) are headings in radians; NaN, or none at all, faces the movement. `gaits` (T,),
    or one for all, are from 0 (walk) to 1 (run). Raises SettingsError for other shapes and values.
    """
    velocities = _to_numbers("velocities", velocities)
    gaits = _to_numbers("gaits", gaits)
    _check_array("velocities", velocities, (None, 2), LARGEST_SPEED)
    count = (len(velocities),)
    gaits = gaits if gaits.ndim else np.broadcast_to(gaits, count)
    _check_array("gaits", gaits, count, 1.0)
    yaws = _to_numbers("facings", np.full(count, np.nan) if facings is None else facings)
    _check_array(
        "facings", np.where(np.isnan(yaws), 0.0, yaws), count, performance.performance.LARGEST_ANGLE
    )
    if not 0 < fps < np.inf or gaits.min(initial=0.0) < 0:
        raise SettingsError(
            f"The arrays need a rate above zero, not {fps}, and gaits from 0 (walk) to 1 (run)."
        )
    intents = [
        Intent(velocity=(x, y), facing=None if math.isnan(yaw) else yaw, gait=gait)
        for (x, y), yaw, gait in zip(
            velocities.tolist(), yaws.tolist(), gaits.tolist(), strict=True
        )
    ]
    return performance.performance.Performance(name, fps, tuple(intents))


def _check_array(name: str, array: np.ndarray, shape: tuple[int | None, ...], limit: float) -> None:
    """Raise SettingsError unless an array has this shape, and finite numbers within limits."""
    fits = files.array_files.fits_shape(array, shape) and len(array)
    if not fits or not np.isfinite(array).all() or np.abs(array).max() > limit:
        expected = ", ".join("ticks" if size is None else str(size) for size in shape)
        raise SettingsError(
            f"The array '{name}' has the shape {array.shape}; give finite numbers of the shape "
            f"({expected}), none beyond {limit:g}."
        )


def _to_numbers(name: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError) as cause:
        raise SettingsError(
            f"The array '{name}' holds something other than numbers in rows of one length; "
            "correct it."
        ) from cause

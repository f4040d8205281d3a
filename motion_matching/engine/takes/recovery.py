"""Measure how soon a character is back on its way after a push, and how far it was moved.

It is back once its velocity, after the largest deviation from the desired one, is within a tenth of
it again, or as near as in the second before the push: no gait is even.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..control.rollout import Take
from .numbers import NUMBERS


class Recovery(NamedTuple):
    """One push: its second and speed in m/s, seconds until it is over, and metres moved by it.

    `seconds` is infinite if the next push comes first, or the end of a long way.
    """

    second: float
    speed: float
    seconds: float
    distance: float


def measure_recoveries(take: Take) -> list[Recovery]:
    """Measure all pushes of a take while the character was on its way.

    Pushes after which its way ended too soon are left out.
    """
    pushes = _find_pushes(take)
    places = take.character[:, :2].astype(np.float64)
    velocity = np.gradient(places, 1 / take.fps, axis=0)
    around = round(0.5 * NUMBERS.averaged * take.fps)
    velocity = _average(velocity, around)
    desired = np.asarray(take.desired_velocity, np.float64)
    moving = np.linalg.norm(desired, axis=1) > NUMBERS.least_speed
    off = np.linalg.norm(velocity - desired, axis=1)
    ends = [tick for tick, _ in pushes[1:]] + [take.frame_count] * bool(pushes)
    recoveries = []
    for (tick, speed), end in zip(pushes, ends, strict=True):
        if not moving[tick]:
            continue
        rest = np.flatnonzero(~moving[tick:end])
        stop = tick + int(rest[0]) if len(rest) else end
        still = max(tick - around - 1, 0)  # averages and differences do not see the push yet
        before = slice(max(still - round(NUMBERS.before_push * take.fps), 0), still)
        least = NUMBERS.recovered_share * float(np.linalg.norm(desired[tick]))
        near = max(least, float(off[before].max(initial=0.0)))
        seconds, last = _find_recovery(off, tick, stop, near, take.fps)
        is_cut = end == take.frame_count or stop < end
        if is_cut and not np.isfinite(seconds) and stop - tick < NUMBERS.least_way * take.fps:
            continue
        usual = velocity[before].mean(axis=0) if still else desired[tick]
        moved = places[last] - places[still] - (last - still) / take.fps * usual
        distance = float(np.linalg.norm(moved))
        recoveries.append(Recovery(tick / take.fps, speed, seconds, distance))
    return recoveries


def summarize_recoveries(recoveries: list[Recovery]) -> dict[str, Any]:
    """Return the figures of a report; medians are None without a push that was recovered from."""
    over = [each for each in recoveries if np.isfinite(each.seconds)]
    return {
        "pushes": len(recoveries),
        "pushes_recovered": len(over),
        "recovery_time_median": float(np.median([r.seconds for r in over])) if over else None,
        "push_distance_median": float(np.median([r.distance for r in over])) if over else None,
    }


def _find_pushes(take: Take) -> list[tuple[int, float]]:
    """Return the ticks of pushes and their speeds in m/s; none if a take was cut or joined."""
    if len(take.performance.intents) != take.frame_count:
        return []
    return [
        (tick, float(np.hypot(*intent.push)))
        for tick, intent in enumerate(take.performance.intents)
        if intent.push is not None and intent.path is None
    ]


def _find_recovery(
    off: np.ndarray, tick: int, stop: int, near: float, fps: float
) -> tuple[float, int]:
    """Return the seconds of a recovery, infinite if not over at `stop`, and its last tick.

    `off` (T,) is how far velocities are from the desired ones in m/s, and `near` is over.
    """
    furthest = tick + int(off[tick:stop].argmax())
    back = np.flatnonzero(off[furthest:stop] <= near)
    if not len(back):
        return float("inf"), stop - 1
    last = furthest + int(back[0])
    return (last - tick) / fps, last


def _average(values: np.ndarray, around: int) -> np.ndarray:
    """Return values (T, 2) averaged with as many ticks before each and after; ends hold."""
    count = 2 * around + 1
    padded = np.pad(values, ((around, around), (0, 0)), mode="edge")
    sums = np.cumsum(np.pad(padded, ((1, 0), (0, 0))), axis=0)
    return (sums[count:] - sums[:-count]) / count

"""Measure which slopes the data climbs at which gait and speed, and what is missing.

Slopes are those of the ground as searches see it: averaged over half a second, so that stairs are
also slopes. Speeds and turn rates are averaged over a second, as in the map of coverage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...database.database import Database
from ...maths.along_time import find_runs
from ...performance.scripts import GAITS
from ..numbers import NUMBERS
from .coverage import measure_database

EDGES = NUMBERS.slope_edges
DIRECTIONS = ("up", "down")
_VERBS = {"walk": ("walks", "walks", "walking"), "run": ("runs", "runs", "running")}


class Slope(NamedTuple):
    """Time and speeds of a gait `up` or `down` slopes of the class `steep` of EDGES.

    It turns in `turning` of its `seconds`; `speeds` in m/s span nine tenths of the time.
    """

    gait: str
    direction: str
    steep: int
    seconds: float
    turning: float
    speeds: tuple[float, float]


def format_degrees(first: int, last: int) -> str:
    """Return the degrees from one class of slopes to another for people."""
    is_open = last == len(EDGES) - 1
    return f"{EDGES[first]:g}° and more" if is_open else f"{EDGES[first]:g} to {EDGES[last + 1]:g}°"


def measure_slopes(database: Database) -> list[Slope]:
    """Return the slopes that the playable data climbs for at least a second, steepest last."""
    if not database.climbs.any():
        return []
    motion = measure_database(database)
    rates = database.climb_rates[database.playable]
    moves = motion.mean_speed > NUMBERS.slope_speed
    slopes = np.degrees(np.arctan2(rates, np.maximum(motion.mean_speed, NUMBERS.slope_speed)))
    classes = np.digitize(np.abs(slopes), EDGES) - 1
    runs = motion.mean_speed >= database.walk_to_run
    found = []
    for gait, own in zip(GAITS, (~runs, runs), strict=True):
        for direction, sign in zip(DIRECTIONS, (1.0, -1.0), strict=True):
            for steep in range(len(EDGES)):
                frames = moves & own & (sign * slopes > 0.0) & (classes == steep)
                seconds = int(frames.sum()) / database.fps
                if seconds >= NUMBERS.slope_seconds:
                    low, high = np.percentile(motion.mean_speed[frames], (5, 95)).tolist()
                    turns = np.abs(motion.mean_turn_rate[frames]) > NUMBERS.slope_turn
                    turning = float(turns.sum() / database.fps)
                    found.append(Slope(gait, direction, steep, seconds, turning, (low, high)))
    return found


def suggest_captures(
    found: Sequence[Slope], gaits: Iterable[str] = GAITS, rise: float = 0.0
) -> list[str]:
    """Suggest what to capture on slopes for some gaits, a sentence each.

    Data without slopes gives none, unless the scene's ground rises by `rise` metres.
    """
    if not found:
        climbs = (
            f"The ground rises by {rise:.1f} m, and no clip climbs: add clips on ramps or stairs, "
            "such as the built-in ones, and they are chosen there"
        )
        return [climbs] if rise > 0.0 else []
    steepest = max(slope.steep for slope in found)
    sentences = []
    for gait in gaits:
        own = [slope for slope in found if slope.gait == gait]
        lacking = [way for way in DIRECTIONS if way not in {slope.direction for slope in own}]
        verb, noun, _ = _VERBS[gait]
        if lacking:
            up = " or ".join(lacking)
            straight = " and ".join(lacking)
            sentences.append(
                f"No clip {verb} {up} slopes: capture {noun} straight {straight} those of your "
                "scenes"
            )
        for direction in DIRECTIONS:
            has = {slope.steep for slope in own if slope.direction == direction}
            missing = np.array([bool(has) and k not in has for k in range(steepest + 1)])
            for first, end in find_runs(missing).tolist():
                slopes = f"slopes of {format_degrees(first, end - 1)}"
                sentences.append(
                    f"No clip {verb} {direction} {slopes}: capture {noun} {direction} such slopes"
                )
        if own and sum(slope.turning for slope in own) < NUMBERS.slope_seconds:
            sentences.append(
                f"No clip turns as it {verb} on slopes: capture {noun} that turn left and right "
                "there"
            )
    return sentences


def describe(found: Sequence[Slope]) -> list[str]:
    """Return a line about each slope, with a heading, for people."""
    lines = ["slopes and stairs, as the ground rises over half a second:"] if found else []
    for slope in found:
        (low, high), degrees = slope.speeds, format_degrees(slope.steep, slope.steep)
        lines.append(
            f"  {_VERBS[slope.gait][2]} {slope.direction} {degrees}: {slope.seconds:.0f} s at "
            f"{low:.2f} to {high:.2f} m/s, {slope.turning:.0f} s of them turning"
        )
    return lines


def summarize(found: Sequence[Slope]) -> list[str]:
    """Return a line about the slopes of each gait and direction."""
    lines = []
    for gait in GAITS:
        for direction in DIRECTIONS:
            own = [s for s in found if (s.gait, s.direction) == (gait, direction)]
            if own:
                low, high = min(s.speeds[0] for s in own), max(s.speeds[1] for s in own)
                slopes = format_degrees(own[0].steep, own[-1].steep)
                how = _VERBS[gait][0].capitalize()
                lines.append(f"{how} {direction} slopes of {slopes} at {low:.1f} to {high:.1f} m/s")
    return lines


def to_dicts(found: Sequence[Slope]) -> list[dict[str, Any]]:
    """Return slopes as JSON data: degrees from and to (None if open), seconds, speeds in m/s."""
    edges = (*EDGES, None)
    return [
        {
            "gait": slope.gait,
            "direction": slope.direction,
            "degrees": [edges[slope.steep], edges[slope.steep + 1]],
            "seconds": round(slope.seconds, 3),
            "turning": round(slope.turning, 3),
            "speeds": [round(speed, 3) for speed in slope.speeds],
        }
        for slope in found
    ]

"""Measure which slopes the data climbs at which gait and speed, and what is missing.

Slopes are those of the ground as searches see it: averaged over half a second, so that stairs are
also slopes. Speeds and turn rates are averaged over a second, as in the map of coverage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...database.database import Database
from ...performance.scripts import GAITS
from ..numbers import NUMBERS
from .coverage import GroundMotion, measure_database

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

    @property
    def degrees(self) -> str:
        """The class of slopes for people."""
        return format_degrees(self.steep, self.steep)


def format_degrees(first: int, last: int) -> str:
    """Return the degrees from one class of slopes to another for people."""
    is_open = last == len(EDGES) - 1
    return f"{EDGES[first]:g}° and more" if is_open else f"{EDGES[first]:g} to {EDGES[last + 1]:g}°"


def measure_slopes(database: Database) -> list[Slope]:
    """Return the slopes that the playable data climbs for at least a second, steepest last."""
    if not database.climbs.any():
        return []
    motion, rates = measure_database(database), database.climb_rates[database.playable]
    moves = motion.mean_speed > NUMBERS.slope_speed
    slopes = np.degrees(np.arctan2(rates, np.maximum(motion.mean_speed, NUMBERS.slope_speed)))
    classes = np.digitize(np.abs(slopes), EDGES) - 1
    runs = motion.mean_speed >= database.walk_to_run
    found = []
    for gait, own in zip(GAITS, (~runs, runs), strict=True):
        for direction, sign in zip(DIRECTIONS, (1.0, -1.0), strict=True):
            for steep in range(len(EDGES)):
                frames = moves & own & (sign * slopes > 0.0) & (classes == steep)
                if frames.sum() >= NUMBERS.slope_seconds * database.fps:
                    cell = motion.select(frames)
                    found.append(_measure_cell(gait, direction, steep, cell, database.fps))
    return found


def _measure_cell(gait: str, direction: str, steep: int, motion: GroundMotion, fps: float) -> Slope:
    low, high = np.percentile(motion.mean_speed, (5, 95)).tolist()
    turning = float((np.abs(motion.mean_turn_rate) > NUMBERS.slope_turn).sum() / fps)
    seconds = len(motion.speed) / fps
    return Slope(gait, direction, steep, seconds, turning, (low, high))


def suggest_captures(
    found: Sequence[Slope], gaits: Iterable[str] = GAITS, rise: float = 0.0
) -> list[str]:
    """Suggest what to capture on slopes for some gaits, a sentence each.

    Data without slopes gives none, unless the scene's ground rises by `rise` metres.
    """
    if not found:
        return [_tell_rise(rise)] if rise > 0.0 else []
    steepest = max(slope.steep for slope in found)
    sentences = []
    for gait in gaits:
        own = [slope for slope in found if slope.gait == gait]
        lacking = [way for way in DIRECTIONS if way not in {slope.direction for slope in own}]
        verb, noun, _ = _VERBS[gait]
        if lacking:
            up, straight = " or ".join(lacking), " and ".join(lacking)
            sentences.append(
                f"No clip {verb} {up} slopes: capture {noun} straight {straight} those of your "
                "scenes"
            )
        for direction in DIRECTIONS:
            has = {slope.steep for slope in own if slope.direction == direction}
            for first, last in _group([k for k in range(steepest + 1) if has and k not in has]):
                slopes = f"slopes of {format_degrees(first, last)}"
                sentences.append(
                    f"No clip {verb} {direction} {slopes}: capture {noun} {direction} such slopes"
                )
        if own and sum(slope.turning for slope in own) < NUMBERS.slope_seconds:
            sentences.append(
                f"No clip turns as it {verb} on slopes: capture {noun} that turn left and right "
                "there"
            )
    return sentences


def _tell_rise(rise: float) -> str:
    return (
        f"The ground rises by {rise:.1f} m, and no clip climbs: add clips on ramps or stairs, such "
        "as the built-in ones, and they are chosen there"
    )


def _group(classes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last of ascending classes that follow each other."""
    groups: list[tuple[int, int]] = []
    for steep in classes:
        if groups and groups[-1][1] == steep - 1:
            groups[-1] = groups[-1][0], steep
        else:
            groups.append((steep, steep))
    return groups


def describe(found: Sequence[Slope]) -> list[str]:
    """Return a line about each slope, with a heading, for people."""
    if not found:
        return []
    return [
        "slopes and stairs, as the ground rises over half a second:",
        *map(_describe_slope, found),
    ]


def _describe_slope(slope: Slope) -> str:
    return (
        f"  {_VERBS[slope.gait][2]} {slope.direction} {slope.degrees}: {slope.seconds:.0f} s at "
        f"{slope.speeds[0]:.2f} to {slope.speeds[1]:.2f} m/s, {slope.turning:.0f} s of them turning"
    )


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

"""Measure the content of a database: speeds by direction, turns, and tags."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from ..maths.along_time import find_runs
from ..maths.numeric import arctan2
from ..motion.rest import AT_REST
from ..performance.settings import Speeds
from .database import Database
from .numbers import NUMBERS
from .tags.tags import PREFER

TURNING = NUMBERS.turning
DIRECTIONS = ("forward", "side", "back")


def measure_speeds(database: Database) -> tuple[Speeds, Speeds]:
    """Return full walking and running speeds forward, to the side and back, from percentiles.

    A direction is a sector of 90 degrees about its axis. A direction that running lacks takes the
    speed of walking there, and one that walking lacks takes the forward speed. Without running in
    the data, both gaits are walking. Creatures slower than others of their size have their top
    speed.
    """
    speed, sectors = _split_by_direction(database)
    enough = NUMBERS.enough * database.fps

    def measure_full_speed(frames: np.ndarray) -> float:
        if len(chosen := speed[frames]) < enough:
            return 0.0
        return float(np.percentile(chosen, NUMBERS.full_speed))

    limit = database.walk_to_run
    least = AT_REST.moving * database.pace
    walks = (speed >= least) & (speed < limit)
    runs = speed >= limit
    walk = [measure_full_speed(walks & sector) for sector in sectors]
    run = [measure_full_speed(runs & sector) for sector in sectors]
    forward = walk[0] or run[0] or _measure_creeping(database) or database.pace
    walking = Speeds(forward, walk[1] or forward, walk[2] or forward)
    if not run[0]:
        return walking, walking
    return walking, Speeds(run[0], run[1] or walking.side, run[2] or walking.back)


def _measure_creeping(database: Database) -> float:
    """Return the top speed of creatures of another size than people's, which may be slow; or 0."""
    top = measure_top_speeds(database).forward if database.pace != 1.0 else 0.0
    return top if top > NUMBERS.creeps * database.pace else 0.0


def measure_strafing(database: Database) -> bool:
    """Return whether the character moves aside for a second or more in the data."""
    return measure_top_speeds(database).side >= AT_REST.moving * database.pace


def _split_by_direction(database: Database) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return the speeds (N,) of level frames that may be entered, and masks by direction."""
    # people are slower where they climb
    velocity = database.root_motion[database.find_candidates(0.0) & database.level][:, :2]
    angle = np.abs(arctan2(velocity[:, 0], -velocity[:, 1]))
    ahead = angle < np.pi / 4
    back = angle > 3 * np.pi / 4
    return np.linalg.norm(velocity, axis=1), (ahead, ~(ahead | back), back)


def find_missing_speeds(database: Database, speeds: Speeds) -> list[dict[str, Any]]:
    """Return speeds beyond the data: direction, speed ('wanted') and top speed ('found').

    Speeds are in m/s. A speed is in the data if about a second of frames have it in that direction.
    """
    top = measure_top_speeds(database)
    pairs = [(name, getattr(speeds, name), getattr(top, name)) for name in DIRECTIONS]
    return [
        {"direction": name, "wanted": round(speed, 3), "found": round(fastest, 3)}
        for name, speed, fastest in pairs
        if not is_in_data(speed, fastest)
    ]


def measure_top_speeds(database: Database) -> Speeds:
    """Return the speed in m/s that at least a second of frames reaches in each direction, or 0."""
    speed, sectors = _split_by_direction(database)
    enough = round(NUMBERS.enough * database.fps)
    found = (speed[sector] for sector in sectors)
    return Speeds(
        *(float(np.partition(s, -enough)[-enough]) if len(s) >= enough else 0.0 for s in found)
    )


def is_in_data(speed: float, fastest: float) -> bool:
    """Return whether the fastest motion reaches a speed, or nearly; standing is always there."""
    return speed <= NUMBERS.speed_tolerance * max(fastest, AT_REST.moving)


def classify_direction(x: float, y: float) -> str:
    """Return the one of DIRECTIONS of a velocity in the character's axes."""
    angle = abs(math.atan2(x, -y))
    return DIRECTIONS[0 if angle < math.pi / 4 else 1 if angle <= 3 * math.pi / 4 else 2]


def measure_turn_limit(database: Database) -> float:
    """Return the turn rate in rad/s that 95 % of the turning frames stay below."""
    rate = np.abs(database.in_body_units.root_motion[:, 2])
    turning = rate[rate > TURNING]
    limit = float(np.percentile(turning, 95)) if len(turning) else TURNING
    return database.scale.to_world(limit, "rad/s")


def describe(database: Database) -> str:
    """Return a few lines about a database, for people."""
    walk, run = measure_speeds(database)
    schema = database.schema
    clips = _format_count(len({origin.clip for origin in database.ranges}), "clip")
    ranges = _format_count(len(database.ranges), "range")
    mirrored = ", mirrored too" if any(r.mirrored for r in database.ranges) else ""
    legs = ", ".join(f"{role} {bone}" for role, bone in database.role_names.items())
    is_normalized = schema.normalization != "none"
    how = f"normalized per {schema.normalization}" if is_normalized else "not normalized"
    lines = [
        f"{database.frame_count} frames, {database.seconds:.0f} s at {database.fps:g} fps, "
        f"{ranges} of {clips}{mirrored}; {database.find_candidates(1 / 3).sum()} frames to enter",
        f"{database.skeleton.bone_count} bones, {len(database.roles.legs)} legs: {legs}",
        f"{schema.dimensions} feature dimensions, {how}, compared by "
        f"{schema.difference} difference:",
        *(f"  {f.label:40s} weight {f.weight:g}" for f in schema.features),
        f"walking {walk.forward:.2f} m/s forward, {walk.side:.2f} to the side, {walk.back:.2f} "
        f"back; running {run.forward:.2f}, {run.side:.2f}, {run.back:.2f} (medians)",
        f"fastest for a second in all: {_format_top_speeds(database)}",
        *_format_tags(database),
    ]
    return "\n".join(lines)


def to_dict(database: Database) -> dict[str, Any]:
    """Return the content of a database as JSON data for a report."""
    walk, run = measure_speeds(database)
    return {
        "frames": database.frame_count,
        "fps": database.fps,
        "clips": sorted({r.clip for r in database.ranges}),
        "speeds": {"walk": asdict(walk), "run": asdict(run)},
        "top_speeds": asdict(measure_top_speeds(database)),
        "turn_limit": measure_turn_limit(database),
        "strafe": measure_strafing(database),
        "features": database.schema.to_dict(),
        "tags": measure_tags(database),
    }


def measure_tags(database: Database) -> dict[str, dict[str, Any]]:
    """Return for each tag its minutes, share of frames, number of ranges, and range of bias."""
    statistics = {}
    ranges = list(zip(database.starts, database.stops, strict=True))
    for tag in database.tag_names:
        frames = database.make_tag_mask({tag})
        bias = database.bias[frames] if frames.any() else np.zeros(1)
        statistics[tag] = {
            "minutes": round(float(frames.sum()) / database.fps / 60, 4),
            "part": round(float(frames.mean()), 4),
            "ranges": sum(len(find_runs(frames[a:b])) for a, b in ranges),
            "bias": [float(bias.min()), float(bias.max())],
        }
    return statistics


def _format_top_speeds(database: Database) -> str:
    """Return the fastest speed in each direction that the data has."""
    top = measure_top_speeds(database)
    words = (f"{getattr(top, name):.2f} m/s {name}" for name in DIRECTIONS if getattr(top, name))
    return ", ".join(words) or "it never moves for a second"


def _format_tags(database: Database) -> list[str]:
    """Return a line for each tag."""
    lines = ["tags:" if database.tag_names else "tags: none"]
    for tag, measured in measure_tags(database).items():
        cost = ", cost {:+g} to {:+g}".format(*measured["bias"]) if tag == PREFER else ""
        lines.append(
            f"  {tag:16s} {measured['minutes']:6.2f} min {measured['part']:4.0%} in "
            f"{_format_count(measured['ranges'], 'range')}{cost}"
        )
    return lines


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

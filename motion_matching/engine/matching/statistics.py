"""What a database holds: how fast it goes in which direction, and how calm it is."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from ..control.metrics import TURNING
from ..control.settings import WALK_TO_RUN, Speeds
from .database import Database
from .tags import PREFER

DIRECTIONS = ("forward", "side", "back")
_MOVING = 0.3
_FULL = 50.0  # percentile of the speeds in a direction that counts as its full speed
_ENOUGH_SECONDS = 1.0
_NEARLY = 1.1  # times the fastest that counts as found as well


def speeds_of(database: Database) -> tuple[Speeds, Speeds]:
    """Full walking and running speeds forward, to the side and back, from the data's own percentiles.

    A direction is a sector of 90 degrees about its axis. Where a gait lacks a direction, the walk's (or, for walking,
    the forward speed) stands in; a database without running gets walking speeds for both.
    """
    speed, sectors = _by_direction(database)
    enough = _ENOUGH_SECONDS * database.fps

    def full(gait: np.ndarray) -> list[float | None]:
        chosen = [speed[gait & sector] for sector in sectors]
        return [float(np.percentile(s, _FULL)) if len(s) >= enough else None for s in chosen]

    walk = full((speed >= _MOVING) & (speed < WALK_TO_RUN))
    run = full(speed >= WALK_TO_RUN)
    forward = walk[0] or run[0] or 1.0
    walking = Speeds(forward, walk[1] or forward, walk[2] or forward)
    if run[0] is None:
        return walking, walking
    return walking, Speeds(run[0], run[1] or walking.side, run[2] or walking.back)


def _by_direction(
    database: Database,
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Speeds (N,) of the frames that may be entered, and which of them go forward, to the side and back."""
    velocity = database.root_motion[database.candidates(0.0)][:, :2]
    angle = np.abs(np.arctan2(velocity[:, 0], -velocity[:, 1]))
    sectors = (
        angle < np.pi / 4,
        (angle >= np.pi / 4) & (angle <= 3 * np.pi / 4),
        angle > 3 * np.pi / 4,
    )
    return np.linalg.norm(velocity, axis=1), sectors


def speeds_not_in_data(database: Database, speeds: Speeds) -> list[dict[str, Any]]:
    """Where speeds ask for more than the data has: direction, what is `wanted` and the fastest that is `found`, m/s.

    A speed is found where at least a second of frames goes that fast in that direction, or nearly.
    """
    lacking, fastest = [], fastest_of(database)
    for direction in DIRECTIONS:
        wanted, found = getattr(speeds, direction), getattr(fastest, direction)
        if not is_in_data(wanted, found):
            lacking.append(
                {"direction": direction, "wanted": round(wanted, 3), "found": round(found, 3)}
            )
    return lacking


def fastest_of(database: Database) -> Speeds:
    """The speed in m/s that a second of frames in each direction, or more, goes at or beyond; 0 where there is less."""
    speed, sectors = _by_direction(database)
    enough = round(_ENOUGH_SECONDS * database.fps)
    fastest = (np.sort(speed[sector])[-enough:] for sector in sectors)
    return Speeds(*(float(there[0]) if len(there) == enough else 0.0 for there in fastest))


def is_in_data(wanted: float, fastest: float) -> bool:
    """Whether a speed is found where the fastest is that, or nearly; standing always is."""
    return wanted <= _NEARLY * max(fastest, _MOVING)


def direction_of(x: float, y: float) -> str:
    """Which of DIRECTIONS a velocity in the character's axes has: a sector of 90 degrees about its axis."""
    angle = abs(math.atan2(x, -y))
    return DIRECTIONS[0 if angle < math.pi / 4 else 1 if angle <= 3 * math.pi / 4 else 2]


def turn_limit_of(database: Database) -> float:
    """Turn rate in rad/s that 95 % of the frames in which the data really turns stay below."""
    rate = np.abs(database.root_motion[:, 2])
    turning = rate[rate > TURNING]
    return float(np.percentile(turning, 95)) if len(turning) else TURNING


def describe(database: Database) -> str:
    """A database in a few lines for people."""
    clips: dict[str, int] = {}
    for start, stop, origin in zip(database.starts, database.stops, database.ranges, strict=True):
        clips[origin.clip] = clips.get(origin.clip, 0) + int(stop - start)
    walk, run = speeds_of(database)
    schema = database.schema
    candidates = int(database.candidates(1 / 3).sum())
    mirrored = ", mirrored too" if any(r.mirrored for r in database.ranges) else ""
    ranges, of_clips = _count(len(database.ranges), "range"), _count(len(clips), "clip")
    lines = [
        f"{database.frame_count} frames, {database.seconds:.0f} s at {database.fps:g} fps, {ranges} of {of_clips}"
        f"{mirrored}; {candidates} frames to enter",
        f"{database.skeleton.bone_count} bones, {len(database.roles.legs)} legs: "
        + ", ".join(f"{role} {bone}" for role, bone in database.role_names.items()),
        f"{schema.dimensions} feature dimensions, normalised per {schema.normalization}:",
        *(f"  {f.label:40s} weight {f.weight:g}" for f in schema.features),
        f"walking {walk.forward:.2f} m/s forward, {walk.side:.2f} to the side, {walk.back:.2f} back; "
        f"running {run.forward:.2f}, {run.side:.2f}, {run.back:.2f}",
        *_described_tags(database),
    ]
    return "\n".join(lines)


def to_dict(database: Database) -> dict[str, Any]:
    """A database as JSON data for a report."""
    walk, run = speeds_of(database)
    return {
        "frames": database.frame_count,
        "fps": database.fps,
        "clips": sorted({r.clip for r in database.ranges}),
        "speeds": {"walk": asdict(walk), "run": asdict(run)},
        "turn_limit": turn_limit_of(database),
        "features": database.schema.to_dict(),
        "tags": tags_of(database),
    }


def tags_of(database: Database) -> dict[str, dict[str, Any]]:
    """Of each tag: its minutes, the part of all frames, on how many stretches they lie, and the least and most bias."""
    found = {}
    for tag in database.tag_names:
        frames = database.tag_mask({tag})
        begins = np.append(frames[:1], frames[1:] & ~frames[:-1])
        begins[database.starts] = frames[database.starts]
        bias = database.bias[frames] if frames.any() else np.zeros(1)
        found[tag] = {
            "minutes": round(float(frames.sum()) / database.fps / 60, 4),
            "part": round(float(frames.mean()), 4),
            "ranges": int(begins.sum()),
            "bias": [float(bias.min()), float(bias.max())],
        }
    return found


def _described_tags(database: Database) -> list[str]:
    """A line for each tag."""
    lines = ["tags:" if database.tag_names else "tags: none"]
    for tag, found in tags_of(database).items():
        cost = ", cost {:+g} to {:+g}".format(*found["bias"]) if tag == PREFER else ""
        lines.append(
            f"  {tag:16s} {found['minutes']:6.2f} min {found['part']:4.0%} in "
            f"{_count(found['ranges'], 'range')}{cost}"
        )
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

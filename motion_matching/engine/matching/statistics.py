"""What a database holds: how fast it goes in which direction, and how calm it is."""

from __future__ import annotations

import numpy as np

from ..control.metrics import TURNING
from ..control.settings import Speeds
from .database import Database

# people change from walking to running near 2.1 m/s
WALK_TO_RUN = 2.1
_MOVING = 0.3
_FULL = 50.0  # percentile of the speeds in a direction that counts as its full speed
_ENOUGH_SECONDS = 1.0


def speeds_of(database: Database) -> tuple[Speeds, Speeds]:
    """Full walking and running speeds forward, to the side and back, from the data's own percentiles.

    A direction is a sector of 90 degrees about its axis. Where a gait lacks a direction, the walk's (or, for walking,
    the forward speed) stands in; a database without running gets walking speeds for both.
    """
    velocity = database.root_motion[database.candidates(0.0)][:, :2]
    speed = np.linalg.norm(velocity, axis=1)
    angle = np.abs(np.arctan2(velocity[:, 0], -velocity[:, 1]))
    sectors = (angle < np.pi / 4, (angle >= np.pi / 4) & (angle <= 3 * np.pi / 4), angle > 3 * np.pi / 4)
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
    tagged = [f"{tag} {database.tag_mask(frozenset({tag})).mean():.0%}" for tag in database.tag_names]
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
        "tags: " + (", ".join(tagged) or "none"),
    ]
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""Where heads face, and how soon they face a new way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.facts.character import measure_character_gaze
from motion_matching.engine.maths.planar import wrap
from motion_matching.engine.maths.rotations import quat

FACES = math.radians(60.0)  # from the new way; nobody turns the neck farther than half round
_FLIP = 2.0  # radians that the heading asked for changes by in a tick


def measure_heads(
    poses: np.ndarray, skeleton: Any, gaze: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return headings and elevations of the heads, and their turns from the chests, (F,) each."""
    rotations, _ = quat.compute_world(poses.astype(np.float64), skeleton.parents)
    head = quat.mul_vec(rotations[:, gaze.chain[-1]], np.array(gaze.head_ahead))
    front = gaze.chain[gaze.chest - 1] if gaze.chest else 0
    chest = quat.mul_vec(rotations[:, front], np.array(gaze.chest_ahead))
    heading, other = (np.arctan2(v[:, 0], -v[:, 1]) for v in (head, chest))
    turns = np.array([wrap(turn) for turn in heading - other])
    return heading, np.arcsin(np.clip(head[:, 2], -1, 1)), turns


def find_delays(take: Take, database: Database) -> np.ndarray:
    """Return the seconds after each flip until the head faces the new way; infinite if never."""
    heading, _, _ = measure_heads(
        take.poses, database.skeleton, database.derive(measure_character_gaze)
    )
    flips = np.flatnonzero(np.abs([wrap(d) for d in np.diff(take.desired_yaw)]) > _FLIP) + 1
    faces = np.abs([wrap(d) for d in heading - take.desired_yaw]) < FACES
    ends = [*flips[1:].tolist(), len(faces)]
    found = [np.flatnonzero(faces[flip:end]) for flip, end in zip(flips, ends, strict=False)]
    return np.array([ticks[0] if len(ticks) else math.inf for ticks in found]) / take.fps

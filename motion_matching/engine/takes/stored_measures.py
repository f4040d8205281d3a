"""Measure the sources of a database once, and store the measures in its file.

Reports compare takes with the sources. That costs a pass over all frames, and so do some facts that
players need. A file without them is as good: they are then measured when they are first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..database import database as databases
from ..database.database import Database
from ..facts.avoided_postures import find_avoided_frames, find_odd_frames
from ..facts.bearing import WalkBearing
from ..facts.character import (
    find_played_toes,
    measure_character_gaze,
    measure_character_legs,
    measure_climb_speeds,
)
from ..facts.idles import find_idle_runs, find_standing
from ..facts.motion_limits import MotionLimits
from ..facts.postures import find_all_odd_postures
from ..facts.stances import StanceScore
from ..matching import method
from . import baking, metrics
from .bodies import BodyMotion

# functions whose results for `Database.derive` are stored as they are
DERIVED: tuple[Callable[[Database], Any], ...] = (
    measure_character_legs,
    measure_character_gaze,
    measure_climb_speeds,
    find_played_toes,
    find_standing,
    find_all_odd_postures,
    find_odd_frames,
    find_avoided_frames,
    *method.DERIVED,
)


class SourceMeasures(NamedTuple):
    """The heights (L,) of standing toes in m, and how hard bones (B - 1,) accelerate at most.

    `clips` are the measures of `measure_clips`, by their names. Bone 0 is left out.
    """

    floors: np.ndarray
    peaks: np.ndarray
    clips: dict[str, float]


def save_database(database: Database, path: Path | str, key: str = "") -> None:
    """Write a database with what is measured of it; see `database.save`."""
    databases.save(database, path, key, collect_facts(database) | collect_derived(database))


def collect_derived(database: Database) -> dict[str, Any]:
    """Return what is stored of functions that derive the character and prices of frames."""
    return database.store_derived(DERIVED)


def collect_facts(database: Database) -> dict[str, list[float]]:
    """Return the numbers by name that `Database.get_fact` returns once they are stored."""
    sources = measure_sources(database)
    return {
        **database.derive(MotionLimits).to_facts(),
        **database.derive(WalkBearing).to_facts(),
        **database.derive(StanceScore).to_facts(),
        "idle_runs": database.derive(find_idle_runs).ravel().tolist(),
        "toe_floors": sources.floors.tolist(),
        "bone_peaks": sources.peaks.tolist(),
        "clips": [sources.clips[name] for name in metrics.CLIP_MEASURES],
    }


def measure_sources(database: Database) -> SourceMeasures:
    """Measure all ranges that are not mirror images, or return what is stored of them."""
    floors = database.get_fact("toe_floors", len(database.roles.legs))
    peaks = database.get_fact("bone_peaks", database.skeleton.bone_count - 1)
    clips = database.get_fact("clips", len(metrics.CLIP_MEASURES))
    if floors is not None and peaks is not None and clips is not None:
        named = dict(zip(metrics.CLIP_MEASURES, clips.tolist(), strict=True))
        return SourceMeasures(floors, peaks, named)
    bodies, contacts = make_source_bodies(database)
    floors = metrics.measure_toe_floors(bodies)
    peaks = np.max([body.bone_accelerations.max(axis=0) for body in bodies], axis=0)
    return SourceMeasures(floors, peaks, metrics.measure_clips(bodies, contacts, floors))


def make_source_bodies(database: Database) -> tuple[list[BodyMotion], list[np.ndarray]]:
    """Return world motion and contacts of every range that is not a mirror image."""
    bodies = []
    contacts = []
    for r, origin in enumerate(database.ranges):
        if not origin.mirrored:
            bodies.append(make_range_body(database, r))
            contacts.append(np.asarray(database.contacts[database.starts[r] : database.stops[r]]))
    return bodies, contacts


def make_range_body(database: Database, r: int) -> BodyMotion:
    """Return the world motion of a range."""
    frames = slice(database.starts[r], database.stops[r])
    return baking.make_body(database.poses[frames], database.track[frames], database)

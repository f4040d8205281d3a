"""Derive the character of a database: legs, gaze, landing toes, speeds on slopes."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..control.life.looking import Gaze, measure_gaze
from ..database.database import Database
from ..feet.live.feet_apart import measure_feet_apart
from ..feet.played_toes import measure_toes
from ..ground.ground_ahead import ClimbSpeeds
from ..legs.legs import LegGeometry, measure_legs
from ..maths.rotations import quat
from ..sources.climbs import measure_speeds
from .motion_limits import measure_knees
from .numbers import NUMBERS


def measure_character_legs(database: Database) -> tuple[LegGeometry, ...]:
    """Measure the legs of the character and their motion, in the order of the contacts."""
    every = max(database.frame_count // NUMBERS.body_frames, 1)
    poses = database.poses[::every]
    footing = None if database.footing is None else database.footing[::every]
    legs = measure_legs(database.skeleton, database.roles, poses, footing)
    ranges = list(zip(database.starts.tolist(), database.stops.tolist(), strict=True))
    legs = measure_feet_apart(legs, quat.compute_world(poses, database.skeleton.parents)[1])
    return tuple(measure_knees(leg, database.poses, ranges, database.fps) for leg in legs)


def measure_character_gaze(database: Database) -> Gaze | None:
    """Measure the bones that turn for a look, None for a character without a known head."""
    every = max(database.frame_count // NUMBERS.body_frames, 1)
    return measure_gaze(database.skeleton, database.roles, database.poses[::every])


def find_played_toes(database: Database) -> Annotated[np.ndarray, np.float32, ("N", "L", 8)]:
    """Find where and when toes land: the rows (N, L, 8) of all frames, as `PlayedToes` has them."""
    loops = [each.loop for each in database.ranges]
    contacts = np.asarray(database.contacts)
    return measure_toes(
        database.toes, database.track, contacts, database.stops, loops, database.fps
    )


def measure_climb_speeds(database: Database) -> ClimbSpeeds | None:
    """Measure how fast clips climb; None where all clips are on level ground."""
    if database.ground is None:
        return None
    ground = np.asarray(database.ground)
    return measure_speeds(database.track, ground, database.starts, database.fps)

"""Draw scenes from what the data does: marks at the ends of pieces of clips, some of them held."""

from __future__ import annotations

import numpy as np

from ..database.database import Database
from ..direct.shot.mark import Mark
from ..direct.shot.shot import Shot
from ..facts.idles import find_idle_runs
from ..maths import planar
from .numbers import NUMBERS
from .wishes import WishSource


def draw_shot(source: WishSource, rng: np.random.Generator, seconds: float, name: str) -> Shot:
    """Return a scene of marks for place and heading, each as far away as a clip leads."""
    database = source.database
    can_stand = len(database.derive(find_idle_runs)) > 0
    place = np.zeros(2)
    yaw = 0.0
    time = 0.0
    marks: list[Mark] = []
    while True:
        first = int(rng.choice(source.begins))
        frames = min(round(rng.uniform(*NUMBERS.leg) * database.fps), int(source.left[first]) - 1)
        stands = can_stand and rng.random() < NUMBERS.stands
        hold = round(float(rng.uniform(*NUMBERS.stand)), 2) if stands else 0.0
        ends = time + frames / database.fps
        if ends + hold + NUMBERS.rest > seconds and marks:
            break
        way = _measure_way(database, first, frames)
        place = place + planar.rotate(way[:2], yaw)
        yaw += float(way[2])
        marks.append(Mark(round(ends, 3), (float(place[0]), float(place[1])), yaw, hold))
        time = ends + hold
        if time + NUMBERS.rest > seconds:
            break
    longest = max(seconds, time + NUMBERS.rest)
    return Shot(round(longest, 3), marks=tuple(marks), name=name)


def _measure_way(database: Database, first: int, frames: int) -> np.ndarray:
    """Return how far (3,) a clip leads in some frames, seen from where it is: x, y and yaw."""
    way = database.track[first + frames] - database.track[first]
    way[:2] = planar.rotate(way[:2], -database.track[first, 2])
    return way

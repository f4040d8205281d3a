"""Measure how much more a body crouches and flings its arms out than when it walks.

A walk may begin with the first frames of a dash: they go as slowly, and their feet are as near.
The bearing of the body over the next second distinguishes them.
"""

from __future__ import annotations

import numpy as np

from ..database.database import Database
from ..motion.rest import AT_REST
from .numbers import NUMBERS
from .stances import StanceScore


class WalkBearing:
    """Prices frames by the body's bearing after them, relative to that in walking.

    A price is in costs of a search: 0 as in walking, a multiple of the usual differences between
    neighbours with the arms flung out all the time.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        seconds = NUMBERS.bearing_seconds * database.pace
        self._step = max(round(seconds * database.fps / NUMBERS.bearing_moments), 1)
        stored = database.get_fact("usual_bearing", 2)
        self._usual = self._measure_usual() if stored is None else stored

    def _measure_usual(self) -> np.ndarray:
        """Return the peaks (2,) that are usual in walking, infinite without enough of it."""
        database = self._database
        speed = np.hypot(database.root_motion[:, 0], database.root_motion[:, 1])
        moving = (speed > AT_REST.moving * database.pace) & (speed < database.walk_to_run)
        walking = np.flatnonzero(moving)
        every = max(len(walking) // NUMBERS.walking_frames, 1)
        # other frames are left out later, so that a change of tags does not change these
        sampled = walking[::every]
        sampled = sampled[database.playable[sampled]]
        known = every * len(sampled) > NUMBERS.enough_walking * database.fps
        return np.median(self._find_peaks(sampled), axis=1) if known else np.full(2, np.inf)

    def to_facts(self) -> dict[str, list[float]]:
        """Return what is stored of it with a database: nothing without enough walking."""
        return {"usual_bearing": self._usual.tolist()} if np.isfinite(self._usual).all() else {}

    def price(self, frames: np.ndarray) -> np.ndarray:
        """Return the prices (K,) of going on from frames (K,)."""
        excess = np.maximum(self._find_peaks(frames) - self._usual[:, None], 0.0)
        return np.asarray(excess.sum(axis=0))

    def _find_peaks(self, frames: np.ndarray) -> np.ndarray:
        """Return the largest flaws (2, K) in the second after frames (K,), which is a stride."""
        last = np.asarray(self._database.stops)[self._database.range_of_frame[frames]] - 1
        ahead = frames[:, None] + self._step * np.arange(NUMBERS.bearing_moments)
        flaws = self._measure_flaws(np.minimum(ahead, last[:, None]).ravel())
        return np.asarray(flaws.reshape(2, len(frames), NUMBERS.bearing_moments).max(axis=2))

    def _measure_flaws(self, frames: np.ndarray) -> np.ndarray:
        """Return prices (2, K) of frames (K,): how low the hips are, and how far out the hands."""
        prices = [[NUMBERS.bearing_low], [NUMBERS.bearing_out]]
        return self._database.derive(StanceScore).measure_carriage(frames).T * prices

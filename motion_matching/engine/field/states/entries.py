"""Choose the states of a gait that a field may enter where nearby poses lead elsewhere.

The neighbours of a pose are alike. Where they all lead elsewhere, as from standing, or where the
goal turns round, no chain of them leads to the goal within a reasonable time.
"""

from __future__ import annotations

import numpy as np

from ...database.database import Database
from ..numbers import NUMBERS
from .neighbours import measure_distances
from .states import MotionStates


class Entries:
    """States (E,) of one gait, evenly chosen, that a field may enter."""

    def __init__(
        self, database: Database, states: MotionStates, features: np.ndarray, mask: np.ndarray
    ) -> None:
        lasting = mask & states.find_lasting(database, round(NUMBERS.entry_lasting * states.fps))
        among = np.flatnonzero(lasting if lasting.any() else mask)
        self.states = among[:: max(-(-len(among) // NUMBERS.most_entries), 1)]
        self._features = features[self.states]

    def find_best(
        self, rewards: np.ndarray, here: np.ndarray, least: float, reach: float = 0.0
    ) -> int:
        """Return the best state by its reward (E,) and by its distance from features (1, F).

        States within `reach` are blended anyway. It is -1 if none beyond is better than a reward of
        `least` in spite of its distance.
        """
        price = NUMBERS.entry_price
        most = rewards - price * reach  # only states no nearer than the reach may win
        among, best, count = (most > least).nonzero()[0], -1, NUMBERS.first_entries
        while len(among):
            ranked = most.take(among).argsort(kind="stable")
            near, among = np.sort(among.take(ranked[-count:])), among.take(ranked[:-count])
            away = measure_distances(self._features.take(near, axis=0), here)
            gains = np.where(away >= reach, rewards.take(near) - price * away, -np.inf)
            first = int(gains.argmax())
            if gains[first] > least:
                best, least = int(self.states[near[first]]), float(gains[first])
            among, count = among[most.take(among) > least], NUMBERS.entry_growth * count
        return best

"""Entries: the states of a gait that a field may enter where the poses around it lead elsewhere.

The neighbours of a pose are alike. Where they all lead elsewhere, as from standing, or where the
goal turns round, no chain of them leads to the goal within a reasonable time.
"""

from __future__ import annotations

import numpy as np

from ...database.database import Database
from .neighbours import measure_distances
from .states import MotionStates

_LASTING = 0.6  # seconds that the clip goes on for at least
_MOST = 2000  # states that are compared: a tick has no time for more
_FIRST = 32  # of the best rewarded ones that are compared before all that may still be better
# radians of reward that a metre of difference between the poses costs: at 1, a character goes on
# beside its way where few clips strafe; at 0.4, the toes of runs that turn slide half as far again
_METRE = 0.5


class Entries:
    """States (E,) of one gait, evenly chosen, that a field may enter."""

    def __init__(
        self, database: Database, states: MotionStates, features: np.ndarray, mask: np.ndarray
    ) -> None:
        lasting = mask & states.find_lasting(database, round(_LASTING * states.fps))
        among = np.flatnonzero(lasting if lasting.any() else mask)
        self.states = among[:: max(-(-len(among) // _MOST), 1)]
        self._features = features[self.states]

    def find_best(
        self, rewards: np.ndarray, here: np.ndarray, least: float, reach: float = 0.0
    ) -> int:
        """Return the best state by its reward (E,) and by how far it is from features (1, F).

        It is -1 if none further than `reach`, within which states are blended anyway, is better
        than a reward of `least` in spite of that.
        """
        most = rewards - _METRE * reach  # that each may gain, which is no nearer than the reach
        among, best, count = (most > least).nonzero()[0], -1, _FIRST
        while len(among):
            ranked = most.take(among).argsort(kind="stable")
            near, among = np.sort(among.take(ranked[-count:])), among.take(ranked[:-count])
            away = measure_distances(self._features.take(near, axis=0), here)
            gains = np.where(away >= reach, rewards.take(near) - _METRE * away, -np.inf)
            first = int(gains.argmax())
            if gains[first] > least:
                best, least = int(self.states[near[first]]), float(gains[first])
            among, count = among[most.take(among) > least], 4 * count
        return best

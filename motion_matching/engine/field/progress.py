"""Keep clips playing: a state that is favoured again and again gives way to its successors.

Control favours the state whose clip leads on best. Where that is one state, tick after tick, the
drift holds the pose there while blended velocities carry it on: it leaves the data, and planted
legs leap. So a clip at which control has halted goes on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .numbers import NUMBERS


class _Played(NamedTuple):
    """The furthest state of a chain that was favoured, and the ticks of its progress and use."""

    state: int
    moved: int
    used: int


class Progress:
    """Progress of the clips that were favoured lately.

    `chains` (S,) number the runs of states that follow each other.
    """

    def __init__(self, chains: np.ndarray, fps: float) -> None:
        self._chains = chains
        self._return_ticks = round(NUMBERS.return_seconds * fps)
        self._halt_ticks = round(NUMBERS.halt_seconds * fps)
        self.reset()

    def reset(self) -> None:
        """Forget the clips played so far."""
        self._tick = 0
        self._played: dict[int, _Played] = {}

    def advance(self, favoured: int) -> int:
        """Return the state to play in this tick: the favoured one, or a later one of a halted clip.

        Two clips that are favoured in turn, such as a clip and its mirror image, can both have
        halted; they go on as if each had been played since.
        """
        self._tick += 1
        tick = self._tick
        chain = int(self._chains[favoured])
        played = self._played.get(chain)
        if played is None or not self._is_behind(favoured, played):
            self._played[chain] = _Played(favoured, tick, tick)
            return favoured
        state = played.state
        if tick - played.moved > self._halt_ticks:
            later = state + tick - played.used
            if later < len(self._chains) and self._chains[later] == chain:
                state = favoured = later
        self._played[chain] = _Played(state, played.moved, tick)
        return favoured

    def _is_behind(self, favoured: int, played: _Played) -> bool:
        """Return whether a state is no further than its clip was lately."""
        is_recent = self._tick - played.used <= self._return_ticks
        return is_recent and 0 <= played.state - favoured <= self._return_ticks

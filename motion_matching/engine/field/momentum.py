"""Keep a share of a body's motion from tick to tick.

A change of action shows within a moment. A change of gait takes longer: the states of two gaits are
far apart, and body and root would leap to the new speed. Meanwhile the contacts of the new gait are
not yet the body's.
"""

from __future__ import annotations

import math

import numpy as np

from ..legs.joints import Joints
from .numbers import NUMBERS
from .states.neighbours import Neighbours


class Momentum:
    """Follows the gaits that a field plays, each by its neighbours."""

    def __init__(self, parents: np.ndarray, toes: np.ndarray, fps: float) -> None:
        self._joints = Joints(parents)
        self._toes = toes
        self._fps = fps
        # only the root may keep more: a limb would swing on and leave the data
        brief = 2.0 ** (-1.0 / (fps * NUMBERS.action_halflife))
        self._shares = np.full(len(parents), brief, np.float32)
        self.reset()

    def reset(self) -> None:
        """Forget the gait, for example at a jump, where the motion so far fades."""
        self._field: Neighbours | None = None
        self._since = math.inf  # seconds since a change of gait

    def advance(self, field: Neighbours) -> None:
        """Advance by a tick in which the states of `field` are played."""
        changes = self._field is not None and self._field is not field
        self._since = 0.0 if changes else self._since + 1.0 / self._fps
        self._field = field

    @property
    def shares(self) -> np.ndarray:
        """The shares (B,) of the motion so far of each bone that are left after this tick."""
        more = NUMBERS.gait_halflife - NUMBERS.action_halflife
        more *= 2.0 ** (-self._since / NUMBERS.gait_fading)
        self._shares[0] = 2.0 ** (-1.0 / (self._fps * (NUMBERS.action_halflife + more)))
        return self._shares

    def find_moving(self, pose: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """Return which toes (L,) still move too fast to stand, soon after a change of gait.

        Within the tick, a pose (7, B) whose bone 0 rests at the origin has `moved` to another.
        """
        if self._since > NUMBERS.gait_seconds:
            return np.zeros(len(self._toes), bool)
        before, after = self._joints.compute_places(np.stack([pose, moved]))[:, self._toes]
        return np.linalg.norm(after - before, axis=-1) * self._fps > NUMBERS.moving_toe

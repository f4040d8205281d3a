"""Where a part of the body is in a plan as it is played, for closing to bring it to its marks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..maths import planar


@dataclass(frozen=True, eq=False)
class PartTrack:
    """Where a part is from the character at each tick of a plan: `offsets` (P, 2) in metres."""

    offsets: np.ndarray

    def sample(self, plan_tick: float) -> tuple[np.ndarray, np.ndarray]:
        """Return where (2,) it is at a tick that need not be whole, and how that changes a tick."""
        low = min(max(int(plan_tick), 0), len(self.offsets) - 2)
        step = self.offsets[low + 1] - self.offsets[low]
        return self.offsets[low] + (plan_tick - low) * step, step

    def find_place(self, unknowns: np.ndarray) -> np.ndarray:
        """Return where (2,) it is if x, y, yaw and tick of the plan (4,) are so."""
        offset, _ = self.sample(float(unknowns[3]))
        return np.asarray(unknowns[:2] + planar.rotate(offset, unknowns[2]))

    def find_slopes(self, unknowns: np.ndarray) -> np.ndarray:
        """Return how that place changes (2, 4) with x, y, yaw and tick of the plan."""
        offset, step = self.sample(float(unknowns[3]))
        x, y = planar.rotate(offset, unknowns[2])
        slopes = np.zeros((2, 4))
        slopes[:, :2] = np.eye(2)
        slopes[:, 2] = -y, x
        slopes[:, 3] = planar.rotate(step, unknowns[2])
        return slopes

    def shift(self, away: np.ndarray) -> PartTrack:
        """Return a track whose part is elsewhere by (2,) metres."""
        return replace(self, offsets=self.offsets + away)

    def cut(self, origin: int) -> PartTrack:
        """Return the track of a plan that begins at a tick of this one."""
        return replace(self, offsets=self.offsets[origin:])

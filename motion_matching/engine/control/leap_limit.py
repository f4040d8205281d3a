"""Keep a joint from leaping: it accelerates no harder than the motion that has been played."""

from __future__ import annotations

import math

from ..maths.scalar_quat import Vector


class LeapLimit:
    """Brings a joint to where it is wanted, a little later if it would have to leap there.

    A fading jump, a turn of the body and a landing foot are each no harder than the data, but may
    come together.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget how the joint moved."""
        self._place: Vector | None = None
        self._step: Vector | None = None

    def limit(self, goal: Vector, lowest: float, most: float) -> Vector:
        """Return where a joint comes whose step changes by at most `most` metres in a tick.

        It stays at or above the height that is `lowest`.
        """
        before, step = self._place, self._step
        if before is None:
            self._place = goal
            return goal
        sx, sy, sz = goal[0] - before[0], goal[1] - before[1], goal[2] - before[2]
        if step is not None:
            bx, by, bz = step
            dx, dy, dz = sx - bx, sy - by, sz - bz
            square = dx * dx + dy * dy + dz * dz
            if square > most * most:
                share = most / math.sqrt(square)
                sx, sy, sz = bx + share * dx, by + share * dy, bz + share * dz
                sz = max(sz, lowest - before[2])
                goal = before[0] + sx, before[1] + sy, before[2] + sz
        self._place, self._step = goal, (sx, sy, sz)
        return goal

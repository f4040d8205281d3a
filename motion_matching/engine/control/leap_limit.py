"""Keep a joint from leaping: it accelerates no harder than the motion that has been played."""

from __future__ import annotations

import math

from ..maths.scalar_quat import Vector

_SMALL = 1e-6  # metres: nearer, a joint has caught up


class LeapLimit:
    """Brings a joint to where it is wanted, a little later if it would have to leap there.

    A fading jump, a turn of the body and a landing foot are each no harder than the data, but may
    come together. A joint that is behind catches up no faster than it can brake.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget how the joint moved."""
        self._place: Vector | None = None
        self._step: Vector | None = None
        self._goal: Vector = (0.0, 0.0, 0.0)

    def limit(self, goal: Vector, lowest: float, most: float) -> Vector:
        """Return where a joint comes whose step changes by at most `most` metres in a tick.

        It stays at or above the height that is `lowest`.
        """
        before, step, wanted = self._place, self._step, self._goal
        self._goal = goal
        if before is None:
            self._place = goal
            return goal
        sx, sy, sz = goal[0] - before[0], goal[1] - before[1], goal[2] - before[2]
        if step is not None:
            bx, by, bz = step
            if before is not wanted:
                ex, ey, ez = before[0] - wanted[0], before[1] - wanted[1], before[2] - wanted[2]
                behind = math.sqrt(ex * ex + ey * ey + ez * ez)
                # a step shorter each tick, down to none, goes so far
                fastest = 0.5 * most * (math.sqrt(1.0 + 8.0 * behind / (most + 1e-12)) - 1.0)
                if behind > fastest:
                    kept = 1.0 - fastest / behind
                    sx, sy, sz = sx + kept * ex, sy + kept * ey, sz + kept * ez
            dx, dy, dz = sx - bx, sy - by, sz - bz
            square = dx * dx + dy * dy + dz * dz
            if square > most * most:
                share = most / math.sqrt(square)
                sx, sy, sz = bx + share * dx, by + share * dy, bz + share * dz
            if before is not wanted or square > most * most:
                sz = max(sz, lowest - before[2])
                place = before[0] + sx, before[1] + sy, before[2] + sz
                goal = goal if math.dist(place, goal) < _SMALL else place
        self._place, self._step = goal, (sx, sy, sz)
        return goal

    def settle(self, dx: float, dy: float, dz: float) -> None:
        """Go on from where the joint is shown, which is elsewhere than it was brought."""
        place = self._place
        if place is not None:
            self._place = place[0] + dx, place[1] + dy, place[2] + dz
            if self._step is not None:
                sx, sy, sz = self._step
                self._step = sx + dx, sy + dy, sz + dz

"""Keep a foot from leaping: its joints accelerate no harder than the played motion."""

from __future__ import annotations

import math

from ...maths.rotations.scalar_quat import Vector
from ..numbers import NUMBERS

_NO_LENGTH = 1e-6  # metres: nearer, a joint has caught up
_STILL = (0.0, 0.0, 0.0)


class _LimitedPlace:
    """A place that reaches its goal a little later if it would have to leap there.

    When behind, it catches up no faster than it can brake.
    """

    def __init__(self) -> None:
        self.place: Vector | None = None
        self.step: Vector = _STILL
        self.goal: Vector = _STILL

    def find_step(self, goal: Vector, most: float) -> Vector:
        """Return its step toward a goal, which changes by at most `most` per tick."""
        before = self.place
        wanted = self.goal
        assert before is not None
        sx = goal[0] - before[0]
        sy = goal[1] - before[1]
        sz = goal[2] - before[2]
        if before is not wanted:
            ex = before[0] - wanted[0]
            ey = before[1] - wanted[1]
            ez = before[2] - wanted[2]
            behind = math.sqrt(ex * ex + ey * ey + ez * ez)
            # distance covered by steps that shrink each tick, down to none
            fastest = 0.5 * most * (math.sqrt(1.0 + 8.0 * behind / (most + 1e-12)) - 1.0)
            if behind > fastest:
                kept = 1.0 - fastest / behind
                return sx + kept * ex, sy + kept * ey, sz + kept * ez
        return sx, sy, sz

    def go(self, place: Vector, goal: Vector) -> Vector:
        """Go to a place, or to the goal if that is as near as can be seen, and return it."""
        before = self.place
        if math.dist(place, goal) < _NO_LENGTH:
            place = goal
        if before is not None:
            self.step = place[0] - before[0], place[1] - before[1], place[2] - before[2]
        self.place = place
        self.goal = goal
        return place


class LeapLimit:
    """Brings a foot to its target, a little later if its toe or ankle would leap there.

    A fading jump, a turn of the body and a landing foot are each no harder than the data, but may
    come together. The foot turns no harder, and moves as a whole.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget how the foot moved."""
        self._toe, self._arm = _LimitedPlace(), _LimitedPlace()
        self._knee = (0.0, 0.0, 0.0)
        self._knee_step = (0.0, 0.0, 0.0)
        self._way_on: Vector = _STILL  # of the toe, if it goes on unchanged
        self._lowest = (0.0, 0.0)
        self._ticks = 0

    def limit(
        self, toe: Vector, arm: Vector, lowest: tuple[float, float], most: float
    ) -> tuple[Vector, Vector]:
        """Return where a toe comes, and its ankle beside it, whose steps change by `most` metres.

        They stay at or above the heights that are `lowest`, of toe and ankle.
        """
        toes = self._toe
        arms = self._arm
        self._lowest = lowest
        self._ticks += 1
        if self._ticks <= 2 or toes.place is None or arms.place is None:
            toes.go(toe, toe)
            arms.go(arm, arm)
            return toe, arm
        turned = self._turn(arm, most)
        tx, ty, tz = toes.find_step(toe, most)
        (x, y, z) = toes.place
        (bx, by, bz) = toes.step
        self._way_on = x + bx, y + by, z + bz
        toe_change = tx - bx, ty - by, tz - bz
        (px, py, pz) = arms.place
        (qx, qy, qz) = arms.step
        ankle_change = (
            toe_change[0] + turned[0] - px - qx,
            toe_change[1] + turned[1] - py - qy,
            toe_change[2] + turned[2] - pz - qz,
        )
        mx, my, mz = _find_common(toe_change, ankle_change, most)
        x, y, z = x + tx + mx, y + ty + my, max(z + tz + mz, lowest[0], lowest[1] - turned[2])
        return toes.go((x, y, z), toe), arms.go(turned, arm)

    def _turn(self, arm: Vector, most: float) -> Vector:
        """Return the way from toe to ankle, whose step changes by `most` metres at most."""
        arms = self._arm
        assert arms.place is not None
        sx, sy, sz = arms.find_step(arm, most)
        bx, by, bz = arms.step
        dx = sx - bx
        dy = sy - by
        dz = sz - bz
        size = math.sqrt(dx * dx + dy * dy + dz * dz)
        if size > most:
            share = most / size
            sx = bx + share * dx
            sy = by + share * dy
            sz = bz + share * dz
        elif arms.place is arms.goal:
            return arm
        x, y, z = arms.place[0] + sx, arms.place[1] + sy, arms.place[2] + sz
        length = math.sqrt(x * x + y * y + z * z)
        if length < _NO_LENGTH:
            return arm
        share = math.sqrt(arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]) / length
        return share * x, share * y, share * z

    def find_calm_share(self, knee: Vector, calm: Vector, most: float) -> float:
        """Return the share of the way from a `calm` place of the knee to another that it can go.

        Its step changes by at most `most` metres, or by the least that there is.
        """
        ax, ay, az = self._find_knee_change(calm)
        bx, by, bz = self._find_knee_change(knee)
        dx = bx - ax
        dy = by - ay
        dz = bz - az
        square = dx * dx + dy * dy + dz * dz
        along = ax * dx + ay * dy + az * dz
        if not square:
            return 1.0
        left = along * along - square * (ax * ax + ay * ay + az * az - most * most)
        share = (math.sqrt(max(left, 0.0)) - along) / square
        return min(max(share, 0.0), 1.0)

    def is_leap(self, knee: Vector, most: float) -> bool:
        """Return whether a knee would have to change its step by more than `most` metres."""
        return self._ticks > 2 and math.hypot(*self._find_knee_change(knee)) > most

    def _find_knee_change(self, knee: Vector) -> Vector:
        (x, y, z) = self._knee
        (sx, sy, sz) = self._knee_step
        return knee[0] - x - sx, knee[1] - y - sy, knee[2] - z - sz

    def bend_knee(self, knee: Vector) -> None:
        """Go on from where the knee is shown."""
        x, y, z = self._knee
        self._knee = knee
        self._knee_step = (knee[0] - x, knee[1] - y, knee[2] - z)

    def go_on(self, arm: Vector) -> Vector:
        """Return the ankle's next place if the toe went on as a tick ago.

        It stays at or above the lowest heights.
        """
        x, y, z = self._way_on
        z = max(z, self._lowest[0], self._lowest[1] - arm[2])
        return x + arm[0], y + arm[1], z + arm[2]

    def settle(self, dx: float, dy: float, dz: float) -> None:
        """Go on from the shown place of the foot, which differs from the one returned."""
        toes = self._toe
        if toes.place is not None:
            (x, y, z) = toes.place
            (sx, sy, sz) = toes.step
            toes.place = (x + dx, y + dy, z + dz)
            toes.step = (sx + dx, sy + dy, sz + dz)


def _find_common(a: Vector, b: Vector, most: float) -> Vector:
    """Return what two changes need in common, so that both are at most so long: about the least."""
    x = y = z = 0.0
    for k in range(NUMBERS.leap_passes):
        cx, cy, cz = b if k % 2 else a
        cx = cx + x
        cy = cy + y
        cz = cz + z
        size = math.sqrt(cx * cx + cy * cy + cz * cz)
        if size > most:
            share = most / size - 1.0
            x, y, z = x + share * cx, y + share * cy, z + share * cz
        elif k:
            break
    return x, y, z

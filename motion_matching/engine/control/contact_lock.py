"""Place one toe: where the data has it, or where it was planted as its contact began.

Source: article 002, Sliding and Foot Locking. Three additions: a landing toe comes to rest directly
instead of sliding out and back; until then, it moves as that of the frame which is played; and a
toe that moves over the floor is lifted off it.
"""

from __future__ import annotations

import math
from typing import Any

from ..maths.easing import smoothstep
from ..maths.scalar_quat import Vector
from ..maths.springs import LN2, compute_decay, spring
from .legs import CLOSE
from .played_toes import NEVER, PlayedToe
from .settings import PerformerSettings

_CREEPING, _SWINGING = 0.1, 0.5  # m/s over the floor at which lifting a toe starts, and is complete
_LIFTING = 0.04  # seconds: halflife with which a toe or its tip is lifted
_AHEAD = 0.04  # seconds that sinking is predicted ahead
# metres above standing height; a higher toe is not planted, as a fading jump may hold it in the air
LANDING = 0.08
_LEVEL = (0.0, 0.0)  # a lift that has ended
_COMMITS = 0.1  # seconds before it lands in which a toe goes straight to its place
_DRIFTS = 0.15  # seconds that a character goes on to drift as it does
# how far from where the motion has it a toe may land, as a share of the unlock radius: the rest is
# for what the body moves while it stands
_NEARNESS = 0.75
_TRIES, _LONGER = 16, 1.2  # times that a landing is put off, and how much longer it takes each time
_AT_REST, _NEAR = 0.3, 0.05  # m/s, metres: a released toe at rest again makes a new contact


def _raise(lift: tuple[float, float], goal: float, dt: float) -> tuple[float, float]:
    """Return height and speed of a lift a tick later, which ends at last."""
    height, speed = spring(*lift, goal, _LIFTING, dt)
    if not goal and -CLOSE < height < CLOSE and -CLOSE < speed < CLOSE:
        return _LEVEL
    return height, speed


class ContactLock:
    """Places a toe where the data has it, or where it was planted; changes are inertialized.

    A toe whose next landing is known is aimed at it as soon as it leaves the ground, or as a jump
    enters another motion.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.locked = self._in_contact = self.is_held = False
        # of the toe from the data or from its plant, and the velocity of it
        self.offset = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self.plant: Vector = (0.0, 0.0, 0.0)
        self._data: Vector | None = None
        # seconds until it lands, below 0 if no landing is planned; and whether it goes straight to
        # its plant already
        self._left, self._commits = -1.0, False
        # how far toe and tip are raised in metres, and how fast
        self._lift = self._tip_lift = (0.0, 0.0)
        self._depth = 0.0
        self.spare = 0.0  # metres by which the leg may stretch freely

    def start_from(
        self, toe: Vector, before: Vector, height: float, settings: PerformerSettings, dt: float
    ) -> None:
        """Go on with a toe as it was a tick ago and is: planted if it hardly moves on the floor."""
        self.reset()
        self._data = before
        slow = math.hypot(toe[0] - before[0], toe[1] - before[1]) < _AT_REST * dt
        self.update(toe, slow, min(height, toe[2]), settings, dt)
        self._lift = (0.0, 0.0)

    def update(
        self,
        data: Vector,
        contact: bool,
        height: float,
        settings: PerformerSettings,
        dt: float,
        played: PlayedToe | None = None,
        hardest: float = math.inf,
    ) -> Vector:
        """Return the toe's position from that in the data; `height` is that of a planted toe.

        A toe off the ground goes where it lands as it is `played`. It accelerates no harder than
        the `hardest` in m/s² for that, if it has the time.
        """
        x, y, z = data
        px, py, pz = self._data or data
        vx, vy, vz = (x - px) / dt, (y - py) / dt, (z - pz) / dt
        self._data = data
        bx, by, bz, bu, bv, bw = self.offset
        ox, oy, oz, ux, uy, uz = self._decay_offset(settings, dt)
        if self.locked:
            tx, ty, tz = self.plant
            sx, sy, sz = tx + ox, ty + oy, tz + oz
            if not contact or self._is_too_far(x, y, settings):
                self.locked = False
                ox, oy, oz, ux, uy, uz = sx - x, sy - y, sz - z, ux - vx, uy - vy, uz - vz
                self._left, self._commits = -1.0, False
        else:
            sz = z + oz
            lands = contact and not self._in_contact
            if played:
                state = px + bx, py + by, vx + bu, vy + bv
                fall = pz + bz - height, vz + bw
                missed = self._left <= 0.5 * dt and not contact and played.until > 1.5 * dt
                if played.jumped or self._left < 0.0 or missed:
                    self._plan(played, state, fall, settings, dt, hardest)
                sx, sy, wx, wy, left = self._swing(
                    played, state, fall, settings, dt, hardest
                )
                ox, oy, ux, uy = sx - x, sy - y, wx - vx, wy - vy
                if self._commits:
                    sz, wz = _approach(pz + bz, vz + bw, height, left, dt)
                    oz, uz = sz - z, wz - vz
                lands = contact and self._left <= 0.5 * dt
            else:
                sx, sy, self._left = x + ox, y + oy, -1.0
            if not played and sz - height > LANDING:
                contact = lands = False
            if lands:
                self.locked = True
                ux, uy, uz = ux + vx, uy + vy, uz + vz
                # where a toe with this velocity comes to rest without turning back
                travel = (settings.lock_halflife + 1e-5) / (2.0 * LN2)
                self.plant = (sx + ux * travel, sy + uy * travel, height)
                ox, oy, oz = -ux * travel, -uy * travel, sz - height
        self.offset = (ox, oy, oz, ux, uy, uz)
        self._in_contact = contact
        lowest, sinking = height, uz
        if not self.locked:
            sinking += vz
            speed = math.hypot(vx + ux, vy + uy)
            if not played and contact and speed < _AT_REST and math.hypot(ox, oy) < _NEAR:
                self._in_contact = False
            share = compute_lift_share(speed)
            if self._commits:
                share = min(share, self._left / _COMMITS)
            lowest += settings.swing_clearance * share
        lift = max(lowest - sz - _AHEAD * min(sinking, 0.0), 0.0)
        if lift or self._lift != _LEVEL:
            self._lift = _raise(self._lift, lift, dt)
        return sx, sy, max(sz + self._lift[0], height)

    def _plan(
        self,
        played: PlayedToe,
        state: tuple[float, float, float, float],
        fall: tuple[float, float],
        settings: PerformerSettings,
        dt: float,
        hardest: float,
    ) -> None:
        """Choose when and where a toe lands that moves as in its `state`, `high` above the floor.

        It does on the ground that it is on as it is played, if it can stand there for long enough.
        """
        self._commits = False
        near = _NEARNESS * settings.unlock_radius
        if played.stays:
            aim = _foresee(played.x, played.y, played)
            left, place = _find_landing(state, fall, aim, dt, near, hardest)
            if left < played.stays:
                self._commits, self._left, self.plant = True, left, (*place, self.plant[2])
                return
        self._left = played.until

    def _swing(
        self,
        played: PlayedToe,
        state: tuple[float, float, float, float],
        fall: tuple[float, float],
        settings: PerformerSettings,
        dt: float,
        hardest: float,
    ) -> tuple[float, float, float, float, float]:
        """Return place and velocity on the ground of a toe in the air, a tick later."""
        x, y, vx, vy = state
        left = self._left
        if not self._commits:
            aim = _foresee(played.land_x, played.land_y, played)
            if left <= _COMMITS:
                near = _NEARNESS * settings.unlock_radius
                left, aim = _find_landing(
                    state, fall, aim, max(left, dt), near, hardest
                )
                self._commits, self.plant = True, (*aim, self.plant[2])
        self._left = max(left - dt, 0.0)
        if self._commits:
            px, py, _ = self.plant
            (x, vx), (y, vy) = _approach(x, vx, px, left, dt), _approach(y, vy, py, left, dt)
            return x, y, vx, vy, left
        bx = aim[0] + played.x - played.land_x
        by = aim[1] + played.y - played.land_y
        wx, wy = played.vx, played.vy
        (ex, ux), (ey, uy) = (
            spring(e, u, 0.0, settings.foot_halflife, dt)
            for e, u in ((x - bx + wx * dt, vx - wx), (y - by + wy * dt, vy - wy))
        )
        return bx + ex, by + ey, wx + ux, wy + uy, left

    @property
    def is_firm(self) -> bool:
        """Whether a toe stands, or goes straight to where it will."""
        return self.locked or (self._commits and self._left >= 0.0)

    def _is_too_far(self, x: float, y: float, settings: PerformerSettings) -> bool:
        """Return whether the data has a planted toe so far away that it has to give way."""
        away = math.hypot(self.plant[0] - x, self.plant[1] - y)
        return away > settings.unlock_radius and not self.is_held

    def leave(self) -> None:
        """Let a planted toe leave from where it stands, although the data has it elsewhere."""
        if self._data is not None:
            self._data = (*self.plant[:2], self._data[2])

    def move_plant(self, x: float, y: float) -> None:
        """Plant a toe beside where it is planted, or lands: it comes to rest there."""
        px, py, pz = self.plant
        if not self.locked:
            self.plant = px + x, py + y, pz
            return
        ox, oy, oz, ux, uy, uz = self.offset
        self.plant = px + x, py + y, pz
        self.offset = ox - x, oy - y, oz, ux, uy, uz

    def raise_tip(self, depth: float, dt: float) -> float:
        """Return how far to raise a tip `depth` metres below the floor: smoothly."""
        # a foot that is released sinks its tip within a single tick
        ahead = depth + _AHEAD * max(depth - self._depth, 0.0) / dt
        self._depth = depth
        if ahead > 0.0 or self._tip_lift != _LEVEL:
            self._tip_lift = _raise(self._tip_lift, max(ahead, 0.0), dt)
        return self._tip_lift[0]

    def _decay_offset(
        self, settings: PerformerSettings, dt: float
    ) -> tuple[float, float, float, float, float, float]:
        """Return the offset and its velocity one tick later."""
        ox, oy, oz, ux, uy, uz = self.offset
        halflife = settings.lock_halflife if self.locked else settings.foot_halflife
        rate, e = compute_decay(halflife, dt)
        step = rate * dt
        jx, jy, jz = ux + ox * rate, uy + oy * rate, uz + oz * rate
        ux, uy, uz = e * (ux - jx * step), e * (uy - jy * step), e * (uz - jz * step)
        return e * (ox + jx * dt), e * (oy + jy * dt), e * (oz + jz * dt), ux, uy, uz


def _foresee(x: float, y: float, played: PlayedToe) -> tuple[float, float]:
    """Return where a place on the ground of a motion will be, as the character drifts on."""
    return x + _DRIFTS * played.drift_x, y + _DRIFTS * played.drift_y


def _approach(x: float, v: float, goal: float, left: float, dt: float) -> tuple[float, float]:
    """Return place and velocity a tick later of what comes to rest at a goal, evenly, in time."""
    if left <= dt:
        return goal, 0.0
    e, s = x - goal, dt / left
    r = 1.0 - s
    return (
        goal + r * r * (e * (1.0 + 2.0 * s) + v * dt),
        r * (v * (1.0 - 3.0 * s) - 6.0 * e * s / left),
    )


def _find_landing(
    state: tuple[float, float, float, float],
    fall: tuple[float, float],
    aim: tuple[float, float],
    least: float,
    near: float,
    hardest: float,
) -> tuple[float, tuple[float, float]]:
    """Return in how many seconds, `least` or more, a toe lands, and where: as near the aim as it can.

    It comes `near` at least, in metres, and accelerates no harder than `hardest` in m/s².
    """
    x, y, vx, vy = state
    speed, seconds = math.hypot(vx, vy), least
    for _ in range(_TRIES):
        # where it comes to rest by itself, and how far it can get aside of that
        sx, sy = x + vx * seconds / 3.0, y + vy * seconds / 3.0
        dx, dy = aim[0] - sx, aim[1] - sy
        away, most = math.hypot(dx, dy), hardest * seconds * seconds / 6.0
        high = abs(fall[0] + fall[1] * seconds / 3.0)
        if away - near <= most and high <= most and 2.0 * speed <= hardest * seconds:
            break
        seconds *= _LONGER
    share = min(most / (away + 1e-9), 1.0)
    return seconds, (sx + share * dx, sy + share * dy)


def compute_lift_share(speed: Any) -> Any:
    """Return the share, 0 to 1, of the swing clearance at speeds in m/s, a float or an array."""
    share = (speed - _CREEPING) / (_SWINGING - _CREEPING)
    if not isinstance(share, float):
        return smoothstep(share)
    share = min(max(share, 0.0), 1.0)  # ten times as fast as an array for the single toes of a tick
    return share * share * (3.0 - 2.0 * share)

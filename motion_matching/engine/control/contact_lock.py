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
from .played_toes import PlayedToe
from .settings import PerformerSettings

_CREEPING, _SWINGING = 0.1, 0.5  # m/s over the floor at which lifting a toe starts, and is complete
_LIFTING = 0.04  # seconds: halflife with which a toe or its tip is lifted
_AHEAD = 0.04  # seconds that sinking is predicted ahead
# metres above standing height; a higher toe is not planted, as a fading jump may hold it in the air
LANDING = 0.08
_LEVEL = (0.0, 0.0)  # a lift that has ended
_FADES = 0.2  # the last share of the unlock radius, in which a toe stops following the played one
_JOINING = 0.125  # seconds in which a toe begins to follow the played one
_AT_REST, _NEAR = 0.3, 0.05  # m/s, metres: a released toe at rest again makes a new contact


def _raise(lift: tuple[float, float], goal: float, dt: float) -> tuple[float, float]:
    """Return height and speed of a lift a tick later, which ends at last."""
    height, speed = spring(*lift, goal, _LIFTING, dt)
    if not goal and -CLOSE < height < CLOSE and -CLOSE < speed < CLOSE:
        return _LEVEL
    return height, speed


class ContactLock:
    """Places a toe where the data has it, or where it was planted; changes are inertialized."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.locked = self._in_contact = self.is_held = False
        # of the toe from the data or from its plant, and the velocity of it
        self.offset = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self.plant: Vector = (0.0, 0.0, 0.0)
        self._data: Vector | None = None
        # how much a landing toe follows the one that is played, from 0 to 1, and by what velocity,
        # x and y, that differs from the data
        self._share, self._ahead = 0.0, (0.0, 0.0)
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
    ) -> Vector:
        """Return the toe's position from that in the data; `height` is that of a planted toe.

        A toe about to land moves as it is `played`, unless it is played too far away to be planted.
        """
        x, y, z = data
        px, py, pz = self._data or data
        vx, vy, vz = (x - px) / dt, (y - py) / dt, (z - pz) / dt
        self._data = data
        offset, near = self.offset, self._compute_nearness(px, py, played, settings)
        landing = played if near > 0.0 else None
        ox, oy, oz, ux, uy, uz = self._decay_offset(settings, dt)
        if landing:
            ox, oy, ux, uy = self._land(offset, (px, py), (vx, vy), landing, near, settings, dt)
        else:
            self._share = 0.0
        if self.locked:
            px, py, pz = self.plant
            sx, sy, sz = px + ox, py + oy, pz + oz
            if not contact or self._is_too_far(x, y, settings):
                self.locked = False
                ox, oy, oz, ux, uy, uz = sx - x, sy - y, sz - z, ux - vx, uy - vy, uz - vz
        else:
            sx, sy, sz = x + ox, y + oy, z + oz
            if sz - height > LANDING:
                contact = False
            if contact and not self._in_contact:
                self.locked = True
                ux, uy, uz = ux + vx, uy + vy, uz + vz
                if landing:  # the frame played ends its step here
                    ux, uy = ux - self._share * landing[3], uy - self._share * landing[4]
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
            away = math.hypot(sx - played[1], sy - played[2]) if played else math.hypot(ox, oy)
            if contact and speed < _AT_REST and away < _NEAR:
                self._in_contact = False
            lowest += settings.swing_clearance * compute_lift_share(speed)
        lift = max(lowest - sz - _AHEAD * min(sinking, 0.0), 0.0)
        if lift or self._lift != _LEVEL:
            self._lift = _raise(self._lift, lift, dt)
        return sx, sy, max(sz + self._lift[0], height)

    def _compute_nearness(
        self, x: float, y: float, played: PlayedToe | None, settings: PerformerSettings
    ) -> float:
        """Return how far a toe may follow the one `played`: 1 near it, 0 if that is out of reach.

        x and y are those of the data.
        """
        if self.locked or not played:
            return 0.0
        ox, oy, *_ = self.offset
        away = math.hypot(x + ox - played[1], y + oy - played[2])
        return min((1.0 - away / (settings.unlock_radius + CLOSE)) / _FADES, 1.0)

    def _land(
        self,
        offset: tuple[float, ...],
        before: tuple[float, float],
        velocity: tuple[float, float],
        played: PlayedToe,
        near: float,
        settings: PerformerSettings,
        dt: float,
    ) -> tuple[float, float, float, float]:
        """Return offset and velocity on the ground of a toe that moves as it is played.

        `before` and `velocity` are those of the data; `near` falls to 0 where it is played too far
        away. The offset stays, and only a difference in velocity fades. A toe that was released
        comes back to where it is played.
        """
        ox, oy, _, ux, uy, _ = offset
        (px, py), (vx, vy) = before, velocity
        share, x, y, wx, wy, jumped = played
        if jumped or not self._share:
            self._share, self._ahead = 0.0, (0.0, 0.0)
        share = self._share = min(share * near, self._share + dt / _JOINING)
        dx, dy = self._ahead
        cx, cy = self._ahead = share * (wx - vx), share * (wy - vy)
        ux, uy = ux - dx, uy - dy
        if self._in_contact:
            bx, by = share * (x - wx * dt - px), share * (y - wy * dt - py)
            (ox, ux), (oy, uy) = (
                spring(o, u, b, settings.foot_halflife, dt)
                for o, u, b in ((ox, ux, bx), (oy, uy, by))
            )
        else:
            rate, e = compute_decay(settings.lock_halflife, dt)
            way = (1.0 - e) / rate
            ox, oy, ux, uy = ox + ux * way, oy + uy * way, e * ux, e * uy
        return ox + cx * dt, oy + cy * dt, ux + cx, uy + cy

    def _is_too_far(self, x: float, y: float, settings: PerformerSettings) -> bool:
        """Return whether the data has a planted toe so far away that it has to give way."""
        away = math.hypot(self.plant[0] - x, self.plant[1] - y)
        return away > settings.unlock_radius and not self.is_held

    def leave(self) -> None:
        """Let a planted toe leave from where it stands, although the data has it elsewhere."""
        if self._data is not None:
            self._data = (*self.plant[:2], self._data[2])

    def move_plant(self, x: float, y: float) -> None:
        """Plant a toe beside where it was planted: it comes to rest there."""
        px, py, pz = self.plant
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


def compute_lift_share(speed: Any) -> Any:
    """Return the share, 0 to 1, of the swing clearance at speeds in m/s, a float or an array."""
    share = (speed - _CREEPING) / (_SWINGING - _CREEPING)
    if not isinstance(share, float):
        return smoothstep(share)
    share = min(max(share, 0.0), 1.0)  # ten times as fast as an array for the single toes of a tick
    return share * share * (3.0 - 2.0 * share)

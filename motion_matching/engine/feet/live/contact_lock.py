"""Place one toe: where the data has it, or where it was planted when its contact began.

Source: article 002, Sliding and Foot Locking. Three additions: a toe in the air is aimed at where
the motion that is played lands it, and stands there at once; one whose landing is not known comes
to rest directly, instead of sliding out and back; and a toe that moves over the floor is lifted.
"""

from __future__ import annotations

import math
from typing import Any

from ...legs.legs import CLOSE
from ...maths.easing import smoothstep
from ...maths.rotations.scalar_quat import Vector
from ...maths.springs import LN2, compute_decay, spring
from ...motion.rest import AT_REST
from ...performance.settings import FootLocking
from ..numbers import NUMBERS
from ..played_toes import PlayedToe
from .landing import Flight, Place, find_landing, foresee

_LEVEL = (0.0, 0.0)  # a lift that has ended
_UNKNOWN = -1.0  # seconds until a landing, while none is planned


def _raise(lift: tuple[float, float], goal: float, dt: float) -> tuple[float, float]:
    """Return height and speed of a lift a tick later, until it ends."""
    height, speed = spring(*lift, goal, NUMBERS.lift_halflife, dt)
    if not goal and -CLOSE < height < CLOSE and -CLOSE < speed < CLOSE:
        return _LEVEL
    return height, speed


class ContactLock:
    """Places a toe where the data has it, or where it was planted; changes are inertialized.

    A toe whose next landing is known is aimed at it once it leaves the ground, or a jump enters
    another motion. The frames of a blend change all the time: there a toe moves with the blend
    until its landing is near.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.locked = self._in_contact = self.is_held = False
        # offset of the toe from the data or from its plant, and its velocity
        self.offset = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self.plant: Vector = (0.0, 0.0, 0.0)
        self._data: Vector | None = None
        # seconds until it lands, and whether it goes straight to its plant already
        self._left = _UNKNOWN
        self._commits = False
        # how far toe and tip are raised in metres, and how fast
        self._lift = self._tip_lift = (0.0, 0.0)
        self._depth = 0.0
        self.spare = 0.0  # metres by which the leg may stretch freely

    def start_from(
        self, toe: Vector, before: Vector, height: float, settings: FootLocking, dt: float
    ) -> None:
        """Go on with a toe from its last two places: planted if it hardly moves on the floor."""
        self.reset()
        self._data = before
        slow = math.hypot(toe[0] - before[0], toe[1] - before[1]) < AT_REST.toe * dt
        self.update(toe, slow, min(height, toe[2]), settings, dt)
        self._lift = (0.0, 0.0)

    def update(
        self,
        data: Vector,
        contact: bool,
        height: float,
        settings: FootLocking,
        dt: float,
        played: PlayedToe | None = None,
        hardest: float = math.inf,
    ) -> Vector:
        """Return the toe's position from that in the data; `height` is that of a planted toe.

        An airborne toe goes to its landing in the `played` motion, and accelerates on its way by at
        most `hardest` in m/s².
        """
        x, y, z = data
        before = self._data or data
        offset = self.offset
        if self._data is None and played:
            before = x - played.vx * dt, y - played.vy * dt, z
        vx = (x - before[0]) / dt
        vy = (y - before[1]) / dt
        vz = (z - before[2]) / dt
        self._data = data
        ox, oy, oz, ux, uy, uz = self._decay_offset(settings, dt)
        if self.locked:
            tx, ty, tz = self.plant
            sx = tx + ox
            sy = ty + oy
            sz = tz + oz
            if not contact or self._is_too_far(x, y, settings):
                self.locked = False
                self._left = _UNKNOWN
                self._commits = False
                ox = sx - x
                oy = sy - y
                oz = sz - z
                ux = ux - vx
                uy = uy - vy
                uz = uz - vz
        else:
            if played:
                bx, by, bz, bu, bv, bw = offset
                flight = Flight(
                    *(before[0] + bx, before[1] + by, before[2] + bz - height),
                    *(vx + bu, vy + bv, vz + bw),
                )
                after = self._fly(flight, played, contact, settings, dt, hardest)
                if after:
                    ox = after.x - x
                    oy = after.y - y
                    ux = after.vx - vx
                    uy = after.vy - vy
                if after and self._commits:
                    oz = after.z + height - z
                    uz = after.vz - vz
                lands = contact and self._left < 0.5 * dt
            else:
                self._left = _UNKNOWN
                self._commits = False
                contact = contact and (self.is_held or z + oz - height <= NUMBERS.landing_height)
                lands = contact and not self._in_contact
            sx = x + ox
            sy = y + oy
            sz = z + oz
            if lands:
                self.locked = True
                ux = ux + vx
                uy = uy + vy
                uz = uz + vz
                # where a toe with this velocity comes to rest without turning back
                travel = (settings.lock_halflife + 1e-5) / (2.0 * LN2)
                self.plant = (sx + ux * travel, sy + uy * travel, height)
                ox = -ux * travel
                oy = -uy * travel
                oz = sz - height
        self.offset = (ox, oy, oz, ux, uy, uz)
        self._in_contact = contact
        lowest = height
        sinking = uz
        if not self.locked:
            sinking += vz
            speed = math.hypot(vx + ux, vy + uy)
            if (
                not played
                and contact
                and speed < AT_REST.toe
                and math.hypot(ox, oy) < NUMBERS.same_place
            ):
                self._in_contact = False
            share = compute_lift_share(speed)
            if self._commits:
                share = min(share, self._left / NUMBERS.straight_seconds)
            lowest += settings.swing_clearance * share
        lift = max(lowest - sz - NUMBERS.sinking_foreseen * min(sinking, 0.0), 0.0)
        if lift or self._lift != _LEVEL:
            self._lift = _raise(self._lift, lift, dt)
        return sx, sy, max(sz + self._lift[0], height)

    def _fly(
        self,
        flight: Flight,
        played: PlayedToe,
        contact: bool,
        settings: FootLocking,
        dt: float,
        hardest: float,
    ) -> Flight | None:
        """Return the flight of a toe a tick later; its height counts where it goes straight.

        It is None where the toe moves with its blend.
        """
        radius = NUMBERS.landing_radius * settings.unlock_radius
        arrives = 0.0 <= self._left < 0.5 * dt
        missed = arrives and not contact and played.until > 1.5 * dt
        changes = (played.jumped or played.blends) and not (arrives and contact)
        if self._left < 0.0 or missed or (changes and not self._still_lands(played, radius)):
            self._left = played.until
            self._commits = False
            if played.stays:  # it stands where it is, if that is good enough
                aim = foresee(played.x, played.y, played)
                left, place = find_landing(flight, aim, dt, radius, hardest)
                if left < played.stays:
                    self._commit(left, place)
        elif not self._commits and abs(self._left - played.until) > 0.5 * dt:
            self._left = played.until  # it is played at another rate than when it left
        aim = foresee(played.land_x, played.land_y, played)
        if not self._commits and self._left <= NUMBERS.straight_seconds:
            self._commit(*find_landing(flight, aim, max(self._left, dt), radius, hardest))
        left = self._left
        self._left = max(left - dt, 0.0)
        if self._commits:
            return flight.approach(self.plant, left, dt)
        return None if played.blends else self._follow(flight, aim, played, settings, dt)

    def _still_lands(self, played: PlayedToe, radius: float) -> bool:
        """Return whether a landing toe may still land so in the motion entered."""
        if played.stays:  # it stands already
            in_time = self._left < played.stays
            place = (played.x, played.y)
        else:
            in_time = played.until <= NUMBERS.straight_seconds
            place = (played.land_x, played.land_y)
        if not (self._commits and in_time):
            return False
        x, y = foresee(*place, played)
        return math.hypot(self.plant[0] - x, self.plant[1] - y) <= radius

    def _commit(self, left: float, place: Place) -> None:
        """Land at a place in some seconds, whatever the body does until then."""
        self._left = left
        self._commits = True
        self.plant = (*place, self.plant[2])

    def _follow(
        self,
        flight: Flight,
        aim: Place,
        played: PlayedToe,
        settings: FootLocking,
        dt: float,
    ) -> Flight:
        """Return the flight, a tick later, of a toe that moves as played, but to its aim."""
        x, y = aim[0] + played.x - played.land_x, aim[1] + played.y - played.land_y
        vx = played.vx
        vy = played.vy
        halflife = settings.foot_halflife
        ox, ux = spring(flight.x - x + vx * dt, flight.vx - vx, 0.0, halflife, dt)
        oy, uy = spring(flight.y - y + vy * dt, flight.vy - vy, 0.0, halflife, dt)
        return Flight(x + ox, y + oy, flight.z, vx + ux, vy + uy, flight.vz)

    @property
    def left(self) -> float:
        """Seconds until it lands, 0 if that is not known."""
        return max(self._left, 0.0)

    @property
    def is_firm(self) -> bool:
        """Whether a toe stands, or goes straight to where it will."""
        return self.locked or (self._commits and self._left >= 0.0)

    def _is_too_far(self, x: float, y: float, settings: FootLocking) -> bool:
        """Return whether the data has a planted toe too far away for it to hold."""
        away = math.hypot(self.plant[0] - x, self.plant[1] - y)
        return away > settings.unlock_radius and not self.is_held

    def leave(self) -> None:
        """Let a planted toe leave from where it stands, although the data has it elsewhere."""
        if self._data is not None:
            self._data = (*self.plant[:2], self._data[2])

    def move_plant(self, x: float, y: float, z: float = 0.0) -> None:
        """Move the place at which a toe is planted, or lands: it comes to rest there."""
        px, py, pz = self.plant
        if not self.locked:
            self.plant = px + x, py + y, pz
            return
        ox, oy, oz, ux, uy, uz = self.offset
        self.plant = px + x, py + y, pz + z
        self.offset = ox - x, oy - y, oz - z, ux, uy, uz

    def raise_tip(self, depth: float, dt: float) -> float:
        """Return how far to raise a tip `depth` metres below the floor: smoothly."""
        # a foot that is released sinks its tip within a single tick
        ahead = depth + NUMBERS.sinking_foreseen * max(depth - self._depth, 0.0) / dt
        self._depth = depth
        if ahead > 0.0 or self._tip_lift != _LEVEL:
            self._tip_lift = _raise(self._tip_lift, max(ahead, 0.0), dt)
        return self._tip_lift[0]

    def _decay_offset(
        self, settings: FootLocking, dt: float
    ) -> tuple[float, float, float, float, float, float]:
        """Return the offset and its velocity one tick later."""
        ox, oy, oz, ux, uy, uz = self.offset
        halflife = settings.lock_halflife if self.locked else settings.foot_halflife
        rate, e = compute_decay(halflife, dt)
        step = rate * dt
        jx = ux + ox * rate
        jy = uy + oy * rate
        jz = uz + oz * rate
        ux = e * (ux - jx * step)
        uy = e * (uy - jy * step)
        uz = e * (uz - jz * step)
        return e * (ox + jx * dt), e * (oy + jy * dt), e * (oz + jz * dt), ux, uy, uz


def compute_lift_share(speed: Any) -> Any:
    """Return the share, 0 to 1, of the swing clearance at speeds in m/s, a float or an array."""
    share = (speed - NUMBERS.creeping_speed) / (NUMBERS.swinging_speed - NUMBERS.creeping_speed)
    if not isinstance(share, float):
        return smoothstep(share)
    share = min(max(share, 0.0), 1.0)  # ten times faster than arrays for the single toes of a tick
    return share * share * (3.0 - 2.0 * share)

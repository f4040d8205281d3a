"""Keep together the character, led by the data, and the simulation object, led by the code.

A mode sets which of them follows the other; clamping then limits their distance.

Source: article 002, from Synchronization to Clamping. Two additions are for data that cannot
follow. A character that lags behind is turned by more than its own turning allows, because its
steps go astray while it faces elsewhere. And where only a share of its motion may pull it, the
simulation object waits for it instead of dragging it over the ground. Without `object_waits`
neither applies, as in the article.
"""

from __future__ import annotations

import math

from ..maths.easing import clamp
from ..maths.planar import wrap
from ..maths.springs import compute_remainder
from ..performance.settings import Coupling
from .numbers import NUMBERS
from .trajectory import SimulationObject

GroundPose = tuple[float, float, float]

FOOT_RADIUS = NUMBERS.foot_radius


def place_character(
    character: GroundPose,
    velocity: GroundPose,
    simulation: SimulationObject,
    settings: Coupling,
    dt: float,
    feet: tuple[float, float] | None = None,
) -> GroundPose:
    """Return where the character, led by the data at a velocity (x, y, turn), is after a tick.

    Synchronizing also moves the simulation object. So does clamping where adjustment is limited by
    velocity, if the object waits. All other modes leave the object where it is. Of a character
    that stands, `feet` say how far off (x, y) they are planted; adjusting moves it above them.
    """
    if settings.displacement == "synchronize":
        return _synchronize(character, simulation, settings.synchronization)
    if settings.displacement == "adjust":
        character = adjust(character, velocity, simulation, settings, dt, feet)
    if settings.clamp:
        if waits(settings):
            simulation.wait_for(character[0], character[1], settings.clamp_distance)
        limits = settings.clamp_distance, settings.clamp_angle
        character = clamp_character(character, simulation, *limits)
    return character


def waits(settings: Coupling) -> bool:
    """Return whether the simulation object waits for a character with these settings."""
    adjusts = settings.displacement == "adjust" and settings.adjust_by_velocity
    return settings.clamp and adjusts and settings.object_waits


def _synchronize(character: GroundPose, simulation: SimulationObject, factor: float) -> GroundPose:
    """Place both at a share `factor` of the way from the character to the simulation object."""
    x, y, yaw = character
    if factor > 0.0:
        x += (simulation.x - x) * factor
        y += (simulation.y - y) * factor
        yaw += wrap(simulation.yaw - yaw) * factor
    simulation.x, simulation.y = x, y
    # the object counts whole turns, which its springs need
    simulation.yaw += wrap(yaw - simulation.yaw)
    return x, y, yaw


def adjust(
    character: GroundPose,
    velocity: GroundPose,
    simulation: SimulationObject,
    settings: Coupling,
    dt: float,
    feet: tuple[float, float] | None,
) -> GroundPose:
    """Pull the character toward the simulation object, and above its `feet` where it stands."""
    character = _pull(character, velocity, simulation, settings, dt)
    return character if feet is None else _lean(character, feet, simulation.yaw, dt)


def _pull(
    character: GroundPose,
    velocity: GroundPose,
    simulation: SimulationObject,
    settings: Coupling,
    dt: float,
) -> GroundPose:
    """Damp the character toward the simulation object, optionally by a share of its own motion.

    From half of the clamp distance on, its steps increasingly count as turning too, if the object
    waits: each counts as the angle that moves feet `FOOT_RADIUS` from its axis by its length.
    """
    (x, y, yaw) = character
    (vx, vy, turn_rate) = velocity
    share = 1.0 - compute_remainder(settings.adjust_position_halflife, dt)
    dx, dy = (simulation.x - x) * share, (simulation.y - y) * share
    turn_share = 1.0 - compute_remainder(settings.adjust_rotation_halflife, dt)
    turn = wrap(simulation.yaw - yaw) * turn_share
    if settings.adjust_by_velocity:
        step = math.hypot(vx, vy) * dt
        length = math.hypot(dx, dy)
        most = settings.adjust_position_ratio * step
        if length > most:
            dx, dy = dx * most / length, dy * most / length
        own_turn = abs(turn_rate) * dt
        if settings.object_waits:
            away = math.hypot(simulation.x - (x + dx), simulation.y - (y + dy))
            lag = min(max(2.0 * (away / (settings.clamp_distance + 1e-5)) - 1.0, 0.0), 1.0)
            own_turn += lag * step / FOOT_RADIUS
        turn = clamp(turn, settings.adjust_rotation_ratio * own_turn)
        if not settings.object_waits:
            return x + dx, y + dy, yaw + turn
    return x + dx, y + dy, yaw + limit_turn(turn, turn_rate * dt, simulation.turn_limit * dt)


def _lean(
    character: GroundPose, offset: tuple[float, float], heading: float, dt: float
) -> GroundPose:
    """Return a standing character moved over its feet and turned to a heading, unnoticeably."""
    (x, y, yaw), share = character, 1.0 - compute_remainder(NUMBERS.lean_halflife, dt)
    dx, dy = share * offset[0], share * offset[1]
    near = min(NUMBERS.lean_speed * dt / (math.hypot(dx, dy) + 1e-9), 1.0)
    turn = clamp(share * wrap(heading - yaw), NUMBERS.lean_rate * dt)
    return x + near * dx, y + near * dy, yaw + turn


def limit_turn(turn: float, led: float, limit: float) -> float:
    """Limit a turn so that with `led`, the turn of the data, it stays in a limit, in radians."""
    if turn * led < 0.0:
        return turn
    return math.copysign(min(abs(turn), max(limit - abs(led), 0.0)), turn)


def add_swing(turn: float, swing: float) -> float:
    """Add the body's turn rate to the character's, unless the body turns the other way."""
    return turn + swing if turn * swing > 0.0 else turn


def limit_fading_turn(turn: float, offset: float, swing: float, limit: float) -> float:
    """Return the turn rate of a character while a jump fades; all in rad/s.

    The jump adds `offset` to the data's `turn`, and turns the body by `swing` against the
    character. All together turn no faster than the limit, or than the data if that is faster.
    """
    whole = turn + offset + swing
    most = max(limit, abs(turn))
    return turn + offset - math.copysign(max(abs(whole) - most, 0.0), whole)


def clamp_character(
    character: GroundPose, simulation: SimulationObject, most: float, most_angle: float
) -> GroundPose:
    """Move the character to within a distance and an angle of the simulation object."""
    x, y, yaw = character
    dx, dy = x - simulation.x, y - simulation.y
    distance = math.hypot(dx, dy)
    if distance > most:
        near = most / distance
        x, y = simulation.x + dx * near, simulation.y + dy * near
    angle = wrap(yaw - simulation.yaw)
    if abs(angle) > most_angle:
        yaw += math.copysign(most_angle, angle) - angle
    return x, y, yaw

"""How the character entity and the simulation object are brought together.

Source: article 002, from Synchronization to Clamping. The data leads the character by a step each tick, the code leads
the simulation object; a mode says who follows whom, and clamping holds both near each other at the end. Two things are
added for data that cannot follow: a character that lags behind is turned by more than its own turning allows, for as long
as it faces elsewhere its steps lead elsewhere; and where it may not be pulled by more than a part of its own motion, the
object waits for it rather than to drag it over the ground.
"""

from __future__ import annotations

import math

from ..maths.springs import LN2
from .settings import PerformerSettings
from .trajectory import SimulationObject, clipped, wrap

Place = tuple[float, float, float]

FOOTING = 0.4  # metres from the character's axis within which its feet stand


def place(
    character: Place,
    velocity: tuple[float, float],
    turn_rate: float,
    simulation: SimulationObject,
    settings: PerformerSettings,
    dt: float,
) -> Place:
    """Where the character (x, y, yaw), led by the data at `velocity` and `turn_rate`, is put at the end of a tick.

    Synchronising moves the simulation object as well, as does clamping where adjustment is limited by velocity: there the
    object waits. All other modes leave it where it is.
    """
    if settings.displacement == "synchronize":
        return _synchronized(character, simulation, settings.synchronization)
    if settings.displacement == "adjust":
        character = _adjusted(character, velocity, turn_rate, simulation, settings, dt)
    if settings.clamp:
        if settings.displacement == "adjust" and settings.adjust_by_velocity:
            simulation.wait_for(character[0], character[1], settings.clamp_distance)
        character = _clamped(character, simulation, settings)
    return character


def _synchronized(character: Place, simulation: SimulationObject, factor: float) -> Place:
    """Both at `factor` of the way from the character to the simulation object."""
    x, y, yaw = character
    if factor > 0.0:
        x += (simulation.x - x) * factor
        y += (simulation.y - y) * factor
        yaw += wrap(simulation.yaw - yaw) * factor
    simulation.x, simulation.y = x, y
    # the object's own count of turns is kept: springs work on it
    simulation.yaw += wrap(yaw - simulation.yaw)
    return x, y, yaw


def _adjusted(
    character: Place,
    velocity: tuple[float, float],
    turn_rate: float,
    simulation: SimulationObject,
    settings: PerformerSettings,
    dt: float,
) -> Place:
    """The character damped toward the simulation object, by no more than a part of its own motion if so limited.

    From half the clamp's distance on, up to all of it, its steps count more and more as turning too: each as the angle by
    which feet, at `FOOTING` from its axis, move as far. Nothing is adjusted by turning faster than the object may.
    """
    x, y, yaw = character
    part = 1.0 - math.exp(-LN2 * dt / (settings.adjust_position_halflife + 1e-5))
    dx, dy = (simulation.x - x) * part, (simulation.y - y) * part
    turn = wrap(simulation.yaw - yaw) * (
        1.0 - math.exp(-LN2 * dt / (settings.adjust_rotation_halflife + 1e-5))
    )
    if settings.adjust_by_velocity:
        step, length = math.hypot(*velocity) * dt, math.hypot(dx, dy)
        most = settings.adjust_position_ratio * step
        if length > most:
            dx, dy = dx * most / length, dy * most / length
        away = math.hypot(simulation.x - (x + dx), simulation.y - (y + dy)) / (
            settings.clamp_distance + 1e-5
        )
        late = min(max(2.0 * away - 1.0, 0.0), 1.0)
        turn = clipped(
            turn, settings.adjust_rotation_ratio * (abs(turn_rate) * dt + late * step / FOOTING)
        )
    return x + dx, y + dy, yaw + bearable(turn, turn_rate * dt, settings.turn_limit * dt)


def bearable(turn: float, led: float, limit: float) -> float:
    """As much of a turn as does not make the character, led by the data, turn faster than the limit."""
    if turn * led < 0.0:
        return turn
    return math.copysign(min(abs(turn), max(limit - abs(led), 0.0)), turn)


def swung(turn: float, swing: float) -> float:
    """A turn rate with that of the body on top; a body that is turned back is no reason for a character to turn faster."""
    return turn + swing if turn * swing > 0.0 else turn


def held_turn(turn: float, offset: float, swing: float, limit: float) -> float:
    """The turn rate of a character whose data turns at `turn`, while a jump fades that adds `offset` to it and turns the
    body by `swing` against it: all together no faster than the limit or the data."""
    whole = turn + offset + swing
    most = max(limit, abs(turn))
    return turn + offset - math.copysign(max(abs(whole) - most, 0.0), whole)


def _clamped(character: Place, simulation: SimulationObject, settings: PerformerSettings) -> Place:
    """The character within a distance and an angle of the simulation object."""
    x, y, yaw = character
    dx, dy = x - simulation.x, y - simulation.y
    distance = math.hypot(dx, dy)
    if distance > settings.clamp_distance:
        near = settings.clamp_distance / distance
        x, y = simulation.x + dx * near, simulation.y + dy * near
    angle = wrap(yaw - simulation.yaw)
    if abs(angle) > settings.clamp_angle:
        yaw += math.copysign(settings.clamp_angle, angle) - angle
    return x, y, yaw

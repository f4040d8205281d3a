"""Lines that show what a feature says, for any view to draw."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
VELOCITY_SCALE = 0.2  # seconds: an arrow ends where its bone would be then
DIRECTION_LENGTH = 0.3  # metres
_CROSS_SIZE = 0.06  # metres from its centre


class Stroke(NamedTuple):
    """A line through points (P, 3) in metres, in the frame of the simulation bone.

    `kind` is 'body', 'position', 'velocity', 'trajectory' or 'direction'.
    """

    kind: str
    points: Array


def make_cross(kind: str, centre: Array, arms: int = 3) -> list[Stroke]:
    """Return a cross at a place (3,): three arms, or two on the ground."""
    ways = np.eye(3)[:arms]
    return [Stroke(kind, centre + _CROSS_SIZE * np.outer([-1.0, 1.0], way)) for way in ways]


def make_velocity_arrow(position: Array, velocity: Array) -> list[Stroke]:
    """Return an arrow from a place (3,) along a velocity (3,) in metres per second."""
    return [Stroke("velocity", np.array([position, position + VELOCITY_SCALE * velocity]))]


def make_direction_arrow(position: Array, direction: Array) -> list[Stroke]:
    """Return an arrow from a place (3,) along a unit vector (3,)."""
    return [Stroke("direction", np.array([position, position + DIRECTION_LENGTH * direction]))]

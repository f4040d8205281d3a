"""Make lines that show features, for any view to draw."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numbers import NUMBERS

Array = np.ndarray
VELOCITY_SCALE = NUMBERS.arrow_seconds
DIRECTION_LENGTH = NUMBERS.direction_length


class Stroke(NamedTuple):
    """A line through points (P, 3) in metres, in the frame of the simulation bone.

    `kind` is 'body', 'position', 'velocity', 'trajectory' or 'direction'.
    """

    kind: str
    points: Array


def make_cross(kind: str, centre: Array, arms: int) -> list[Stroke]:
    """Return a cross at a place (3,): of three arms, or of two on the ground."""
    ways = np.eye(3)[:arms]
    return [Stroke(kind, centre + NUMBERS.cross_size * np.outer([-1.0, 1.0], way)) for way in ways]


def make_arrow(kind: str, position: Array, value: Array) -> Stroke:
    """Return an arrow from a place (3,) along a velocity (3,), or else a direction (3,)."""
    scale = VELOCITY_SCALE if kind == "velocity" else DIRECTION_LENGTH
    return Stroke(kind, np.array([position, position + scale * value]))

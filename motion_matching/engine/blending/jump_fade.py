"""Fade the offsets of a jump: along a spring, which never quite ends, or a cubic, which does.

A shape has one time: the halflife of a spring, or the whole time of a cubic. The part of the
offsets' velocities may fade within another one.

Source: notebook 000, Player (spring inertializer), and Holden, Inertialization Transition Cost
(cubic inertializer).
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from ..maths.springs import LN2, compute_decay_matrix, halflife_to_damping, spring
from ..performance.settings import PerformerSettings
from . import fading

Array = np.ndarray


class FadeShape(Protocol):
    """Interface between an inertializer and a shape; times and ages are in seconds."""

    def compute_matrix(self, time: float, age: float, velocity_time: float) -> Array:
        """Return the matrix (2, 2) from (offset, velocity) at a jump to those at an age."""

    def find_time(self, ratio: float) -> float:
        """Return the time within which an offset fades, that is `ratio` times an acceleration."""

    def find_velocity_time(self, ratio: float) -> float:
        """Return the same of a velocity, which may take half of that acceleration."""

    def compute_pull(self, velocity_time: float) -> float:
        """Return the acceleration that a velocity of 1 m/s starts with."""

    def compute_half_time(self, time: float) -> float:
        """Return when about half of an offset has faded."""

    def compute_share(self, time: float, ages: Array) -> Array:
        """Return the share left of an offset without a velocity."""

    def measure(self, x: Array, v: Array, time: Any, velocity_time: Any) -> Array:
        """Return the total displacement of offsets x with velocities v."""

    def measure_signed(self, x: Array, v: Array, time: float) -> Array:
        """Return the integral of offsets, in which both sides of zero cancel each other."""


class SpringFade:
    """A critically damped spring; its times are halflives."""

    def compute_matrix(self, time: float, age: float, velocity_time: float) -> Array:
        return compute_decay_matrix(time, age, velocity_time)

    def find_time(self, ratio: float) -> float:
        return 2.0 * LN2 * math.sqrt(ratio)

    def find_velocity_time(self, ratio: float) -> float:
        return 8.0 * LN2 * ratio

    def compute_pull(self, velocity_time: float) -> float:
        return halflife_to_damping(velocity_time)

    def compute_half_time(self, time: float) -> float:
        return time

    def compute_share(self, time: float, ages: Array) -> Array:
        return np.asarray(spring(1.0, 0.0, 0.0, time, ages)[0])

    def measure(self, x: Array, v: Array, time: Any, velocity_time: Any) -> Array:
        return fading.compute_spring_displacement(x, v, time, velocity_time)

    def measure_signed(self, x: Array, v: Array, time: float) -> Array:
        return fading.compute_signed_spring_displacement(x, v, time)


class CubicFade:
    """A cubic that ends at zero and at rest after its time; it is pulled hardest at its start."""

    def compute_matrix(self, time: float, age: float, velocity_time: float) -> Array:
        return fading.compute_cubic_matrix(time, age, velocity_time)

    def find_time(self, ratio: float) -> float:
        return math.sqrt(6.0 * ratio)

    def find_velocity_time(self, ratio: float) -> float:
        return 8.0 * ratio

    def compute_pull(self, velocity_time: float) -> float:
        return 4.0 / max(velocity_time, fading.SHORTEST)

    def compute_half_time(self, time: float) -> float:
        return 0.5 * time

    def compute_share(self, time: float, ages: Array) -> Array:
        share = np.clip(ages / max(time, fading.SHORTEST), 0.0, 1.0)
        return (1.0 - share) ** 2 * (1.0 + 2.0 * share)

    def measure(self, x: Array, v: Array, time: Any, velocity_time: Any) -> Array:
        return fading.compute_cubic_displacement(x, v, time, velocity_time)

    def measure_signed(self, x: Array, v: Array, time: float) -> Array:
        return fading.compute_signed_cubic_displacement(x, v, time)


SPRING = SpringFade()
CUBIC = CubicFade()


def choose_fade(settings: PerformerSettings) -> tuple[FadeShape, float]:
    """Return the shape that settings choose, with its time."""
    if settings.as_published.inertialization == "cubic":
        return CUBIC, settings.as_published.blend_time
    return SPRING, settings.blending.inertialization_halflife

"""Combine the position and velocity of a bone in one feature, by the fade of a jump.

The difference of such a feature between two frames is the displacement of the bone by a jump while
it fades, unless it crosses zero: in metre-seconds, for each axis.

Source: Holden, Inertialization Transition Cost.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .... import blending
from .base import Array, BoneKind

if TYPE_CHECKING:
    from ....performance.settings import PerformerSettings
    from ..bone_motion import BoneMotion
    from ..features import Feature

LONGEST_FADE = 10.0  # seconds
_SHORTEST_FADE = 0.01  # seconds: with zero, no two frames would differ
_BLENDED = "Where a bone is and how fast it moves at once: how far a {} blends it after a jump"


class FadeKind(BoneKind):
    """A kind of feature that depends on the time in which jumps fade.

    Databases are built for `usual_time` in seconds: stored ones rely on it.
    """

    has_times = False
    longest_fade = LONGEST_FADE
    stroke = "position"
    is_of_moving_pose = True
    usual_time: ClassVar[float]

    @abstractmethod
    def read_time(self, settings: PerformerSettings) -> float:
        """Return the time in seconds in which jumps fade."""

    @abstractmethod
    def measure(self, position: Array, velocity: Array, time: float) -> Array:
        """Return the signed area below the curve of an offset that fades within a time."""

    def combine(self, position: Array, velocity: Array, time: float) -> Array:
        """Return the combined values of positions and velocities, for times of any length."""
        return self.measure(position, velocity, max(time, _SHORTEST_FADE))

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        time = feature.time or self.usual_time
        return self.combine(bone.positions, bone.velocities, time)

    def find_place(self, value: Array, feature: Feature) -> Array:
        """Return the place in metres of a bone at rest with this value."""
        return value / self.combine(np.ones(1), np.zeros(1), feature.time or self.usual_time)


class SpringBlend(FadeKind):
    """2 x / y + v / y² of a spring with half the damping y; its time is the halflife."""

    name = "bone_spring"
    label = "Spring Blend"
    help = _BLENDED.format("spring")
    icon = "IPO_ELASTIC"
    number = 6
    usual_time = 0.1

    def read_time(self, settings: PerformerSettings) -> float:
        return settings.blending.inertialization_halflife

    def measure(self, position: Array, velocity: Array, time: float) -> Array:
        return blending.jump_fade.SPRING.measure_signed(position, velocity, time)


class CubicBlend(FadeKind):
    """z x / 2 + z² v / 12 of a cubic of the time z."""

    name = "bone_cubic"
    label = "Cubic Blend"
    help = _BLENDED.format("cubic")
    icon = "IPO_CUBIC"
    number = 7
    usual_time = 0.3

    def read_time(self, settings: PerformerSettings) -> float:
        return settings.as_published.blend_time

    def measure(self, position: Array, velocity: Array, time: float) -> Array:
        return blending.jump_fade.CUBIC.measure_signed(position, velocity, time)


KINDS = (SpringBlend(), CubicBlend())

"""Features that stand for the position and the velocity of a bone together, as a jump fades.

The difference of such a feature between two frames is how far a jump between them displaces the
bone while it fades, as long as it does not cross zero: in metre-seconds, for each axis.

Source: Holden, Inertialization Transition Cost.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...blending.jump_fade import CUBIC, SPRING, FadeShape
from ...performance.settings import PerformerSettings

FADE_SHAPES: MappingProxyType[str, FadeShape] = MappingProxyType(
    {"bone_spring": SPRING, "bone_cubic": CUBIC}
)
FADE_KINDS = tuple(FADE_SHAPES)
LONGEST_FADE = 10.0  # seconds
_SHORTEST_FADE = 0.01  # seconds: within none, no two frames would differ


class FadeTimes(NamedTuple):
    """How long jumps take to fade in seconds: the halflife of a spring, all of a cubic."""

    bone_spring: float
    bone_cubic: float

    @classmethod
    def from_settings(cls, settings: PerformerSettings) -> FadeTimes:
        return cls(settings.inertialization_halflife, settings.blend_time)

    def get(self, kind: str, own: float) -> float:
        """Return the time of a feature: its own unless that is 0."""
        return max(own or self._asdict()[kind], _SHORTEST_FADE)


# what databases are built with: those that are stored rely on it, so it never changes
DEFAULT_TIMES = FadeTimes(0.1, 0.3)


def combine(kind: str, position: np.ndarray, velocity: np.ndarray, time: float) -> np.ndarray:
    """Return 2 x / y + v / y² of a spring, or z x / 2 + z² v / 12 of a cubic.

    With half the damping y of the spring, and the time z of the cubic.
    """
    return FADE_SHAPES[kind].measure_signed(position, velocity, time)


def find_place(kind: str, value: np.ndarray, time: float) -> np.ndarray:
    """Return where a bone at rest would have a value, in metres."""
    return value / combine(kind, np.ones(1), np.zeros(1), time)

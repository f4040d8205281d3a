"""A ground that rises or falls along a straight way."""

from __future__ import annotations

from collections.abc import Callable


class Floor:
    """A floor whose height depends on how far ahead one is, forward being -Y."""

    def __init__(self, profile: Callable[[float], float]) -> None:
        self.profile = profile

    def height(self, x: float, y: float) -> float:
        return self.profile(-y)

    def slide(self, start, stop, radius):
        return stop

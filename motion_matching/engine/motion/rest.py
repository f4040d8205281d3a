"""Decide when a body or a toe stands: one rule for data, live motion, takes and studies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class RestRules:
    """Speeds and heights of people; speeds of other creatures are scaled by their pace.

    A body between `speed` and `moving` neither stands for sure nor walks.
    """

    speed: float = tune(0.1, "m/s", "of the root: quiet standing sways at less, no step is slower")
    turn: float = tune(0.3, "rad/s", "of the root: quiet standing twists by less")
    bones: float = tune(0.25, "m/s", "on average: who waves, rises or crouches does not just stand")
    settled: float = tune(1.5, "1", "times those: what has come to rest; a fade takes what is left")
    moving: float = tune(0.3, "m/s", "of the root: people who shift their weight go slower")
    toe: float = tune(0.15, "m/s", "article 002: a toe that is slower is in contact with the floor")
    aside: float = tune(math.radians(15.0), "rad", "one that faces aside by more turns first")
    turn_price: float = tune(0.1, "m²", "of a turn's square: the calmest frame hardly turns either")
    heel: float = tune(0.05, "m", "an ankle that much above its height when it stands is raised")

    @property
    def settled_speed(self) -> float:
        """The speed of the root in m/s up to which motion that is played has come to rest."""
        return self.settled * self.speed


AT_REST = RestRules()

"""Tuned numbers for the ends of scripts and for classifying gaits; no user changes them."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class PerformanceNumbers:
    """Times and speeds are those of people."""

    walk_to_run: float = tune(2.1, "m/s", "people prefer to run from about this on: Hreljac 1993")
    lead_in: float = tune(1.0, "s", "of standing before a script, for idles and a first step")
    stop: float = tune(1.5, "s", "to come to rest at the end of a whole script")
    seeded_length: float = tune(20.0, "s", "of a script that is drawn: some ten turns")
    pushed_after: tuple[float, float] = tune((2.5, 4.0), "s", "between pushes: time to recover")
    slowest: float = tune(0.1, "m/s", "a slower circle would take minutes")
    root_step: float = tune(1.0 / 60.0, "s", "to measure velocities as the root changes: a tick")


NUMBERS = PerformanceNumbers()

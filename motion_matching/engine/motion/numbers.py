"""Tuned numbers for conforming clips, standing toes and headings; no user changes them."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class MotionNumbers:
    """Lengths and speeds are those of people."""

    # clips of one skeleton
    animated_way: float = tune(1e-3, "m", "a bone that moves less in its parent is not animated")
    rest_tolerance: float = tune(0.02, "1", "of a bone's length: exporters round rest poses")
    shortest_bone: float = tune(0.05, "m", "as which tips of fingers count in `rest_tolerance`")
    # contacts
    peoples_legs: tuple[float, float] = tune((0.5, 1.35), "m", "thigh to toe, from child to adult")
    swing_percentile: int = tune(95, "%", "of a toe's speeds, in a swing: above are faults")
    rest_percentile: int = tune(20, "%", "of a toe's speeds, at rest: it stands half of the time")
    trembling_times: float = tune(3.0, "1", "a resting toe's speed varies by this: by eye")
    resting_most: float = tune(0.2, "1", "of a toe's speed in a swing: what is faster never rests")
    swing_speed: float = tune(3.5, "m/s", "of toes of people who walk: other bodies' count by it")
    half_limit: float = tune(0.5, "1", "of a limit, where only one step is sure")
    steady_seconds: float = tune(0.15, "s", "to average a trembling toe's velocity: by eye")
    between_swings: float = tune(0.4, "1", "of a swing's speed: slower lies between two")
    steady_share: float = tune(0.75, "1", "of these times with a contact, unless a toe is unsteady")
    between_percentile: int = tune(30, "%", "of speeds between swings, at rest among them")
    unsteady_times: float = tune(2.0, "1", "of that speed, for an unsteady toe at rest: by eye")
    # the simulation bone
    untrusted_direction: float = tune(0.3, "1", "a shorter smoothed direction is ignored")
    trusted_direction: float = tune(0.9, "1", "a longer smoothed direction is the heading")
    upside_down_cosine: float = tune(0.15, "1", "of half the tilt of hips with no heading: 163°")
    moving_speed: float = tune(0.4, "m/s", "from which a body moves for sure")
    swinging_rate: float = tune(1.3, "rad/s", "up to which a turn is the swing of hips in a step")
    turning_rate: float = tune(2.1, "rad/s", "from which it is a sharp turn")


NUMBERS = MotionNumbers()

"""How clips are made alike, where toes stand, and where a body heads: numbers no user changes."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class MotionNumbers:
    """Lengths and speeds are those of people."""

    # clips of one skeleton
    animated_way: float = tune(1e-3, "m", "a bone that moves less in its parent is not animated")
    rest_tolerance: float = tune(
        0.02, "1", "of a bone's length, by which rest poses may differ: as exporters round"
    )
    shortest_bone: float = tune(
        0.05, "m", "that a bone counts at least, so that tips of fingers may differ as well"
    )
    # contacts
    peoples_legs: tuple[float, float] = tune(
        (0.5, 1.35), "m", "from thigh to toe, of children and of tall adults"
    )
    swing_percentile: int = tune(
        95,
        "%",
        "of a toe's speeds, which is its speed in a swing: above are faults of a capture",
    )
    rest_percentile: int = tune(
        20, "%", "of a toe's speeds, while it rests: a toe stands half of the time"
    )
    trembling_times: float = tune(
        3.0, "1", "by how much the speed of a toe at rest varies: chosen by eye"
    )
    resting_most: float = tune(0.2, "1", "of a toe's speed in a swing: what is faster never rests")
    swing_speed: float = tune(3.5, "m/s", "speed of a toe in a swing of people who walk")
    half_limit: float = tune(
        0.5, "1", "of a limit: what counts as rest where only one step is known to be one"
    )
    steady_seconds: float = tune(
        0.15, "s", "over which a trembling toe's velocity is taken: chosen by eye"
    )
    between_swings: float = tune(
        0.4, "1", "of a toe's speed in a swing: what is slower lies between two swings"
    )
    steady_share: float = tune(
        0.75,
        "1",
        "share of these times and of slow frames with a contact, unless a toe is unsteady",
    )
    between_percentile: int = tune(
        30, "%", "of the speeds between two swings, which is of the rest among them"
    )
    unsteady_times: float = tune(
        2.0, "1", "times that speed, below which an unsteady toe rests: chosen by eye"
    )
    # the simulation bone
    untrusted_direction: float = tune(
        0.3, "1", "length of a smoothed direction, below which it is ignored"
    )
    trusted_direction: float = tune(
        0.9, "1", "length of a smoothed direction, above which it is the heading"
    )
    upside_down_cosine: float = tune(
        0.15, "1", "cosine of half the tilt (163 degrees), beyond which hips have no heading"
    )
    moving_speed: float = tune(
        0.4, "m/s", "from which standing has become moving, and windows are those of movement"
    )
    swinging_rate: float = tune(1.3, "rad/s", "up to which a turn is the swing of hips in a step")
    turning_rate: float = tune(2.1, "rad/s", "from which it is a sharp turn")


NUMBERS = MotionNumbers()

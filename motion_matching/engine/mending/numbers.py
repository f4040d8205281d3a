"""Numbers that separate lost and frozen frames from motion, each with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class MendingNumbers:
    """A leap exceeds the first three, relative to the prediction by the frames beside it."""

    # leaps
    leap_distance: float = tune(0.06, "1", "of the body's size: clean captures stay below 0.03")
    leap_acceleration: float = tune(80.0, "m/s²", "8 times a fall's; captured runs have 40")
    leap_contrast: float = tune(5.0, "1", "times `common_steps`: one kind of motion has 2 to 4")
    common_steps: int = tune(75, "%", "percentile compared with leaps: fast parts, no outliers")
    short_end: float = tune(0.25, "s", "a piece this short at an end is no motion")
    filled_gap: float = tune(0.1, "s", "frames lost for as long are filled: bodies go on straight")
    leaps_a_second: float = tune(2.0, "1/s", "more are animated steps, and no fault of a clip")
    leaps_anyway: int = tune(4, "1", "leaps that a clip of any length may have; by eye")
    # frozen motion
    moving_speed: float = tune(0.5, "m/s", "of a body of people's size around it; idling is slower")
    still: float = tune(0.02, "1", "of steps beside it; repeated frames differ by rounding alone")
    frozen: float = tune(0.2, "1", "of a clip; more are poses that are held on purpose")
    person_size: float = tune(1.7, "m", "to which speeds are scaled: an adult's height")
    # examined and reported frames
    frames_at_once: int = tune(4096, "1", "whose bones are in memory together; changes no result")
    size_frames: int = tune(200, "1", "of a clip that its size is measured on")
    ranges_named: int = tune(3, "1", "of frames in a sentence: more cannot be read at once")


NUMBERS = MendingNumbers()

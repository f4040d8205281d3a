"""Numbers for reading clips, each with its unit and its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class DatabaseNumbers:
    """Speeds and lengths are for people's size, if a body's size is divided out.

    Thresholds of tags are settings, in `tags.thresholds`; limits of files stay where they are read.
    """

    # peaks of limits
    frames_of_a_peak: int = tune(
        64, "1", "share a peak, so that other tags need not read all of them"
    )
    peaks_at_once: int = tune(32, "1", "measured in memory together; changes no result")
    # size
    same_size: float = tune(1e-3, "1", "off 1: what a divided length rounds to")
    size_digits: int = tune(6, "1", "of a size, behind the point: more are rounding of lengths")
    # speeds
    turning: float = tune(
        1.0, "rad/s", "from which a character turns: the sway of walking and running stays below"
    )
    full_speed: float = tune(
        50.0,
        "%",
        "percentile of the speeds in a direction, taken as its full speed: starts and stops "
        "are rare",
    )
    enough: float = tune(
        1.0, "s", "of a direction, or of either gait, from which its speed is known: two steps"
    )
    creeps: float = tune(0.03, "m/s", "of people: what is slower stands")
    speed_tolerance: float = tune(
        1.1, "1", "by which a speed may exceed the data's fastest: unseen up to a tenth"
    )
    # gaits
    person_leg: float = tune(0.9, "m", "from thigh to toe, of people who change at WALK_TO_RUN")
    duty: float = tune(
        0.5, "1", "of the time that walkers' feet stand, on many legs: Hildebrand's border"
    )
    duty_of_toes: float = tune(0.4, "1", "the same of two legs, of which toes count and stand less")
    limit_shift: float = tune(
        2.0, "1", "factor by which footfalls may shift the limit: beyond, contacts are wrong"
    )
    limits_alike: float = tune(
        0.1, "1", "of what parts the gaits, by which limits may be worse than the best; by eye"
    )
    # features
    contact_around: float = tune(
        0.1, "s", "around a frame, within which a foot's contact is averaged: a step's landing"
    )
    no_front: float = tune(
        0.1, "1", "mean length of the unit vectors ahead, below which a bone faces anywhere"
    )
    strides_ahead: float = tune(
        2.0, "1", "medians of the time between a foot's contacts that it looks ahead"
    )
    rounding_speed: float = tune(
        2e-5, "m/s", "slower is rounding, which is another in each build, as of feet that stand"
    )
    end_moment: float = tune(0.2, "s", "at an end of a range, that tell where its motion goes on")
    stride: float = tune(1.0, "s", "two steps of a walk, in which a body sways to both sides")
    constant: float = tune(
        1e-5, "1", "a feature that varies by less is constant, and is not divided by how it varies"
    )
    level: float = tune(0.02, "m", "ground that rises by less is level")
    sway: float = tune(
        math.radians(10.0), "rad", "by which hips turn in a step, also straight on: Perry"
    )
    # how features are drawn
    arrow_seconds: float = tune(
        0.2, "s", "an arrow ends where its bone would be then: longer ones cross each other"
    )
    direction_length: float = tune(0.3, "m", "of an arrow without a length: a forearm's")
    cross_size: float = tune(0.06, "m", "of a cross at a place: smaller than a joint")
    # tags and checks
    preference: float = tune(
        -1.0, "1", "the default bias of 'prefer': as a feature that is a standard deviation off"
    )
    compact_reach: float = tune(
        8.0, "m", "a bone with a longer way from its parent is kept whole: 16 bits are 0.1 mm then"
    )
    rounds: int = tune(
        16, "1", "of rounding rotations until they stay; two or three are enough for nearly all"
    )
    packed_at_once: int = tune(4096, "1", "frames: their arrays stay within caches")
    unit_tolerance: float = tune(
        0.01, "1", "by which a rotation's length may differ from 1: more is no rounding"
    )


NUMBERS = DatabaseNumbers()

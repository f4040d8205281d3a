"""Numbers that detect wrong floors, units and lengths of clips, each with unit and reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class SourceNumbers:
    """Lengths are shares of the legs' length, metres those of people.

    Without a source, the reason is what lies on either side of the number.
    """

    # floors
    other_floor: float = tune(
        0.03,
        "1",
        "a floor that is farther from that of the others is another one: below, soles and "
        "captures differ",
    )
    meant_floor: float = tune(
        0.2, "1", "and farther than this, it is meant to be, as that of a box or a pit"
    )
    highest_floor: float = tune(0.8, "1", "but not farther than this: nobody walks so high up")
    carrying: float = tune(
        0.06,
        "1",
        "feet so far above the lowest part of the body do not carry it: less than a sole and "
        "its bend",
    )
    floor_frames: int = tune(100, "1", "of a clip whose whole body is looked at")
    sure: float = tune(
        2.0, "1", "standard errors: the mean of stances lies within them in 95 % of all cases"
    )
    as_common: float = tune(
        0.8, "1", "of the seconds on the commonest floor: others may be taken instead; by eye"
    )
    misses_ground: float = tune(
        0.12, "1", "feet whose heights above a ground differ by more miss it: twice `uneven_feet`"
    )
    steepest_tilt: float = tune(
        math.radians(5.0), "rad", "a floor that is steeper is meant to be a slope"
    )
    level_feet: float = tune(0.04, "1", "standing feet whose heights differ by less are level")
    tilt_reach: float = tune(
        0.5, "1", "deviation of standing feet along a direction, from which on they tell of a tilt"
    )
    tilt_rest: float = tune(
        0.5, "1", "of the differences in height, that a tilt leaves at most; by eye"
    )
    uneven_feet: float = tune(
        0.06, "1", "standing feet whose heights differ by less stand on one floor"
    )
    stairs: float = tune(
        0.2, "1", "where they differ by more, they are meant to: a tread is 0.2 of a leg"
    )
    body_window: float = tune(0.3, "s", "in which a body rises or falls: half a step")
    uneven_rest: float = tune(
        0.6, "1", "of the differences that is left at most, unlike of feet that tremble; by eye"
    )
    # climbing
    climbs: float = tune(0.05, "m/s", "what rises or goes more slowly stands")
    slopes_alike: float = tune(0.1, "1", "slopes that differ by less are climbed alike: 6°")
    fastest: int = tune(
        95, "%", "percentile of speeds: how fast the data goes, without single frames"
    )
    flat_pitch: int = tune(
        10, "%", "percentile of a foot's pitches while it stands: flat, before its heel comes up"
    )
    ground_window: float = tune(
        0.5, "s", "about a step, over which the ground below the body is averaged"
    )
    even_ground: float = tune(
        0.001, "m", "by which ground differs that is level: rounding of files"
    )
    around_toe: float = tune(
        0.04, "m", "in which a given ground is looked for: half a foot's width"
    )
    same_ground: float = tune(
        1e-5, "m", "by which the ground of a foot changes while it stands: rounding"
    )
    step: float = tune(
        0.05, "m", "from one stance to the next that are a step up or down: no tread is as low"
    )
    lying: float = tune(
        0.35, "1", "of a slope by which feet are tilted that lie on it; on treads they are level"
    )
    told_climb: float = tune(0.1, "m", "up or down that are told: less is a door-sill")
    steady_climb: float = tune(
        0.7, "1", "of the fastest climb, from which on it is as steep as the ground; by eye"
    )
    highest_toe: float = tune(
        0.2, "1", "toes that stand on a floor at zero are below this: soles may be thick"
    )
    deepest_toe: float = tune(-0.1, "1", "and above this: they may sink into soft ground")
    level_stances: float = tune(
        0.06, "1", "heights of feet on a level floor lie within this; as `uneven_feet`"
    )
    few_contacts: float = tune(
        0.1, "1", "of frames with a contact, below which feet may tremble or slide"
    )
    # skeletons
    length_tolerance: float = tune(
        0.02,
        "1",
        "of a bone's length by which two sources may differ: rounding and calibration, and no "
        "other actor",
    )
    shortest_bone: float = tune(0.05, "m", "that a bone counts at least: 2 % of less are rounding")
    length_clips: int = tune(50, "1", "of which one has the lengths that most have")
    # clips
    tempos: tuple[float, float] = tune(
        (0.9, 1.1),
        "1",
        "of a clip's speed: a walk at a tenth more or less still looks like one, at a fifth "
        "hurried or slow",
    )
    way_window: float = tune(0.5, "s", "about a step, over which ways are compared")
    walk_speed: float = tune(
        0.4, "m/s", "by which feet on the ground slide back in a walk in place: a slow walk"
    )
    person_leg: float = tune(0.9, "m", "to which speeds are scaled: thigh to toe of an adult")
    in_place: float = tune(
        0.25, "1", "of the way that the feet push, below which hips stay in place"
    )
    unit_correlation: float = tune(
        0.9, "1", "of the ways of hips and feet that differ by their unit alone"
    )
    unit_ratio: float = tune(
        5.0, "1", "feet push half as far as hips go in runs; units differ by tens"
    )
    hips_speed: float = tune(20.0, "m/s", "of people's hips: twice as fast as the fastest sprint")
    shortest_leg: float = tune(0.015, "m", "of animals: a mouse's")
    longest_leg: float = tune(30.0, "m", "of giants: longer is another unit")
    loop_gap: float = tune(
        0.05, "m", "that a bone may jump where a loop starts again: blends hide it"
    )
    root_rest: float = tune(0.01, "m, rad", "below which a root bone counts as still")


NUMBERS = SourceNumbers()

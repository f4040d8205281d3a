"""Numbers that detect wrong floors, units and lengths of clips, each with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass
from math import radians

from ..settings import tune


@dataclass(frozen=True)
class SourceNumbers:
    """Lengths are shares of the legs' length, metres those of people.

    Without a source, the reason is what lies on either side of the number.
    """

    # floors
    other_floor: float = tune(0.03, "1", "farther off is another floor: soles differ by less")
    meant_floor: float = tune(0.2, "1", "and farther off it is meant to be: a box or a pit")
    highest_floor: float = tune(0.8, "1", "but not farther than this: nobody walks so high up")
    carrying: float = tune(0.06, "1", "feet higher above the lowest part carry nothing: bent soles")
    floor_frames: int = tune(100, "1", "of a clip whose whole body is looked at")
    sure: float = tune(2.0, "1", "standard errors: the mean of stances lies within in 95 %")
    as_common: float = tune(0.8, "1", "of the commonest floor's seconds: others may do; by eye")
    misses_ground: float = tune(0.12, "1", "feet that differ more miss it: twice `uneven_feet`")
    steepest_tilt: float = tune(radians(5.0), "rad", "a steeper floor is meant to be a slope")
    level_feet: float = tune(0.04, "1", "standing feet whose heights differ by less are level")
    tilt_reach: float = tune(0.5, "1", "deviation of feet along a direction that shows a tilt")
    tilt_rest: float = tune(0.5, "1", "of differences in height that a tilt leaves; by eye")
    uneven_feet: float = tune(0.06, "1", "feet whose heights differ by less stand on one floor")
    stairs: float = tune(0.2, "1", "where they differ more they are meant to: a tread is 0.2")
    body_window: float = tune(0.3, "s", "in which a body rises or falls: half a step")
    uneven_rest: float = tune(0.6, "1", "of the differences left, unlike trembling feet; by eye")
    # climbing
    climbs: float = tune(0.05, "m/s", "what rises or goes more slowly stands")
    slopes_alike: float = tune(0.1, "1", "slopes that differ by less are climbed alike: 6°")
    fastest: int = tune(95, "%", "percentile of speeds: how fast the data goes")
    flat_pitch: int = tune(10, "%", "percentile of a standing foot's pitches: flat, heel down")
    ground_window: float = tune(0.5, "s", "a step, over which the body's ground is averaged")
    even_ground: float = tune(0.001, "m", "by which level ground differs: rounding of files")
    around_toe: float = tune(0.04, "m", "where a given ground is looked for: half a foot's width")
    same_ground: float = tune(1e-5, "m", "by which a standing foot's ground changes: rounding")
    step: float = tune(0.05, "m", "between stances, of a step up or down: no tread is as low")
    lying: float = tune(0.35, "1", "of a slope that feet on it tilt by; on treads they are level")
    told_climb: float = tune(0.1, "m", "up or down that are told: less is a door-sill")
    steady_climb: float = tune(0.7, "1", "of the fastest climb: as steep as the ground; by eye")
    highest_toe: float = tune(0.2, "1", "toes on a floor at zero are lower: soles may be thick")
    deepest_toe: float = tune(-0.1, "1", "and above this: they may sink into soft ground")
    level_stances: float = tune(0.06, "1", "heights on a level floor lie within; as `uneven_feet`")
    few_contacts: float = tune(0.1, "1", "of frames with a contact: with fewer, feet may tremble")
    # skeletons
    length_tolerance: float = tune(0.02, "1", "of a bone's length: calibration, and no other actor")
    shortest_bone: float = tune(0.05, "m", "that a bone counts at least: 2 % of less are rounding")
    length_clips: int = tune(50, "1", "of which one has the lengths that most have")
    # clips
    tempos: tuple[float, float] = tune((0.9, 1.1), "1", "of a clip's: a fifth off looks unnatural")
    way_window: float = tune(0.5, "s", "about a step, over which ways are compared")
    walk_speed: float = tune(0.4, "m/s", "of feet that slide back in place: a slow walk")
    person_leg: float = tune(0.9, "m", "to which speeds are scaled: thigh to toe of an adult")
    in_place: float = tune(0.25, "1", "of the way feet push, below which hips stay in place")
    unit_correlation: float = tune(0.9, "1", "of ways of hips and feet that differ by a unit alone")
    unit_ratio: float = tune(5.0, "1", "feet push half the hips' way in runs; units differ by tens")
    hips_speed: float = tune(20.0, "m/s", "of people's hips: twice as fast as the fastest sprint")
    shortest_leg: float = tune(0.015, "m", "of animals: a mouse's")
    longest_leg: float = tune(30.0, "m", "of giants: longer is another unit")
    loop_gap: float = tune(0.05, "m", "that a bone may jump in a loop's seam: blends hide it")
    root_rest: float = tune(0.01, "m, rad", "below which a root bone counts as still")


NUMBERS = SourceNumbers()

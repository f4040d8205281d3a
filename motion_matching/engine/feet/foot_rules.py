"""How the feet of a live character land, keep apart and step: all numbers that no user changes.

Lengths and times are those of people; `sized_feet` has other creatures move by the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class FootRules:
    """Numbers of the live foot lock."""

    # a toe over the floor, and one that lands
    creeping: float = tune(
        0.1, "m/s", "a toe that is slower over the floor shuffles, and is not lifted"
    )
    swinging: float = tune(0.5, "m/s", "a toe that is faster swings, and clears the floor")
    lift: float = tune(
        0.04,
        "s",
        "halflife with which a toe or its tip is lifted: a tick or two, as it scrapes meanwhile",
    )
    sinks: float = tune(0.04, "s", "sinking is foreseen as long as lifting takes")
    landing: float = tune(
        0.08, "m", "a higher toe is in the air, though a fading jump calls it a contact"
    )
    same_place: float = tune(
        0.05, "m", "a toe let go that stands again as near has made a new contact"
    )
    rise: float = tune(
        0.04, "s", "halflife with which a foot comes up that started in the floor, as `lift`"
    )
    uneven: float = tune(
        0.05, "s", "halflife of how fast a character drifts: single ticks are uneven"
    )
    straight: float = tune(
        0.1, "s", "a toe goes straight to its place; its own motion slows it down in about that"
    )
    beside: float = tune(
        0.05, "s", "a body turns over both feet after a landing: until then each is on its side"
    )
    drift: float = tune(
        0.15, "s", "a character drifts on beside its motion: most is what fades after a jump"
    )
    near: float = tune(
        0.75, "1", "of the unlock radius: the rest is for what the body moves while the toe stands"
    )
    # feet that keep apart
    usual: float = tune(
        0.5, "%", "of the data's distances: feet keep to what all but single frames do"
    )
    least: float = tune(
        0.02, "%", "of the data's sides that count as crossed: the rest are faults of a capture"
    )
    apart: float = tune(0.3, "m", "feet of people that are never nearer cannot meet")
    line: float = tune(0.02, "m", "hips that are nearer have no side")
    aside: float = tune(
        0.13, "s", "halflife with which a foot goes aside: most of the way within `passes`"
    )
    passes: float = tune(0.25, "s", "about half a swing, for which feet are foreseen")
    compared: float = tune(
        0.06,
        "s",
        "feet that nothing is near need no look at each tick: they are foreseen for longer",
    )
    late: float = tune(
        0.01, "m", "feet keep farther apart than in the data, as they come aside too late"
    )
    # knees that the floor bends
    sunk: float = tune(
        0.01, "m", "a foot may sink so deep before its leg folds faster than its knee may"
    )
    floor: float = tune(
        0.06, "s", "a foot's way to the floor is foreseen: a knee bends that long before"
    )
    calm: float = tune(
        0.6,
        "1",
        "of a knee's acceleration, counted on to bend it in time: the way to the floor may change",
    )
    open: float = tune(
        0.5, "1", "cosine of a bend: a knee that is straighter has far to go for a shorter leg"
    )
    # a character that stands and steps to its place
    off: float = tune(
        0.02, "m", "feet stand to each other otherwise than in the motion: one steps at first"
    )
    later_off: float = tune(
        0.07, "m", "after some seconds: small differences between idles are no reason to step"
    )
    settles: float = tune(2.0, "s", "for so long a character that stops comes to its stance")
    away: float = tune(0.12, "m", "a toe farther off where the body has it steps")
    shift: float = tune(0.06, "m", "it lands at most so far off, so that it does not step again")
    step: float = tune(1.0 / 3.0, "s", "a step of a standing person takes about that")
    pause: float = tune(0.1, "s", "between two steps, in which the body shifts its weight")
    low: float = tune(0.01, "m", "the least height of such a step")
    high: float = tune(0.04, "m", "the greatest height of such a step")
    steep: float = tune(0.25, "1", "metres of height for each that a step is long")
    follow: float = tune(
        0.1, "s", "halflife with which a foot in the air follows a change of its place"
    )


RULES = FootRules()

"""What makes a contact, and how live feet land, keep apart and step: numbers no user changes."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class FootNumbers:
    """Lengths and times are those of people; `sized_feet` has other creatures move by the same."""

    # contacts of a take
    shortest_step: float = tune(
        0.2, "s", "a foot in the air for less that lands near has made no step: chosen by eye"
    )
    step_length: float = tune(
        0.15, "m", "a foot that lands nearer within `shortest_step` has made no step: chosen by eye"
    )
    flicker: float = tune(
        0.07, "s", "a shorter contact, of two frames at 30 fps, is noise about the limit of speed"
    )
    flicker_when_cut: float = tune(
        0.13, "s", "as `flicker`, of a contact whose end was cut: a rest of a drag is a twitch"
    )
    sliding_height: float = tune(
        0.025, "m", "MANN: up to this height a toe that moves is a sliding foot"
    )
    farthest_stand: float = tune(
        1.75, "1", "radii within which a foot with the time to step there stands: chosen by eye"
    )
    # dragged feet
    quickest_step: float = tune(0.22, "s", "a quick step on the spot; a shorter one is a twitch")
    no_other_stands: float = tune(
        1.0, "1", "radii that a frame costs besides in which a foot steps while no other one stands"
    )
    shortened_way: float = tune(
        0.75, "1", "of the way from a place at ease to where steps are shortest; legs reach no more"
    )
    drag_sweeps: int = tune(8, "1", "over all plants, after which they hardly move")
    drag_projections: int = tune(60, "1", "after which a place that is near enough is given up")
    projected_to: float = tune(
        0.995, "1", "of a radius, to which projections lead, so that they end"
    )
    # a toe over the floor, and one that lands
    creeping_speed: float = tune(
        0.1, "m/s", "a toe that is slower over the floor shuffles, and is not lifted"
    )
    swinging_speed: float = tune(0.5, "m/s", "a toe that is faster swings, and clears the floor")
    lift_halflife: float = tune(
        0.04,
        "s",
        "halflife with which a toe or its tip is lifted: a tick or two, as it scrapes meanwhile",
    )
    sinking_foreseen: float = tune(0.04, "s", "sinking is foreseen as long as lifting takes")
    landing_height: float = tune(
        0.08, "m", "a higher toe is in the air, though a fading jump calls it a contact"
    )
    same_place: float = tune(
        0.05, "m", "a toe let go that stands again as near has made a new contact"
    )
    rise_halflife: float = tune(
        0.04, "s", "a foot comes up that started in the floor, as with `lift_halflife`"
    )
    drift_halflife: float = tune(
        0.05, "s", "of how fast a character drifts: single ticks are uneven"
    )
    straight_seconds: float = tune(
        0.1, "s", "a toe goes straight to its place; its own motion slows it down in about that"
    )
    beside_seconds: float = tune(
        0.05, "s", "a body turns over both feet after a landing: until then each is on its side"
    )
    drift_seconds: float = tune(
        0.15, "s", "a character drifts on beside its motion: most is what fades after a jump"
    )
    landing_radius: float = tune(
        0.75, "1", "of the unlock radius: the rest is for what the body moves while the toe stands"
    )
    landings_tried: int = tune(
        24, "1", "of a landing put off: the last is 80 times as late, as no foot is in the air for"
    )
    later_each_try: float = tune(
        1.2, "1", "times as late: `landing_halvings` then find the time in between"
    )
    landing_halvings: int = tune(
        10, "1", "of the last step: to a thousandth, as the time changes evenly with the flight"
    )
    # feet that keep apart
    usual_distance: float = tune(
        0.5, "%", "of the data's distances: feet keep to what all but single frames do"
    )
    crossed_share: float = tune(
        0.02, "%", "of the data's sides that count as crossed: the rest are faults of a capture"
    )
    meeting_distance: float = tune(0.3, "m", "feet of people that are never nearer cannot meet")
    hips_line: float = tune(0.02, "m", "hips that are nearer have no side")
    aside_halflife: float = tune(
        0.13, "s", "of a foot going aside: most of the way within `passing_seconds`"
    )
    passing_seconds: float = tune(0.25, "s", "about half a swing, for which feet are foreseen")
    compared_every: float = tune(
        0.06,
        "s",
        "feet that nothing is near need no look at each tick: they are foreseen for longer",
    )
    lateness_margin: float = tune(
        0.01, "m", "feet keep farther apart than in the data, as they come aside too late"
    )
    # knees and ankles that follow
    sunk: float = tune(
        0.01, "m", "a foot may sink so deep before its leg folds faster than its knee may"
    )
    floor_foreseen: float = tune(
        0.06, "s", "a foot's way to the floor is foreseen: a knee bends that long before"
    )
    counted_on: float = tune(
        0.6,
        "1",
        "of a knee's acceleration, counted on to bend it in time: the way to the floor may change",
    )
    open_knee: float = tune(
        0.5, "1", "cosine of a bend: a knee that is straighter has far to go for a shorter leg"
    )
    leap_passes: int = tune(
        4, "1", "between toe and ankle, until neither accelerates too hard: chosen by eye"
    )
    knee_tries: int = tune(
        3, "1", "times that a foot is moved less, for a knee that would leap: chosen by eye"
    )
    # a character that stands and steps to its place
    stance_off: float = tune(
        0.02, "m", "feet stand to each other otherwise than in the motion: one steps at first"
    )
    later_stance_off: float = tune(
        0.07, "m", "after some seconds: small differences between idles are no reason to step"
    )
    settling_seconds: float = tune(
        2.0, "s", "for so long a character that stops comes to its stance"
    )
    toe_off: float = tune(0.12, "m", "a toe farther off where the body has it steps")
    landing_off: float = tune(
        0.06, "m", "it lands at most so far off, so that it does not step again"
    )
    step_seconds: float = tune(1.0 / 3.0, "s", "a step of a standing person takes about that")
    step_pause: float = tune(0.1, "s", "between two steps, in which the body shifts its weight")
    least_step_height: float = tune(
        0.01, "m", "the least height of such a step: a lower one scrapes"
    )
    greatest_step_height: float = tune(
        0.04, "m", "the greatest height of such a step: a higher one stamps"
    )
    step_steepness: float = tune(0.25, "1", "metres of height for each that a step is long")
    follow_halflife: float = tune(
        0.1, "s", "halflife with which a foot in the air follows a change of its place"
    )
    # planting
    frames_at_once: int = tune(
        1024, "1", "frames of poses bent at once: those of a long take would fill the memory"
    )


NUMBERS = FootNumbers()

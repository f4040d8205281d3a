"""Tuned numbers for contacts, and for live feet that land, keep apart and step."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class FootNumbers:
    """Lengths and times are in body units."""

    # contacts of a take
    shortest_step: float = tune(0.2, "s", "a shorter way in the air is no step if near: by eye")
    step_length: float = tune(0.15, "m", "a nearer place is no step if soon: by eye")
    flicker: float = tune(0.07, "s", "two frames at 30 fps are noise about the limit")
    flicker_when_cut: float = tune(0.13, "s", "as `flicker`, of a rest of a drag: a twitch")
    sliding_height: float = tune(0.025, "m", "MANN: a toe that moves lower is a sliding foot")
    farthest_stand: float = tune(1.75, "1", "radii, of a foot with the time to step there: by eye")
    # dragged feet
    quickest_step: float = tune(0.22, "s", "a quick step on the spot; a shorter one is a twitch")
    no_other_stands: float = tune(1.0, "1", "radii per frame of a step with no other foot down")
    shortened_way: float = tune(
        0.75, "1", "of the way from a place at ease to where steps are shortest; legs reach no more"
    )
    drag_sweeps: int = tune(8, "1", "over all plants, after which they hardly move")
    drag_projections: int = tune(60, "1", "after which a place that is near enough is given up")
    projected_to: float = tune(0.995, "1", "of a radius, to which projections lead to end")
    # a toe over the floor, and one that lands
    creeping_speed: float = tune(0.1, "m/s", "a slower toe over the floor shuffles and stays low")
    swinging_speed: float = tune(0.5, "m/s", "a toe that is faster swings, and clears the floor")
    lift_halflife: float = tune(0.04, "s", "of a lifted toe: it scrapes for a tick or two")
    sinking_foreseen: float = tune(0.04, "s", "sinking is foreseen as long as lifting takes")
    landing_height: float = tune(
        0.08, "m", "a higher toe is in the air, whatever a fading jump says"
    )
    same_place: float = tune(0.05, "m", "a toe that stands again nearer has no new contact")
    rise_halflife: float = tune(0.04, "s", "of a foot that started in the floor")
    drift_halflife: float = tune(0.05, "s", "of a character's drift: single ticks are uneven")
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
    landings_tried: int = tune(24, "1", "the last is 80 times as late: no foot flies that long")
    later_each_try: float = tune(1.2, "1", "times as late; `landing_halvings` then refine it")
    landing_halvings: int = tune(10, "1", "of the last step: to a thousandth of it")
    # feet that keep apart
    usual_distance: float = tune(
        0.5, "%", "of the data's distances: feet keep to what all but single frames do"
    )
    crossed_share: float = tune(
        0.02, "%", "of the data's sides that count as crossed: the rest are faults of a capture"
    )
    meeting_distance: float = tune(0.3, "m", "feet of people that are never nearer cannot meet")
    hips_line: float = tune(0.02, "m", "hips that are nearer have no side")
    aside_halflife: float = tune(0.13, "s", "of a foot going aside within `passing_seconds`")
    passing_seconds: float = tune(0.25, "s", "about half a swing, for which feet are foreseen")
    compared_every: float = tune(0.06, "s", "feet far from others need no look at each tick")
    lateness_margin: float = tune(
        0.01, "m", "feet keep farther apart than in the data, as they come aside too late"
    )
    # knees and ankles that follow
    sunk: float = tune(0.01, "m", "of a foot, before its leg folds faster than its knee may")
    floor_foreseen: float = tune(
        0.06, "s", "a foot's way to the floor is foreseen: a knee bends that long before"
    )
    counted_on: float = tune(0.6, "1", "of a knee's acceleration: the way to the floor may change")
    open_knee: float = tune(
        0.5, "1", "cosine of a bend: a knee that is straighter has far to go for a shorter leg"
    )
    leap_passes: int = tune(4, "1", "until neither toe nor ankle is too hard: by eye")
    knee_tries: int = tune(3, "1", "to move a foot less for a knee that would leap: by eye")
    # a character that stands and steps to its place
    stance_off: float = tune(
        0.02, "m", "feet stand to each other otherwise than in the motion: one steps at first"
    )
    later_stance_off: float = tune(
        0.07, "m", "after some seconds: small differences between idles are no reason to step"
    )
    settling_seconds: float = tune(2.0, "s", "in which a character that stops finds its stance")
    toe_off: float = tune(0.12, "m", "a toe farther off where the body has it steps")
    landing_off: float = tune(0.06, "m", "it lands no farther off, not to step again")
    step_seconds: float = tune(1.0 / 3.0, "s", "a step of a standing person takes about that")
    step_pause: float = tune(0.1, "s", "between two steps, in which the body shifts its weight")
    least_step_height: float = tune(0.01, "m", "of such a step: a lower one scrapes")
    greatest_step_height: float = tune(0.04, "m", "of such a step: a higher one stamps")
    step_steepness: float = tune(0.25, "1", "metres of height for each that a step is long")
    follow_halflife: float = tune(0.1, "s", "of a foot in the air after its place")


NUMBERS = FootNumbers()

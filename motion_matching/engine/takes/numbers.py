"""Tuned numbers for bakes, measures and pruning; no user changes them."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class TakeNumbers:
    """Lengths, times and speeds are those of people."""

    # bakes
    longest_step: float = tune(0.4, "s", "of a standing character: a longer one is meant")
    shortest_step: float = tune(0.07, "m", "a shorter one corrects a place and leads nowhere")
    step_around: float = tune(0.3, "s", "before and after, to tell how far it goes")
    in_air: float = tune(0.4, "m", "at which a fading jump holds a toe in the air")
    heel_speed: float = tune(0.5, "m/s", "of the body, for heels to come down: walking feet pitch")
    faded: float = tune(1e-6, "1", "share of a jump that is nothing any more")
    locked_speed: float = tune(0.01, "m/s", "of a planted toe: a centimetre a second is not seen")
    most_frames_on: int = tune(2, "1", "per tick: more is a jump at any tempo")
    same_place: float = tune(0.03, "m", "off where a recording began, to go on from it")
    # measures
    turn_angle: float = tune(89.0, "°", "of a wish in a tick: 90 degrees, but for rounding")
    elsewhere_angle: float = tune(60.0, "°", "of a wish that ends the answer before it")
    other_heading: float = tune(30.0, "°", "by which a heading that changes does the same")
    response_share: float = tune(0.9, "1", "of the new speed: rise times end at nine tenths")
    skate_height: float = tune(0.05, "m", "above the floor: as in the benchmark of Kimodo")
    skate_speed: float = tune(0.2, "m/s", "of a toe near the floor: as in the benchmark of Kimodo")
    slip_seconds: float = tune(0.1, "s", "of a skate, as an eye sees it: by eye")
    slip_way: float = tune(0.05, "m", "of a planted toe in all, as an eye sees it: by eye")
    crossed: float = tune(0.05, "m", "of an ankle past the other: feet may touch")
    freeze_seconds: float = tune(0.5, "s", "of standing while it is to go: shorter are starts")
    freeze_speed: float = tune(0.5, "m/s", "from which it is to go: slower, it shifts weight")
    covered_near: float = tune(0.1, "1", "of a way, within which data covers its end")
    covered_least: float = tune(0.1, "m", "within which it covers it however short the way is")
    covered_turn: float = tune(0.3, "rad", "by which its heading may differ: 17 degrees (by eye)")
    # takes unlike the frames they play
    unlike_joints: float = tune(
        0.1, "m", "mean off those frames: takes of three sets are off by up to 0.07"
    )
    unlike_slide: float = tune(0.02, "m/s", "more in contacts: planted feet slide less than data")
    unlike_slips: float = tune(6.0, "1/min", "more: two in a take of twenty seconds are seen")
    unlike_legs: float = tune(0.02, "1", "more of the time crossed: half a second in twenty")
    # recovery from pushes
    recovered_share: float = tune(0.1, "1", "of the desired speed that may be off")
    averaged: float = tune(0.2, "s", "over which velocities are averaged: steps are no pushes")
    before_push: float = tune(1.0, "s", "from which the usual difference is measured")
    least_way: float = tune(2.0, "s", "a way that ends sooner does not tell whether one recovers")
    least_speed: float = tune(1e-3, "m/s", "slower than which there is no way to be on")
    # pruning
    script_seconds: float = tune(60.0, "s", "of each script, whose takes tell what is played")
    piece: float = tune(1.0, "s", "that stays or goes: with less, motion is all jumps")
    played_share: float = tune(0.8, "1", "of the room: the rest is for what could be needed")
    rounds: int = tune(50, "1", "of adding: what is far is measured anew after each")


NUMBERS = TakeNumbers()

"""What bakes, measures and pruning count: numbers no user changes."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class TakeNumbers:
    """Lengths, times and speeds are those of people."""

    # bakes
    longest_step: float = tune(
        0.4, "s", "of a step of a standing character, at most: a longer one is meant"
    )
    shortest_step: float = tune(
        0.07, "m", "up to which such a step is left out: it corrects a place and leads nowhere"
    )
    step_around: float = tune(
        0.3, "s", "around it, that tell how far it goes: most of a step before and after"
    )
    in_air: float = tune(
        0.4, "m", "above where it stands, at which a fading jump holds a toe in the air"
    )
    heel_speed: float = tune(
        0.5,
        "m/s",
        "of the character, up to which heels come down: at a walk, feet pitch as blended",
    )
    faded: float = tune(1e-6, "1", "share of a jump that is nothing any more")
    locked_speed: float = tune(
        0.01, "m/s", "a slower planted toe is locked: a centimetre in a second is not seen"
    )
    most_frames_on: int = tune(
        2, "1", "that a tick goes on by at most; more is a jump, whatever the tempo"
    )
    same_place: float = tune(
        0.03, "m", "by which joints may be elsewhere than when a recording began, to go on from it"
    )
    same_size: float = tune(
        1e-3, "1", "by which a size differs from 1 by rounding, as of a divided length"
    )
    # measures
    turn_angle: float = tune(
        89.0, "°", "of a wish, in one tick: a turn of 90 degrees, but for rounding"
    )
    elsewhere_angle: float = tune(
        60.0, "°", "by which a wish that turns away ends the answer to the one before"
    )
    other_heading: float = tune(30.0, "°", "by which a heading that changes does the same")
    response_share: float = tune(
        0.9, "1", "of the new speed, which counts as an answer: rise times are taken to nine tenths"
    )
    skate_height: float = tune(
        0.05, "m", "above the floor: a toe that moves below it skates, as a sole reaches as far"
    )
    skate_speed: float = tune(0.2, "m/s", "a toe that is faster near the floor is seen to skate")
    slip_seconds: float = tune(0.1, "s", "that a toe skates for, to count as a slip")
    slip_way: float = tune(0.05, "m", "that it goes in all, to count as one")
    crossed: float = tune(
        0.05, "m", "that an ankle is past the other: feet beside each other are not crossed"
    )
    freeze_seconds: float = tune(
        0.5, "s", "that a character stands for while it is to go: shorter ones are starts"
    )
    freeze_speed: float = tune(
        0.5, "m/s", "from which it is to go: slower, one shifts one's weight"
    )
    standing_seconds: float = tune(
        0.5, "s", "of a stance, from which its width counts: as long as the shortest idle"
    )
    covered_near: float = tune(
        0.1, "1", "of the way to a wished place, within which data that gets there covers it"
    )
    covered_least: float = tune(0.1, "m", "within which it covers it however short the way is")
    covered_turn: float = tune(0.3, "rad", "by which its heading may differ: 17 degrees (by eye)")
    # recovery from pushes
    recovered_share: float = tune(
        0.1, "1", "of the desired speed, down to which the difference has to come"
    )
    averaged: float = tune(0.2, "s", "over which velocities are averaged: steps are no pushes")
    before_push: float = tune(1.0, "s", "from which the usual difference is measured")
    least_way: float = tune(2.0, "s", "a way that ends sooner does not tell whether one recovers")
    least_speed: float = tune(1e-3, "m/s", "slower than which there is no way to be on")
    # pruning
    script_seconds: float = tune(60.0, "s", "of each script, whose takes tell what is played")
    piece: float = tune(
        1.0, "s", "of a source, that stays or goes together: shorter, and all motion is jumps"
    )
    played_share: float = tune(
        0.8, "1", "of the room, which played motion takes at most: the rest is what could be needed"
    )
    rounds: int = tune(
        50, "1", "parts in which what is missing is added: what is far is measured anew after each"
    )


NUMBERS = TakeNumbers()

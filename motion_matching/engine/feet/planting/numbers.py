"""Weights and bounds of the problem that places feet, each with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass

from ...settings import tune


@dataclass(frozen=True)
class FeetNumbers:
    """Weights are relative to that of keeping to the data's pace near the ground.

    A time tells how a wish for a quantity weighs against one for its rate of change: with 0.05 s, a
    centimetre off weighs as much as 0.2 m/s off.
    """

    # tasks
    near: float = tune(3.0, "1", "near the ground a toe moves as in the data first")
    free: float = tune(0.05, "1", "high above ground only the end of a step counts, not its pace")
    come_back: float = tune(0.016, "s", "a swing returns at once, as evenly as `even` allows")
    ease: float = tune(0.5, "s", "a step: farther from any contact a foot stays as it is")
    stand: float = tune(90.0, "1/s²", "a plant moves 1 or 2 cm to where both of its ends reach it")
    firm: float = tune(1e8, "1/s²", "nothing else moves a foot that a person placed")
    stay: float = tune(1e5, "1/s²", "far from contacts a foot moves for limits alone")
    level: float = tune(20.0, "1", "a plant keeps to the floor rather than a swing to its height")
    even: float = tune(0.08, "s", "a quarter of a swing, in which a foot comes up to speed")
    depart: float = tune(500.0, "1", "a foot rests in the frames beside a plant, not only in it")
    rise: float = tune(0.008, "s", "a foot comes up as soon as it may leave the ground")
    leave: float = tune(25.0, "m/s²", "a clearance of 2.5 cm takes 0.08 s, a quarter of a swing")
    steep: float = tune(0.12, "1", "of a hurried step's length: a shuffle of 10 cm is no stamp")
    highest: float = tune(0.05, "m", "a hurried foot clears the ground and does not stamp")
    drop: float = tune(400.0, "1/s²", "hips come down before a plant gives way or a heel comes up")
    drop_even: float = tune(0.2, "s", "half a step, in which hips come down")
    knee: float = tune(0.075, "s", "about `even`: a leg gets longer as evenly as its foot moves")
    knee_gain: float = tune(8.0, "1", "straighter than 7°, the angle of a knee is noise")
    pitch: float = tune(0.06, "s", "a heel comes up once hips are down and a leg is at its end")
    # limits
    lower: float = tune(0.05, "1", "of a leg's length: lower, a walk looks like a crouch")
    heel: float = tune(0.7, "rad", "a person stands on the toes at 40°")
    friction: float = tune(6000.0, "1/s", "a foot slides only where the body would tear it off")
    loading: float = tune(0.2, "s", "from landing to the middle of a stance at a walk: Perry")
    clear: float = tune(1000.0, "1/s", "a swing is lower before a leg folds or tears")
    apart: float = tune(2000.0, "1/s", "feet overlap before one of them slides")
    crossed: float = tune(0.03, "m", "where motion crosses legs; beyond 5 cm they count as crossed")
    # the solver
    trust: float = tune(0.25, "rad", "up to it, an arc is straight within 1 % of the foot's length")
    position_step: float = tune(0.006, "s", "as large as lets passes converge soonest")
    rest_step: float = tune(16000.0, "1", "as large, for a toe at rest: plants move as one")
    change_step: float = tune(3.0, "1", "as large, for accelerations and rates")
    relaxation: float = tune(1.6, "1", "Boyd et al. 2011, 3.4.3")
    rounds: int = tune(3, "1", "after which most feet turn no farther")
    most_rounds: int = tune(7, "1", "of a window in which feet land where legs hardly reach")
    kept: float = tune(0.005, "m", "a limit that is passed by less is kept")
    passes: int = tune(20, "1", "of the first rounds, which only find where feet are about")
    last: int = tune(100, "1", "of later rounds, after which most limits are kept to 0.2 mm")
    accuracy: float = tune(2e-4, "m", "below what can be seen")
    window: float = tune(12.0, "s", "of a take that are solved at once, to keep memory small")
    looks_to_edge: int = tune(33, "1", "at the ground on a plant's way: by eye")
    ahead: float = tune(1.5, "s", "two steps that a window looks beyond its end")


NUMBERS = FeetNumbers()

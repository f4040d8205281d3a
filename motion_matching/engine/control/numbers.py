"""The simulation object, where the body goes beside it, and how a take goes on: tuned numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class ControlNumbers:
    """Speeds, lengths and times are those of people."""

    # what comes to rest
    stick_rest: float = tune(
        1e-3,
        "1",
        "of a stick, or m/s of a wish: less is no request, as sticks do not return to 0 exactly",
    )
    gait_left: float = tune(1e-4, "1", "of a change of gait, less than which it has ended")
    resting_rate: float = tune(
        0.2,
        "rad/s",
        "what turns slower rests: a spring's end takes long, and half a second more shows nothing",
    )
    resting_angle: float = tune(
        0.05, "rad", "3 degrees off its wish, which nobody sees of a simulation object"
    )
    rest_ahead: float = tune(
        1.0, "s", "that a path stays for to count as one at rest: as long as methods look ahead"
    )
    rest_near: float = tune(0.02, "m", "within which such a path stays: chosen by eye")
    # an object that waited, and one among obstacles
    catch_up_seconds: float = tune(
        1.0, "s", "in which it makes up for what it waited; sooner, characters hurry visibly"
    )
    farthest_behind: float = tune(
        1.0, "m", "that it makes up for at most: more is a way that nobody asked for any more"
    )
    hardly_behind: float = tune(1e-3, "m", "less than a millimetre counts as none")
    contact_step: float = tune(
        1.0 / 6.0, "s", "a longer step against obstacles is divided, because springs ignore them"
    )
    right_ahead: float = tune(
        0.1, "s", "at full speed: closer obstacles block, though the data may lead away for a step"
    )
    probe: float = tune(
        1e-3, "s", "of going on that shows in which direction obstacles let an object move"
    )
    # the body beside it
    lean_halflife: float = tune(
        0.3, "s", "with which a standing body recentres over its feet: about a shift of weight"
    )
    lean_speed: float = tune(
        0.05, "m/s", "that it does so with at most: half of what counts as standing"
    )
    lean_rate: float = tune(
        0.05, "rad/s", "that it turns with meanwhile: feet stand, and only knees give (by eye)"
    )
    foot_radius: float = tune(
        0.4, "m", "from the character's axis, within which its feet stand: about half a step"
    )
    # takes
    ease_legs: float = tune(
        0.3, "s", "within which legs go over from planted feet to those of the rest: about a step"
    )
    candidates: int = tune(
        3, "1", "recorded for each jump: what one reads of a decision at a glance"
    )


NUMBERS = ControlNumbers()

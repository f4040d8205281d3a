"""Tuned numbers for the simulation object, the body that follows it, and continued takes."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class ControlNumbers:
    """Speeds, lengths and times are those of people."""

    # rest
    stick_rest: float = tune(1e-3, "1", "of a stick, or m/s of a wish: sticks do not return to 0")
    gait_left: float = tune(1e-4, "1", "of a change of gait, less than which it has ended")
    resting_rate: float = tune(0.2, "rad/s", "what turns slower rests: springs end slowly")
    resting_angle: float = tune(0.05, "rad", "3 degrees off its wish show on no simulation object")
    rest_ahead: float = tune(1.0, "s", "of a path that stays: as long as methods look ahead")
    rest_near: float = tune(0.02, "m", "within which such a path stays: chosen by eye")
    # an object that waited, and one among obstacles
    catch_up_seconds: float = tune(1.0, "s", "to make up for waiting; sooner, characters hurry")
    farthest_behind: float = tune(
        1.0, "m", "that it makes up for: a longer way is asked for no more"
    )
    hardly_behind: float = tune(1e-3, "m", "less than a millimetre counts as none")
    contact_step: float = tune(
        1.0 / 6.0, "s", "springs ignore obstacles, so longer steps are divided"
    )
    right_ahead: float = tune(0.1, "s", "at full speed: nearer obstacles block, whatever the data")
    probe: float = tune(1e-3, "s", "of going on that shows where obstacles let an object move")
    # the body that follows it
    lean_halflife: float = tune(0.3, "s", "of a body that recentres over its feet: by eye")
    lean_speed: float = tune(0.05, "m/s", "at most while it does so: half of that of standing")
    lean_rate: float = tune(0.05, "rad/s", "at most meanwhile: feet stand, knees give: by eye")
    foot_radius: float = tune(0.4, "m", "of the feet around the character's axis: by eye")
    # takes
    ease_legs: float = tune(0.3, "s", "from planted feet to those of the rest: a step")
    candidates: int = tune(3, "1", "recorded for each jump: as many as one reads at a glance")


NUMBERS = ControlNumbers()

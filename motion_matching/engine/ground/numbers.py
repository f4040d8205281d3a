"""How the ground is looked at, and how a disc moves among obstacles: numbers no user changes."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class GroundNumbers:
    """Lengths are those of people."""

    # steps and slopes
    highest_step: float = tune(
        0.3,
        "m",
        "that a foot steps up or down; higher is an obstacle. Stairs of buildings have up to 0.2 m",
    )
    level_slope: float = tune(0.08, "1", "4.6 degrees, up to which people walk as on the level")
    looks_ahead_every: float = tune(
        0.125, "s", "between looks at the ground ahead: a quarter of a step at a walk"
    )
    looks_averaged: int = tune(
        2, "1", "before and after a time: half a second in all, as the climbs of clips are averaged"
    )
    # footholds
    foothold_spacing: float = tune(
        0.02, "m", "between looks at the ground along a foot: finer than any tread, chosen by eye"
    )
    slope_reach: float = tune(
        0.02, "m", "ahead of a toe and behind it, where the ground tells its slope"
    )
    edge_bend: float = tune(
        0.01, "m", "by which three looks are off a line at an edge: chosen by eye"
    )
    edge_height: float = tune(
        0.025, "m", "from one look to the next at an edge: a slope of 51 degrees"
    )
    farthest_foothold: float = tune(
        0.16, "m", "that a foot is moved at most: half a tread and a bit"
    )
    # a disc among walls
    cell: float = tune(
        1.0,
        "m",
        "side of the squares by which walls are looked up; only the time of a look depends on it",
    )
    cell_margin: float = tune(
        0.5, "m", "of the squares, so that a disc and a step of it are looked up in one of them"
    )
    bounces: int = tune(
        8, "1", "contacts in one step, after which the disc stops where it is: chosen by eye"
    )
    pushes: int = tune(
        32,
        "1",
        "times that a disc that starts inside is moved out of the nearest wall: chosen by eye",
    )
    # a ray to the floor
    farthest_ray: float = tune(
        500.0, "m", "that a ray looks ahead: farther, no cursor means a place on the floor"
    )
    deepest_floor: float = tune(
        10.0, "m", "below a flat floor, to which a ray looks for a lower one"
    )
    ray_looks: int = tune(256, "1", "along a ray over a floor that is not flat: chosen by eye")
    ray_halvings: int = tune(
        24, "1", "of the part in which it meets the floor: to a tenth of a micrometre"
    )


NUMBERS = GroundNumbers()

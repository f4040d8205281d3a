"""Tuned numbers for sampling the ground, and for a disc that moves among obstacles."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class GroundNumbers:
    """Lengths are those of people."""

    # steps and slopes
    highest_step: float = tune(0.3, "m", "that a foot takes; stairs have 0.2 m, obstacles more")
    level_slope: float = tune(0.08, "1", "4.6 degrees, up to which people walk as on the level")
    looks_ahead_every: float = tune(0.125, "s", "of the ground ahead: a quarter of a walking step")
    looks_averaged: int = tune(
        2, "1", "before and after a time: half a second in all, as the climbs of clips are averaged"
    )
    # footholds
    foothold_spacing: float = tune(0.02, "m", "of looks along a foot: finer than any tread")
    slope_reach: float = tune(0.02, "m", "ahead of a toe and behind, to measure a slope")
    edge_bend: float = tune(0.01, "m", "of three looks off a line at an edge: by eye")
    edge_height: float = tune(0.025, "m", "between looks at an edge: a slope of 51 degrees")
    farthest_foothold: float = tune(0.16, "m", "that a foot is moved: half a tread and a bit")
    # a disc among walls
    cell: float = tune(1.0, "m", "side of the squares that walls are looked up by: speed only")
    cell_margin: float = tune(
        0.5, "m", "of the squares, so that a disc and a step of it are looked up in one of them"
    )
    bounces: int = tune(8, "1", "of a step, after which the disc stops: by eye")
    pushes: int = tune(32, "1", "out of the nearest wall, for a disc inside: by eye")
    # a ray to the floor
    farthest_ray: float = tune(500.0, "m", "a farther point is no place that a cursor means")
    deepest_floor: float = tune(10.0, "m", "below a flat floor, where a ray finds another")
    ray_looks: int = tune(256, "1", "along a ray over a floor that is not flat: chosen by eye")
    ray_halvings: int = tune(24, "1", "to where it meets the floor, within a micrometre")


NUMBERS = GroundNumbers()

"""Describe the request to a performer at one tick, independent of any device."""

from __future__ import annotations

from typing import NamedTuple

from ..units import measured


@measured(times="s", positions="m")
class FuturePath(NamedTuple):
    """An explicit future in the world: ascending seconds from now, positions and headings (K,)."""

    times: tuple[float, ...]
    positions: tuple[tuple[float, float], ...]
    yaws: tuple[float, ...]


@measured(velocity="m/s", push="m/s", look_at="m")
class Intent(NamedTuple):
    """The goal of one tick, in the world.

    `move` is a direction on the ground; length 1 is the full speed of the gait in that direction,
    relative to where the character faces. `velocity` in m/s replaces it, and `path` replaces both.
    `facing` is a heading in radians (0 looks along -Y); None faces the movement. `gait` blends from
    walking (0) to running (1). `tags` restrict the search to frames with all of them. `jump_to`
    requests one jump to a frame with a tag. `push` adds a velocity in m/s once, but not to a path.
    `enter` has motion matching jump to one frame, such as 'walk_01:120', if the database has it.
    `look_at` is a point in the world, in metres, that the head turns to if `look` is set.
    """

    move: tuple[float, float] = (0.0, 0.0)
    velocity: tuple[float, float] | None = None
    facing: float | None = None
    gait: float = 0.0
    path: FuturePath | None = None
    tags: frozenset[str] = frozenset()
    jump_to: str | None = None
    push: tuple[float, float] | None = None
    enter: str | None = None
    look_at: tuple[float, float, float] | None = None

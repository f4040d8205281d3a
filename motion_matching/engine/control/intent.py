"""What a performer wants at one tick, free of any device."""

from __future__ import annotations

from typing import NamedTuple


class FuturePath(NamedTuple):
    """An explicit future in the world: seconds from now (K,) ascending, places (K, 2) in metres, headings (K,)."""

    times: tuple[float, ...]
    positions: tuple[tuple[float, float], ...]
    yaws: tuple[float, ...]


class Intent(NamedTuple):
    """The wish of one tick, in the world.

    `move` is a direction on the ground whose length 1 means the full speed of the gait in that direction, relative to
    where the character faces; `velocity` in m/s replaces it where an exact one is wanted; `path` replaces both.
    `facing` is a heading in radians (0 looks along -Y), None faces the movement. `gait` blends from 0, walking, to 1,
    running. `tags` restrict the search to frames that carry them all; `jump_to` asks once for a frame with a tag.
    `push` gives once a velocity in m/s on top of what is there, as a shove does; a path takes none.
    """

    move: tuple[float, float] = (0.0, 0.0)
    velocity: tuple[float, float] | None = None
    facing: float | None = None
    gait: float = 0.0
    path: FuturePath | None = None
    tags: frozenset[str] = frozenset()
    jump_to: str | None = None
    push: tuple[float, float] | None = None

"""Turn the state of sticks and keys, relative to the view, into an intent in the world."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....engine.maths.planar import rotate_xy
from ....engine.performance.intent import Intent

Vector = tuple[float, float]

PUSH_SPEED = 2.0  # default speed of a push in m/s


class Controls(NamedTuple):
    """The controls at a tick: `move` and `face` are (left, ahead) in the view, at most of length 1.

    `face` is zero without a desired facing. `strafe` faces where the view looks. `push` is set for
    one tick.
    """

    move: Vector = (0.0, 0.0)
    face: Vector = (0.0, 0.0)
    run: bool = False
    strafe: bool = False
    push: bool = False

    def to_intent(self, view_heading: float, push_speed: float = PUSH_SPEED) -> Intent:
        """Return the intent in a view with a heading in radians; a push gives `push_speed` m/s."""
        facing = None
        if self.face != (0.0, 0.0):
            facing = view_heading + math.atan2(*self.face)
        elif self.strafe:
            facing = view_heading
        push = None
        if self.push:
            length = math.hypot(*self.move)
            x, y = (self.move[0] / length, self.move[1] / length) if length else (0.0, 1.0)
            push = _to_world((push_speed * x, push_speed * y), view_heading)
        move = _to_world(self.move, view_heading)
        return Intent(move, facing=facing, gait=float(self.run), push=push)


def _to_world(seen: Vector, heading: float) -> Vector:
    """Return a vector (left, ahead) in the world: at heading 0, left is +X and ahead is -Y."""
    x, y = rotate_xy(seen[0], -seen[1], heading)
    return x + 0.0, y + 0.0  # no negative zeros, which a recording would save

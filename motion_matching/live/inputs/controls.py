"""What sticks and keys ask for, as seen in the view, and the intent that it makes in the world."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...engine.control.intent import Intent
from ...engine.control.trajectory import turned

Vector = tuple[float, float]

PUSH_SPEED = 2.0  # m/s that a push gives unless told otherwise


class Controls(NamedTuple):
    """What is held at a tick: `move` and `face` are (to the left, ahead) as seen in the view, of length 1 at most.

    `face` is zero where no direction is asked for. `strafe` keeps facing where the view looks. `push` asks once.
    """

    move: Vector = (0.0, 0.0)
    face: Vector = (0.0, 0.0)
    run: bool = False
    strafe: bool = False
    push: bool = False

    def intent(self, view_heading: float, push_speed: float = PUSH_SPEED) -> Intent:
        """The wish of these controls in a view that looks along a heading, a push giving so many m/s."""
        facing = None
        if self.face != (0.0, 0.0):
            facing = view_heading + math.atan2(*self.face)
        elif self.strafe:
            facing = view_heading
        push = None
        if self.push:
            length = math.hypot(*self.move)
            way = (self.move[0] / length, self.move[1] / length) if length else (0.0, 1.0)
            push = _in_world((push_speed * way[0], push_speed * way[1]), view_heading)
        return Intent(
            _in_world(self.move, view_heading), facing=facing, gait=float(self.run), push=push
        )


class Switch:
    """A button that toggles, or counts while it is held."""

    def __init__(self, is_held: bool) -> None:
        self.is_on = False
        self._is_held = is_held

    def press(self) -> None:
        self.is_on = self._is_held or not self.is_on

    def release(self) -> None:
        if self._is_held:
            self.is_on = False


def _in_world(seen: Vector, heading: float) -> Vector:
    """A vector (to the left, ahead) in the world: at heading 0, left is +X and ahead is -Y."""
    x, y = turned(seen[0], -seen[1], heading)
    return x + 0.0, y + 0.0  # no negative zeros, which a recording would keep

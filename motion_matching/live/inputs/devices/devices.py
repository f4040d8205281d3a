"""Steering devices, such as keyboard and gamepad, and the state of their sticks and keys."""

from __future__ import annotations

import math
from collections.abc import Collection
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


class Device:
    """A device with buttons for actions. A session opens it, polls it, reads it and closes it.

    'run' and 'strafe' toggle, or count while held if `hold` names them. A push counts once, and
    'tag' and 'record' are commands.
    """

    label = "Device"  # in the names of takes

    def __init__(self, hold: Collection[str] = ()) -> None:
        self._hold = hold
        self._on: set[str] = set()
        self._push = False
        self._commands: list[str] = []
        self._messages: list[str] = []

    def open(self) -> None:
        """Open the device."""

    def close(self) -> None:
        """Close the device; may be called twice."""
        self.release_all()

    def poll(self) -> None:
        """Read the device, once before the ticks of a picture."""

    def read_controls(self) -> Controls:
        """Return the current controls; a push is reported once."""
        raise NotImplementedError

    def take_messages(self) -> list[str]:
        """Return the messages for the user since the last call."""
        messages = self._messages
        self._messages = []
        return messages

    def press(self, action: str) -> None:
        if action in ("tag", "record"):
            self._commands.append(action)
        elif action == "push":
            self.push()
        elif action in ("run", "strafe"):
            is_on = action in self._hold or action not in self._on
            self._on = self._on | {action} if is_on else self._on - {action}

    def push(self) -> None:
        """Push, as with the button for it."""
        self._push = True

    def release(self, action: str) -> None:
        if action in self._hold:
            self._on.discard(action)

    def release_all(self) -> None:
        """Release every button, as when a device is gone or the window loses the focus."""
        self._on -= set(self._hold)

    def make_controls(self, move: Vector, face: Vector = (0.0, 0.0)) -> Controls:
        """Return the current controls with these sticks."""
        push = self._push
        self._push = False
        return Controls(move, face, "run" in self._on, "strafe" in self._on, push)

    def take_commands(self) -> list[str]:
        """Return the commands since the last call."""
        commands = self._commands
        self._commands = []
        return commands

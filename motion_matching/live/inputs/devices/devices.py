"""Define the interface of steering devices, such as keyboard and gamepad."""

from __future__ import annotations

from collections.abc import Collection

from .controls import Controls, Vector


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
        return []

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
        push, self._push = self._push, False
        return Controls(move, face, "run" in self._on, "strafe" in self._on, push)

    def take_commands(self) -> list[str]:
        """Return the commands since the last call."""
        commands, self._commands = self._commands, []
        return commands

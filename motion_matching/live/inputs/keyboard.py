"""The keyboard: keys by Blender's names, several at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...engine.errors import SettingsError
from .controls import Controls, Switch

KEYS: Mapping[str, tuple[str, ...]] = {
    "ahead": ("W", "UP_ARROW"),
    "back": ("S", "DOWN_ARROW"),
    "left": ("A", "LEFT_ARROW"),
    "right": ("D", "RIGHT_ARROW"),
    "run": ("R",),
    "strafe": ("F",),
    "push": ("E",),
    "tag": ("C",),
    "record": ("SPACE",),
}
_PRESSED = ("PRESS", "DOUBLE_CLICK")  # a quick second press arrives as a double click
_HALF = 0.5**0.5


class Keyboard:
    """The controls of the keys that are down.

    `keys` gives the keys of each action by the names of Blender's events; other actions have their
    default keys. `hold` names those of 'run' and 'strafe' that count while held instead of
    toggling. Raises SettingsError for unknown actions and for a key with two actions.
    """

    def __init__(
        self, keys: Mapping[str, Sequence[str]] | None = None, hold: Sequence[str] = ()
    ) -> None:
        keys = {**KEYS, **(keys or {})}
        self._actions: dict[str, str] = {}
        for action, names in keys.items():
            if action not in KEYS:
                raise SettingsError(
                    f"There is no action '{action}' to bind keys to; known ones are "
                    f"{', '.join(KEYS)}."
                )
            for name in names:
                if other := self._actions.get(name):
                    raise SettingsError(
                        f"The key {name} is used for both '{other}' and '{action}'; choose "
                        "another for one."
                    )
                self._actions[name] = action
        self._switches = {action: Switch(action in hold) for action in ("run", "strafe")}
        self._down: set[str] = set()
        self._push = False
        self._commands: list[str] = []

    def handle(
        self, key: str, value: str, *, is_repeat: bool = False, is_modified: bool = False
    ) -> bool:
        """Process an event by Blender's type and value; return whether it was used.

        A press with Ctrl, Alt or the system key (`is_modified`) is a shortcut and is ignored.
        """
        action = self._actions.get(key)
        if action is None:
            return False
        if value == "RELEASE":
            if key not in self._down:
                return False
            self._down.discard(key)
            if action in self._switches and not self._is_held(action):
                self._switches[action].release()
            return True
        if value not in _PRESSED or is_modified:
            return False
        was_down = self._is_held(action)
        self._down.add(key)
        if not (is_repeat or was_down):
            self._press(action)
        return True

    def push(self) -> None:
        """Push, as with the key for it."""
        self._push = True

    def uses(self, key: str) -> bool:
        """Return whether a key has an action."""
        return key in self._actions

    def release_all(self) -> None:
        """Release every key, as when the window loses the focus and misses their releases."""
        self._down.clear()
        for switch in self._switches.values():
            switch.release()

    def read_controls(self) -> Controls:
        """Return the controls of now; a push is reported once."""
        left = float(self._is_held("left")) - float(self._is_held("right"))
        ahead = float(self._is_held("ahead")) - float(self._is_held("back"))
        if left and ahead:
            left, ahead = _HALF * left, _HALF * ahead
        push, self._push = self._push, False
        return Controls(
            (left, ahead),
            run=self._switches["run"].is_on,
            strafe=self._switches["strafe"].is_on,
            push=push,
        )

    def take_commands(self) -> list[str]:
        commands, self._commands = self._commands, []
        return commands

    def _is_held(self, action: str) -> bool:
        return any(self._actions[key] == action for key in self._down)

    def _press(self, action: str) -> None:
        if action in self._switches:
            self._switches[action].press()
        elif action == "push":
            self.push()
        elif action in ("tag", "record"):
            self._commands.append(action)

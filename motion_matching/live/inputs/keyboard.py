"""The keyboard: keys by Blender's names, several at once, none stuck."""

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
_PRESSED = ("PRESS", "DOUBLE_CLICK")  # a second press that follows quickly comes as a double click
_HALF = 0.5**0.5


class Keyboard:
    """Controls from the keys that are down.

    `keys` names the keys of each action, as Blender's events do; what it leaves out keeps its keys. `hold` names those
    of 'run' and 'strafe' that count while held rather than toggle. SettingsError for unknown actions and for a key
    that is to do two things.
    """

    def __init__(
        self, keys: Mapping[str, Sequence[str]] | None = None, hold: Sequence[str] = ()
    ) -> None:
        keys = {**KEYS, **(keys or {})}
        self._actions: dict[str, str] = {}
        for action, names in keys.items():
            if action not in KEYS:
                raise SettingsError(
                    f"There is no action '{action}' to bind keys to; known ones are {', '.join(KEYS)}."
                )
            for name in names:
                if other := self._actions.get(name):
                    raise SettingsError(
                        f"The key {name} is to do both '{other}' and '{action}'; choose another for one."
                    )
                self._actions[name] = action
        self._switches = {action: Switch(action in hold) for action in ("run", "strafe")}
        self._down: set[str] = set()
        self._push = False
        self._commands: list[str] = []

    def handle(
        self, key: str, value: str, *, is_repeat: bool = False, is_modified: bool = False
    ) -> bool:
        """Take in an event: the type and value that Blender gives it. True where the key is one of these.

        A press with Ctrl, Alt or the system's key down (`is_modified`) is a shortcut and left alone.
        """
        action = self._actions.get(key)
        if action is None:
            return False
        if value == "RELEASE":
            if key not in self._down:
                return False
            self._down.discard(key)
            if action in self._switches and not self._holds(action):
                self._switches[action].release()
            return True
        if value not in _PRESSED or is_modified:
            return False
        was_down = self._holds(action)
        self._down.add(key)
        if not (is_repeat or was_down):
            self._press(action)
        return True

    def push(self) -> None:
        """Push, as by its key."""
        self._push = True

    def uses(self, key: str) -> bool:
        """Whether a key is one of these."""
        return key in self._actions

    def release_all(self) -> None:
        """Let go of every key, as when the window loses the focus and their releases go elsewhere."""
        self._down.clear()
        for switch in self._switches.values():
            switch.release()

    def controls(self) -> Controls:
        """What is asked for now; a push is reported once."""
        left = float(self._holds("left")) - float(self._holds("right"))
        ahead = float(self._holds("ahead")) - float(self._holds("back"))
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

    def _holds(self, action: str) -> bool:
        return any(self._actions[key] == action for key in self._down)

    def _press(self, action: str) -> None:
        if action in self._switches:
            self._switches[action].press()
        elif action == "push":
            self.push()
        elif action in ("tag", "record"):
            self._commands.append(action)

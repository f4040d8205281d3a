"""Steer by keyboard: keys by Blender's names, several at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .devices import Controls, Device

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
_DIRECTIONS = ("ahead", "back", "left", "right")
_PRESSED = ("PRESS", "DOUBLE_CLICK")  # a quick second press arrives as a double click
_HALF = 0.5**0.5


class Keyboard(Device):
    """The controls of the keys that are down.

    `keys` gives the keys of each action by the names of Blender's events; other actions have their
    default keys. No key may have two actions.
    """

    label = "Keyboard"

    def __init__(
        self, keys: Mapping[str, Sequence[str]] | None = None, hold: Sequence[str] = ()
    ) -> None:
        super().__init__(hold)
        keys = {**KEYS, **(keys or {})}
        self._actions = {name: action for action, names in keys.items() for name in names}
        self._down: set[str] = set()

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
            if not self._is_held(action):
                self.release(action)
            return True
        if value not in _PRESSED or is_modified:
            return False
        was_down = self._is_held(action)
        self._down.add(key)
        if not (is_repeat or was_down):
            self.press(action)
        return True

    def tap(self, action: str) -> None:
        """Press and release an action's key; a direction is held until it is tapped again."""
        self._actions[action] = action  # a key of no keyboard, as Blender writes keys in capitals
        is_down = action in self._down
        self.handle(action, "RELEASE" if is_down else "PRESS")
        if action not in _DIRECTIONS:
            self.handle(action, "RELEASE")

    def uses(self, key: str) -> bool:
        """Return whether a key has an action."""
        return key in self._actions

    def release_all(self) -> None:
        super().release_all()
        self._down.clear()

    def read_controls(self) -> Controls:
        """Return the current controls; a push is reported once."""
        left = float(self._is_held("left")) - float(self._is_held("right"))
        ahead = float(self._is_held("ahead")) - float(self._is_held("back"))
        if left and ahead:
            left = _HALF * left
            ahead = _HALF * ahead
        return self.make_controls((left, ahead))

    def _is_held(self, action: str) -> bool:
        return any(self._actions[key] == action for key in self._down)

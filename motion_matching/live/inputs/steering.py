"""Keyboard and gamepad together: any stick or key that is held steers."""

from __future__ import annotations

from collections.abc import Callable

from ...engine.control.intent import Intent
from .base import Input, Situation
from .controls import PUSH_SPEED, Controls
from .gamepad import Gamepad
from .keyboard import Keyboard


class SteeringInput(Input):
    """Intents from the keyboard, and from a gamepad if one is given; both relative to the view.

    `push_speed` is called at each push and returns its speed in m/s.
    """

    def __init__(
        self,
        keyboard: Keyboard | None = None,
        gamepad: Gamepad | None = None,
        push_speed: Callable[[], float] = lambda: PUSH_SPEED,
    ) -> None:
        self.keyboard = keyboard or Keyboard()
        self.gamepad = gamepad
        self._push_speed = push_speed

    def open(self) -> None:
        if self.gamepad:
            self.gamepad.open()

    def close(self) -> None:
        self.keyboard.release_all()
        if self.gamepad:
            self.gamepad.close()

    def poll(self) -> None:
        if self.gamepad:
            self.gamepad.poll()

    def get_intent(self, situation: Situation) -> Intent:
        controls = self.keyboard.read_controls()
        if self.gamepad:
            controls = _merge(self.gamepad.read_controls(), controls)
        speed = self._push_speed() if controls.push else PUSH_SPEED
        return controls.to_intent(situation.view_heading, speed)

    def take_commands(self) -> list[str]:
        pressed = self.gamepad.take_commands() if self.gamepad else []
        return self.keyboard.take_commands() + pressed

    def take_messages(self) -> list[str]:
        return self.gamepad.take_messages() if self.gamepad else []


def _merge(pad: Controls, keys: Controls) -> Controls:
    """Merge controls: the pad's stick if it is held, else the keys; switches of either."""
    return Controls(
        pad.move if pad.move != (0.0, 0.0) else keys.move,
        pad.face,
        pad.run or keys.run,
        pad.strafe or keys.strafe,
        pad.push or keys.push,
    )

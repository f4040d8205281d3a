"""Keyboard and other devices together: any stick or key that is held steers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....engine.performance.intent import Intent
from ..base import Input, Situation
from .devices import PUSH_SPEED, Controls, Device
from .keyboard import Keyboard


class SteeringInput(Input):
    """Intents from the keyboard, and from other devices such as a gamepad, relative to the view.

    `push_speed` is called at each push and returns its speed in m/s.
    """

    def __init__(
        self,
        keyboard: Keyboard | None = None,
        others: Sequence[Device] = (),
        push_speed: Callable[[], float] = lambda: PUSH_SPEED,
    ) -> None:
        self.keyboard = keyboard or Keyboard()
        self.devices: tuple[Device, ...] = (self.keyboard, *others)
        self._push_speed = push_speed
        self._steered_by: Device | None = None  # the device that moved it last

    def open(self) -> None:
        for device in self.devices:
            device.open()

    def close(self) -> None:
        for device in self.devices:
            device.close()

    def poll(self) -> None:
        for device in self.devices:
            device.poll()

    def get_intent(self, situation: Situation) -> Intent:
        controls = Controls()
        for device in self.devices:
            own = device.read_controls()
            if own.move != (0.0, 0.0):
                self._steered_by = device
            controls = _merge(own, controls)
        speed = self._push_speed() if controls.push else PUSH_SPEED
        return controls.to_intent(situation.view_heading, speed)

    def is_there(self, intent: Intent) -> bool:
        return intent.move != (0.0, 0.0) or intent.facing is not None or intent.push is not None

    def name_take(self, intents: Sequence[Intent]) -> str:
        """Return the device that steered, with the gait that was asked for most of the time."""
        device = self._steered_by.label if self._steered_by else "Live"
        return f"{device} {name_gait(intents)}"

    def take_commands(self) -> list[str]:
        return [command for device in self.devices for command in device.take_commands()]

    def take_messages(self) -> list[str]:
        return [message for device in self.devices for message in device.take_messages()]


class GuidedInput(SteeringInput):
    """The intents of a `leader` without a device, and the commands of devices that do not steer.

    `name` is what takes are called.
    """

    def __init__(self, leader: Input, devices: SteeringInput, name: str = "") -> None:
        super().__init__(devices.keyboard, devices.devices[1:])
        self.leader = leader
        self._name = name
        self.start = leader.start
        self.lead_in = leader.lead_in
        self.ending = leader.ending

    @property
    def is_finished(self) -> bool:
        return self.leader.is_finished

    def get_settings_at(self, tick: int) -> Mapping[str, Any]:
        return self.leader.get_settings_at(tick)

    def get_intent(self, situation: Situation) -> Intent:
        return self.leader.get_intent(situation)

    def is_there(self, intent: Intent) -> bool:
        return self.leader.is_there(intent)

    def name_take(self, intents: Sequence[Intent]) -> str:
        return self._name


def name_gait(intents: Sequence[Intent]) -> str:
    """Return the gait that was asked for most of the time while moving, as in names of takes."""
    moving = [i.gait > 0.5 for i in intents if i.move != (0.0, 0.0) or i.path or i.velocity]
    if not moving:
        return "Standing"
    return "Run" if 2 * sum(moving) > len(moving) else "Walk"


def _merge(first: Controls, second: Controls) -> Controls:
    """Merge controls: the first one's sticks if they are held, and the switches of either."""
    return Controls(
        first.move if first.move != (0.0, 0.0) else second.move,
        first.face if first.face != (0.0, 0.0) else second.face,
        first.run or second.run,
        first.strafe or second.strafe,
        first.push or second.push,
    )

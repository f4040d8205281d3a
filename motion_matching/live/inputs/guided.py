"""Steer by something other than a device, while devices still give commands such as 'record'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.control.intent import Intent
from .base import Input, Situation, Start
from .steering import SteeringInput


class GuidedInput(Input):
    """The intents of a `leader` and the commands of devices, whose sticks and keys have no
    effect.
    """

    def __init__(self, leader: Input, devices: SteeringInput) -> None:
        self._leader, self._devices = leader, devices

    @property
    def start(self) -> Start | None:
        return self._leader.start

    @property
    def lead_in(self) -> int:
        return self._leader.lead_in

    @property
    def is_finished(self) -> bool:
        return self._leader.is_finished

    def open(self) -> None:
        self._devices.open()
        self._leader.open()

    def close(self) -> None:
        self._leader.close()
        self._devices.close()

    def poll(self) -> None:
        self._devices.poll()
        self._leader.poll()

    def get_settings_at(self, tick: int) -> Mapping[str, Any]:
        return self._leader.get_settings_at(tick)

    def get_intent(self, situation: Situation) -> Intent:
        return self._leader.get_intent(situation)

    def take_commands(self) -> list[str]:
        return self._devices.take_commands() + self._leader.take_commands()

    def take_messages(self) -> list[str]:
        return self._devices.take_messages() + self._leader.take_messages()

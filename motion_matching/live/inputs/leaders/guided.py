"""Steer by something other than a device, while devices still give commands such as 'record'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....engine.performance.intent import Intent
from ..base import Input, Situation
from ..devices.steering import SteeringInput


class GuidedInput(SteeringInput):
    """The intents of a `leader` without a device, and the commands of devices that do not steer.

    `name` is what takes are called.
    """

    def __init__(self, leader: Input, devices: SteeringInput, name: str = "") -> None:
        super().__init__(devices.keyboard, devices.devices[1:])
        self.leader, self._name = leader, name
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

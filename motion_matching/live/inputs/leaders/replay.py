"""Replay a recorded performance as an input: the same intents again, live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....engine.control.performer import Placement
from ....engine.performance.intent import Intent
from ....engine.performance.performance import Performance
from ..base import Input, Situation, Start


class ReplayInput(Input):
    """The intents and settings of a performance at `fps` ticks per second, then empty intents.

    Its first `lead_in` ticks are not shown. Raises SettingsError if it is too short at that rate.
    """

    ending = "Reached the end of the recording"

    def __init__(self, performance: Performance, fps: float, lead_in: int = 0) -> None:
        self._performance = played = performance.resample(fps)
        place = Placement(*played.position, played.facing)
        self.start = Start(place, played.settings, played.start)
        self.lead_in = round(lead_in * fps / performance.fps)
        self._tick = 0

    @property
    def is_finished(self) -> bool:
        return self._tick >= len(self._performance.intents)

    def get_settings_at(self, tick: int) -> Mapping[str, Any]:
        changes: dict[str, Any] = {}
        for at, change in self._performance.changes:
            if at == tick:
                changes.update(change)
        return changes

    def get_intent(self, situation: Situation) -> Intent:
        self._tick = situation.tick + 1
        intents = self._performance.intents
        return intents[situation.tick] if situation.tick < len(intents) else Intent()

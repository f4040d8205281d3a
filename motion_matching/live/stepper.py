"""Steps a performer by the intents of an input, and keeps what was performed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..engine.control.performer import Performer
from ..engine.errors import MotionMatchingError
from ..engine.ground.ground import Wall
from ..engine.performance.intent import Intent
from ..engine.performance.performance import Performance
from ..engine.progress import ReportShare
from .inputs.base import Input, Situation, Start
from .recorder import History


class Stepper:
    """A performer that an input steers, tick by tick, exactly as `rollout.solve` does.

    `walls` belong to the performer's ground, for performances to save. `tags`, which the database
    must have, are added to the input's. `adapt_intent` adapts recorded intents to the method, and
    `method_name` is its name in performances. `find_look_at` is called at each tick whose intent
    does not say itself which point the character looks at.
    """

    def __init__(self, performer: Performer, source: Input, walls: tuple[Wall, ...] = ()) -> None:
        self.performer = performer
        self.source = source
        self._walls = walls
        self.tags: frozenset[str] = frozenset()
        self.adapt_intent: Callable[[Intent], Intent] = lambda intent: intent
        self.method_name = ""
        self.find_look_at: Callable[[], tuple[float, float, float] | None] = lambda: None
        self._pending: dict[str, Any] = {}  # settings that change with the next tick
        self._messages: list[str] = []

    def _begin(self, start: Start) -> None:
        """Begin where the input says, or else at a start, and perform what leads in."""
        start = self.source.start or start
        self.performer.apply(self.performer.settings.with_changes(start.settings))
        self._go_on_from(start)
        self._pending = {}
        self._ticks = 0
        for _ in range(self.source.lead_in):
            self._step(0.0)

    def _go_on_from(self, start: Start) -> None:
        """Place the character, as the performance of the ticks to come does."""
        (x, y, yaw) = start.placement
        fps = self.performer.fps
        settings = self.performer.settings.to_dict()
        beginning = Performance("", fps, (), (x, y), yaw, settings=settings, walls=self._walls)
        beginning = replace(beginning, method=self.method_name, start=start.state)
        self._before = self._frame = self.performer.begin(beginning)
        self._history = History(beginning)

    def _step(self, view_heading: float) -> None:
        frame = self._frame
        tick = self._ticks
        self._ticks += 1
        places = frame.character, frame.simulation_object
        situation = Situation(tick, self.performer.dt, *places, view_heading)
        change = self._apply_changes(tick)
        intent = self.source.get_intent(situation)
        if self.tags:
            intent = intent._replace(tags=intent.tags | self.tags)
        if intent.look_at is None and (point := self.find_look_at()):
            intent = intent._replace(look_at=point)
        self._receive(intent)
        self._before, self._frame = frame, self.performer.step(self.adapt_intent(intent))
        self._history.add(intent, change)

    def _receive(self, intent: Intent) -> None:
        """Take note of an intent before it is performed."""

    def _apply_changes(self, tick: int) -> Mapping[str, Any]:
        """Apply the settings that change at a tick, and return the accepted ones."""
        change = {**self.source.get_settings_at(tick), **self._pending}
        self._pending = {}
        if not change:
            return {}
        try:
            settings = self.performer.settings.with_changes(change)
            self.performer.apply(settings)
        except MotionMatchingError as refusal:
            self._messages.append(str(refusal))
            return {}
        changed = settings.to_dict()
        return {name: changed[name] for name in change}

    def perform(
        self, start: Start, seconds: float, limit: float, report: ReportShare
    ) -> Performance:
        """Perform without a clock, and return what a session would record from its first tick on.

        It begins at the `start` unless the input says where, and lasts `seconds` after its lead-in.
        With 0, it goes on until the input has ended or settled, at most for `limit`.
        """
        self._begin(start)
        fps = self.performer.fps
        count = max(round((seconds or limit) * fps), 1)
        for tick in range(count):
            if not tick % 16:
                report(tick / count)
            self._step(0.0)
            if not seconds and (self.source.is_finished or self.source.is_settled):
                break
        return self._history.build_performance("", 0)

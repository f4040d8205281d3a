"""Which controller performs a take: motion matching, or a motion field with or without what it was trained."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine.errors import DatabaseError, SettingsError

if TYPE_CHECKING:
    from ..engine.control.performance import Performance
    from ..engine.control.settings import PerformerSettings
    from ..engine.field.value_function import ValueFunction
    from ..engine.matching.database import Database
    from ..engine.takes import Controller

_GAITS = ("walk", "run")


class ChosenController:
    """The controller that arguments ask for. SettingsError or DatabaseError where it cannot be had."""

    def __init__(self, arguments: argparse.Namespace, database: Database) -> None:
        self.is_field = arguments.controller == "field"
        self._file = arguments.field
        self._function: ValueFunction | None = None
        if self._file:
            from ..engine.field import value_function

            self._function = value_function.load(self._file)
            try:
                self._metric = self._function.metric_in(database)
            except DatabaseError as cause:
                raise DatabaseError(f"{self._file} does not suit {arguments.database}: {_as_clause(str(cause))}") from cause

    @property
    def trained(self) -> dict[str, Any]:
        """The settings of the actions that were trained, by name."""
        if self._function is None:
            return {}
        return {"neighbours": self._function.neighbours, "drift": self._function.drift}

    def defaults(self, settings: PerformerSettings) -> PerformerSettings:
        """The settings with the actions that were trained."""
        return settings.changed(self.trained)

    def asked(self, performance: Performance) -> Performance:
        """The performance as the field knows how to be asked: for a gait by its tag, where it learnt no speeds."""
        if self._function is None:
            return performance
        tasks = self._function.tasks
        if unknown := sorted({tag for intent in performance.intents for tag in intent.tags} - set(tasks.tags)):
            known = ", ".join(tasks.tags) or "none"
            raise SettingsError(f"{self._file} was not trained for the tag '{unknown[0]}', its tags are: {known}; train it "
                                "with --tags.")
        if tasks.speeds or not set(_GAITS) <= set(tasks.tags):
            return performance
        gaits = [frozenset({_GAITS[intent.gait > 0.5]}) for intent in performance.intents]
        return replace(performance, intents=tuple(
            intent._replace(tags=intent.tags or gait) for intent, gait in zip(performance.intents, gaits, strict=True)
        ))

    @property
    def controller(self) -> Controller:
        """What makes the method."""
        if not self.is_field:
            from ..engine.matching.method import MotionMatching

            return MotionMatching
        from ..engine.field.method import MotionField

        if self._function is None:
            return MotionField
        return lambda database, settings: MotionField(database, settings, self._metric, self._function)


def check_controller(arguments: argparse.Namespace) -> None:
    """SettingsError where arguments about controllers contradict one another."""
    if arguments.field and arguments.controller != "field":
        raise SettingsError(f"--field {arguments.field} belongs to --controller field; add that, or leave this out.")


def _as_clause(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]

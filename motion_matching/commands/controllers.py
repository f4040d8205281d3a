"""Which controller performs a take: motion matching, or a motion field with or without what it was trained."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..engine.errors import DatabaseError, SettingsError

if TYPE_CHECKING:
    from ..engine.control.performance import Performance
    from ..engine.control.settings import PerformerSettings
    from ..engine.field.playing import FieldController
    from ..engine.matching.database import Database
    from ..engine.takes import Controller


class ChosenController:
    """The controller that arguments ask for. SettingsError or DatabaseError where it cannot be had."""

    def __init__(self, arguments: argparse.Namespace, database: Database) -> None:
        self._file = arguments.field
        self._field: FieldController | None = None
        if arguments.controller == "field":
            self._field = _field(arguments, database)

    @property
    def trained(self) -> dict[str, Any]:
        """The settings of the actions that were trained, by name."""
        return self._field.settings if self._field else {}

    def defaults(self, settings: PerformerSettings) -> PerformerSettings:
        """The settings with the actions that were trained."""
        return settings.changed(self.trained)

    def asked(self, performance: Performance) -> Performance:
        """The performance as the controller knows how to be asked."""
        if self._field is None:
            return performance
        try:
            self._field.check(performance)
        except SettingsError as cause:
            raise SettingsError(
                f"{self._file} cannot perform this: {_as_clause(str(cause))}"
            ) from cause
        return self._field.performed(performance)

    @property
    def controller(self) -> Controller:
        """What makes the method."""
        from ..engine.matching.method import MotionMatching

        return self._field or MotionMatching


def _field(arguments: argparse.Namespace, database: Database) -> FieldController:
    from ..engine.field.neighbours import Metric
    from ..engine.field.playing import FieldController

    if not arguments.field:
        return FieldController(Metric.default(database))
    try:
        return FieldController.load(arguments.field, database)
    except DatabaseError as cause:
        raise DatabaseError(
            f"{arguments.field} does not suit {arguments.database}: {_as_clause(str(cause))}"
        ) from cause


def check_controller(arguments: argparse.Namespace) -> None:
    """SettingsError where arguments about controllers contradict one another."""
    if arguments.field and arguments.controller != "field":
        raise SettingsError(
            f"--field {arguments.field} belongs to --controller field; add that, or leave this out."
        )


def _as_clause(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]

"""Choose the controller of a take: motion matching, or a motion field, trained or not."""

from __future__ import annotations

import argparse
from typing import Any

from ..engine.control.performance import Performance
from ..engine.database.database import Database
from ..engine.errors import DatabaseError, SettingsError
from ..engine.field.field_controller import FieldController
from ..engine.field.neighbours import Metric
from ..engine.matching.method import MotionMatching
from ..engine.takes.takes import Controller


class ChosenController:
    """The controller that the arguments choose. Raises SettingsError or DatabaseError."""

    def __init__(self, arguments: argparse.Namespace, database: Database) -> None:
        self._file = arguments.field
        has_field = arguments.controller == "field"
        self._field = _load_field(arguments, database) if has_field else None

    @property
    def trained_settings(self) -> dict[str, Any]:
        """The settings that the field's actions were trained with, by name."""
        return self._field.settings if self._field else {}

    def adapt(self, performance: Performance) -> Performance:
        """Adapt a performance to what the controller can be asked."""
        if self._field is None:
            return performance
        try:
            self._field.check(performance)
        except SettingsError as cause:
            text = f"{self._file} cannot perform this: {_as_clause(str(cause))}"
            raise SettingsError(text) from cause
        return self._field.adapt_performance(performance)

    @property
    def controller(self) -> Controller:
        """What makes the method."""
        return self._field or MotionMatching


def _load_field(arguments: argparse.Namespace, database: Database) -> FieldController:
    if not arguments.field:
        return FieldController(Metric.from_database(database))
    try:
        return FieldController.load(arguments.field, database)
    except DatabaseError as cause:
        raise DatabaseError(
            f"{arguments.field} does not suit {arguments.database}: {_as_clause(str(cause))}"
        ) from cause


def check_controller(arguments: argparse.Namespace) -> None:
    """Raise SettingsError if arguments about controllers contradict each other."""
    if arguments.field and arguments.controller != "field":
        raise SettingsError(
            f"--field {arguments.field} belongs to --controller field; add that, or leave this out."
        )


def _as_clause(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]

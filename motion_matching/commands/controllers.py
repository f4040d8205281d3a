"""Choose the controller of a take: motion matching, or a motion field, trained or not."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..engine.errors import DatabaseError, SettingsError

if TYPE_CHECKING:
    from ..engine.control.performance import Performance
    from ..engine.control.settings import PerformerSettings
    from ..engine.database.database import Database
    from ..engine.field.field_controller import FieldController
    from ..engine.takes.takes import Controller


class ChosenController:
    """The controller that the arguments choose. Raises SettingsError or DatabaseError."""

    def __init__(self, arguments: argparse.Namespace, database: Database) -> None:
        self._file = arguments.field
        self._field: FieldController | None = None
        if arguments.controller == "field":
            self._field = _load_field(arguments, database)

    @property
    def trained_settings(self) -> dict[str, Any]:
        """The settings that the field's actions were trained with, by name."""
        return self._field.settings if self._field else {}

    def apply_trained_settings(self, settings: PerformerSettings) -> PerformerSettings:
        """Return the settings with those of the training."""
        return settings.with_changes(self.trained_settings)

    def adapt(self, performance: Performance) -> Performance:
        """Adapt a performance to what the controller can be asked."""
        if self._field is None:
            return performance
        try:
            self._field.check(performance)
        except SettingsError as cause:
            raise SettingsError(
                f"{self._file} cannot perform this: {_as_clause(str(cause))}"
            ) from cause
        return self._field.adapt_performance(performance)

    @property
    def controller(self) -> Controller:
        """What makes the method."""
        from ..engine.matching.method import MotionMatching

        return self._field or MotionMatching


def _load_field(arguments: argparse.Namespace, database: Database) -> FieldController:
    from ..engine.field.field_controller import FieldController
    from ..engine.field.neighbours import Metric

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

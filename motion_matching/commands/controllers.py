"""Choose the controller of a take: motion matching, or a motion field, trained or not."""

from __future__ import annotations

import argparse

from ..engine.control.performance import Performance
from ..engine.database.database import Database
from ..engine.errors import DatabaseError, SettingsError
from ..engine.field.field_controller import FieldController


def check_controller(arguments: argparse.Namespace) -> None:
    """Raise SettingsError if arguments about controllers contradict each other."""
    if arguments.field and arguments.controller != "field":
        text = f"--field {arguments.field} belongs to --controller field"
        raise SettingsError(f"{text}; add that, or leave this out.")


def load_field(arguments: argparse.Namespace, database: Database) -> FieldController | None:
    """Return the motion field that the arguments choose, or None for motion matching."""
    if arguments.controller != "field":
        return None
    if not arguments.field:
        return FieldController()
    try:
        return FieldController.load(arguments.field, database)
    except DatabaseError as cause:
        text = f"{arguments.field} does not suit {arguments.database}"
        raise DatabaseError(f"{text}: {_as_clause(str(cause))}") from cause


def adapt_performance(
    performance: Performance, field: FieldController, arguments: argparse.Namespace
) -> Performance:
    """Adapt a performance to a field. Raises SettingsError if the field cannot perform it."""
    try:
        field.check(performance)
    except SettingsError as cause:
        text = f"{arguments.field} cannot perform this: {_as_clause(str(cause))}"
        raise SettingsError(text) from cause
    return field.adapt_performance(performance)


def _as_clause(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]

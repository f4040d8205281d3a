"""Set up what performs a take, from its arguments."""

from __future__ import annotations

import argparse

from ..api.performing import Setup
from ..engine.database.database import Database
from ..engine.database.tags.tags import parse_names
from ..engine.errors import DatabaseError, SettingsError
from ..engine.field.field_controller import FieldController
from ..engine.performance.performance import Performance
from ..engine.performance.published import FIELD, MATCHING
from .published import find_set
from .values import parse_changes


def choose_controller(arguments: argparse.Namespace) -> None:
    """Choose the method of a take: as given, as published, or motion matching.

    Raises SettingsError if arguments about controllers contradict each other.
    """
    published = find_set(arguments)
    if published and arguments.settings:
        text = f"--as-published {published.name} chooses the preset of the controller"
        raise SettingsError(f"{text}; leave out --settings {arguments.settings}, or use --set.")
    if arguments.controller is None:
        arguments.controller = published.method if published else MATCHING
    if arguments.field and arguments.controller != FIELD:
        text = f"--field {arguments.field} belongs to --controller field"
        raise SettingsError(f"{text}; add that, or leave this out.")


def make_setup(arguments: argparse.Namespace, database: Database) -> Setup:
    """Return the setup that the arguments choose."""
    setup = Setup.create(
        database,
        load_controller(arguments, database),
        as_published=arguments.as_published,
        preset=arguments.settings,
    )
    setup = setup.with_changes(parse_changes(arguments.changes, setup.settings))
    if arguments.sync is None:
        return setup
    return setup.with_changes({"displacement": "synchronize", "synchronization": arguments.sync})


def load_controller(arguments: argparse.Namespace, database: Database) -> str | FieldController:
    """Return the controller that the arguments choose. DatabaseError for a field of other data."""
    if arguments.controller != FIELD or not arguments.field:
        return str(arguments.controller)
    try:
        return FieldController.load(arguments.field, database)
    except DatabaseError as cause:
        text = f"{arguments.field} does not suit {arguments.database}"
        raise DatabaseError(f"{text}: {_as_clause(str(cause))}") from cause


def prepare(setup: Setup, performance: Performance, arguments: argparse.Namespace) -> Performance:
    """Return a performance with settings and tags. SettingsError if a field cannot perform it."""
    try:
        return setup.prepare(performance, parse_names(arguments.tags))
    except SettingsError as cause:
        if setup.field is None:
            raise
        text = f"{arguments.field} cannot perform this: {_as_clause(str(cause))}"
        raise SettingsError(text) from cause


def _as_clause(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]

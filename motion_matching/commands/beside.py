"""`take --beside`: the same performance again, with other settings, method or database."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..engine.control.settings import PerformerSettings
from ..engine.database.database import Database
from ..engine.errors import SettingsError
from ..engine.field.field_controller import FieldController
from ..engine.takes import takes
from .controllers import load_field
from .loading import load_database
from .values import load_controller_preset, parse_changes

_METHODS = ("matching", "field")
_LONGEST = 24  # letters of a name
Change = Callable[[PerformerSettings], dict[str, Any]]


class Variant(NamedTuple):
    """What a take is performed with: a database, a field if that plays, and settings.

    `changes` are what the command changes of the settings that database and field come with.
    """

    database: Database
    field: FieldController | None
    settings: PerformerSettings
    changes: dict[str, Any]

    @classmethod
    def create(cls, database: Database, field: FieldController | None, change: Change) -> Variant:
        """Return the variant with the changes that `change` returns for its default settings."""
        default = takes.make_default_settings(database)
        default = default.with_changes(field.settings if field else {})
        changes = change(default)
        return cls(database, field, default.with_changes(changes), changes)


def find_variant(variant: Variant, arguments: argparse.Namespace) -> Variant:
    """Return a variant with what `--beside` asks for in place of its own.

    A preset takes the place of all changes. Raises SettingsError for what is none of these.
    """
    asked, given = arguments.beside, argparse.Namespace(**vars(arguments))
    files = [text for text in asked if text.endswith(".npz")]
    methods = [text for text in asked if text in _METHODS]
    settings = [text for text in asked if "=" in text]
    presets = [text for text in asked if text not in (*files, *methods, *settings)]
    for kind, texts in (("database", files), ("method", methods), ("preset", presets)):
        if len(texts) > 1:
            text = f"--beside names more than one {kind}, {' and '.join(texts)}; give one."
            raise SettingsError(text)
    database, field = variant.database, variant.field
    if files:
        database = load_database(Path(files[0]))
        given.database, given.field = Path(files[0]), None
    if methods:
        given.controller = methods[0]
    if files or methods:
        field = load_field(given, database)
    before = load_controller_preset(presets[0]) if presets else variant.changes

    def change(default: PerformerSettings) -> dict[str, Any]:
        return {**before, **parse_changes(settings, default.with_changes(before))}

    return Variant.create(database, field, change)


def name_both(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return what to call the take and the one beside it."""
    names = [Path(text).stem if text.endswith(".npz") else text for text in arguments.beside]
    name = ", ".join(names)
    return "this take", name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"

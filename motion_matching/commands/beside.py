"""`take --beside`: repeat a performance with other settings, method or database."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ..api.performing import Setup, load_preset
from ..engine.errors import SettingsError
from .controllers import load_controller
from .loading import load_database
from .values import parse_changes

_METHODS = ("matching", "field")
_LONGEST = 24  # letters of a name


def find_setup_beside(setup: Setup, arguments: argparse.Namespace) -> Setup:
    """Return a setup changed by the value of `--beside`.

    A preset replaces all changes. Raises SettingsError for any other value.
    """
    asked = arguments.beside
    files = [text for text in asked if text.endswith(".npz")]
    methods = [text for text in asked if text in _METHODS]
    settings = [text for text in asked if "=" in text]
    presets = [text for text in asked if text not in (*files, *methods, *settings)]
    for kind, texts in (("database", files), ("method", methods), ("preset", presets)):
        if len(texts) > 1:
            text = f"--beside names more than one {kind}, {' and '.join(texts)}; give one."
            raise SettingsError(text)
    changes = load_preset(presets[0]) if presets else setup.changes
    given = argparse.Namespace(**vars(arguments))
    database = setup.database
    if files:
        given.database = Path(files[0])
        given.field = None
        database = load_database(given.database)
    if methods:
        given.controller = methods[0]
    if files or methods:
        setup = Setup.create(database, load_controller(given, database))
    setup = replace(setup, changes=changes)
    return setup.with_changes(parse_changes(settings, setup.settings))


def name_both(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return names for the take and the one beside it."""
    names = [Path(text).stem if text.endswith(".npz") else text for text in arguments.beside]
    name = ", ".join(names)
    return "this take", name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"

"""Switch between the named databases of a character. The hidden ones store their enabled sources
and the state of their last build.
"""

from __future__ import annotations

import json
from typing import Any

from .. import property_access
from ..runtime import runtime

_BUILD_PROPERTIES = ("built_key", "built_of", "built_notes")


def add(settings: Any, label: str) -> None:
    """Show a new database of the sources that are switched on now."""
    _save_shown(settings)
    database = property_access.add(settings.databases, label)
    database.label = database.name
    settings.database_shown = settings.database_index = len(settings.databases) - 1
    _save_shown(settings)


def remove(settings: Any) -> None:
    """Remove the database that is shown, and show the one after it; sources and builds stay.

    Raises SettingsError if it comes with a linked file.
    """
    index = settings.database_index
    property_access.remove(
        settings.databases, index, f"The database '{settings.databases[index].label}'"
    )
    settings.database_shown = -1  # its sources are not stored any more
    settings.database_index = property_access.clamp_index(settings.databases, index)


def switch_database(settings: Any, context: Any) -> None:
    """Switch on the sources that a newly chosen database lists, and all others off."""
    database = property_access.get_active(settings.databases, settings.database_index)
    if database is None or settings.database_index == settings.database_shown:
        return
    names = property_access.read_names(database.sources)
    _save_shown(settings)
    # without names the sources that are on stay on: Blender shows no error of a choice in a list
    for source in settings.sources if names is not None else ():
        if source.enabled != (source.name in names):
            source.enabled = not source.enabled
    for name in _BUILD_PROPERTIES:
        setattr(settings, name, getattr(database, name))
    settings.training.trained_key = database.trained_key
    settings.database_shown = settings.database_index
    runtime.changed("database")


def _save_shown(settings: Any) -> None:
    """Store the sources of the shown database, if there is one."""
    database = property_access.get_active(settings.databases, settings.database_shown)
    if database is not None:
        enabled = [source.name for source in settings.sources if source.enabled]
        database.sources = json.dumps(enabled)
        for name in _BUILD_PROPERTIES:
            setattr(database, name, getattr(settings, name))
        database.trained_key = settings.training.trained_key

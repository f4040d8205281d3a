"""`--as-published`: choose an article's settings for builds, trainings and takes."""

from __future__ import annotations

import argparse

from ..engine.building.published_build import list_lacking_motion, list_missing
from ..engine.database.database import Database
from ..engine.errors import SettingsError
from ..engine.performance.published import FIELD, PUBLISHED, PublishedSet, find_published
from .output import Output


def find_set(arguments: argparse.Namespace) -> PublishedSet | None:
    """Return the set that the arguments choose, None without one."""
    return find_published(arguments.as_published) if arguments.as_published else None


def check_plays_field(arguments: argparse.Namespace) -> None:
    """Raise SettingsError if the set that the arguments choose plays no motion field."""
    published = find_set(arguments)
    if published and published.method != FIELD:
        fields = ", ".join(each.name for each in PUBLISHED.values() if each.method == FIELD)
        text = f"--as-published {published.name} plays no motion field, so nothing is trained"
        raise SettingsError(f"{text}; use {fields}.")


def tell_differences(arguments: argparse.Namespace, database: Database, out: Output) -> None:
    """Report how a database differs from a set, and the set from its article."""
    published = find_set(arguments)
    if published is None:
        return
    out.say(f"{published.describe()}.")
    if missing := ", ".join(list_missing(database, published)):
        out.say(f"Warning: the database is not built --as-published {published.name}: {missing}.")
    if apart := [*published.apart, *list_lacking_motion(database, published)]:
        out.say(f"Not as published: {'; '.join(apart)}.")

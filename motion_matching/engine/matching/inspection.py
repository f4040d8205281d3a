"""What a database holds and what it covers of what its controller asks for, for people and as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..control import performance as performances
from ..control.rollout import simulate
from ..control.settings import PerformerSettings
from . import coverage, statistics
from .database import Database


class Inspection(NamedTuple):
    """What a database holds and lacks: as `text`, as JSON `data`, and what pictures are drawn from."""

    text: str
    data: dict[str, Any]
    covered: coverage.Coverage
    histograms: dict[str, dict[str, Any]]


def inspect(
    database: Database, settings: PerformerSettings, changes: Mapping[str, Any], recorded: Path | None = None
) -> Inspection:
    """A database beside the simulation object under settings with `changes`.

    It is led by a `recorded` performance, whose own settings give way to the changes, or by all scripts. SettingsError
    where settings or performance cannot be used.
    """
    settings = settings.changed(changes)
    if recorded is None:
        wanted = coverage.wanted_motion(settings, database.fps)
    else:
        performance = performances.load(recorded)
        performance = replace(performance, settings={**performance.settings, **changes})
        settings = settings.changed(performance.settings)
        wanted = coverage.motion_of_track(simulate(performance, settings, database.fps), database.fps)
    return measured(database, settings, wanted)


def measured(database: Database, settings: PerformerSettings, wanted: coverage.Motion) -> Inspection:
    """A database beside the motion that is wanted of it under settings."""
    covered = coverage.cover(database, wanted)
    tables = coverage.histograms(coverage.motion_of(database), wanted)
    lacking = coverage.to_capture(database, settings, covered)
    text = statistics.describe(database) + "\n" + coverage.describe(covered, tables, lacking)
    data = statistics.to_dict(database) | {
        "coverage": covered.to_dict(), "histograms": tables, "to_capture": lacking, "settings": settings.to_dict()}
    return Inspection(text, data, covered, tables)

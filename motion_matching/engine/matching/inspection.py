"""What a database holds and what it covers of what its controller asks for, for people and as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..control import performance as performances
from ..control.rollout import simulate
from ..control.settings import PerformerSettings
from ..errors import SettingsError
from . import coverage, statistics
from .database import Database


class Inspection(NamedTuple):
    """What a database holds and lacks: as `text`, as JSON `data`, and what pictures are drawn from, with the `tracks`
    (F, 3) of the simulation object that it lies beside."""

    text: str
    data: dict[str, Any]
    covered: coverage.Coverage
    histograms: dict[str, dict[str, Any]]
    tracks: Sequence[np.ndarray]


def inspect(
    database: Database,
    settings: PerformerSettings,
    changes: Mapping[str, Any],
    recorded: Path | None = None,
) -> Inspection:
    """A database beside the simulation object under settings with `changes`.

    It is led by a `recorded` performance, whose own settings give way to the changes, or by all scripts. SettingsError
    where settings or performance cannot be used.
    """
    settings = settings.changed(changes)
    if recorded is None:
        tracks = list(coverage.wanted_tracks(settings, database.fps))
    else:
        performance = performances.load(recorded)
        performance = replace(performance, settings={**performance.settings, **changes})
        settings = settings.changed(performance.settings)
        tracks = [simulate(performance, settings, database.fps)]
    return measured(database, settings, tracks)


def measured(
    database: Database, settings: PerformerSettings, tracks: Sequence[np.ndarray]
) -> Inspection:
    """A database beside the tracks (F, 3) that a simulation object takes under settings.

    SettingsError where none of them has three frames, which an acceleration needs.
    """
    tracks = [track for track in tracks if len(track) >= 3]
    if not tracks:
        raise SettingsError(
            "The recorded performance has less than three frames; record a longer one."
        )
    wanted = coverage.motion_of_tracks(tracks, database.fps)
    covered = coverage.cover(database, wanted)
    tables = coverage.histograms(coverage.motion_of(database), wanted)
    lacking = coverage.to_capture(database, settings, covered)
    text = statistics.describe(database) + "\n" + coverage.describe(covered, tables, lacking)
    data = statistics.to_dict(database) | {
        "coverage": covered.to_dict(),
        "histograms": tables,
        "to_capture": lacking,
        "settings": settings.to_dict(),
    }
    return Inspection(text, data, covered, tables, tracks)

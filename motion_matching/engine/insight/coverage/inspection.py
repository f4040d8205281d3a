"""Inspect a database: its content, and how it covers its controller's requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...control.rollout import simulate
from ...database import statistics
from ...database.database import Database
from ...errors import SettingsError
from ...facts import postures
from ...performance.performance import Performance
from ...performance.settings import PerformerSettings
from . import coverage, slopes


class Inspection(NamedTuple):
    """Content and gaps of a database: as `text`, as JSON `data`, and as values to draw.

    `tracks` (F, 3) are of the simulation object compared with the database, and `slopes` are lines
    about its climbs.
    """

    text: str
    data: dict[str, Any]
    covered: coverage.Coverage
    histograms: dict[str, dict[str, Any]]
    tracks: Sequence[np.ndarray]
    slopes: Sequence[str] = ()


def inspect(
    database: Database,
    settings: PerformerSettings,
    changes: Mapping[str, Any],
    recorded: Performance | None = None,
) -> Inspection:
    """Compare a database with the simulation object under settings with `changes`.

    The object follows a `recorded` performance, whose settings the changes override, or all
    scripts. Raises SettingsError if settings or performance cannot be used.
    """
    settings = settings.with_changes(changes)
    if recorded is None:
        tracks = list(coverage.simulate_tracks(settings, database.fps))
    else:
        performance = replace(recorded, settings={**recorded.settings, **changes})
        settings = settings.with_changes(performance.settings)
        tracks = [simulate(performance, settings, database.fps)]
    return inspect_tracks(database, settings, tracks)


def inspect_tracks(
    database: Database,
    settings: PerformerSettings,
    tracks: Sequence[np.ndarray],
    rise: float = 0.0,
) -> Inspection:
    """Compare a database with the tracks (F, 3) of a simulation object under settings.

    The ground of the scene rises by `rise` metres, where that is known. Raises SettingsError if no
    track has three frames, which an acceleration needs.
    """
    tracks = [track for track in tracks if len(track) >= 3]
    if not tracks:
        raise SettingsError(
            "The recorded performance has fewer than three frames; record a longer one."
        )
    demand = coverage.measure_tracks(tracks, database.fps)
    motion = coverage.measure_database(database)
    covered = coverage.measure_coverage(motion, demand)
    tables = coverage.compute_histograms(motion, demand)
    climbed = slopes.measure_slopes(database)
    gaits = ("walk", "run") if settings.steering.can_run else ("walk",)
    captures = [
        *slopes.suggest_captures(climbed, gaits, rise),
        *coverage.suggest_captures(database, settings, covered),
    ]
    odd = postures.find_odd_postures(database)
    parts = [statistics.describe(database), *slopes.describe(climbed), postures.describe(odd)]
    text = "\n".join([*parts, coverage.describe(covered, tables, captures)])
    data = statistics.to_dict(database) | {
        "coverage": covered.to_dict(),
        "histograms": tables,
        "slopes": slopes.to_dicts(climbed),
        "to_capture": captures,
        "odd_postures": postures.to_dicts(odd),
        "settings": settings.to_dict(),
    }
    return Inspection(text, data, covered, tables, tracks, slopes.summarize(climbed))

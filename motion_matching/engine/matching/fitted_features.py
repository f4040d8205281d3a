"""Fit the features of a database to the settings: some depend on how long jumps fade."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from ..database.database import Database
from ..database.features.features import (
    Normalization,
    Schema,
    compute_features,
    compute_normalization,
)
from ..database.features.kinds.fades import FadeKind
from ..performance.settings import PerformerSettings


def measure_normalization(database: Database) -> Normalization:
    """Return the statistics of the features."""
    return database.normalization


class FittedFeatures:
    """Raw features `values` (D, N) with their `normalization`.

    Features that fade with jumps, and do not set a time, take it from the settings. Only they are
    computed again when it changes, from the stored motion of their bones.
    """

    def __init__(self, database: Database) -> None:
        self.values = np.asarray(database.features)
        self.normalization = database.derive(measure_normalization)
        self._database = database
        pairs = zip(database.schema.features, database.schema.slices, strict=True)
        self._loose = [
            (feature, kind, rows)
            for feature, rows in pairs
            if isinstance(kind := feature.definition, FadeKind) and not feature.time
        ]
        self._times = [kind.usual_time for _, kind, _ in self._loose]
        self._motion: np.ndarray | None = None

    def fit(self, settings: PerformerSettings) -> FittedFeatures:
        """Return the features for other settings: these, if they do not depend on the change."""
        times = [kind.read_time(settings) for _, kind, _ in self._loose]
        changed = [k for k, time in enumerate(times) if time != self._times[k]]
        if not changed:
            return self
        self._get_motion()  # once for all that are fitted
        result = copy(self)
        result.values = np.array(self.values)
        result._times = times
        for number in changed:
            result._fit_feature(number)
        return result

    def _fit_feature(self, number: int) -> None:
        feature, kind, rows = self._loose[number]
        position, velocity = self._get_motion()[number]
        self.values[rows] = kind.combine(position, velocity, self._times[number])
        used = self._database.playable
        values = self.values[rows][:, used] if used.any() else self.values[rows]
        alone = replace(self._database.schema, features=(feature,))
        found = vars(compute_normalization(alone, values))
        parts = {name: part.copy() for name, part in vars(self.normalization).items()}
        for name, part in parts.items():
            part[rows] = found[name]
        self.normalization = replace(self.normalization, **parts)

    def _get_motion(self) -> list[np.ndarray]:
        """Return position and velocity (2, axes, N) of each feature's bone."""
        if self._motion is None:
            features = tuple(
                replace(feature, kind=kind)
                for feature, _, _ in self._loose
                for kind in ("bone_position", "bone_velocity")
            )
            self._motion = compute_features(Schema(features), self._database.to_motion_table())
        sizes = [2 * feature.size for feature, _, _ in self._loose]
        parts = np.split(self._motion, np.cumsum(sizes)[:-1])
        return [part.reshape(2, size // 2, -1) for part, size in zip(parts, sizes, strict=True)]

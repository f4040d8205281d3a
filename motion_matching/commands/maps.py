"""Map the states of a motion field: by their graph, or by UMAP where that is installed."""

from __future__ import annotations

import importlib
import importlib.util

import numpy as np

from ..engine.database.database import Database
from ..engine.errors import SettingsError
from ..engine.field.states.neighbours import Metric
from ..engine.insight.maps.field_map import FieldMap, build_field_map

_UMAP = "umap"
_NEIGHBOURS = 80  # as in the notebook


def check(name: str | None) -> None:
    """Raise SettingsError if the library for a map is not installed."""
    if name == _UMAP and importlib.util.find_spec(_UMAP) is None:
        raise SettingsError(
            "--map umap needs the package umap-learn, which is not installed; install it with "
            "'pip install umap-learn', or use --map field."
        )


def build_states_map(database: Database, name: str | None) -> FieldMap | None:
    """Return the map of a name, if one is given."""
    if not name:
        return None
    metric = Metric.from_database(database)
    if name == _UMAP:
        return build_field_map(database, metric, _embed_by_umap, "UMAP")
    return build_field_map(database, metric)


def _embed_by_umap(features: np.ndarray) -> np.ndarray:
    """Return positions (n, 3) of states by features (n, F), the same in each run."""
    umap = importlib.import_module(_UMAP)
    neighbours = min(_NEIGHBOURS, len(features) - 1)
    reducer = umap.UMAP(n_components=3, n_neighbors=neighbours, random_state=0, n_jobs=1)
    positions: np.ndarray = reducer.fit_transform(features)
    return positions

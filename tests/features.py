"""Features for tests that look at every kind."""

from __future__ import annotations

from motion_matching.engine.database.features.features import Feature
from motion_matching.engine.database.features.kinds import find_kind


def make_feature(name: str) -> Feature:
    """Return a feature of a kind, of its first usual bone or on the path."""
    kind = find_kind(name)
    if kind.is_path:
        return Feature(name, times=(0.5, 1.0), axes="xy")
    return Feature(name, kind.usual_bones[0])

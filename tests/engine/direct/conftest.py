"""A director of generated clips: standing, walking, turning and running, with their mirror images."""

from __future__ import annotations

import pytest

from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.sources import Source
from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage import Footage, make_footage
from motion_matching.engine.direct.jump_table import JumpTable, build_table
from motion_matching.engine.locomotion import locomotion

_CLIPS = (
    *("idle", "idle_and_turns_in_place", "walk_starts_and_stops", "starts_in_all_directions"),
    *("walk_speeds", "walk_curves", "walk_bends", "run_speeds", "gait_changes"),
)


@pytest.fixture(scope="session")
def walking() -> Database:
    """The database of these clips."""
    sources = [Source(clip=clip) for clip in locomotion.generate() if clip.name in _CLIPS]
    return build(sources, BuildSettings(mirror=True))[0]


@pytest.fixture(scope="session")
def footage(walking: Database) -> Footage:
    return make_footage(walking)


@pytest.fixture(scope="session")
def table(footage: Footage) -> JumpTable:
    return build_table(footage)


@pytest.fixture(scope="session")
def director(footage: Footage, table: JumpTable) -> Director:
    return Director(footage, table)

"""What tests of the engine share."""

from __future__ import annotations

from pathlib import Path

import pytest

from motion_matching.engine.control.settings import PerformerSettings
from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.sources import find_sources
from motion_matching.engine.takes import takes


@pytest.fixture(scope="session")
def settings(demo_database: Database) -> PerformerSettings:
    """The default settings of a performer of the demo database."""
    return takes.make_default_settings(demo_database)


@pytest.fixture(scope="session")
def bandai_namco(mocap: Path) -> Database:
    """The database of Bandai-Namco's clips and their mirror images."""
    return build(find_sources([mocap / "bandai-namco"]), BuildSettings(mirror=True))[0]


@pytest.fixture(scope="session")
def lafan1(mocap: Path) -> Database:
    """The database of LAFAN1's take and its mirror image."""
    return build(find_sources([mocap / "lafan1"]), BuildSettings(mirror=True))[0]

"""What tests of the engine share."""

from __future__ import annotations

from pathlib import Path

import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.sources.sources import find_sources
from motion_matching.engine.takes import takes
from tests.run_files import pickle_once


@pytest.fixture(scope="session")
def settings(demo_database: Database) -> PerformerSettings:
    """The default settings of a performer of the demo database."""
    return takes.make_default_settings(demo_database)


@pytest.fixture(scope="session")
def bandai_namco(mocap: Path) -> Database:
    """The database of Bandai-Namco's clips and their mirror images."""
    return build_mirrored(mocap / "bandai-namco")


@pytest.fixture(scope="session")
def lafan1(mocap: Path) -> Database:
    """The database of LAFAN1's take and its mirror image."""
    return build_mirrored(mocap / "lafan1")


def build_mirrored(folder: Path) -> Database:
    """Return the database of a folder's clips and their mirror images, built once in a run."""
    settings = BuildSettings(mirror=True)
    return pickle_once(folder.name, lambda: build(find_sources([folder]), settings)[0])

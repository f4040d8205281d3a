"""What tests of the engine share."""

from __future__ import annotations

import pytest

from motion_matching.engine.control.settings import PerformerSettings
from motion_matching.engine.database.database import Database
from motion_matching.engine.takes import takes


@pytest.fixture(scope="session")
def settings(demo_database: Database) -> PerformerSettings:
    """The default settings of a performer of the demo database."""
    return takes.make_default_settings(demo_database)

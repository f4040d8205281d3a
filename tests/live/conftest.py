"""What tests of a session share: the demo database as a file, for scripts that run inside Blender."""

from __future__ import annotations

from pathlib import Path

import pytest

from motion_matching.engine.matching import database


@pytest.fixture(scope="session")
def demo_file(demo_database, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("live") / "demo.npz"
    database.save(demo_database, path)
    return path

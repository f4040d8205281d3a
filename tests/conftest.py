"""Fixtures that every test folder shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mocap() -> Path:
    """The folder with real motion capture (`bandai-namco/`, `lafan1/`), which the project may not ship."""
    folder = os.environ.get("MOTION_MATCHING_MOCAP")
    if not folder:
        pytest.skip("MOTION_MATCHING_MOCAP is not set")
    return Path(folder)

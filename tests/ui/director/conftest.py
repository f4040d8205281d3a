"""Fixtures of the director's tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import bpy
import pytest

from tests.ui.characters import create_character
from tests.ui.director.marked import add_marks


@pytest.fixture(scope="session")
def kept_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Databases and jump tables of the tests so far."""
    return tmp_path_factory.mktemp("library")


@pytest.fixture(autouse=True)
def filled_library(fresh_blender: None, kept_library: Path) -> Iterator[None]:
    """Find databases and jump tables in the library that earlier tests have built.

    Most of these tests direct the same character, which would be built and measured in each.
    """
    from motion_matching.app.database import library

    folder = library.get_folder()
    shutil.copytree(kept_library, folder, dirs_exist_ok=True)
    yield
    if folder.is_dir():
        shutil.copytree(folder, kept_library, dirs_exist_ok=True)


@pytest.fixture
def obj() -> bpy.types.Object:
    """A character with sources and marks."""
    obj = create_character()
    bpy.ops.motion_matching.add_actions()
    add_marks()
    return obj

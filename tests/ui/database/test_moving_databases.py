"""The preferences move the databases to another folder and back; a session plays on from there."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.database import library, status
from motion_matching.app.database.content import compute_key
from motion_matching.app.runtime import runtime
from motion_matching.app.takes.recordings import get_folder as get_recordings_folder
from motion_matching.engine.files.own_files import FOLDER
from motion_matching.scene.library import library as libraries
from tests.ui.characters import create_character, expect_refusal

ops = bpy.ops.motion_matching


@pytest.fixture
def built(addon):
    obj = create_character(clips=("walk_curves",))
    addon = bpy.context.preferences.addons.get("motion_matching")
    if addon is None:  # a new file drops it
        addon = bpy.context.preferences.addons.new()
        addon.module = "motion_matching"
    ops.add_actions(mirror=False)
    ops.build()
    yield obj, addon.preferences
    addon.preferences.folder = ""


def test_databases_are_found_where_they_were_moved(built, tmp_path):
    obj, chosen = built
    key, before = compute_key(obj), libraries.get_folder()
    recordings = get_recordings_folder()
    assert library.get_library().has(key)
    assert Path(chosen.location) == before
    target = tmp_path / "more space"
    assert ops.move_databases(directory=f"{target}/") == {"FINISHED"}
    folder = target / FOLDER
    assert Path(chosen.location) == folder == library.get_library().folder
    assert (folder / f"{key}.npz").is_file()
    assert not list(before.glob("*.npz"))
    assert status.refresh(obj).kind == "fresh"
    assert library.get_library().load(key).frame_count > 10
    assert get_recordings_folder() == recordings, "recordings that were cut off stay where they are"
    # built where it is now
    obj.motion_matching.speed = 1.25
    ops.build()
    assert (folder / f"{compute_key(obj)}.npz").is_file()
    for given in (target, folder):
        assert ops.move_databases(directory=f"{given}/") == {"FINISHED"}, "it is there already"
    assert len(list(folder.glob("*.npz"))) == 2

    assert ops.move_databases_back() == {"FINISHED"}
    assert chosen.folder == ""
    assert library.get_library().folder == before
    assert len(list(before.glob("*.npz"))) == 2
    assert not list(target.iterdir()), "what was made there is gone"
    assert status.refresh(obj).kind == "fresh"


def test_a_refused_folder_leaves_the_databases_where_they_are(built, tmp_path):
    obj, chosen = built
    blocked = tmp_path / "a file"
    blocked.write_text("")
    expect_refusal(ops.move_databases, "cannot be moved", directory=f"{blocked}/in it/")
    expect_refusal(ops.move_databases, "No folder was chosen", directory="")
    assert chosen.folder == ""
    assert status.refresh(obj).kind == "fresh"


def test_a_folder_on_a_missing_disk_is_named(built, tmp_path):
    _, chosen = built
    chosen.folder = str(tmp_path / "unplugged" / "databases")
    assert "connect its disk" in chosen.location
    expect_refusal(ops.build, "connect its disk")
    (tmp_path / "unplugged").mkdir()
    assert ops.build() == {"FINISHED"}
    assert list((tmp_path / "unplugged" / "databases" / FOLDER).glob("*.npz"))


def test_a_folder_of_the_user_keeps_all_that_is_in_it(built, tmp_path):
    """Whatever becomes of the databases there, which earlier versions stored in that very folder."""
    obj, chosen = built
    np.savez(tmp_path / "thesis.npz", poses=np.zeros((30, 156)))
    (tmp_path / "notes.base").write_text("notes")
    os.utime(tmp_path / "thesis.npz", (0, 0))
    mine = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def read() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}

    assert ops.move_databases(directory=f"{tmp_path}/") == {"FINISHED"}
    chosen.limit = 0.05
    obj.motion_matching.speed = 1.25
    assert ops.build() == {"FINISHED"}
    assert read() == mine
    # as an earlier version left it
    folder = tmp_path / FOLDER
    for path in folder.iterdir():
        path.rename(tmp_path / path.name)
    folder.rmdir()
    runtime.library = None
    status.invalidate()
    assert status.refresh(obj).kind == "fresh"
    assert library.get_library().has(compute_key(obj))
    assert read() == mine
    assert ops.clear_cache() == {"FINISHED"}
    assert list(folder.iterdir()) == []
    assert ops.move_databases_back() == {"FINISHED"}
    assert read() == mine

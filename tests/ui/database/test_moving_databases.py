"""The preferences move the databases to another folder and back; a session plays on from there."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from motion_matching.app import library, status
from motion_matching.app.content import compute_key
from motion_matching.app.recordings import get_folder as get_recordings_folder
from motion_matching.scene.reading import library as libraries
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
    assert Path(chosen.location) == target == library.get_library().folder
    assert (target / f"{key}.npz").is_file()
    assert not list(before.glob("*.npz"))
    assert status.refresh(obj).kind == "fresh"
    assert library.get_library().load(key).frame_count > 10
    assert get_recordings_folder() == recordings, "recordings that were cut off stay where they are"
    # built where it is now
    obj.motion_matching.speed = 1.25
    ops.build()
    assert (target / f"{compute_key(obj)}.npz").is_file()
    assert ops.move_databases(directory=f"{target}/") == {"FINISHED"}, "it is there already"
    assert len(list(target.glob("*.npz"))) == 2

    assert ops.move_databases_back() == {"FINISHED"}
    assert chosen.folder == ""
    assert library.get_library().folder == before
    assert len(list(before.glob("*.npz"))) == 2
    assert not list(target.glob("*.npz"))
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
    assert list((tmp_path / "unplugged" / "databases").glob("*.npz"))

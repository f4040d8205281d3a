"""Databases on disk are found by content, become stale when a key changes, and the oldest are
deleted.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.app.runtime import runtime
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database import database
from motion_matching.engine.errors import DatabaseError, MotionDataError, SettingsError
from motion_matching.engine.sources.sources import Source
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.library import library
from tests.demo import generate_clips
from tests.ui.characters import create_character


@pytest.mark.slow
def test_keys_follow_the_content():
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.add_actions()
    key = compute_key(obj)
    assert compute_key(obj) == key
    ops.build()
    assert status.refresh(obj).kind == "fresh"
    assert settings.built_key == key

    def check_key_differs(change, undo, kind="stale"):
        change()
        bpy.context.view_layer.update()
        assert compute_key(obj) != key, change
        assert status.refresh(obj).kind == kind
        undo()
        bpy.context.view_layer.update()
        assert compute_key(obj) == key, undo
        assert status.refresh(obj).kind == "fresh"

    curve = actions.get_active_curves(
        settings.sources[0].action, actions.find_slot(settings.sources[0].action, obj)
    )[7]
    point = curve.keyframe_points[40]
    value = point.co[1]

    def move(y):
        point.co[1] = y

    check_key_differs(lambda: move(value + 1e-3), lambda: move(value))

    def bend(how):
        point.interpolation = how

    check_key_differs(lambda: bend("BEZIER"), lambda: bend("LINEAR"))
    modifier = []
    check_key_differs(
        lambda: modifier.append(curve.modifiers.new("NOISE")),
        lambda: curve.modifiers.remove(modifier.pop()),
    )

    action = settings.sources[1].action
    for owner, name, value in (
        (settings.sources[0], "enabled", False),
        (settings.sources[0], "mirror", False),
        (settings.sources[0], "speed", 1.1),
        (settings.sources[0], "tags", "calm"),
        (settings.sources[0], "gait", "walk"),
        (settings.sources[0], "use_range", True),
        (action, "use_frame_range", True),
        (settings, "speed", 1.2),
        (settings, "bones", "DEFORM"),
        (settings.simulation_bone, "position_window", 0.7),
        (settings.features, "normalization", "dimension"),
        (settings.features, "difference", "absolute"),
        (settings.features.items[5], "times", "0.2, 0.4"),
        (settings.roles, "spine", "Chest"),
        (bpy.context.scene.render, "fps", 30),
        (obj.pose.bones["Head"], "rotation_mode", "XYZ"),
        (obj, "scale", (2, 2, 2)),
        (obj, "rotation_euler", (0.5, 0, 0)),
    ):
        before = getattr(owner, name)
        before = (
            tuple(before) if hasattr(before, "__len__") and not isinstance(before, str) else before
        )
        kind = "fresh" if name in ("tags", "gait") else "stale"  # tags are put on what is stored
        check_key_differs(
            partial(setattr, owner, name, value), partial(setattr, owner, name, before), kind
        )
    limit = []
    check_key_differs(
        lambda: limit.append(obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")),
        lambda: obj.pose.bones["Head"].constraints.remove(limit.pop()),
    )

    # changes that do not affect a database
    for owner, name, value in (
        (settings.features.items[0], "weight", 9.0),
        (settings.features, "responsiveness", 2.0),
        (action, "name", "Renamed"),
        (settings.controller, "synchronization", 0.9),
        (settings, "root", "OBJECT"),
        (obj, "location", (3, 2, 0)),
        (obj, "rotation_euler", (0, 0, 1.0)),
        (obj, "name", "Somebody"),
        (settings, "up", "Z"),
    ):
        setattr(owner, name, value)
        bpy.context.view_layer.update()
        assert compute_key(obj) == key, name
        assert status.refresh(obj).kind == "fresh", name

    # nor does the heading of a tilted armature, as left by imports
    def compute_turned_key(about_z):
        obj.rotation_euler = (1.5707964, 0, about_z)
        bpy.context.view_layer.update()
        return compute_key(obj)

    assert len({compute_turned_key(about_z) for about_z in range(7)}) == 1
    obj.rotation_euler = (0, 0, 0)
    bpy.context.view_layer.update()

    # the same motion on another character is found without a build
    twin = create_character("Twin")
    ops.add_actions()
    assert not twin.motion_matching.built_key
    assert status.refresh(twin).kind == "fresh"
    first = get_library().load(key)
    assert get_library().load(key) is first, "it is loaded once"

    # changing an action is noticed, changing the frame is not
    status.get_status(twin)
    bpy.context.scene.frame_set(7)
    bpy.context.view_layer.update()
    assert not runtime.statuses.stale
    source = twin.motion_matching.sources[0].action
    twin.animation_data.action = source
    twin.pose.bones["Head"].keyframe_insert("location", frame=3)
    bpy.context.view_layer.update()
    assert runtime.statuses.stale == {twin.session_uid}
    assert status.refresh(twin).kind == "none"


def test_keyed_and_driven_values_do_not_change_the_key_between_frames():
    obj = create_character(clips=("walk_curves", "run_curves"))
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.add_actions()
    head, scene = obj.pose.bones["Head"], bpy.context.scene
    keyed, driven, still = (head.constraints.new("LIMIT_ROTATION") for _ in range(3))
    walk, run = bpy.data.actions["walk_curves"], bpy.data.actions["run_curves"]
    actions.assign(obj, walk)
    for frame, influence, slider, mode in ((1, 0.0, 0.0, "XYZ"), (200, 1.0, 1.0, "ZYX")):
        keyed.influence, obj["ik"], head.rotation_mode = influence, slider, mode
        for owner, path in ((keyed, "influence"), (obj, '["ik"]'), (head, "rotation_mode")):
            assert owner.keyframe_insert(path, frame=frame)
    obj["unkeyed"] = 0.0

    def drive(constraint, slider):
        driver = constraint.driver_add("influence").driver
        driver.type = "AVERAGE"
        target = driver.variables.new().targets[0]
        target.id, target.data_path = obj, f'["{slider}"]'

    drive(driven, "ik")

    def compute_updated_key():
        obj.update_tag()
        bpy.context.view_layer.update()
        return compute_key(obj)

    # keyed and driven values do not depend on the frame, on tweaks, or on the assigned action
    scene.frame_set(1)
    key = compute_updated_key()
    scene.frame_set(100)
    assert 0.0 < keyed.influence < 1.0
    assert 0.0 < driven.influence < 1.0
    assert compute_updated_key() == key
    keyed.influence, obj["ik"] = 0.25, 0.75
    assert compute_updated_key() == key
    for action in (run, None):
        obj.animation_data.action = action
        assert compute_updated_key() == key, action
    actions.assign(obj, walk)
    assert ops.build() == {"FINISHED"}
    assert settings.built_key == key
    scene.frame_set(150)
    assert status.refresh(obj).kind == "fresh"

    # other values count: other constraints, sliders without keys, keys themselves, a muted driver
    def check_key_differs(change, undo):
        change()
        assert compute_updated_key() != key, change
        undo()
        assert compute_updated_key() == key, undo

    check_key_differs(
        lambda: setattr(still, "influence", 0.5), lambda: setattr(still, "influence", 1.0)
    )
    check_key_differs(
        lambda: setattr(keyed, "use_limit_x", True), lambda: setattr(keyed, "use_limit_x", False)
    )
    curve = next(
        c
        for c in actions.get_active_curves(walk, actions.find_slot(walk, obj))
        if c.data_path.endswith("influence")
    )
    check_key_differs(
        lambda: setattr(curve.keyframe_points[0], "co", (1, 0.5)),
        lambda: setattr(curve.keyframe_points[0], "co", (1, 0)),
    )
    check_key_differs(lambda: setattr(curve, "mute", True), lambda: setattr(curve, "mute", False))
    check_key_differs(
        lambda: setattr(obj.animation_data.drivers[0], "mute", True),
        lambda: setattr(obj.animation_data.drivers[0], "mute", False),
    )
    drive(still, "unkeyed")
    key = compute_updated_key()
    check_key_differs(
        lambda: obj.__setitem__("unkeyed", 1.0), lambda: obj.__setitem__("unkeyed", 0.0)
    )


def test_the_oldest_databases_go_when_space_is_short(tmp_path):
    (tmp_path / "databases").mkdir()
    folder = tmp_path / "databases"
    made = build([Source(clip=clip) for clip in generate_clips()[:3]], BuildSettings())[0]
    databases = library.Library(folder)
    a, b, c, d, e = keys = [letter * 32 for letter in "abcde"]
    databases.store(a, made)
    size = (folder / f"{a}.npz").stat().st_size
    databases.limit = 3 * size
    for key in (b, c):
        databases.store(key, made)
    for number, key in enumerate(keys[:3]):
        os.utime(databases.get_path(key), (1000 + number, 1000 + number))
    databases.load(a)  # used again: now b is the oldest
    databases.store(d, made)
    assert {p.stem for p in folder.iterdir()} == {a, c, d}
    assert sum(p.stat().st_size for p in folder.iterdir()) <= databases.limit
    databases.limit = 1
    databases.store(e, made)
    assert {p.stem for p in folder.iterdir()} == {e}, (
        "the newest stays, however little room there is"
    )
    assert databases.load(e).frame_count == made.frame_count
    with pytest.raises(DatabaseError) as caught:  # no longer in the library
        databases.load(a)
    assert f"{a}.npz" in str(caught.value)
    assert databases.clear() == (size, 0)
    assert not list(folder.iterdir())
    assert not databases.has(e)

    # outside an extension they lie only in Blender's user folder
    where = library.get_folder()
    assert where.is_dir()
    assert Path(os.environ["BLENDER_USER_RESOURCES"]) in where.parents
    shared = get_library()
    assert shared.folder == where
    assert shared.limit == library.DEFAULT_LIMIT

    # all share one library, whose size the preferences limit
    addon = bpy.context.preferences.addons.new()
    addon.module = "motion_matching"
    addon.preferences.limit = 5.0
    assert get_library() is shared
    assert shared.limit == 5 * 1024**3


def test_a_folder_that_another_blender_clears_costs_no_build(demo_database, tmp_path, monkeypatch):
    folder, save = tmp_path / "databases", database.save
    folder.mkdir()
    ours, theirs = library.Library(folder), library.Library(folder)

    def save_while_clearing(built, path, *key_and_facts):
        """Have the other Blender clear the cache while a file is half written."""
        unfinished = folder / f".{path.stem}.xyz.npz"
        unfinished.write_bytes(b"half")
        theirs.clear()
        assert unfinished.exists(), "it is being written"
        save(built, path, *key_and_facts)
        theirs.clear()

    monkeypatch.setattr(database, "save", save_while_clearing)
    key = "0" * 32
    assert ours.store(key, demo_database).frame_count == demo_database.frame_count
    os.utime(folder / f".{key}.xyz.npz", (0, 0))
    theirs.clear()
    assert list(folder.iterdir()) == [], "what nobody goes on writing is cleared"

    # the folder itself goes
    folder.rmdir()
    monkeypatch.setattr(database, "save", save)
    assert ours.store(key, demo_database).frame_count == demo_database.frame_count
    assert ours.has(key)
    theirs.clear()
    folder.rmdir()
    folder.write_text("in the way")
    with pytest.raises(DatabaseError, match=str(folder)):
        ours.store(key, demo_database)


@pytest.mark.parametrize("key", ["../x", "/x", "a/b", "C:x"])
def test_a_key_is_no_path(key, tmp_path):
    with pytest.raises(SettingsError):
        library.Library(tmp_path).get_path(key)


def test_a_note_of_a_base_removes_no_file_elsewhere(demo_database, tmp_path):
    folder, victim = tmp_path / "databases", tmp_path / "victim.npz"
    folder.mkdir()
    victim.write_bytes(b"mine")
    motion, stored = "m" * 32, library.Library(folder)
    for name in ("../victim", str(victim.with_suffix("")), "", "\0"):
        (folder / f"{motion}.base").write_text(name, encoding="ascii")
        assert stored.find_base(motion) == ""
        stored.store("0" * 32, demo_database, motion)
        assert victim.exists()
        assert stored.find_base(motion) == "0" * 32


def test_a_library_never_touches_files_of_the_user(demo_database, tmp_path):
    """Neither when it is cleared, nor when it makes room, nor at any build."""
    np.savez(tmp_path / "thesis.npz", poses=np.zeros((30, 156)))
    content = (tmp_path / "thesis.npz").read_bytes()
    database.save(demo_database, tmp_path / "walk.npz")  # made for -o
    mine = {"walk.npz": (tmp_path / "walk.npz").read_bytes(), ".hidden.npz": content}
    mine |= {"thesis.npz": content, f"{'1' * 32}.npz": content, f"field-{'2' * 32}.npz": content}
    mine |= {"notes.base": b"notes", f"{'3' * 32}.base": b"notes", "song.npz.part": b"half"}
    for name, written in mine.items():
        (tmp_path / name).write_bytes(written)
        os.utime(tmp_path / name, (1000, 1000))

    def read() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    stored = library.Library(tmp_path, limit=1)
    for number, motion in (("4", "5"), ("6", "5"), ("7", "8")):
        stored.store(number * 32, demo_database, motion * 32)
    ours = {f"{'7' * 32}.npz", f"{'8' * 32}.base"}
    assert {name: each for name, each in read().items() if name not in ours} == mine
    stored.clear()
    assert read() == mine
    # nor where a database of that very key belongs
    stored.store("1" * 32, demo_database, "3" * 32)
    assert stored.load("1" * 32).frame_count == demo_database.frame_count
    assert (tmp_path / f"{'1' * 32}.npz.kept1").read_bytes() == content
    assert (tmp_path / f"{'3' * 32}.base.kept1").read_bytes() == b"notes"


def test_a_source_that_is_a_device_is_refused(tmp_path):
    with pytest.raises(MotionDataError, match="regular file"):
        library.FileDigests().compute(Path("/dev/zero"))

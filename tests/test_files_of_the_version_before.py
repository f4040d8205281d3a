"""Files of the version before the reorganisation open as before; see tests/data/before/README.md."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching import cli
from motion_matching.app import settings
from motion_matching.app.character import characters
from motion_matching.app.controller import features, training
from motion_matching.app.database import build, status
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.app.takes import recordings
from motion_matching.app.takes.take_actions import read_parts
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.performance import performance
from motion_matching.engine.progress import run_to_end
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.reading.markers import read_tags
from motion_matching.ui import presets
from tests.ui.every_property import find_differences, list_leaves

BEFORE = Path(__file__).parent / "data" / "before"
PERFORMER = json.loads((BEFORE / "performer.json").read_text(encoding="utf-8"))
PERFORMED = BEFORE / "performed.npz"
KEYS = json.loads((BEFORE / "keys.json").read_text(encoding="utf-8"))[
    "{}.{}".format(*bpy.app.version)
]
# defaults that have changed, which characters get that had not changed them; and new settings
NEW_DEFAULTS = {"unlock_radius": 0.45, "lookahead": 1.0}
# settings of what is no longer drawn
GONE = ("training.show_residuals",)
NEW_SETTINGS = {
    "idle": True,
    "breathing": 1.0,
    "catch_up": 0.05,
    "strafe": True,
    "turning_speed": 1.4,
    "inertialization": "spring",
    "blend_time": 0.3,
    "blend_stretch": 3.0,
    "blend_root": True,
    "root_halflife": 0.06,
    "price_weight": 0.0,
    "support_weight": 100.0,
    "posture_weight": 10.0,
    "prediction": "spring",
    "skip_ahead": False,
    "wait": True,
    "tempo": 0.0,
    "object_waits": True,
    "labels": [],
    "label_blend": 0.3,
    "look": 0.0,
    "look_ahead": 0.7,
    "look_halflife": 0.12,
    "look_limit": 1.396263,
    "look_tilt": 0.785398,
    "look_spine": 0.2,
    "field": "by_gait",
}
ops = bpy.ops.motion_matching


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the files, with their folders."""
    return Path(shutil.copytree(BEFORE, tmp_path / "before"))


@pytest.fixture
def performer(folder: Path) -> bpy.types.Object:
    """The character of performer.blend; its database and motion field are in the library.

    They have the keys of now: its sources are of both kinds, whose bone frames versions before
    mixed up, so that those databases are stale.
    """
    return open_performer(folder)


def open_performer(folder: Path) -> bpy.types.Object:
    obj = open_object(folder / "performer.blend", "Performer")
    library = get_library().folder
    library.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "library" / "database.npz", library / f"{compute_key(obj)}.npz")
    status.refresh(obj)
    key = training.get_training_key(obj)
    shutil.copy(folder / "library" / "field.npz", library / f"{key}.npz")
    return obj


def open_object(path: Path, name: str) -> bpy.types.Object:
    """Open a file and make the named object active."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    obj = bpy.data.objects[name]
    bpy.context.view_layer.objects.active = obj
    return obj


def read_values(obj: bpy.types.Object) -> dict[str, object]:
    return json.loads(json.dumps(dict(list_leaves(obj.motion_matching))))


def leave_out_gone(before: dict[str, object]) -> dict[str, object]:
    """Return the values of properties that there are still."""
    return {name: value for name, value in before.items() if name not in GONE}


def select_saved(before: dict[str, object], now: dict[str, object]) -> dict[str, object]:
    """Return the values of properties that there were before; later ones were not saved."""
    return {name: value for name, value in now.items() if name in before}


def read_curves(action: bpy.types.Action) -> dict[tuple[str, int], np.ndarray]:
    """Return the keys (K, 2) of each curve."""
    return {
        (curve.data_path, curve.array_index): np.array(
            [point.co for point in curve.keyframe_points]
        )
        for curve in actions.get_channelbag(action).fcurves
    }


# metres: a field keeps its momentum and plays clips on at which control halts, which earlier
# versions did not, and goes the same way
FIELD_WAY = 0.1


def check_is_same_way(action: bpy.types.Action, before: bpy.types.Action) -> None:
    """Compare the times of keys, and where a field went."""
    now, then = read_curves(action), read_curves(before)
    assert now.keys() == then.keys()
    for key, points in then.items():
        columns = slice(2 if key[0] == "location" else 1)  # times alone, or values as well
        np.testing.assert_allclose(
            now[key][:, columns], points[:, columns], atol=FIELD_WAY, rtol=0, err_msg=str(key)
        )


def check_is_same_take(
    action: bpy.types.Action, before: bpy.types.Action, performed: dict[str, np.ndarray]
) -> None:
    """Compare the times of keys, and all of them with those that were recorded."""
    now, then = read_curves(action), read_curves(before)
    assert now.keys() == then.keys()
    for key, points in then.items():
        np.testing.assert_array_equal(now[key][:, 0], points[:, 0], err_msg=str(key))
    for key, points in performed.items():  # other versions of numpy round differently
        np.testing.assert_allclose(
            name_curves("", action)[key], points, atol=1e-4, rtol=0, err_msg=key
        )


def name_curves(take: str, action: bpy.types.Action) -> dict[str, np.ndarray]:
    """Return the keys (K, 2) of each curve of a take's action, as they are recorded."""
    return {f"{take}|{path}|{index}": keys for (path, index), keys in read_curves(action).items()}


def name_motion(path: Path) -> dict[str, np.ndarray]:
    """Return the motion of a BVH file, as it is recorded."""
    clip = bvh.load(path)
    return {"positions": clip.positions, "rotations": clip.rotations}


def perform_again(
    obj: bpy.types.Object, method: str, use_markers: bool, name: str
) -> bpy.types.Action:
    """Bake a take of a character again."""
    group = obj.motion_matching
    group.controller.method = method
    group.take_index = next(i for i, take in enumerate(group.takes) if take.action.name == name)
    assert read_parts(bpy.data.actions[name])
    group.controller.idle = False  # it slid on where it was to stand, as no source stands
    assert ops.bake_again(use_markers=use_markers) == {"FINISHED"}
    return group.takes[group.take_index].action


def perform_script(folder: Path, path: Path, *more: object) -> None:
    """Perform the recorded performance with its contacts, and write it as BVH."""
    script = ("--script", folder / "performance.json", "--contacts", folder / "contacts.json")
    run("take", folder / "curves.npz", *script, "--bvh", path, *more)


# ---------------------------------------------------------------- files of Blender


def test_every_property_keeps_its_saved_value(folder):
    before = json.loads((folder / "every_property.json").read_text(encoding="utf-8"))
    before = leave_out_gone(before)
    obj = open_object(folder / "every_property.blend", "Filled")
    assert len(before) > 150
    assert find_differences(before, select_saved(before, read_values(obj))) == {}


def test_settings_of_a_character_are_read_as_before(performer):
    before = leave_out_gone(PERFORMER["properties"]) | {
        f"controller.{name}": pytest.approx(value) for name, value in NEW_DEFAULTS.items()
    }
    assert find_differences(before, select_saved(before, read_values(performer))) == {}
    database = run_to_end(build.load_or_build_steps(performer))
    now = settings.get_performer_settings(performer, database).to_dict()
    assert json.loads(json.dumps(now)) == (
        PERFORMER["performer_settings"] | NEW_DEFAULTS | NEW_SETTINGS
    )


def test_databases_and_fields_keep_their_content_keys(performer):
    """A Blender other than the one that wrote the file may read its curves differently and give
    other keys, as before.
    """
    group = performer.motion_matching
    assert len(group.databases) == 2
    for index, database in enumerate(group.databases):
        group.database_index = index
        both_kinds = database.label == "Everything"
        assert (compute_key(performer) == KEYS[database.label]) != both_kinds
        assert database.built_key == group.built_key == PERFORMER["keys"][database.label]
        missing = "elsewhere" if KEYS[database.label] == group.built_key else "stale"
        assert status.refresh(performer).kind == ("fresh" if both_kinds else missing)

    known = status.refresh(performer)
    assert [
        known.frames,
        known.clips,
        known.bones,
        known.dimensions,
        sorted(known.tags),
    ] == PERFORMER["status"]
    assert training.get_training_state(performer) == "fresh"
    assert group.training.trained_key == PERFORMER["trained_key"]
    database = run_to_end(build.load_or_build_steps(performer))
    field = training.ChosenMethod.from_object(performer).load_field(database)
    assert field is not None
    assert field.name.endswith(training.get_training_key(performer))


def test_settings_build_the_same_database_as_before(performer):
    """The same settings, sources, tags and edited path give the database of the old code, but for
    the bone frames of a file beside actions, and for the first and last frame of proposed tags,
    which were one off where a clip has another rate of frames.
    """
    path = get_library().get_path(compute_key(performer))
    before = databases.load(path)
    path.unlink()
    assert ops.build() == {"FINISHED"}
    now = databases.load(path)
    [[first, last]] = [
        [start, stop]
        for part, start, stop in zip(now.ranges, now.starts, now.stops, strict=True)
        if part.clip == "starts"
    ]
    assert now.ranges == before.ranges
    assert np.array_equal(now.stops, before.stops)
    for field in ("poses", "velocities", "track", "contacts", "bias"):
        one, other = (getattr(database, field)[first:last] for database in (now, before))
        np.testing.assert_allclose(one, other, atol=1e-4, err_msg=field)
    assert now.tag_names == before.tag_names
    tags, other = now.tags[first:last], before.tags[first:last]
    at_edges = np.diff(other, prepend=other[:1], append=other[-1:]) != 0
    assert set(np.flatnonzero(tags != other)) <= set(np.flatnonzero(at_edges[1:] | at_edges[:-1]))


def check_is_same_database(now: databases.Database, before: databases.Database) -> None:
    for field in dataclasses.fields(before):
        one, other = getattr(now, field.name), getattr(before, field.name)
        if isinstance(other, np.ndarray) and other.dtype.kind == "f":
            np.testing.assert_allclose(one, other, atol=1e-4, err_msg=field.name)
        elif isinstance(other, np.ndarray):
            assert np.array_equal(one, other), field.name
        elif field.name == "ranges":
            assert list(map(dataclasses.astuple, one)) == list(map(dataclasses.astuple, other))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "use_markers", "first", "again"), PERFORMER["takes"])
def test_takes_are_performed_again_as_before(performer, method, use_markers, first, again):
    action = perform_again(performer, method, use_markers, first)
    before = bpy.data.actions[again]
    if method == "FIELD":
        check_is_same_way(action, before)
    else:
        with np.load(PERFORMED) as file:
            names = [name for name in file.files if name.startswith(again + "|")]
            check_is_same_take(
                action, before, {name.removeprefix(again): file[name] for name in names}
            )


def test_markers_and_steered_paths_are_read(performer):
    for name, markers in PERFORMER["markers"].items():
        assert sorted([m.name, m.frame] for m in bpy.data.actions[name].pose_markers) == markers
    source = performer.motion_matching.sources[0]
    performer.motion_matching.source_index = 0
    tags = sorted((tag.frame_start, tag.frame_end) for tag in source.tag_ranges)
    assert sorted((r.start, r.end) for r in read_tags(source.action)) == tags
    assert ops.markers_to_tags() == {"FINISHED"}
    assert sorted((tag.frame_start, tag.frame_end) for tag in source.tag_ranges) == tags

    [part] = read_parts(performer.motion_matching.play.take)
    assert len(part.performance.intents) > part.lead_in > 0


def test_an_interrupted_recording_is_recovered(folder, performer):
    before = json.loads((folder / "cut_off.json").read_text(encoding="utf-8"))
    recovery = recordings.get_folder()
    recovery.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "cut_off.mmrecovery", recovery)
    recordings.refresh()
    action = recordings.recover(recordings.find_foremost())
    assert action.name.startswith("Recovered")
    assert list(action.frame_range) == before["frames"]


def test_user_presets_are_applied(folder, performer):
    group = performer.motion_matching
    schema = features.build_schema(group.features)
    # the preset holds the values of all settings, the character only those that were changed
    old = {name: PERFORMER["performer_settings"][name] for name in NEW_DEFAULTS}
    controller = settings.get_controller_data(group.controller) | old
    for kind in ("features", "controllers", "rigs"):
        file = presets.get_user_folder(kind, create=True) / "mine.json"
        shutil.copy(folder / "presets" / kind / "mine.json", file)
    ops.apply_preset(kind="features", filepath="default")
    ops.apply_preset(kind="controllers", filepath="responsive")
    group.roles.hips = ""
    for kind in ("features", "controllers", "rigs"):
        assert ops.apply_preset(
            kind=kind, filepath=str(presets.get_user_folder(kind) / "mine.json")
        ) == {"FINISHED"}
    assert features.build_schema(group.features) == schema
    assert settings.get_controller_data(group.controller) | {
        "neighbours": 0,
        "drift": 0,
    } == controller | {
        "neighbours": 0,
        "drift": 0,
    }  # training sets these two after the preset was saved
    roles = json.loads((folder / "presets" / "rigs" / "mine.json").read_text())["roles"]
    assert characters.get_roles(group) == roles


# ---------------------------------------------------------------- files of the command line


def run(*arguments: object) -> None:
    assert cli.main([*map(str, arguments), "--quiet"]) == 0


def test_performances_and_contacts_are_performed_as_before(folder):
    saved = (
        "--save-performance",
        folder / "now.json",
        "--save-contacts",
        folder / "contacts_now.json",
    )
    perform_script(folder, folder / "now.bvh", *saved)
    now, then = bvh.load(folder / "now.bvh"), bvh.load(folder / "take.bvh")
    assert (now.skeleton.names, len(now.positions)) == (then.skeleton.names, len(then.positions))
    with np.load(PERFORMED) as file:
        for name, values in name_motion(folder / "now.bvh").items():
            np.testing.assert_allclose(values, file[name], atol=1e-4, rtol=0, err_msg=name)
    assert performance.load(folder / "now.json") == performance.load(folder / "performance.json")
    assert (folder / "contacts_now.json").read_text() == (folder / "contacts.json").read_text()


def test_a_trained_field_plays_as_before(folder):
    run(
        "take",
        folder / "curves.npz",
        "--script",
        folder / "field_performance.json",
        "--controller",
        "field",
        "--field",
        folder / "curves_field.npz",
        "--bvh",
        folder / "now.bvh",
    )
    now, then = bvh.load(folder / "now.bvh"), bvh.load(folder / "field_take.bvh")
    assert now.skeleton.names == then.skeleton.names
    np.testing.assert_allclose(now.positions, then.positions, atol=FIELD_WAY, rtol=0)


def test_the_same_command_builds_the_same_database(folder):
    run(
        "build",
        folder / "curves.bvh",
        "-o",
        folder / "now.npz",
        "--tags",
        folder / "saved_tags.json",
        "--features",
        "holden",
        "--simulation-bone",
        "adaptive",
        "--save-tags",
        folder / "now.json",
    )
    check_is_same_database(
        databases.load(folder / "now.npz"), databases.load(folder / "curves.npz")
    )
    now, before = (
        json.loads((folder / name).read_text()) for name in ("now.json", "saved_tags.json")
    )
    assert [{"start": 0} | tag for tag in now["curves"]] == before["curves"]

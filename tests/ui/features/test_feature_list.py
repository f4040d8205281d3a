"""The list of features: added, removed and moved, with presets of the references that come and go
whole.
"""

from __future__ import annotations

import json

import bpy
import pytest

from motion_matching.app.controller import features as feature_list
from motion_matching.app.database import status
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.engine.database.features.features import Schema, load_schema
from motion_matching.engine.database.features.kinds import KINDS
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.files import presets
from motion_matching.engine.insight.frames.feature_strokes import make_strokes
from motion_matching.ui.features.properties import get_title
from motion_matching.ui.insight import drawing as insight_drawing
from tests.demo import load_climbing
from tests.features import make_feature
from tests.ui.characters import create_character, expect_refusal, find_override, override_character


def test_features_are_added_removed_and_moved():
    ops, obj = bpy.ops.motion_matching, create_character(clips=("walk_curves",))
    features = obj.motion_matching.features

    # shipped sets survive a round trip, with past times and axes
    for name in presets.list_names("features"):
        ops.apply_preset(kind="features", filepath=name)
        ours, theirs = feature_list.build_schema(features), load_schema(name)
        assert ours.with_weights(range(len(ours.features))) == theirs.with_weights(
            range(len(theirs.features))
        ), name
        assert max(abs(ours.weights - theirs.weights)) < 1e-5  # properties keep six digits
        assert json.loads(json.dumps(feature_list.get_features_data(features)))["features"]
    features.items.clear()

    def list_features():
        return [(item.kind, item.bone, item.times) for item in features.items]

    # an empty list means the default, which is listed before a feature is added
    assert not ops.remove_feature.poll()
    assert not ops.move_feature.poll()
    expect_refusal(ops.remove_feature, "add a feature")
    assert feature_list.build_schema(features) == load_schema("default")
    bpy.ops.ed.undo_push(message="before")
    assert ops.add_feature(kind="bone_position") == {"FINISHED"}
    assert len(features.items) == 10
    assert features.preset == ""
    added = features.items[features.index]
    assert (added.kind, added.bone, added.axes) == ("bone_position", "hips", "xyz"), (
        "feet are compared already"
    )
    feature_list.build_schema(features)

    # every kind, and past times
    for kind, times in (
        ("bone_velocity", ""),
        ("trajectory_position", "-0.5, -1"),
        ("trajectory_direction", "0.25"),
        ("trajectory_velocity", ""),
    ):
        count = len(features.items)
        ops.add_feature(kind=kind, times=times)
        assert len(features.items) == count + 1
        assert features.items[features.index].kind == kind
        schema = feature_list.build_schema(features)
    assert schema.past == 1.0
    assert [f.axes for f in schema.features if f.kind == "trajectory_velocity"] == ["xy"]
    ops.add_feature(kind="bone_velocity", bone="Spine1")
    assert features.items[features.index].bone == "Spine1"

    # moving and removing keeps the rest
    before = list_features()
    index = features.index
    ops.move_feature(direction="UP")
    assert features.index == index - 1
    assert list_features()[index - 1] == before[index]
    assert sorted(list_features()) == sorted(before)
    ops.move_feature(direction="DOWN")
    assert list_features() == before
    assert features.index == index
    features.index = 0
    assert ops.move_feature(direction="UP") == {"CANCELLED"}
    assert list_features() == before
    features.index = len(before) - 1
    assert ops.move_feature(direction="DOWN") == {"CANCELLED"}
    assert list_features() == before
    features.index = index
    ops.remove_feature()
    assert list_features() == before[:index] + before[index + 1 :]
    while len(features.items) > 1:
        ops.remove_feature()
    expect_refusal(ops.remove_feature, "at least one feature")

    # another kind gets the values that it needs
    item = features.items[0]
    kinds = ("trajectory_direction", "bone_velocity", "trajectory_velocity", "bone_position")
    for kind in (*kinds, "bone_direction", "foot_contact", "trajectory_position", "foot_contact"):
        item.kind = kind
        [feature] = feature_list.build_schema(features).features
        assert feature.kind == kind
        assert bool(feature.times) == kind.startswith("trajectory")

    # each is one undo step
    ops.apply_preset(kind="features", filepath="holden")
    bpy.ops.ed.undo_push(message="holden")
    ops.add_feature(kind="trajectory_velocity")
    bpy.ops.ed.undo_push(message="added")
    bpy.ops.ed.undo()
    features = bpy.data.objects["Hero"].motion_matching.features
    assert feature_list.build_schema(features) == load_schema("holden")
    assert features.preset == "holden"
    bpy.ops.ed.redo()
    features = bpy.data.objects["Hero"].motion_matching.features
    assert len(features.items) == 8

    # order and weights need no build, other changes do
    obj, _settings = bpy.data.objects["Hero"], bpy.data.objects["Hero"].motion_matching
    ops.add_actions()
    ops.build()
    assert status.refresh(obj).kind == "fresh"
    dimensions = status.get_status(obj).dimensions
    features.items[0].weight = 3.0
    ops.move_feature(direction="UP")
    assert status.refresh(obj).kind == "fresh"
    database = get_library().load(compute_key(obj))
    weights = feature_list.compute_weights(features, database.schema)
    assert weights[0] == 3.0
    assert (
        dict(zip(database.schema.features, weights, strict=False))[database.schema.features[5]]
        == 1.0
    )
    features.responsiveness, features.continuity = 2.0, 0.5
    weights = feature_list.compute_weights(features, database.schema)
    assert weights[0] == 1.5
    assert all(
        abs(w - f.weight * (2.0 if f.kind.startswith("trajectory") else 0.5)) < 1e-6
        for w, f in list(zip(weights, database.schema.features, strict=False))[1:]
    )
    ops.add_feature(kind="bone_position", bone="head")
    assert status.refresh(obj).kind == "stale"
    ops.build()
    assert status.refresh(obj).kind == "fresh"
    assert status.get_status(obj).dimensions == dimensions + 3


def test_bones_have_times_of_their_own():
    ops, obj = bpy.ops.motion_matching, create_character(clips=("walk_curves",))
    features = obj.motion_matching.features
    ops.apply_preset(kind="features", filepath="default")
    for kind in ("bone_angular_velocity", "foot_next_contact"):
        ops.add_feature(kind=kind, bone="left_foot", times="-0.2, 0")
        item = features.items[features.index]
        assert get_title(item).endswith("-0.2 0")
    ops.add_feature(kind="bone_spring", bone="left_foot", times="-0.2")
    schema = feature_list.build_schema(features)
    times = {f.kind: f.times for f in schema.features if f.bone == "left_foot"}
    assert times["bone_angular_velocity"] == times["foot_next_contact"] == (-0.2, 0.0)
    assert times["bone_spring"] == times["bone_position"] == ()
    assert feature_list.has_past(features)
    # what is listed comes back from its own preset
    data = feature_list.get_features_data(features)
    feature_list.set_features(features, data, "mine")
    assert feature_list.build_schema(features) == schema
    features.items[0].bone_times = "soon"
    with pytest.raises(SettingsError, match="'soon'"):
        feature_list.build_schema(features)


def test_the_directions_of_a_bone_can_be_chosen():
    ops, obj = bpy.ops.motion_matching, create_character(clips=("walk_curves",))
    features = obj.motion_matching.features
    ops.add_feature(kind="bone_direction", bone="head")
    item = features.items[features.index]
    assert get_title(item) == "Head Direction"
    for axes in ("x", "y", "z", "xz", "yz", "xy", "xyz"):
        item.axes = axes
        feature = feature_list.build_schema(features).features[features.index]
        assert (feature.kind, feature.axes) == ("bone_direction", axes)
    item.axes = "yz"
    data = feature_list.get_features_data(features)
    feature_list.set_features(features, data, "mine")
    assert feature_list.get_features_data(features) == data
    # a path has no height
    item = next(each for each in features.items if each.axes == "yz")
    item.kind = "trajectory_position"
    assert item.axes == "xy"
    item.axes = "z"
    with pytest.raises(SettingsError, match="use one of xy, x, y, xyz"):
        feature_list.build_schema(features)


def test_each_group_of_features_has_a_slider():
    ops, obj = bpy.ops.motion_matching, create_character(clips=("walk_curves",))
    features = obj.motion_matching.features
    ops.apply_preset(kind="features", filepath="default")
    assert not feature_list.has_past(features)
    ops.apply_preset(kind="features", filepath="nucl_ai")
    assert feature_list.has_past(features)
    ops.add_feature(kind="trajectory_position", times="-0.5, 0.5")
    schema = feature_list.build_schema(features)
    features.responsiveness, features.continuity, features.past = 2.0, 3.0, 5.0
    weights = feature_list.compute_weights(features, schema)
    for weight, feature in zip(weights, schema.features, strict=True):
        look_back = bool(feature.times) and max(feature.times) < 0
        factor = 5.0 if look_back else 2.0 if feature.times else 3.0
        assert weight == pytest.approx(factor * feature.weight)
    assert sum(w == 5.0 * f.weight for w, f in zip(weights, schema.features, strict=True)) == 2


def test_linked_features_cannot_be_moved_or_removed(tmp_path):
    path, shot = str(tmp_path / "hero.blend"), str(tmp_path / "shot.blend")
    ops, obj = bpy.ops.motion_matching, create_character(clips=("walk_curves",))
    ops.add_actions()
    obj = override_character(path)
    features = obj.motion_matching.features

    def list_features():
        return [(item.kind, item.bone) for item in features.items]

    # linked features cannot be changed, which is reported
    linked = list_features()
    features.index = 2
    for operator, options in (
        (ops.remove_feature, {}),
        (ops.move_feature, {}),
        (ops.move_feature, {"direction": "DOWN"}),
    ):
        said = expect_refusal(operator, "'Left Foot Velocity'", "linked file", **options)
        assert "bpy_prop_collection" not in said, said
        assert said.count(".") == 1, said
    assert list_features() == linked
    assert features.index == 2
    assert features.preset == "default"

    # own features can be added, moved and removed, and are saved
    for kind in ("bone_position", "bone_velocity", "bone_position"):
        ops.add_feature(kind=kind)
    assert len({item.name for item in features.items}) == len(linked) + 3
    assert len(set(list_features())) == len(linked) + 3
    assert ops.move_feature(direction="UP") == {"FINISHED"}
    assert ops.remove_feature() == {"FINISHED"}
    kept = list_features()
    assert len(kept) == len(linked) + 2
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    features = find_override().motion_matching.features
    assert sorted(list_features()) == sorted(kept)


def test_a_feature_of_jumps_keeps_its_time_in_presets_and_only_there():
    ops, obj = bpy.ops.motion_matching, create_character(clips=("walk_curves",))
    features = obj.motion_matching.features
    ops.apply_preset(kind="features", filepath="spring")
    assert [item.time for item in features.items] == [0.0] * 5
    features.items[0].time = 0.25
    assert features.preset == ""
    schema = feature_list.build_schema(features)
    assert [feature.time for feature in schema.features] == [0.25, 0.0, 0.0, 0.0, 0.0]
    data = feature_list.get_features_data(features)
    feature_list.set_features(features, data, "mine")
    assert feature_list.build_schema(features) == schema
    assert not feature_list.is_built_with(features, load_schema("spring"))
    # another kind has no time
    features.items[0].kind = "bone_position"
    assert feature_list.build_schema(features).features[0].time == 0.0


def test_the_frame_inspector_has_a_style_for_what_every_kind_draws():
    features = tuple(make_feature(kind.name) for kind in KINDS)
    database = load_climbing().with_schema(Schema(features))
    drawn = {stroke.kind for stroke in make_strokes(database, 100)}
    assert drawn == set(insight_drawing._STYLES)

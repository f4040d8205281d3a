"""Features against closed-form motion, forward kinematics and numpy's statistics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.body.rig import Leg, Roles, find_roles
from motion_matching.engine.database.features.bone_motion import find_role_bone
from motion_matching.engine.database.features.features import (
    Feature,
    Schema,
    compute_features,
    compute_normalization,
    load_schema,
    schema_from_dict,
)
from motion_matching.engine.database.features.kinds import paths
from motion_matching.engine.database.features.motion_table import (
    MotionTable,
    compute_angular_velocity,
    differentiate,
    sample_track,
)
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.motion.simulation_bone import GroundTrack, attach

PERSON = build_humanoid_skeleton()
ROLES = find_roles(PERSON)
TRAJECTORY = Schema(
    (
        Feature("trajectory_position", times=(-0.7, -1 / 3, 0.25, 1 / 3, 1.0), axes="xy"),
        Feature("trajectory_direction", times=(-0.7, -1 / 3, 0.25, 1 / 3, 1.0), axes="xy"),
        Feature("trajectory_velocity", times=(-0.7, -1 / 3, 0.25, 1 / 3, 1.0), axes="xy"),
    )
)
BONES = Schema(
    tuple(
        Feature(kind, bone)
        for kind in ("bone_position", "bone_velocity")
        for bone in ("hips", "left_foot", "RightHand")
    )
)
EVERYTHING = Schema(TRAJECTORY.features + BONES.features)


def make_table(track, fps=30.0, swing=None, lengths=None, loops=None, contacts=None) -> MotionTable:
    """Put a person on a `track` (N, 3) of x, y, yaw, at rest or with angles `swing` (N,) about X in
    all joints.
    """
    count = len(track)
    rotations = np.tile(PERSON.rest_rotations, (count, 1, 1))
    if swing is not None:
        scale = np.linspace(0.3, 1.0, PERSON.bone_count)
        rotations = quat.from_angle_axis(np.outer(swing, scale), np.array([1.0, 0.0, 0.0])).astype(
            np.float32
        )
    clip = Clip("person", PERSON, np.tile(PERSON.rest_positions, (count, 1, 1)), rotations, fps)
    clip = attach(clip, GroundTrack(np.zeros((count, 2)), np.zeros(count)), ROLES.hips)
    clip.positions[:, 0, :2], clip.rotations[:, 0] = track[:, :2], quat.from_yaw(track[:, 2])
    stops = np.cumsum(lengths or [count])
    roles = Roles.from_names(clip.skeleton, ROLES.to_names(PERSON))
    return MotionTable(
        clip.skeleton,
        roles,
        fps,
        clip.positions,
        clip.rotations,
        np.asarray(track, np.float64),
        np.r_[0, stops[:-1]],
        stops,
        np.array(loops or [False] * len(stops)),
        np.zeros((count, 2), bool) if contacts is None else contacts,
    )


def circle(count, fps, radius=1.5, rate=0.9, first=0):
    """Return a walk around a circle to the left, facing ahead: x, y, yaw (N, 3)."""
    angle = rate * (first + np.arange(count)) / fps
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), angle + np.pi])


def make_wandering_track(rng, count, fps):
    """Make a smooth path that turns and strafes."""
    time = np.arange(count) / fps
    waves = [
        sum(rng.normal() * np.sin(rng.uniform(0.5, 3) * time + rng.uniform(0, 6)) for _ in range(3))
        for _ in range(3)
    ]
    return np.column_stack([waves[0] + 1.2 * time, waves[1], waves[2] + 40.0])


def split_features(schema, values):
    """Split values into (N, T, axes) by kind, or by (kind, bone)."""
    result = {}
    for feature, where in zip(schema.features, schema.slices, strict=True):
        block = values[where].T.astype(np.float64)
        key = (feature.kind, feature.bone) if feature.bone else feature.kind
        result[key] = block.reshape(len(block), -1, len(feature.axes)) if feature.times else block
    return result


# ---------------------------------------------------------------- schemas


def describe_features(name):
    return [(f.kind, f.bone, f.times, f.weight) for f in load_schema(name).features]


def test_the_holden_preset_has_27_dimensions_and_his_weights():
    schema = load_schema("holden")
    assert schema.dimensions == 27
    assert schema.normalization == "feature"
    ahead = pytest.approx((20 / 60, 40 / 60, 60 / 60))
    assert describe_features("holden") == [
        ("bone_position", "left_foot", (), 0.75),
        ("bone_position", "right_foot", (), 0.75),
        ("bone_velocity", "left_foot", (), 1.0),
        ("bone_velocity", "right_foot", (), 1.0),
        ("bone_velocity", "hips", (), 1.0),
        ("trajectory_position", "", ahead, 1.0),
        ("trajectory_direction", "", ahead, 1.5),
    ]
    assert (schema.past, schema.future) == (0.0, 1.0)


def test_the_notebook_preset_has_33_dimensions_and_decaying_weights():
    schema = load_schema("notebook")
    assert schema.dimensions == 33
    assert schema.normalization == "dimension"
    bones = {
        (kind, bone): weight for kind, bone, _, weight in describe_features("notebook") if bone
    }
    assert bones == {
        ("bone_velocity", "hips"): 1.0,
        ("bone_position", "left_foot"): 0.75,
        ("bone_position", "right_foot"): 0.75,
        ("bone_velocity", "left_foot"): 1.0,
        ("bone_velocity", "right_foot"): 1.0,
    }
    ahead = [
        (kind, times, weight)
        for kind, bone, times, weight in describe_features("notebook")
        if not bone
    ]
    for kind, full in (("trajectory_position", 1.0), ("trajectory_direction", 1.5)):
        found = [(time[0] * 30, weight) for k, time, weight in ahead if k == kind]
        assert found == [pytest.approx((frames, full * 0.99**frames)) for frames in (10, 20, 30)]


def test_presets_hold_the_trajectory_where_their_sources_clamp_it():
    """Holden's generator and the notebook repeat the last frame of a range beyond its end."""
    beyond = {
        name: load_schema(name).beyond_range
        for name in ("default", "holden", "notebook", "nucl_ai")
    }
    assert beyond == {
        "default": "extrapolate",
        "holden": "hold",
        "notebook": "hold",
        "nucl_ai": "extrapolate",
    }


def test_the_nucl_ai_preset_weights_feet_and_past_and_future():
    schema = load_schema("nucl_ai")
    weights = {
        (f.kind, f.bone or ("past" if f.times[0] < 0 else "future")): f.weight
        for f in schema.features
    }
    assert weights == {
        ("bone_position", "left_foot"): 3,
        ("bone_position", "right_foot"): 3,
        ("bone_velocity", "left_foot"): 6,
        ("bone_velocity", "right_foot"): 6,
        ("trajectory_position", "past"): 3,
        ("trajectory_position", "future"): 3,
        ("trajectory_velocity", "past"): 2,
        ("trajectory_velocity", "future"): 2,
    }
    assert (schema.past, schema.future) == (1.0, 1.0)
    # three samples of future position and velocity: the talk's 18 numbers without the height
    assert sum(f.dimensions for f in schema.features if f.times and f.times[0] > 0) == 12


def test_the_talk_as_published_compares_lengths_of_what_it_measures():
    schema = load_schema("nucl_ai_as_published")
    assert schema.features == load_schema("nucl_ai").features
    assert (schema.normalization, schema.difference, schema.power) == ("none", "absolute", 1)


def test_a_schema_of_squares_is_written_as_earlier_versions_wrote_it():
    squares, lengths = load_schema("nucl_ai"), load_schema("nucl_ai_as_published")
    assert "difference" not in squares.to_dict()
    assert lengths.to_dict()["difference"] == "absolute"
    lengths = replace(lengths, normalization=squares.normalization)
    assert lengths.to_comparison_data() != squares.to_comparison_data()


def test_vectors_are_features_at_one_time():
    features = (
        Feature("bone_position", "head"),
        Feature("foot_contact", "left_foot"),
        Feature("trajectory_position", times=(0.5, 1.0), axes="xy"),
    )
    vectors = [(v.start, v.stop) for v in Schema(features).vectors]
    assert vectors == [(0, 3), (3, 4), (4, 6), (6, 8)]


def test_further_legs_share_a_weight_as_costs_grow_with_it():
    schema = Schema((Feature("bone_position", "left_foot", weight=2.0),))
    legs = ("left", "right", "left2", "right2")
    for difference, weight in (("squared", 2.0**0.5), ("absolute", 1.0)):
        found = replace(schema, difference=difference).with_all_legs(legs).features
        assert [f.bone for f in found] == ["left_foot", "left2_foot"]
        assert [f.weight for f in found] == [pytest.approx(weight)] * 2


@pytest.mark.parametrize("name", ["holden", "notebook", "nucl_ai", "nucl_ai_as_published"])
def test_a_shipped_preset_fills_its_dimensions_and_survives_json(name):
    schema = load_schema(name)
    values = compute_features(schema, make_table(circle(90, 30.0), swing=np.sin(np.arange(90))))
    assert values.shape == (schema.dimensions, 90)
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert schema.slices[-1].stop == len(schema.weights) == schema.dimensions
    assert schema_from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_a_schema_can_be_loaded_from_a_file(tmp_path: Path):
    file = tmp_path / "mine.json"
    file.write_text(
        '{"features": [{"kind": "bone_position", "bone": "head", "axes": "xy", "weight": 2}]}'
    )
    schema = load_schema(str(file))
    assert schema.features == (Feature("bone_position", "head", weight=2.0, axes="xy"),)
    assert (schema.normalization, schema.past, schema.future) == ("feature", 0.0, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "[]",
        "{}",
        '{"features": []}',
        '{"features": {"kind": "bone_position"}}',
        '{"features": ["hips"]}',
        '{"features": [{"kind": "smell"}]}',
        '{"features": [{"kind": "bone_position"}]}',
        '{"features": [{"kind": "bone_position", "bone": 3}]}',
        '{"features": [{"kind": "bone_position", "bone": "hips", "times": 1.0}]}',
        '{"features": [{"kind": "bone_position", "bone": "hips", "times": [90]}]}',
        '{"features": [{"kind": "bone_spring", "bone": "left_foot", "times": [0.1]}]}',
        '{"features": [{"kind": "bone_position", "bone": "hips", "wieght": 1.0}]}',
        '{"features": [{"kind": "bone_position", "bone": "hips", "axes": "zy"}]}',
        '{"features": [{"kind": "bone_position", "bone": "hips", "weight": -1}]}',
        '{"features": [{"kind": "bone_position", "bone": "hips", "weight": "much"}]}',
        '{"features": [{"kind": "bone_position", "bone": "hips", "weight": NaN}]}',
        '{"features": [{"kind": "trajectory_position"}]}',
        '{"features": [{"kind": "trajectory_position", "times": []}]}',
        '{"features": [{"kind": "trajectory_position", "times": 1.0}]}',
        '{"features": [{"kind": "trajectory_position", "times": ["soon"]}]}',
        '{"features": [{"kind": "trajectory_position", "times": [Infinity]}]}',
        '{"features": [{"kind": "trajectory_position", "times": [1.0], "bone": "hips"}]}',
        '{"normalization": "by_luck", "features": [{"kind": "bone_position", "bone": "hips"}]}',
        '{"difference": "cubed", "features": [{"kind": "bone_position", "bone": "hips"}]}',
        '{"beyond_range": "guess", "features": [{"kind": "bone_position", "bone": "hips"}]}',
    ],
)
def test_an_invalid_schema_is_refused_in_one_sentence(tmp_path: Path, text: str):
    file = tmp_path / "mine.json"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        load_schema(str(file))
    assert "mine.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_preset_is_reported_with_the_known_ones():
    with pytest.raises(SettingsError, match=r"'holdem'.*holden, notebook, nucl_ai"):
        load_schema("holdem")


def test_weights_need_one_value_for_each_feature():
    schema = load_schema("holden").with_weights([2, 2, 0, 0, 1, 3, 0.5])
    assert schema.weights.tolist() == [2] * 6 + [0] * 6 + [1] * 3 + [3] * 6 + [0.5] * 6
    with pytest.raises(SettingsError, match="7 features but 2 weights"):
        schema.with_weights([1, 1])


# ---------------------------------------------------------------- bones


def test_bones_are_found_by_role_and_by_name():
    assert find_role_bone("left_foot", ROLES, PERSON) == PERSON.index("LeftFoot")
    assert find_role_bone("right_toe", ROLES, PERSON) == PERSON.index("RightToe")
    assert find_role_bone("hips", ROLES, PERSON) == PERSON.index("Hips")
    assert find_role_bone("RightHand", ROLES, PERSON) == PERSON.index("RightHand")
    with pytest.raises(SettingsError, match="'tail'"):
        find_role_bone("tail", ROLES, PERSON)
    headless = replace(ROLES, head=None)
    with pytest.raises(SettingsError, match="'head'"):
        find_role_bone("head", headless, PERSON)


def test_additional_legs_have_roles():
    arms = [
        Leg(*(PERSON.index(side + part) for part in ("Arm", "ForeArm", "Hand", "Hand")), letter)
        for side, letter in (("Left", "L"), ("Right", "R"))
    ]
    roles = replace(ROLES, legs=(*ROLES.legs, *arms))
    assert find_role_bone("left_foot", roles, PERSON) == PERSON.index("LeftFoot")
    assert find_role_bone("right2_foot", roles, PERSON) == PERSON.index("RightHand")


def test_bone_positions_match_forward_kinematics_in_character_space():
    rng = np.random.default_rng(1)
    t = make_table(make_wandering_track(rng, 50, 30.0), swing=np.sin(0.3 * np.arange(50)))
    _, world = quat.fk(
        t.rotations.astype(np.float64), t.positions.astype(np.float64), t.skeleton.parents
    )
    turned_back = Rotation.from_euler("z", -t.track[:, 2])
    found = split_features(BONES, compute_features(BONES, t))
    for bone in ("hips", "left_foot", "RightHand"):
        point = world[:, find_role_bone(bone, t.roles, t.skeleton)]
        expected = turned_back.apply(point - np.c_[t.track[:, :2], np.zeros(50)])
        np.testing.assert_allclose(found["bone_position", bone], expected, atol=5e-6)


def test_bone_velocities_match_the_world_in_character_space():
    t = make_table(
        make_wandering_track(np.random.default_rng(2), 80, 60.0),
        60.0,
        swing=np.sin(0.2 * np.arange(80)),
    )
    _, world = quat.fk(
        t.rotations.astype(np.float64), t.positions.astype(np.float64), t.skeleton.parents
    )
    turned_back = Rotation.from_euler("z", -t.track[:, 2])
    found = split_features(BONES, compute_features(BONES, t))
    for bone in ("hips", "left_foot", "RightHand"):
        velocity = np.gradient(
            world[:, find_role_bone(bone, t.roles, t.skeleton)], 1 / 60.0, axis=0
        )
        np.testing.assert_allclose(
            found["bone_velocity", bone][1:-1], turned_back.apply(velocity)[1:-1], atol=1e-3
        )


def test_a_rigid_body_on_a_circle_has_rigid_body_velocities():
    t = make_table(circle(90, 60.0, radius=1.5, rate=0.9), 60.0)
    found = split_features(BONES, compute_features(BONES, t))
    for bone in ("hips", "left_foot", "RightHand"):
        offset = found["bone_position", bone][0]
        expected = np.array([0.0, -1.5 * 0.9, 0.0]) + 0.9 * np.array([-offset[1], offset[0], 0.0])
        np.testing.assert_allclose(
            found["bone_velocity", bone], np.tile(expected, (90, 1)), atol=5e-4
        )


def test_velocities_are_extrapolated_at_the_ends_of_a_range():
    time = np.arange(40) / 30.0
    track = np.column_stack([0.3 * time**2, -time - 0.5 * time**2, np.zeros(40)])
    schema = Schema((Feature("bone_velocity", "hips"), Feature("bone_position", "hips")))
    values = compute_features(schema, make_table(track))
    np.testing.assert_allclose(
        values[:3].T, np.column_stack([0.6 * time, -1 - time, 0 * time]), atol=1e-5
    )
    np.testing.assert_allclose(values[3:].T, np.tile(values[3:, 5], (40, 1)), atol=1e-6)


def compute_contact(contacts, **options):
    """Return the feature (N,) of the left foot, of contacts (N,)."""
    both = np.column_stack([contacts, np.zeros(len(contacts), bool)])
    table = make_table(np.zeros((len(contacts), 3)), fps=60.0, contacts=both, **options)
    schema = Schema((Feature("foot_contact", "left_foot"), Feature("foot_contact", "right_toe")))
    left, right = compute_features(schema, table)
    assert not right.any()
    return left


def test_the_contact_of_a_foot_fades_between_air_and_ground():
    stands = (np.arange(120) >= 40) & (np.arange(120) < 80)
    contact = compute_contact(stands)
    away = np.minimum(np.abs(np.arange(120) - 39.5), np.abs(np.arange(120) - 79.5))
    np.testing.assert_allclose(contact[away > 7], stands[away > 7], atol=1e-6)
    assert (np.diff(contact[30:50]) >= 0.0).all()
    assert np.diff(contact).max() < 0.2
    assert contact.sum() == pytest.approx(stands.sum())


@pytest.mark.parametrize("loop", [False, True])
def test_contacts_of_loops_wrap_around_and_ranges_are_apart(loop: bool):
    stands = np.arange(120) < 60
    contact = compute_contact(stands, lengths=[60, 60], loops=[False, loop])
    np.testing.assert_allclose(contact, stands)
    wrapped = compute_contact(stands, loops=[loop])
    assert wrapped[-1] == (pytest.approx(wrapped[59 + 1]) if loop else 0.0)


def test_contacts_are_those_of_legs():
    with pytest.raises(SettingsError, match="'head', which is no part of a leg"):
        compute_features(Schema((Feature("foot_contact", "head"),)), make_table(np.zeros((9, 3))))


def test_the_simulation_bone_is_the_origin_of_the_character():
    schema = Schema(
        (Feature("bone_position", "Simulation"), Feature("bone_velocity", "Simulation"))
    )
    values = compute_features(schema, make_table(circle(60, 60.0), 60.0))
    np.testing.assert_allclose(values[:3], 0.0, atol=1e-9)
    np.testing.assert_allclose(values[3:].T, np.tile([0.0, -1.35, 0.0], (60, 1)), atol=5e-4)


def test_features_in_the_ground_plane_omit_the_height():
    t = make_table(
        make_wandering_track(np.random.default_rng(3), 40, 30.0), swing=np.cos(0.3 * np.arange(40))
    )
    for kind in ("bone_position", "bone_velocity"):
        flat = compute_features(Schema((Feature(kind, "left_foot", axes="xy"),)), t)
        full = compute_features(Schema((Feature(kind, "left_foot"),)), t)
        np.testing.assert_array_equal(flat, full[:2])
    flat, full = (
        compute_features(Schema((Feature("trajectory_position", times=(0.5,), axes=axes),)), t)
        for axes in ("xy", "xyz")
    )
    np.testing.assert_array_equal(full, np.vstack([flat, 0 * flat[:1]]))


@pytest.mark.parametrize("kind", [kind.name for kind in paths.KINDS if not kind.is_number])
def test_one_direction_of_a_path_can_be_compared(kind):
    t = make_table(make_wandering_track(np.random.default_rng(3), 40, 30.0))
    both, side, ahead = (
        compute_features(Schema((Feature(kind, times=(0.2, 0.5), axes=axes),)), t)
        for axes in ("xy", "x", "y")
    )
    np.testing.assert_array_equal(both[[0, 2]], side)
    np.testing.assert_array_equal(both[[1, 3]], ahead)
    with pytest.raises(SettingsError, match="axes 'z'; use one of xy, x, y, xyz"):
        schema_from_dict({"features": [{"kind": kind, "times": [1.0], "axes": "z"}]})


# ---------------------------------------------------------------- position and heading


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("beyond", ["extrapolate", "hold"])
def test_moving_and_turning_the_motion_keeps_its_features(loop: bool, beyond: str):
    schema = replace(EVERYTHING, beyond_range=beyond)
    track, swing = (
        make_wandering_track(np.random.default_rng(4), 70, 30.0),
        np.sin(0.3 * np.arange(70)),
    )
    turned = Rotation.from_euler("z", 2.2).apply(np.c_[track[:, :2], np.zeros(70)])
    elsewhere = np.column_stack([turned[:, :2] + [30.0, -12.0], track[:, 2] + 2.2 - 4 * np.pi])
    here, there = (
        compute_features(schema, make_table(k, swing=swing, loops=[loop]))
        for k in (track, elsewhere)
    )
    np.testing.assert_allclose(there, here, atol=2e-4)


@pytest.mark.parametrize(
    "loops", [[False, False, False], [False, True, False], [True, False, True]]
)
def test_ranges_are_independent_of_each_other(loops):
    lengths = [40, 33, 60]
    tracks = [
        make_wandering_track(np.random.default_rng(seed), count, 30.0)
        for seed, count in enumerate(lengths)
    ]
    swings = [np.sin(0.3 * np.arange(count) + count) for count in lengths]
    for beyond in ("extrapolate", "hold"):
        schema = replace(EVERYTHING, beyond_range=beyond)
        joined = make_table(
            np.concatenate(tracks), swing=np.concatenate(swings), lengths=lengths, loops=loops
        )
        together = compute_features(schema, joined)
        apart = [
            compute_features(schema, make_table(track, swing=swing, loops=[loop]))
            for track, swing, loop in zip(tracks, swings, loops, strict=True)
        ]
        np.testing.assert_allclose(together, np.concatenate(apart, axis=1), atol=1e-5)


# ---------------------------------------------------------------- trajectories


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 29.97])
def test_a_straight_trajectory_extends_by_speed_times_time(fps):
    """At 24 fps, 0.25 s and 1/3 s are whole numbers of frames; -0.7 s is not."""
    distance = 1.3 * np.arange(40) / fps
    yaw = 0.8
    track = np.column_stack([distance * np.sin(yaw), -distance * np.cos(yaw), np.full(40, yaw)])
    found = split_features(TRAJECTORY, compute_features(TRAJECTORY, make_table(track, fps)))
    times = np.array(TRAJECTORY.features[0].times)
    expected = np.tile(np.column_stack([0 * times, -1.3 * times]), (40, 1, 1))
    np.testing.assert_allclose(found["trajectory_position"], expected, atol=2e-6)
    np.testing.assert_allclose(
        found["trajectory_direction"], np.tile([0.0, -1.0], (40, 5, 1)), atol=1e-6
    )
    np.testing.assert_allclose(
        found["trajectory_velocity"], np.tile([0.0, -1.3], (40, 5, 1)), atol=1e-5
    )


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0])
def test_a_circular_trajectory_is_an_arc_even_beyond_both_ends(fps):
    """In 1.5 s, a second of future and 0.7 s of past leave the range at nearly every frame."""
    radius, rate, count = 1.5, 0.9, round(1.5 * fps)
    found = split_features(
        TRAJECTORY, compute_features(TRAJECTORY, make_table(circle(count, fps, radius, rate), fps))
    )
    times = np.array(TRAJECTORY.features[0].times)
    angle = rate * times
    # seen from the walker, whose left is +X, the centre lies at (radius, 0)
    arc = np.column_stack([radius * (1 - np.cos(angle)), -radius * np.sin(angle)])
    ahead = np.column_stack([np.sin(angle), -np.cos(angle)])
    sag = radius * (rate / fps) ** 2 / 8  # of the chord between two frames
    np.testing.assert_allclose(
        found["trajectory_position"], np.tile(arc, (count, 1, 1)), atol=sag + 1e-5
    )
    np.testing.assert_allclose(
        found["trajectory_direction"], np.tile(ahead, (count, 1, 1)), atol=1e-5
    )
    np.testing.assert_allclose(
        found["trajectory_velocity"],
        np.tile(radius * rate * ahead, (count, 1, 1)),
        atol=2 * sag * fps + 1e-4,
    )


@pytest.mark.parametrize("phase", np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False))
def test_a_body_that_sways_as_it_walks_goes_straight_on_beyond_a_range(phase):
    """A step takes half a second here, and hips turn to and fro by five degrees."""
    fps, sway = 60.0, np.radians(5.0)
    time = np.arange(150) / fps
    track = np.column_stack([0 * time, -1.3 * time, sway * np.sin(2.0 * np.pi * time + phase)])
    turned = split_features(TRAJECTORY, compute_features(TRAJECTORY, make_table(track, fps)))
    ahead = turned["trajectory_direction"][:, -1]
    assert np.arctan2(np.abs(ahead[:, 0]), -ahead[:, 1]).max() < 2.1 * sway


def test_a_strafing_trajectory_faces_ahead():
    time = np.arange(60) / 30.0
    track = np.column_stack([1.1 * time, 0 * time, 0 * time])  # to its left, facing -Y
    found = split_features(TRAJECTORY, compute_features(TRAJECTORY, make_table(track)))
    times = np.array(TRAJECTORY.features[0].times)
    np.testing.assert_allclose(
        found["trajectory_position"],
        np.tile(np.column_stack([1.1 * times, 0 * times]), (60, 1, 1)),
        atol=1e-5,
    )
    np.testing.assert_allclose(
        found["trajectory_direction"], np.tile([0.0, -1.0], (60, 5, 1)), atol=1e-6
    )


def test_a_held_trajectory_stays_at_the_ends_of_its_range():
    fps, count = 30.0, 45
    track = circle(count, fps)
    schema = replace(TRAJECTORY, beyond_range="hold")
    held = split_features(schema, compute_features(schema, make_table(track, fps)))
    padded = np.concatenate(
        [np.repeat(track[:1], 40, axis=0), track, np.repeat(track[-1:], 40, axis=0)]
    )
    inside = split_features(TRAJECTORY, compute_features(TRAJECTORY, make_table(padded, fps)))
    for kind in ("trajectory_position", "trajectory_direction"):
        np.testing.assert_allclose(held[kind], inside[kind][40 : 40 + count], atol=1e-5)
    speeds = np.linalg.norm(held["trajectory_velocity"], axis=-1)
    np.testing.assert_allclose(speeds[-10:, -1], 0.0, atol=1e-6)
    np.testing.assert_allclose(speeds[:10, 0], 0.0, atol=1e-6)


def test_hold_and_extrapolate_differ_only_beyond_a_range():
    t = make_table(circle(90, 30.0))
    hold = replace(TRAJECTORY, beyond_range="hold")
    assert np.allclose(
        compute_features(hold, t)[:, 25:55], compute_features(TRAJECTORY, t)[:, 25:55]
    )
    assert not np.allclose(
        compute_features(hold, t)[:, -5:], compute_features(TRAJECTORY, t)[:, -5:], atol=0.1
    )


def test_sampling_at_whole_frames_returns_them_unchanged():
    track = np.random.default_rng(5).normal(size=(50, 3))
    t = make_table(track)
    np.testing.assert_allclose(sample_track(t, 0.0), track, atol=1e-12)
    np.testing.assert_allclose(sample_track(t, 0.3333333333)[:40], track[10:], atol=1e-7)
    np.testing.assert_allclose(sample_track(t, -0.3333333333)[10:], track[:40], atol=1e-7)
    np.testing.assert_allclose(
        sample_track(t, 0.05)[:48], 0.5 * (track[1:49] + track[2:50]), atol=1e-9
    )


# ---------------------------------------------------------------- loops


def make_cycle(count, lap, fps, radius, first=0):
    """Return track and swing of a circle walked once in `lap` frames, with limbs that swing twice
    in a lap.
    """
    frames = first + np.arange(count)
    return circle(count, fps, radius, 2 * np.pi * fps / lap, first), 0.6 * np.sin(
        4 * np.pi * frames / lap
    )


@pytest.mark.parametrize(("lap", "fps"), [(60, 30.0), (150, 30.0), (13, 30.0), (96, 24.0)])
def test_a_circle_as_a_loop_equals_the_endless_circle(lap, fps):
    """A lap of 13 frames is passed more than twice within the second that features look ahead."""
    endless_track, swing = make_cycle(3 * lap + 200, lap, fps, 0.5, first=-100 - lap)
    endless = compute_features(EVERYTHING, make_table(endless_track, fps, swing))[
        :, 100 + lap : 100 + 2 * lap
    ]
    track, swing = make_cycle(lap, lap, fps, 0.5)
    loop = compute_features(EVERYTHING, make_table(track, fps, swing, loops=[True]))
    np.testing.assert_allclose(loop, endless, atol=3e-4)


@pytest.mark.parametrize("lap", [11, 30, 64])
def test_a_loop_that_travels_and_turns_continues_from_its_end(lap):
    """One stride of a walk on a large circle, taken as a loop, equals the walk."""
    endless = compute_features(TRAJECTORY, make_table(circle(400, 30.0, 4.0, 0.3)))[
        :, 200 : 200 + lap
    ]
    loop = compute_features(TRAJECTORY, make_table(circle(lap, 30.0, 4.0, 0.3), loops=[True]))
    np.testing.assert_allclose(loop, endless, atol=1e-4)


def test_a_loop_is_sampled_exactly_at_any_time():
    """Times that are whole frames up to rounding fall on a lap's first frame or just before it."""
    t = make_table(circle(64, 30.0, 2.0, 2 * np.pi * 30 / 64), loops=[True])
    for frames in range(-200, 200):
        for time in (
            frames / 30.0,
            np.nextafter(frames / 30.0, -10),
            np.nextafter(frames / 30.0, 10),
        ):
            found = sample_track(t, time)
            expected = circle(64, 30.0, 2.0, 2 * np.pi * 30 / 64, first=frames)
            np.testing.assert_allclose(found, expected, atol=1e-6)


def test_velocities_of_a_loop_wrap_around():
    wave = np.sin(2 * np.pi * np.arange(40) / 40)
    t = make_table(circle(40, 30.0), loops=[True])
    np.testing.assert_allclose(
        differentiate(wave, t), (np.roll(wave, -1) - np.roll(wave, 1)) * 15.0, atol=1e-12
    )
    swing = quat.from_angle_axis(wave, np.array([0.0, 1.0, 0.0]))
    expected = np.outer((np.roll(wave, -1) - np.roll(wave, 1)) * 15.0, [0, 1, 0])
    np.testing.assert_allclose(compute_angular_velocity(swing, t), expected, atol=1e-9)


def test_angular_velocities_do_not_depend_on_quaternion_signs():
    rng = np.random.default_rng(6)
    axis = np.array([0.6, 0.0, 0.8])
    q = quat.from_angle_axis(0.1 * np.arange(30), axis) * rng.choice([-1, 1], (30, 1))
    t = make_table(circle(30, 30.0))
    np.testing.assert_allclose(
        compute_angular_velocity(q, t), np.tile(3.0 * axis, (30, 1)), atol=1e-9
    )


# ---------------------------------------------------------------- normalisation and weights


def make_varied_values(schema, count=300):
    """Make raw values (D, N) with various means and deviations; trajectory heights are zero, as in
    databases.
    """
    rng = np.random.default_rng(7)
    scale, offset = rng.uniform(0.05, 20, (2, schema.dimensions, 1))
    values = offset + scale * rng.normal(size=(schema.dimensions, count))
    for feature, where in zip(schema.features, schema.slices, strict=True):
        if feature.times and feature.axes == "xyz":
            values[where][2::3] = 0.0
    return values.astype(np.float32)


def test_per_feature_normalization_shares_the_mean_deviation():
    schema = load_schema("holden")
    raw = make_varied_values(schema).astype(np.float64)
    found = compute_normalization(schema, raw.astype(np.float32)).apply(raw.T, schema.weights)
    for feature, where in zip(schema.features, schema.slices, strict=True):
        block = raw[where]
        expected = (
            feature.weight * (block - block.mean(axis=1, keepdims=True)) / block.std(axis=1).mean()
        )
        np.testing.assert_allclose(found.T[where], expected, atol=1e-4)


def test_directions_of_clips_that_go_straight_are_not_told_apart_by_their_sway():
    schema, rng = load_schema("holden"), np.random.default_rng(3)
    raw = make_varied_values(schema)
    [(feature, where)] = [
        pair
        for pair in zip(schema.features, schema.slices, strict=True)
        if pair[0].kind == "trajectory_direction"
    ]
    yaw = np.radians(2.0) * rng.normal(size=(len(feature.times), raw.shape[1]))
    raw[where] = np.stack([np.sin(yaw), -np.cos(yaw)], axis=1).reshape(-1, raw.shape[1])
    found = compute_normalization(schema, raw).apply(raw.T, schema.weights)
    aside = found[:, where].std(axis=0)[::2]
    np.testing.assert_allclose(aside, 0.2 * feature.weight, rtol=0.2)


def test_without_normalization_weights_scale_plain_differences():
    """So that costs such as 3 of a position and 6 of a velocity can be set as they are told."""
    features = (
        Feature("bone_position", "hips", weight=3.0),
        Feature("bone_velocity", "hips", weight=6.0),
    )
    schema = Schema(features, normalization="none")
    raw = np.random.default_rng(5).normal(2.0, 7.0, (6, 40)).astype(np.float32)
    found = compute_normalization(schema, raw).apply(raw.T, schema.weights)
    expected = (raw[:, 3] - raw[:, 9]) * np.repeat([3.0, 6.0], 3)
    np.testing.assert_allclose(found[3] - found[9], expected, rtol=1e-4, atol=1e-4)


def test_per_dimension_normalization_gives_each_weight_as_deviation():
    schema = load_schema("notebook")
    raw = make_varied_values(schema)
    normalization = compute_normalization(schema, raw)
    found = normalization.apply(raw.T, schema.weights)
    assert normalization.varies.sum() == 27  # the heights of the trajectory are always zero
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-4)
    np.testing.assert_allclose(
        found.std(axis=0), np.where(normalization.varies, schema.weights, 0.0), atol=1e-4
    )


@pytest.mark.parametrize("normalization", ["feature", "dimension"])
def test_constant_dimensions_are_dropped(normalization):
    """A straight glide varies only by rounding; a limb swinging in its plane varies in two axes."""
    schema = replace(EVERYTHING, normalization=normalization)
    time = np.arange(100) / 30.0
    straight = np.column_stack(
        [3 + 1.3 * time * np.sin(0.8), -1.3 * time * np.cos(0.8), 0.8 + 0 * time]
    )
    still = compute_features(schema, make_table(straight))
    statistics = compute_normalization(schema, still)
    assert not statistics.varies.any()
    assert np.all(statistics.apply(still.T + 1, schema.weights) == 0)

    swinging = compute_features(schema, make_table(straight, swing=np.sin(3 * time)))
    statistics = compute_normalization(schema, swinging)
    foot = schema.slices[[f.bone for f in schema.features].index("left_foot")]
    assert statistics.varies[foot].tolist() == [False, True, True]
    result = statistics.apply(swinging.T, schema.weights)
    assert np.isfinite(result).all()
    assert np.abs(result).max() < 10
    deviation = swinging[foot].astype(np.float64).std(axis=1)
    shared = deviation[1:].mean() if normalization == "feature" else deviation
    np.testing.assert_allclose(
        statistics.deviation[foot][1:], np.broadcast_to(shared, 3)[1:], rtol=1e-4
    )


def test_weights_scale_normalized_features_but_not_raw_ones():
    schema = load_schema("holden")
    heavier = schema.with_weights([2 * f.weight for f in schema.features])
    t = make_table(
        make_wandering_track(np.random.default_rng(8), 100, 30.0),
        swing=np.sin(0.3 * np.arange(100)),
    )
    raw = compute_features(schema, t)
    np.testing.assert_array_equal(raw, compute_features(heavier, t))
    statistics = compute_normalization(schema, raw)
    for field in ("mean", "deviation", "varies"):
        np.testing.assert_array_equal(
            getattr(statistics, field), getattr(compute_normalization(heavier, raw), field)
        )
    light, heavy = (statistics.apply(raw.T, s.weights) for s in (schema, heavier))
    np.testing.assert_allclose(heavy, 2 * light, rtol=1e-6)

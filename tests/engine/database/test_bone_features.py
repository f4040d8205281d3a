"""Features of bones at other times, how they turn, and when a foot comes down."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import (
    Feature,
    Schema,
    compute_features,
    load_schema,
    schema_from_dict,
)
from motion_matching.engine.insight.frames.feature_strokes import make_strokes
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.matching.similar_frames import find_like
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.performance.start_state import MovingPose
from tests.engine.database.test_features import ROLES, circle, make_table

SWING = np.sin(np.linspace(0.0, 14.0, 120))
TIMES = (-0.5, 0.0, 0.3)
KINDS = ("bone_position", "bone_velocity", "bone_direction", "bone_angular_velocity")


def compute(*features, table):
    return compute_features(Schema(features), table).astype(np.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bone_at_other_times_is_as_it_is_at_these_frames(kind):
    table = make_table(circle(120, 30.0), swing=SWING)
    now = compute(Feature(kind, "left_foot"), table=table)
    found = compute(Feature(kind, "left_foot", TIMES), table=table).reshape(3, 3, 120)
    np.testing.assert_array_equal(found[1], now)
    np.testing.assert_allclose(found[0][:, 15:], now[:, :-15], atol=1e-5)
    np.testing.assert_allclose(found[2][:, :-9], now[:, 9:], atol=1e-5)
    # at the ends of a clip it stays
    np.testing.assert_allclose(found[0][:, :15], np.repeat(now[:, :1], 15, axis=1), atol=1e-5)
    np.testing.assert_allclose(found[2][:, -9:], np.repeat(now[:, -1:], 9, axis=1), atol=1e-5)


def test_ranges_are_apart_and_loops_repeat():
    table = make_table(circle(120, 30.0), swing=SWING, lengths=[70, 50], loops=[False, True])
    now = compute(Feature("bone_position", "head"), table=table)
    found = compute(Feature("bone_position", "head", (0.2, -0.2)), table=table)
    np.testing.assert_allclose(found[:3, 64:70], np.repeat(now[:, 69:70], 6, axis=1), atol=1e-5)
    np.testing.assert_allclose(found[:3, 70:], np.roll(now[:, 70:], -6, axis=1), atol=1e-5)
    np.testing.assert_allclose(found[3:, 70:], np.roll(now[:, 70:], 6, axis=1), atol=1e-5)


def test_times_between_frames_lie_between_their_values():
    table = make_table(circle(120, 30.0), swing=SWING)
    now = compute(Feature("bone_position", "head"), table=table)
    found = compute(Feature("bone_position", "head", (0.05,)), table=table)
    np.testing.assert_allclose(found[:, :-2], 0.5 * (now[:, 1:-1] + now[:, 2:]), atol=1e-5)


def test_turning_is_the_rotation_of_the_world_seen_from_the_character():
    track = circle(120, 30.0)
    table = make_table(track, swing=0.2 * SWING)  # slow, as both are differences of frames
    for name in ("head", "left_foot"):
        found = compute(Feature("bone_angular_velocity", name), table=table)
        bone = table.skeleton.index(table.roles.to_names(table.skeleton)[name])
        world, _ = table.skeleton.compute_bone_world(bone, table.rotations, table.positions)
        turns = Rotation.from_quat(world[:, [1, 2, 3, 0]])
        middle = (turns[2:] * turns[:-2].inv()).as_rotvec() * 15.0
        seen = Rotation.from_euler("z", -track[1:-1, 2]).apply(middle)
        np.testing.assert_allclose(found[:, 1:-1].T, seen, atol=1e-2)
    still = make_table(track)
    found = compute(Feature("bone_angular_velocity", "head"), table=still)
    np.testing.assert_allclose(found[:2], 0.0, atol=1e-4)
    np.testing.assert_allclose(found[2], np.gradient(track[:, 2]) * 30.0, atol=1e-3)


def find_rotations(table, name):
    """Return the rotations of a role's bone seen from the character, by scipy."""
    bone = table.skeleton.index(table.roles.to_names(table.skeleton)[name])
    world, _ = table.skeleton.compute_bone_world(bone, table.rotations, table.positions)
    upright = Rotation.from_euler("z", -table.track[:, 2])
    return upright * Rotation.from_quat(world[:, [1, 2, 3, 0]])


def test_a_direction_is_fixed_in_its_bone_and_ahead_on_average():
    table = make_table(circle(120, 30.0), swing=SWING)
    for name in ("head", "left_foot", "hips"):
        found = compute(Feature("bone_direction", name), table=table).T
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-6)
        turns = find_rotations(table, name)
        fronts = turns.inv().apply(found)
        np.testing.assert_allclose(fronts, fronts[:1].repeat(120, axis=0), atol=1e-5)
        # no other direction of the bone is ahead more often
        others = np.random.default_rng(0).normal(size=(50, 3))
        others /= np.linalg.norm(others, axis=1, keepdims=True)
        best = max(-turns.apply(other)[:, 1].mean() for other in others)
        assert -found[:, 1].mean() >= best


def test_a_direction_does_not_depend_on_the_axes_of_a_bone():
    table = make_table(circle(120, 30.0), swing=SWING)
    bone = table.roles.head
    rotations = table.rotations.copy()
    turn = Rotation.from_euler("xyz", (0.4, -1.1, 2.0))
    turned = Rotation.from_quat(rotations[:, bone][:, [1, 2, 3, 0]]) * turn
    rotations[:, bone] = turned.as_quat()[:, [3, 0, 1, 2]]
    feature = Feature("bone_direction", "head")
    found = compute(feature, table=replace(table, rotations=rotations))
    np.testing.assert_allclose(found, compute(feature, table=table), atol=1e-5)


def test_a_bone_that_turns_all_around_has_a_direction():
    table = make_table(circle(120, 30.0))
    rotations = table.rotations.copy()
    around = Rotation.from_euler("x", np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False))
    rotations[:, table.roles.head] = around.as_quat()[:, [3, 0, 1, 2]]
    table = replace(table, rotations=rotations)
    found = compute(Feature("bone_direction", "head"), table=table).T
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-6)
    fronts = find_rotations(table, "head").inv().apply(found)
    np.testing.assert_allclose(fronts, fronts[:1].repeat(120, axis=0), atol=1e-5)


@pytest.mark.parametrize("axes", ["x", "y", "z", "xz", "yz"])
@pytest.mark.parametrize("kind", [*KINDS, "bone_spring"])
def test_only_the_chosen_axes_of_a_bone_are_compared(kind, axes):
    table = make_table(circle(120, 30.0), swing=SWING)
    full = compute(Feature(kind, "left_foot"), table=table)
    feature = Feature(kind, "left_foot", axes=axes)
    np.testing.assert_array_equal(
        compute(feature, table=table), full[["xyz".index(a) for a in axes]]
    )
    assert feature.label == f"{kind} left_foot {axes}"
    assert schema_from_dict(Schema((feature,)).to_dict()) == Schema((feature,))


def make_contacts(*landings, count=120, stand=10):
    """Let the left leg stand for some frames from each landing on, the right one never."""
    contacts = np.zeros((count, len(ROLES.legs)), bool)
    for landing in landings:
        contacts[landing : landing + stand, 0] = True
    return contacts


def test_the_next_contact_counts_down_to_each_landing():
    contacts = make_contacts(20, 50, 80)
    table = make_table(circle(120, 30.0), contacts=contacts)
    [found] = compute(Feature("foot_next_contact", "left_foot"), table=table)
    np.testing.assert_allclose(found[:20] * 30, np.arange(20, 0, -1), atol=1e-4)
    np.testing.assert_allclose(found[20:50] * 30, np.arange(30, 0, -1), atol=1e-4)
    # none is known any more: as far as two strides
    np.testing.assert_allclose(found[80:], 2.0, atol=1e-5)
    [never] = compute(Feature("foot_next_contact", "right_foot"), table=table)
    assert not never.any()


def test_the_next_contact_of_a_loop_is_in_its_next_lap():
    table = make_table(circle(60, 30.0), contacts=make_contacts(20, count=60), loops=[True])
    [found] = compute(Feature("foot_next_contact", "left_foot"), table=table)
    expected = (20 - np.arange(60)) % 60
    np.testing.assert_allclose(found * 30, np.where(expected == 0, 60, expected), atol=1e-4)


def test_bones_with_times_survive_json_and_have_labels_of_their_own():
    features = (
        Feature("bone_position", "head", TIMES),
        Feature("bone_position", "head"),
        Feature("foot_next_contact", "left_foot", (0.0, 0.5)),
        Feature("trajectory_position", times=(0.5, -1.0), axes="xy"),
    )
    schema = Schema(features)
    assert schema_from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert len({feature.label for feature in features}) == 4
    assert [feature.dimensions for feature in features] == [9, 3, 2, 4]
    assert schema.trajectory_times == (-1.0, 0.5)
    assert (schema.past, schema.future) == (1.0, 0.5)
    groups = [Feature("bone_velocity", "head", times).group for times in ((-0.2,), (0.2,), ())]
    assert groups == ["past", "pose", "pose"]


@pytest.fixture(scope="module")
def timed(demo_database: Database) -> Database:
    features = load_schema("default").features
    more = (
        Feature("bone_position", "left_foot", (-0.2, 0.2)),
        Feature("bone_angular_velocity", "hips", (0.0, -0.1)),
        Feature("bone_direction", "head", (0.1,), axes="xz"),
        Feature("foot_next_contact", "right_foot"),
    )
    return demo_database.with_schema(Schema((*features, *more)))


@pytest.mark.parametrize("seed", range(3))
def test_a_query_has_the_past_and_the_future_of_the_frame_played(timed: Database, seed: int):
    method = MotionMatching(timed, PerformerSettings(search=Search(search_interval=0.0)))
    assert method.trajectory_times == load_schema("default").trajectory_times
    frame = int(np.random.default_rng(seed).integers(200, timed.frame_count - 200))
    still = [TrajectoryPoint(0.0, 0.0, 0.0, 0.0, 0.0) for _ in method.trajectory_times]
    bones = np.arange(len(method._rows[0]))[-15:]
    query = method._make_query(still, frame)
    np.testing.assert_array_equal(query[bones], method._rows[frame][bones])
    method._frame = frame
    assert np.isfinite([method.advance(Goal(still)).cost for _ in range(20)]).all()


def test_a_take_starts_from_a_pose_by_what_is_known_of_it(timed: Database):
    frame, allowed = 500, np.flatnonzero(timed.find_candidates(0.3))
    state = MovingPose(timed.poses[frame], timed.velocities[frame], timed.root_motion[frame])
    assert frame in find_like(timed, state, allowed)


def test_bones_at_other_times_are_not_drawn_over_the_pose(timed: Database):
    plain = timed.with_schema(load_schema("default"))
    assert len(make_strokes(timed, 500)) == len(make_strokes(plain, 500))

"""Feature strokes lie on the pose and on the trajectory that they show."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.database.features.features import schema_from_dict
from motion_matching.engine.database.features.strokes import DIRECTION_LENGTH, VELOCITY_SCALE
from motion_matching.engine.insight.frames import feature_strokes
from motion_matching.engine.maths.rotations import quat

FRAME = 700


def make_strokes(database, kind: str) -> list[np.ndarray]:
    return [
        stroke.points
        for stroke in feature_strokes.make_strokes(database, FRAME)
        if stroke.kind == kind
    ]


def to_world(database, points: np.ndarray, frame: int = FRAME) -> np.ndarray:
    x, y, yaw = database.track[frame]
    c, s = np.cos(yaw), np.sin(yaw)
    return points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) + [x, y, 0.0]


def test_bone_positions_match_forward_kinematics(demo_database):
    poses = demo_database.poses[FRAME].T.astype(np.float64)
    _, expected = quat.fk(poses[None, :, 3:], poses[None, :, :3], demo_database.skeleton.parents)
    found = to_world(demo_database, feature_strokes.compute_bone_positions(demo_database, FRAME))
    np.testing.assert_allclose(found, expected[0], atol=1e-4)


def test_positions_are_crosses_on_the_bones(demo_database):
    bones = feature_strokes.compute_bone_positions(demo_database, FRAME)
    crosses = make_strokes(demo_database, "position")
    legs = [
        demo_database.skeleton.index(demo_database.role_names[f"{side}_foot"])
        for side in ("left", "right")
    ]
    centres = np.array([points.mean(axis=0) for points in crosses])[::3]
    np.testing.assert_allclose(centres, bones[legs], atol=1e-5)
    body = make_strokes(demo_database, "body")
    assert (
        len(body) == demo_database.skeleton.bone_count - 2
    )  # neither the simulation bone nor the one below it


def test_velocity_arrows_point_to_the_next_position_of_their_bone(demo_database):
    """The velocity of an arrow leads to where the bone is a frame later, to within a centimetre."""
    arrows = make_strokes(demo_database, "velocity")[:2]
    legs = [
        demo_database.skeleton.index(demo_database.role_names[f"{side}_foot"])
        for side in ("left", "right")
    ]
    later = to_world(
        demo_database, feature_strokes.compute_bone_positions(demo_database, FRAME + 1), FRAME + 1
    )
    for bone, arrow in zip(legs, arrows, strict=True):
        start, end = to_world(demo_database, arrow)
        reached = start + (end - start) / VELOCITY_SCALE / demo_database.fps
        np.testing.assert_allclose(reached, later[bone], atol=0.01)


def test_the_trajectory_passes_through_future_positions(demo_database):
    way = make_strokes(demo_database, "trajectory")[0]
    ahead = FRAME + np.round(np.array([0.0, 1 / 3, 2 / 3, 1.0]) * demo_database.fps).astype(int)
    np.testing.assert_allclose(
        to_world(demo_database, way)[:, :2], demo_database.track[ahead, :2], atol=0.02
    )
    arrows = make_strokes(demo_database, "direction")
    assert len(arrows) == 3
    for points, frame in zip(arrows, ahead[1:], strict=True):
        facing = np.diff(to_world(demo_database, points)[:, :2], axis=0)[0] / DIRECTION_LENGTH
        yaw = demo_database.track[frame, 2]
        np.testing.assert_allclose(facing, [np.sin(yaw), -np.cos(yaw)], atol=0.05)


@pytest.mark.parametrize("axes", ["xy", "xyz"])
def test_ground_plane_features_are_drawn_at_the_height_of_their_bone(demo_database, axes: str):
    entries = [
        {"kind": "bone_position", "bone": "left_foot", "axes": axes},
        {"kind": "trajectory_velocity", "times": [-0.5, 0.5], "axes": axes},
    ]
    database = demo_database.with_schema(schema_from_dict({"features": entries}))
    bones = feature_strokes.compute_bone_positions(database, FRAME)
    foot = database.skeleton.index(database.role_names["left_foot"])
    assert make_strokes(database, "position")[0].mean(axis=0) == pytest.approx(
        bones[foot], abs=1e-5
    )
    assert len(make_strokes(database, "velocity")) == 2
    assert not make_strokes(database, "trajectory")


def test_the_direction_of_a_bone_is_an_arrow_from_it(demo_database):
    entries = [
        {"kind": "bone_direction", "bone": "head"},
        {"kind": "bone_position", "bone": "left_foot", "axes": "z"},
        {"kind": "trajectory_position", "times": [1.0], "axes": "y"},
    ]
    database = demo_database.with_schema(schema_from_dict({"features": entries}))
    bones = feature_strokes.compute_bone_positions(database, FRAME)
    head, foot = (
        bones[database.skeleton.index(database.role_names[n])] for n in ("head", "left_foot")
    )
    [(start, end)] = make_strokes(database, "direction")
    np.testing.assert_allclose(start, head, atol=1e-5)
    ahead = (end - start) / DIRECTION_LENGTH
    assert ahead[1] < -0.8, "a walk looks ahead"
    assert make_strokes(database, "position")[0].mean(axis=0) == pytest.approx(foot, abs=1e-5)

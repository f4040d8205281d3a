"""The strokes of a feature vector lie on the pose and on the way that they are of."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.database.features import schema_from_dict
from motion_matching.engine.insight import feature_strokes
from motion_matching.engine.maths import quat

FRAME = 700


def of_kind(database, kind: str) -> list[np.ndarray]:
    return [
        stroke.points
        for stroke in feature_strokes.make_strokes(database, FRAME)
        if stroke.kind == kind
    ]


def in_world(database, points: np.ndarray, frame: int = FRAME) -> np.ndarray:
    x, y, yaw = database.track[frame]
    c, s = np.cos(yaw), np.sin(yaw)
    return points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) + [x, y, 0.0]


def test_bones_are_where_their_chain_leads(demo_database):
    poses = demo_database.poses[FRAME].T.astype(np.float64)
    _, expected = quat.fk(poses[None, :, 3:], poses[None, :, :3], demo_database.skeleton.parents)
    found = in_world(demo_database, feature_strokes.compute_bone_positions(demo_database, FRAME))
    np.testing.assert_allclose(found, expected[0], atol=1e-4)


def test_positions_are_crosses_on_the_bones(demo_database):
    bones = feature_strokes.compute_bone_positions(demo_database, FRAME)
    crosses = of_kind(demo_database, "position")
    legs = [
        demo_database.skeleton.index(demo_database.role_names[f"{side}_foot"])
        for side in ("left", "right")
    ]
    centres = np.array([points.mean(axis=0) for points in crosses])[::3]
    np.testing.assert_allclose(centres, bones[legs], atol=1e-5)
    body = of_kind(demo_database, "body")
    assert (
        len(body) == demo_database.skeleton.bone_count - 2
    )  # neither the simulation bone nor the one below it


def test_velocities_end_where_their_bone_soon_is(demo_database):
    """Over a fiftieth of a second, what an arrow says is where the bone goes in the world, to a few
    millimetres.
    """
    arrows = of_kind(demo_database, "velocity")[:2]
    legs = [
        demo_database.skeleton.index(demo_database.role_names[f"{side}_foot"])
        for side in ("left", "right")
    ]
    later = in_world(
        demo_database, feature_strokes.compute_bone_positions(demo_database, FRAME + 1), FRAME + 1
    )
    for bone, arrow in zip(legs, arrows, strict=True):
        start, end = in_world(demo_database, arrow)
        told = start + (end - start) / feature_strokes.VELOCITY_SCALE / demo_database.fps
        np.testing.assert_allclose(told, later[bone], atol=0.01)


def test_the_trajectory_goes_through_where_the_character_will_be(demo_database):
    way = of_kind(demo_database, "trajectory")[0]
    ahead = FRAME + np.round(np.array([0.0, 1 / 3, 2 / 3, 1.0]) * demo_database.fps).astype(int)
    np.testing.assert_allclose(
        in_world(demo_database, way)[:, :2], demo_database.track[ahead, :2], atol=0.02
    )
    arrows = of_kind(demo_database, "direction")
    assert len(arrows) == 3
    for points, frame in zip(arrows, ahead[1:], strict=True):
        facing = (
            np.diff(in_world(demo_database, points)[:, :2], axis=0)[0]
            / feature_strokes.DIRECTION_LENGTH
        )
        yaw = demo_database.track[frame, 2]
        np.testing.assert_allclose(facing, [np.sin(yaw), -np.cos(yaw)], atol=0.05)


@pytest.mark.parametrize("axes", ["xy", "xyz"])
def test_features_of_the_ground_alone_are_drawn_at_the_height_of_their_bone(
    demo_database, axes: str
):
    entries = [
        {"kind": "bone_position", "bone": "left_foot", "axes": axes},
        {"kind": "trajectory_velocity", "times": [-0.5, 0.5], "axes": axes},
    ]
    database = demo_database.with_schema(schema_from_dict({"features": entries}))
    bones = feature_strokes.compute_bone_positions(database, FRAME)
    foot = database.skeleton.index(database.role_names["left_foot"])
    assert of_kind(database, "position")[0].mean(axis=0) == pytest.approx(bones[foot], abs=1e-5)
    assert len(of_kind(database, "velocity")) == 2
    assert not of_kind(database, "trajectory")

"""Ghosts: skeletons of a motion field's neighbours, drawn where the character is."""

from __future__ import annotations

import numpy as np

from motion_matching.engine.field.ghosts import build_segments, lay_out_rows, measure_height
from motion_matching.engine.maths.rotations import quat


def test_lines_connect_the_joints_of_each_pose_at_the_character(demo_database):
    parents = demo_database.skeleton.parents
    poses = np.array(demo_database.poses[[100, 2000, 5000]])
    lines = build_segments(poses, parents, (3.0, -2.0, 0.5, 0.7))
    poses[:, :, 0] = (3.0, -2.0, 0.5, *quat.from_yaw(np.array(0.7)))
    local = poses.transpose(0, 2, 1).astype(np.float64)
    places = quat.fk(local[..., 3:], local[..., :3], parents)[1]
    bones = [bone for bone, parent in enumerate(parents) if parent > 0]
    assert lines.shape == (3, len(bones), 2, 3)
    for line, bone in zip(lines.transpose(1, 0, 2, 3), bones, strict=True):
        np.testing.assert_allclose(line[:, 0], places[:, parents[bone]], atol=1e-4)
        np.testing.assert_allclose(line[:, 1], places[:, bone], atol=1e-4)


def test_neighbours_stand_in_rows_of_five_behind_each_other():
    weights = np.linspace(1.0, 0.1, 15)
    offsets = lay_out_rows(weights, 0.0, 1.8)  # at heading 0 it faces -Y
    rows = offsets.reshape(3, 5, 3)
    np.testing.assert_allclose(rows[..., 1], 2.25 * np.arange(3)[:, None].repeat(5, 1), atol=1e-5)
    np.testing.assert_allclose(rows[..., 0], -0.9 * np.arange(1, 6)[None].repeat(3, 0), atol=1e-5)
    # all 15 are near the character
    assert np.linalg.norm(offsets, axis=1).max() < 4.0 * 1.8


def test_the_height_of_a_body_is_that_of_its_joints(demo_database):
    pose, parents = demo_database.poses[100], demo_database.skeleton.parents
    local = pose.T.astype(np.float64)[None]
    local[0, 0] = (0, 0, 0, 1, 0, 0, 0)
    joints = quat.fk(local[..., 3:], local[..., :3], parents)[1][0, 1:]
    assert abs(measure_height(pose, parents) - np.ptp(joints[:, 2])) < 1e-5


def test_a_row_goes_to_the_right_by_weight_and_grows_with_the_body():
    weights = np.array([0.2, 0.5, 0.1, 0.2])
    offsets = lay_out_rows(weights, 0.0, 1.8)  # at heading 0 it faces -Y: its right is -X
    assert np.argsort(-offsets[:, 0]).tolist() == [1, 0, 3, 2]
    np.testing.assert_allclose(np.diff(np.sort(-offsets[:, 0])), 0.9, rtol=1e-6)
    np.testing.assert_allclose(offsets[:, 1:], 0.0, atol=1e-6)
    turned = lay_out_rows(weights, 0.5 * np.pi, 0.18)  # it faces +X: its right is -Y
    np.testing.assert_allclose(turned[:, 1], 0.1 * offsets[:, 0], atol=1e-6)

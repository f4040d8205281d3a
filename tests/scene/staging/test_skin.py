"""A body without data-blocks follows the bones of a skeleton of any size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.maths.rotations import quat
from motion_matching.scene.staging.body import build_skin
from tests.demo import generate_clips


def resize(clip, size):
    """Return a clip of a skeleton that many times as large."""
    skeleton = clip.skeleton
    ends = tuple((bone, tuple(size * x for x in offset)) for bone, offset in skeleton.end_sites)
    positions = size * skeleton.rest_positions
    larger = replace(skeleton, rest_positions=positions, end_sites=ends)
    return replace(clip, skeleton=larger, positions=size * clip.positions)


@pytest.mark.parametrize("size", [0.05, 1.0, 20.0])
def test_a_body_has_a_piece_for_each_bone_and_moves_with_it(size):
    clip = resize(generate_clips()[0], size)
    skeleton = clip.skeleton
    hips = skeleton.index("Hips")
    skin = build_skin(skeleton, hips)
    assert set(np.unique(skin.bones)) == {hips, *skeleton.get_descendants(hips)}
    at_rest, normals = skin.pose(*skeleton.compute_rest_world())
    np.testing.assert_allclose(at_rest, skin.points, atol=1e-5 * size)
    np.testing.assert_allclose(normals, skin.normals, atol=1e-5)

    # turned and moved as a whole, it stays the same body
    rotations, positions = (each[30] for each in clip.compute_world())
    points, normals = skin.pose(rotations, positions)
    turn, shift = quat.from_yaw(np.array(1.1)), size * np.array([3.0, -2.0, 1.0])
    moved, turned = skin.pose(quat.mul(turn, rotations), quat.mul_vec(turn, positions) + shift)
    np.testing.assert_allclose(moved, quat.mul_vec(turn, points) + shift, atol=1e-4 * size)
    np.testing.assert_allclose(turned, quat.mul_vec(turn, normals), atol=1e-4)

    # normals are those of the surface, and point outwards
    triangles = points[skin.triangles]
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    facing = np.sum(across * normals[skin.triangles[:, 0]], axis=1)
    assert np.mean(facing >= 0.0) > 0.95
    for bone in np.unique(skin.bones):
        mine = skin.bones == bone
        away = points[mine] - points[mine].mean(axis=0)
        assert np.mean(np.sum(away * normals[mine], axis=1) > 0.0) > 0.95

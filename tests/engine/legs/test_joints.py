"""Joints of a few poses are where a walk from bone to bone finds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motion_matching.engine.legs.joints import Joints, compute_accelerations
from motion_matching.engine.maths.rotations import quat
from tests.strategies import make_generators


def make_poses(rng: np.random.Generator, frames: int, bones: int, dtype: type) -> np.ndarray:
    turns = quat.normalize(rng.normal(size=(frames, bones, 4)))
    parts = np.concatenate([rng.normal(size=(frames, bones, 3)), turns], axis=-1)
    return parts.transpose(0, 2, 1).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.integers(1, 30), st.integers(1, 4), make_generators())
def test_joints_and_their_accelerations_are_those_from_bone_to_bone(dtype, bones, runs, rng):
    """Whatever the order of bones, however deep they lie, and of several roots."""
    fps = 30.0
    parents = np.array([rng.integers(-1, bone) for bone in range(bones)])
    poses = make_poses(rng, 4 * runs, bones, dtype)
    places = quat.compute_world(poses.astype(float), parents)[1]
    close = 1e-4 if dtype is np.float32 else 1e-9
    joints = Joints(parents)
    np.testing.assert_allclose(joints.compute_places(poses), places, atol=close)
    hardest = joints.compute_hardest(poses.reshape(runs, 4, 7, bones), fps)
    for each, run in zip(hardest, places.reshape(runs, 4, bones, 3), strict=True):
        wanted = compute_accelerations(run, fps).max(axis=1)[1:-1]
        np.testing.assert_allclose(each, wanted, rtol=close, atol=close)


def test_two_poses_tell_of_no_acceleration():
    poses = make_poses(np.random.default_rng(0), 2, 5, np.float32)
    assert Joints(np.arange(5) - 1).measure_acceleration(poses, 30.0) == 0.0

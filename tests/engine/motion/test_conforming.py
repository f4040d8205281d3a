"""Motion goes onto another skeleton with the same bones, whatever the axes and order of these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.motion.conforming import conform, find_sliding_bones, reorder
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips


@pytest.fixture(scope="module")
def clip() -> Clip:
    return generate_clips()[0].crop(0, 60)


def turn_rest(skeleton: Skeleton, seed: int = 3) -> Skeleton:
    """Return the same rest pose, turned about Z, in bone frames of any kind."""
    turns = quat.normalize(np.random.default_rng(seed).normal(size=(skeleton.bone_count, 4)))
    yaw = quat.from_yaw(np.array(0.7))
    rotations, heads = skeleton.compute_rest_world()
    rests = quat.ik(
        quat.mul(yaw, quat.mul(rotations, turns)), quat.mul_vec(yaw, heads), skeleton.parents
    )
    return replace(skeleton, rest_rotations=rests[0], rest_positions=rests[1])


def compute_heads(clip: Clip) -> dict[str, np.ndarray]:
    return dict(zip(clip.skeleton.names, clip.compute_world()[1].swapaxes(0, 1), strict=True))


def test_joints_move_as_before_in_other_bone_frames(clip: Clip):
    target = turn_rest(clip.skeleton)
    moved = conform(clip, target, find_sliding_bones(clip))
    assert moved.skeleton is target
    np.testing.assert_allclose(moved.compute_world()[1], clip.compute_world()[1], atol=1e-5)
    # each bone has turned from its rest as before, by the turn between both rests
    yaw = quat.from_yaw(np.array(0.7))
    ours, theirs = (
        quat.mul_inv(c.compute_world()[0], c.skeleton.compute_rest_world()[0])
        for c in (clip, moved)
    )
    assert np.abs(np.sum(quat.mul(theirs, yaw) * ours, axis=-1)).min() > 1 - 1e-5
    back = conform(moved, clip.skeleton, find_sliding_bones(clip))
    assert np.abs(np.sum(back.rotations * clip.rotations, axis=-1)).min() > 1 - 1e-5


def test_a_clip_of_the_same_skeleton_stays_as_it_is(clip: Clip):
    same = replace(clip, skeleton=replace(clip.skeleton))
    moved = conform(same, clip.skeleton, find_sliding_bones(clip))
    assert moved.rotations is clip.rotations
    assert moved.positions is clip.positions


def test_a_shin_of_other_measures_does_not_turn_the_body(clip: Clip):
    """One side of a skeleton that is measured for each file differs a little."""
    shins, longer = clip.skeleton.index("RightFoot"), clip.skeleton.rest_positions.copy()
    longer[shins, 0] += 4e-4
    moved = conform(clip, replace(clip.skeleton, rest_positions=longer), find_sliding_bones(clip))
    assert moved.rotations is clip.rotations


def test_an_armature_that_rests_otherwise_takes_files_by_their_frames(clip: Clip):
    """It rests as the clip poses in a frame; what that is in the frames of its files is known."""
    posed = replace(
        clip.skeleton, rest_rotations=clip.rotations[40], rest_positions=clip.positions[40]
    )
    target = replace(turn_rest(posed), in_files=posed)
    moved = conform(clip, target, find_sliding_bones(clip))
    np.testing.assert_allclose(moved.compute_world()[1], clip.compute_world()[1], atol=1e-5)
    with pytest.raises(RigError, match="rests in another pose"):
        conform(clip, replace(target, in_files=None), find_sliding_bones(clip))


def test_bones_get_the_lengths_of_the_skeleton_unless_they_slide(clip: Clip):
    positions = clip.positions * np.float32(1.01)
    hand = clip.skeleton.index("LeftHand")
    positions[:, hand, 0] += np.linspace(0.0, 0.1, clip.frame_count)
    longer = replace(clip.skeleton, rest_positions=1.01 * clip.skeleton.rest_positions)
    other = replace(clip, skeleton=longer, positions=positions)
    moved = conform(other, clip.skeleton, find_sliding_bones(other))
    np.testing.assert_allclose(moved.positions[:, hand], positions[:, hand], atol=1e-6)
    still = [b for b in range(1, clip.skeleton.bone_count) if b != hand]
    rests = np.broadcast_to(clip.skeleton.rest_positions[still], moved.positions[:, still].shape)
    np.testing.assert_allclose(moved.positions[:, still], rests, atol=1e-6)


def test_the_order_of_bones_does_not_matter(clip: Clip):
    names = clip.skeleton.names
    by_depth = sorted(names, key=lambda n: (clip.skeleton.get_depth(names.index(n)), n))
    other = reorder(clip, tuple(by_depth))
    assert other.skeleton.names != names
    heads, expected = compute_heads(other), compute_heads(clip)
    assert all(np.allclose(heads[name], expected[name], atol=1e-6) for name in names)
    assert reorder(other, names).skeleton.parents.tolist() == clip.skeleton.parents.tolist()

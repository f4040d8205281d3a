"""A skeleton of files rests in a T- or A-pose, on the ground, facing -Y, whatever its files hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.body.limbs import Limbs
from motion_matching.engine.body.stance import find_stance
from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips
from tests.engine import rigs


@pytest.fixture(scope="module")
def run() -> Clip:
    """A run, without the frames in which it starts and stops."""
    [clip] = [clip for clip in generate_clips() if clip.name == "run_curves"]
    middle = clip.frame_count // 2
    return clip.crop(middle - 60, middle + 60)


def hide_rest(clip: Clip) -> Clip:
    """Return the motion in bone frames in which no rotation is no pose, as in much mocap."""
    skeleton = clip.skeleton
    turns = quat.normalize(np.random.default_rng(2).normal(size=(skeleton.bone_count, 4)))
    above = np.where((skeleton.parents < 0)[:, None], quat.IDENTITY, turns[skeleton.parents])
    rests = quat.inv_mul_vec(above, skeleton.rest_positions)
    rotations = quat.mul(quat.inv_mul(above, clip.rotations), turns)
    return replace(
        clip,
        skeleton=replace(skeleton, rest_positions=rests, end_sites=()),
        positions=quat.inv_mul_vec(above, clip.positions).astype(np.float32),
        rotations=quat.unroll(rotations).astype(np.float32),
    )


def assert_stands(skeleton: Skeleton, limbs: Limbs) -> np.ndarray:
    """Check that a rest pose stands at the origin and faces -Y; return the joints (B, 3)."""
    _, heads = skeleton.compute_rest_world()
    hips = heads[limbs.roles.hips]
    np.testing.assert_allclose(hips[:2], 0.0, atol=0.02)
    trunk = heads[limbs.head] - hips
    assert trunk[2] > 0.97 * np.linalg.norm(trunk)
    left, right = (leg for leg in limbs.roles.legs)
    for leg in (left, right):
        straight = heads[leg.thigh] - heads[leg.foot]
        assert straight[2] > 0.97 * np.linalg.norm(straight)
        bones = [heads[leg.thigh] - heads[leg.shin], heads[leg.shin] - heads[leg.foot]]
        assert np.linalg.norm(straight) > 0.98 * sum(map(np.linalg.norm, bones))
        if leg.has_toe:
            ahead = heads[leg.toe] - heads[leg.foot]
            assert ahead[1] < -0.5 * np.linalg.norm(ahead)
            assert 0.0 < heads[leg.toe][2] < 0.1
    assert heads[left.thigh][0] > 0.05 > -0.05 > heads[right.thigh][0]
    for arm, side in zip(limbs.arms, (1.0, -1.0), strict=True):
        along = heads[arm.hand] - heads[arm.upper]
        assert side * along[0] > 0.6 * np.linalg.norm(along), "the arms are at the sides"
        assert along[2] < 0.2
    return heads


def test_a_skeleton_without_rotations_stands_if_that_is_a_t_pose(run: Clip):
    stance = find_stance([run])
    assert stance is not None
    heads = assert_stands(*stance)
    _, expected = run.skeleton.compute_rest_world()
    np.testing.assert_allclose(heads, expected, atol=0.05)
    np.testing.assert_allclose(heads - heads[0], expected - expected[0], atol=1e-5)


def test_a_t_pose_in_a_frame_of_any_file_is_found(run: Clip):
    rests = run.skeleton.rest_rotations[None], run.skeleton.rest_positions[None]
    turn = quat.from_yaw(np.array(2.0))
    rotations, positions = (np.repeat(part, 3, axis=0) for part in rests)
    rotations[:, 0] = turn
    positions[:, 0] += [3.0, -2.0, 0.0]
    posed = replace(run, name="t", rotations=rotations, positions=positions.astype(np.float32))
    stance = find_stance([hide_rest(run), hide_rest(posed)])
    assert stance is not None
    heads = assert_stands(*stance)
    _, expected = run.skeleton.compute_rest_world()
    np.testing.assert_allclose(heads, expected, atol=1e-4)


def test_running_alone_is_straightened_to_an_a_pose(run: Clip):
    clip = hide_rest(run)
    stance = find_stance([clip])
    assert stance is not None
    assert_stands(*stance)
    # lengths stay
    own, rest = clip.skeleton.rest_positions[1:], stance.skeleton.rest_positions[1:]
    np.testing.assert_allclose(rest, own, atol=1e-5)


def test_a_root_that_stays_behind_rests_at_the_origin(run: Clip):
    clip = hide_rest(run)
    skeleton = clip.skeleton
    under = replace(
        clip,
        skeleton=Skeleton(
            ("Root", *skeleton.names),
            np.concatenate([[-1], skeleton.parents + 1]),
            np.pad(skeleton.rest_positions, ((1, 0), (0, 0))),
            np.concatenate([quat.IDENTITY[None], skeleton.rest_rotations]).astype(np.float32),
        ),
        positions=np.pad(clip.positions, ((0, 0), (1, 0), (0, 0))),
        rotations=np.concatenate(
            [np.tile(quat.IDENTITY, (clip.frame_count, 1, 1)), clip.rotations], axis=1
        ).astype(np.float32),
    )
    stance = find_stance([under])
    assert stance is not None
    heads = assert_stands(*stance)
    np.testing.assert_allclose(heads[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(stance.skeleton.rest_rotations[0], quat.IDENTITY, atol=1e-6)


def test_what_is_not_built_as_a_human_stands_on_its_legs_as_it_usually_does():
    dog = rigs.roll_axes(
        rigs.make_dog(), rigs.make_random_rolls(23, np.random.default_rng(1)), keep_rest=False
    )
    turn = quat.from_yaw(np.array(2.0))
    dog.rotations[:, 0] = quat.mul(turn, dog.rotations[:, 0])
    there = np.array([3.0, -2.0, 0.0])
    dog.positions[:, 0] = quat.mul_vec(turn, dog.positions[:, 0]) + there
    stance = find_stance([dog])
    assert stance is not None
    assert stance.limbs is None
    skeleton = stance.skeleton
    heads = dict(zip(skeleton.names, skeleton.compute_rest_world()[1], strict=True))
    assert np.abs(heads["pelvis"][:2]).max() < 1e-6
    assert heads["skull"][1] < -0.6, "it faces -Y"
    for leg in ("hind_thigh_l", "hind_thigh_r"):
        assert heads[leg][2] == pytest.approx(0.55, abs=0.05)
    feet = [heads[f"{end}_toe_{side}"][2] for end in ("hind", "fore") for side in "lr"]
    assert -0.01 < min(feet) < max(feet) < 0.15


def test_what_has_no_legs_is_left_to_others():
    clip = rigs.make_dog()
    legless = rigs.remove_bones(clip, {n for n in clip.skeleton.names if "_" in n})
    assert find_stance([legless]) is None


@pytest.mark.parametrize("pattern", ["bandai-namco/dataset-1_dash*", "lafan1/*", "cmu/*"])
def test_real_mocap_stands(mocap: Path, pattern: str):
    clips = [bvh.load(file) for file in sorted(mocap.glob(f"{pattern}.bvh"))]
    stance = find_stance(clips)
    assert stance is not None
    assert_stands(*stance)

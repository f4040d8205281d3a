"""Mirroring: reflected world positions, unchanged lengths, and the original when mirrored twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.body.bone_pairs import find_bone_pairs
from motion_matching.engine.body.mirror import find_symmetry, mirror
from motion_matching.engine.body.rig import find_hips_forward, find_roles
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.bone_names import swap_sides
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.engine import rigs

REFLECTION = np.array([-1.0, 1.0, 1.0])
REAL = (
    "lafan1/push1_subject2.bvh",
    "bandai-namco/dataset-1_walk_normal_001.bvh",
    "bandai-namco/dataset-2_walk-turn-left_normal_001.bvh",
    "bandai-namco/dataset-1_run_normal_001.bvh",
)


def make_asymmetric_walk(name: str) -> Clip:
    """Make a leaning walk along a slanted line: nothing about it is symmetric."""
    clip = rigs.make_walk(name, frames=90)
    top, hips = (
        int(np.flatnonzero(clip.skeleton.parents < 0)[0]),
        clip.skeleton.index(rigs.NAMINGS[name].hips),
    )
    rotations, positions = clip.rotations.astype(np.float64), clip.positions.astype(np.float64)
    turn = quat.mul(
        quat.from_yaw(np.linspace(0.3, 1.5, 90)),
        quat.from_angle_axis(0.15, np.array([0.0, 1.0, 0.0])),
    )
    rotations[:, hips] = quat.mul(turn, rotations[:, hips])
    if top == hips:
        positions[:, hips, :2] += np.stack([np.linspace(0, 2, 90), np.linspace(1, 1.5, 90)], axis=1)
    return replace(
        clip, rotations=rotations.astype(np.float32), positions=positions.astype(np.float32)
    )


def compute_skin(clip: Clip, rest: Skeleton) -> np.ndarray:
    """Compute world paths (F, B, 3, 3) of three points attached to each bone, offset in the world
    at rest.
    """
    rest_rotations, _ = rest.compute_rest_world()
    world, positions = clip.compute_world()
    points = np.broadcast_to(0.1 * np.eye(3), (rest.bone_count, 3, 3))
    local = quat.inv_mul_vec(
        np.repeat(rest_rotations[:, None], 3, axis=1).astype(np.float64), points
    )
    return positions[:, :, None] + quat.mul_vec(
        np.repeat(world[:, :, None], 3, axis=2).astype(np.float64), local[None]
    )


def measure_lengths(clip: Clip) -> np.ndarray:
    below = clip.skeleton.parents >= 0
    world = clip.compute_world()[1]
    return np.linalg.norm(world - world[:, clip.skeleton.parents], axis=-1)[:, below]


def assert_reflected(clip: Clip, image: Clip, pairs: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(
        image.compute_world()[1], (clip.compute_world()[1] * REFLECTION)[:, pairs], atol=tolerance
    )
    np.testing.assert_allclose(np.linalg.norm(image.rotations, axis=-1), 1.0, atol=1e-6)


def assert_same(one: Clip, two: Clip) -> None:
    np.testing.assert_allclose(two.rotations, one.rotations, atol=1e-5)
    np.testing.assert_allclose(two.positions, one.positions, atol=1e-5)


@pytest.mark.parametrize("name", rigs.NAMINGS)
def test_bones_are_paired_by_name(name: str) -> None:
    skeleton = rigs.make_walk(name, frames=2).skeleton
    names = np.array(skeleton.names)
    assert dict(zip(names, names[find_bone_pairs(skeleton)], strict=True)) == rigs.list_pairs(name)


@pytest.mark.parametrize("name", rigs.NAMINGS)
def test_bones_are_paired_by_shape(name: str) -> None:
    clip = rigs.make_walk(name)
    other, order = rigs.anonymize(clip)
    names = np.array(clip.skeleton.names)[order]
    pairs = find_bone_pairs(other.skeleton, find_roles(other.skeleton, [other]), [other])
    found = dict(zip(names, names[pairs], strict=True))
    expected = rigs.list_pairs(name)
    # IK targets that never move are not part of the body
    assert {k: v for k, v in found.items() if "ik_" not in k} == {
        k: v for k, v in expected.items() if "ik_" not in k
    }


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("LeftHand", "RightHand"),
        ("hand_l", "hand_r"),
        ("hand.L", "hand.R"),
        ("l_hand", "r_hand"),
        ("hand_left", "hand_right"),
        ("lShldr", "rShldr"),
        ("DEF-thigh.L.001", "DEF-thigh.R.001"),
        ("lfemur", "rfemur"),
        ("Bip01 L Thigh", "Bip01 R Thigh"),
        ("leftfoot", "rightfoot"),
        ("LHipJoint", "RHipJoint"),
        ("ToeL2", "ToeR2"),
        ("rig:Arm_LEFT", "rig:Arm_RIGHT"),
    ],
)
def test_common_naming_conventions_are_paired(left: str, right: str) -> None:
    names = ("lowerback", left, "L5", right, "root", "ring", "rightmost")
    skeleton = Skeleton(
        names,
        np.arange(7) * 0 - 1,
        np.zeros((7, 3), np.float32),
        np.tile(quat.IDENTITY, (7, 1)).astype(np.float32),
    )
    assert find_bone_pairs(skeleton).tolist() == [0, 3, 2, 1, 4, 5, 6]


@pytest.mark.slow
@pytest.mark.parametrize("name", rigs.NAMINGS)
@pytest.mark.parametrize("axes", ["world", "random", "aligned"])
def test_the_image_reflects_the_body_and_its_skin(name: str, axes: str) -> None:
    clip, rng = make_asymmetric_walk(name), np.random.default_rng(7)
    count = clip.skeleton.bone_count
    if axes != "world":
        rolls = (
            rigs.make_random_rolls(count, rng)
            if axes == "random"
            else rigs.make_aligned_rolls(count, rng)
        )
        clip = rigs.roll_axes(clip, rolls)
    pairs = find_bone_pairs(clip.skeleton)
    image = mirror(clip)
    assert_reflected(clip, image, pairs, 1e-5)
    # a point's x offset at rest has the opposite sign on the other side
    ours, theirs = compute_skin(image, clip.skeleton), compute_skin(clip, clip.skeleton)[:, pairs]
    bones = clip.compute_world()[1][:, pairs, None]
    theirs[:, :, 0] = 2.0 * bones[:, :, 0] - theirs[:, :, 0]
    body = [b for b in range(count) if "ik_" not in clip.skeleton.names[b]]
    np.testing.assert_allclose(ours[:, body], (theirs * REFLECTION)[:, body], atol=1e-5)
    assert_same(clip, mirror(image))
    np.testing.assert_allclose(
        measure_lengths(image),
        measure_lengths(clip)[:, _index_below_root(pairs, clip.skeleton)],
        atol=1e-5,
    )


def _index_below_root(pairs: np.ndarray, skeleton: Skeleton) -> np.ndarray:
    """Return where the lengths of counterparts are in an array of all bones but roots."""
    below = np.flatnonzero(skeleton.parents >= 0)
    return np.searchsorted(below, pairs[below])


@pytest.mark.parametrize("name", ["LAFAN1", "Bandai-Namco", "Rigify", "Unreal"])
def test_aligned_axes_are_found_without_a_symmetric_rest_pose(name: str) -> None:
    straight = rigs.make_walk(name)
    rolls = rigs.make_aligned_rolls(straight.skeleton.bone_count, np.random.default_rng(5))
    # as in mocap, bones run along their own axes, so that offsets are aligned with them
    straight = rigs.roll_axes(_straighten(straight), rolls, keep_rest=False)
    symmetry = find_symmetry(straight)
    image = mirror(straight, symmetry=symmetry)
    assert_reflected(straight, image, symmetry.pairs, 1e-5)
    assert_same(straight, mirror(image))
    expected = (
        np.swapaxes(quat.to_matrix(rolls), -1, -2)
        @ np.diag(REFLECTION)
        @ quat.to_matrix(rolls[symmetry.pairs])
    )
    np.testing.assert_allclose(-quat.to_matrix(symmetry.turns), expected, atol=1e-6)


def _straighten(clip: Clip) -> Clip:
    """Straighten legs, arms and back along the world's axes, with the same rotations."""
    offsets = clip.skeleton.rest_positions.copy()
    for bone, parent in enumerate(clip.skeleton.parents):
        if parent >= 0 and clip.skeleton.names[int(parent)] != rigs.NAMINGS[clip.name].hips:
            largest = int(np.argmax(np.abs(offsets[bone])))
            offsets[bone] = np.eye(3)[largest] * offsets[bone, largest]
    positions = clip.positions - clip.skeleton.rest_positions + offsets
    return replace(
        clip, positions=positions, skeleton=replace(clip.skeleton, rest_positions=offsets)
    )


@pytest.mark.parametrize("name", rigs.NAMINGS)
def test_anonymous_rigs_with_any_axes_are_reflected(name: str) -> None:
    clip, _ = rigs.anonymize(make_asymmetric_walk(name), seed=2)
    symmetry = find_symmetry(clip)
    image = mirror(clip, symmetry=symmetry)
    body = [b for b in range(len(symmetry.pairs)) if not symmetry.one_sided[b]]
    reflected = clip.compute_world()[1] * REFLECTION
    np.testing.assert_allclose(
        image.compute_world()[1][:, body], reflected[:, symmetry.pairs[body]], atol=1e-4
    )
    assert_same(clip, mirror(image, symmetry=symmetry))


@pytest.mark.parametrize("file", REAL)
def test_real_clips_are_reflected_up_to_their_asymmetry(mocap, file: str) -> None:
    clip = bvh.load(mocap / file)
    for motion in (clip, rigs.anonymize(clip)[0]):
        symmetry = find_symmetry(motion)
        image = mirror(motion, symmetry=symmetry)
        assert_reflected(motion, image, symmetry.pairs, 0.002)
        assert_same(motion, mirror(image, symmetry=symmetry))
        assert not symmetry.one_sided.any()
        np.testing.assert_allclose(
            measure_lengths(image)[:, 1:], measure_lengths(motion)[:, 1:], atol=1e-5
        )


def test_a_longer_left_leg_stays_longer() -> None:
    clip = rigs.make_walk("Mixamo")
    offsets = clip.skeleton.rest_positions.copy()
    offsets[clip.skeleton.index("mixamorig:LeftFoot")] *= 1.005
    longer = replace(
        clip,
        positions=clip.positions + offsets - clip.skeleton.rest_positions,
        skeleton=replace(clip.skeleton, rest_positions=offsets),
    )
    image = mirror(longer)
    np.testing.assert_allclose(measure_lengths(image), measure_lengths(longer), atol=1e-5)
    assert_reflected(longer, image, find_bone_pairs(longer.skeleton), 0.004)


def test_a_sword_stays_in_its_hand() -> None:
    clip = make_asymmetric_walk("Unreal")
    hand, skeleton = clip.skeleton.index("hand_r"), clip.skeleton
    armed = Skeleton(
        (*skeleton.names, "sword"),
        np.append(skeleton.parents, hand),
        np.vstack([skeleton.rest_positions, [[0.0, -0.1, 0.0]]]).astype(np.float32),
        np.vstack([skeleton.rest_rotations, quat.IDENTITY]).astype(np.float32),
        skeleton.end_sites,
    )
    wave = quat.from_yaw(np.sin(np.arange(clip.frame_count)))[:, None]
    held = replace(
        clip,
        skeleton=armed,
        rotations=np.concatenate([clip.rotations, wave], axis=1).astype(np.float32),
        positions=np.concatenate(
            [clip.positions, np.tile(armed.rest_positions[-1:], (clip.frame_count, 1, 1))], axis=1
        ),
    )
    image = mirror(held)
    np.testing.assert_array_equal(image.rotations[:, -1], held.rotations[:, -1])
    np.testing.assert_array_equal(image.positions[:, -1], held.positions[:, -1])
    np.testing.assert_allclose(
        image.compute_world()[1][:, :-1], mirror(clip).compute_world()[1], atol=1e-5
    )


def test_a_still_root_and_the_forward_axis_of_the_hips_are_kept() -> None:
    clip = make_asymmetric_walk("Bandai-Namco")
    for motion in (
        clip,
        rigs.roll_axes(
            clip, rigs.make_random_rolls(clip.skeleton.bone_count, np.random.default_rng(1)), False
        ),
    ):
        image = mirror(motion)
        roles = find_roles(motion.skeleton, [motion])
        np.testing.assert_allclose(
            np.abs(np.sum(image.rotations[:, 0] * motion.rotations[:, 0], axis=-1)), 1, atol=1e-5
        )
        np.testing.assert_allclose(
            find_hips_forward([image], roles), find_hips_forward([motion], roles), atol=1e-3
        )


def test_offsets_that_do_not_mirror_are_refused() -> None:
    clip = rigs.make_walk("LAFAN1")
    offsets = clip.skeleton.rest_positions.copy()
    offsets[clip.skeleton.index("LeftForeArm")] = [-0.1, 0.0, 0.5]
    bent = replace(
        clip,
        positions=np.tile(offsets, (clip.frame_count, 1, 1)),
        skeleton=replace(clip.skeleton, rest_positions=offsets),
    )
    with pytest.raises(RigError, match="'LeftForeArm' and 'RightForeArm' are not mirror images"):
        mirror(bent)


def test_pairs_below_unpaired_bones_are_refused() -> None:
    skeleton = rigs.make_walk("LAFAN1", frames=2).skeleton
    parents = skeleton.parents.copy()
    parents[skeleton.index("RightHand")] = skeleton.index("Spine")
    with pytest.raises(RigError, match="'LeftHand' and 'RightHand' cannot be mirrored"):
        find_bone_pairs(replace(skeleton, parents=parents))


def test_tags_change_sides() -> None:
    tags = (
        "left_foot_forward",
        "turn_right",
        "Strafe L",
        "strafeLeft",
        "LEFT",
        "walk",
        "bright light",
        "run",
    )
    swapped = (
        "right_foot_forward",
        "turn_left",
        "Strafe R",
        "strafeRight",
        "RIGHT",
        "walk",
        "bright light",
        "run",
    )
    assert tuple(map(swap_sides, tags)) == swapped
    assert tuple(map(swap_sides, swapped)) == tags


def test_a_dog_is_mirrored() -> None:
    clip, _ = rigs.anonymize(rigs.make_dog())
    roles = find_roles(clip.skeleton, [clip])
    symmetry = find_symmetry(clip, roles=roles)
    assert symmetry.pairs[[leg.foot for leg in roles.legs]].tolist() == [
        roles.legs[k].foot for k in (1, 0, 3, 2)
    ]
    assert_reflected(clip, mirror(clip, symmetry=symmetry), symmetry.pairs, 1e-4)

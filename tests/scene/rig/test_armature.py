"""An armature rests as its skeleton does, and poses map exactly both ways."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.scene.rig.armature import (
    compute_standing_rest,
    compute_tails,
    create_armature,
    find_ground_bones,
    to_blender_names,
)
from motion_matching.scene.writing.bake import bake
from tests.scene.motions import fit_bones, make_random_clip, make_random_skeleton, to_basis


def test_bones_rest_where_the_skeleton_has_them() -> None:
    for seed in range(5):
        skeleton = make_random_skeleton(np.random.default_rng(seed))
        obj = create_armature(skeleton, "Any")
        bones = obj.data.bones
        assert {bone.name for bone in bones} == set(skeleton.names)
        for index, parent in enumerate(skeleton.parents):
            bone = bones[skeleton.names[index]]
            assert (bone.parent.name if bone.parent else None) == (
                skeleton.names[parent] if parent >= 0 else None
            )
            assert not bone.use_connect
            assert bone.length > 1e-3
        heads = np.array([bones[name].head_local for name in skeleton.names])
        np.testing.assert_allclose(heads, skeleton.compute_rest_world()[1], atol=1e-5)

    alone = Skeleton(
        ("One",), np.array([-1]), np.zeros((1, 3), np.float32), np.eye(4, dtype=np.float32)[:1]
    )
    assert create_armature(alone, "Alone").data.bones["One"].length > 1e-3


def test_poses_survive_a_round_trip_through_pose_bones() -> None:
    for seed in range(5):
        clip = make_random_clip(seed)
        skeleton = clip.skeleton
        fitted = fit_bones(create_armature(skeleton, "Any"), skeleton)
        rotations, locations = to_basis(
            fitted, clip.rotations.astype(np.float64), clip.positions.astype(np.float64)
        )
        again, positions = fitted.from_basis(rotations, locations)
        np.testing.assert_allclose(
            quat.positive(quat.mul_inv(again, clip.rotations)),
            np.broadcast_to(quat.IDENTITY, again.shape),
            atol=1e-6,
        )
        np.testing.assert_allclose(positions, clip.positions, atol=1e-6)

        rotations, locations = to_basis(fitted, skeleton.rest_rotations, skeleton.rest_positions)
        np.testing.assert_allclose(
            quat.positive(rotations), np.broadcast_to(quat.IDENTITY, rotations.shape), atol=1e-5
        )
        np.testing.assert_allclose(locations, 0.0, atol=1e-7)


def test_long_and_equal_names_become_unique_as_in_blender() -> None:
    long = "ä" * 40  # 80 bytes
    names = (long, long + "b", "Twin", "Twin", "x" * 64, "x" * 63)
    skeleton = replace(make_random_skeleton(np.random.default_rng(0), 6), names=names)
    obj = create_armature(skeleton, "Names")
    assert {bone.name for bone in obj.data.bones} == set(to_blender_names(names)), list(
        obj.data.bones
    )
    fit_bones(obj, skeleton.with_names(to_blender_names(names)))


def test_bones_of_a_person_point_along_the_body() -> None:
    body = build_humanoid_skeleton()
    skeleton = Skeleton(
        ("Simulation", *body.names),
        np.array([-1, *(body.parents + 1)]),
        np.concatenate([np.zeros((1, 3), np.float32), body.rest_positions]),
        np.concatenate([np.array([[1, 0, 0, 0]], np.float32), body.rest_rotations]),
        tuple((bone + 1, offset) for bone, offset in body.end_sites),
    )
    _, heads = skeleton.compute_rest_world()
    ends = compute_tails(skeleton)
    at = {name: heads[skeleton.index(name)] for name in skeleton.names}
    end = {name: ends[skeleton.index(name)] for name in skeleton.names}
    for bone, child in (
        ("Hips", "Spine"),
        ("LeftUpLeg", "LeftLeg"),
        ("RightLeg", "RightFoot"),
        ("LeftArm", "LeftForeArm"),
        ("UpperChest", "Neck"),
    ):
        np.testing.assert_allclose(end[bone], at[child], atol=1e-6)
    assert find_ground_bones(skeleton) == {0}
    along = end["Simulation"] - at["Simulation"]
    assert along[1] < -0.1
    assert abs(along[2]) < 1e-6
    create_armature(skeleton, "Person")


def test_the_most_upright_pose_becomes_the_rest_pose() -> None:
    body = build_humanoid_skeleton()
    rng = np.random.default_rng(3)
    frames, count = 9, body.bone_count
    rotations = quat.mul(
        quat.from_scaled_angle_axis(0.5 * rng.normal(size=(frames, count, 3))), body.rest_rotations
    )
    positions = np.repeat(body.rest_positions[None], frames, axis=0)
    rotations[5] = body.rest_rotations
    rotations[5, 0] = quat.from_yaw(np.array(1.2))
    lie = quat.from_angle_axis(np.array(np.pi / 2), np.array([0.0, 1.0, 0.0]))
    rotations[[0, 1, 2, 3]] = body.rest_rotations
    rotations[[0, 1, 2, 3], 0] = lie
    positions[:, 0, :2] = rng.normal(size=(frames, 2))
    clip = Clip("stand", body, positions.astype(np.float32), rotations.astype(np.float32), 30.0)
    rested = compute_standing_rest(clip)
    np.testing.assert_allclose(
        rested.compute_rest_world()[1], body.compute_rest_world()[1], atol=1e-6
    )  # over the origin, facing -Y
    np.testing.assert_allclose(
        rested.rest_rotations,
        clip.rotations[5] * (np.arange(count) > 0)[:, None]
        + np.array([1, 0, 0, 0]) * (np.arange(count) == 0)[:, None],
        atol=1e-6,
    )


def test_creating_an_armature_keeps_mode_and_selection() -> None:
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    bpy.context.scene.collection.objects.link(mesh)
    pose = create_armature(make_random_skeleton(np.random.default_rng(0)), "Posed")
    mesh.select_set(True)
    pose.select_set(True)
    bpy.context.view_layer.objects.active = pose
    bpy.ops.object.mode_set(mode="POSE")

    def read_state():
        context = bpy.context
        return (
            context.mode,
            context.view_layer.objects.active.name,
            sorted(o.name for o in context.selected_objects),
            len(bpy.data.objects),
            len(bpy.data.armatures),
        )

    before = read_state()
    made = create_armature(make_random_skeleton(np.random.default_rng(1)), "Other")
    assert read_state() == (*before[:3], before[3] + 1, before[4] + 1), read_state()
    bpy.data.armatures.remove(made.data)
    assert read_state() == before


def test_an_armature_that_does_not_fit_is_refused_with_a_bone_name() -> None:
    clip = make_random_clip(0)
    skeleton = clip.skeleton
    obj = create_armature(skeleton, "Given")

    other = skeleton.with_names((*skeleton.names[:-1], "Tail"))
    with pytest.raises(RigError) as caught:
        bake(replace(clip, skeleton=other), obj, name="Any")
    assert "armature 'Given' has no bone 'Tail'" in str(caught.value)

    positions = skeleton.rest_positions.copy()
    positions[-1] += 0.1
    with pytest.raises(RigError) as caught:
        fit_bones(obj, replace(skeleton, rest_positions=positions))
    assert f"bone '{skeleton.names[-1]}' of armature 'Given' rests" in str(caught.value)
    assert "m away" in str(caught.value)

"""Wherever an armature stands and whatever carries its root motion, it moves in the world as the
take does.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.engine.errors import RigError
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing.bake import bake
from tests.scene.bodies import (
    EditBones,
    compute_expected_bones,
    create_parent,
    create_person,
    evaluate_bones,
    get_ground_transform,
    get_rest_matrices,
    make_walk,
    place_armature,
)
from tests.scene.keys import read_channels
from tests.scene.motions import to_matrices

take = make_walk()
names = take.skeleton.names[1:]
frames = 1 + np.arange(take.frame_count)
path = to_matrices(take.rotations[:, 0], take.positions[:, 0])


def list_keyed_paths(action):
    return {name for name, _ in read_channels(action)}


def check_refused(word, obj, **options):
    before = set(bpy.data.actions)
    with pytest.raises(RigError) as caught:
        bake(take, obj, name="Refused", **options)
    assert word in str(caught.value), caught.value
    assert set(bpy.data.actions) == before


@pytest.mark.slow
def test_every_root_target_works_wherever_the_armature_stands() -> None:
    stands = (
        {},
        {"location": (1, 2, 0.5)},
        {"turn": 1.1, "location": (-3, 1, 0)},
        {"y_up": True},
        {"scale": 0.01},
        {"y_up": True, "scale": 0.01, "turn": -2.0, "location": (4, 0, 0)},
    )
    for where in stands:
        for target in (None, *RootTarget):
            obj = create_person(root=True)
            place_armature(obj, **where)
            rests, place, still = (
                get_rest_matrices(obj, names),
                get_ground_transform(obj),
                np.array(obj.matrix_world),
            )
            action = bake(
                take,
                obj,
                name="Take",
                root=target,
                root_bone="Root" if target is RootTarget.BONE else "",
            )
            want, found = compute_expected_bones(take, rests), evaluate_bones(obj, names, frames)
            if target is RootTarget.IN_PLACE:  # in place, without the ground motion
                want = place @ np.linalg.inv(path)[:, None] @ want
            np.testing.assert_allclose(found, want, atol=1e-4, err_msg=f"{where} {target}")
            moves = "location" in list_keyed_paths(action)
            assert moves == (target in (None, RootTarget.OBJECT))
            assert moves or np.allclose(obj.matrix_world, still, atol=1e-6)
            assert any("Root" in name for name in list_keyed_paths(action)) == (
                target is RootTarget.BONE
            )
            root = evaluate_bones(obj, ["Root"], frames)[:, 0]
            if target in (
                None,
                RootTarget.OBJECT,
                RootTarget.BONE,
            ):  # the root follows the simulation bone
                np.testing.assert_allclose(root[:, :3, 3], take.positions[:, 0], atol=1e-4)
            bpy.data.objects.remove(obj)


def test_a_simulation_bone_in_the_armature_gets_the_root_motion() -> None:
    for target in (
        None,
        *RootTarget,
    ):  # its own simulation bone is posed beforehand
        obj = create_armature(take.skeleton, "All")
        obj.pose.bones["Simulation"].location = (1.0, 2.0, 3.0)
        rests = get_rest_matrices(obj, take.skeleton.names)
        bake(take, obj, name="Take", root=target)
        found = evaluate_bones(obj, take.skeleton.names, frames)
        want = compute_expected_bones(take, rests)
        if target is RootTarget.IN_PLACE:
            want = np.linalg.inv(path)[:, None] @ want
        if target is RootTarget.HIPS:
            want[:, 0] = rests[0]
        np.testing.assert_allclose(found, want, atol=1e-4, err_msg=str(target))


def test_parents_deltas_and_rotation_modes_keep_the_world_motion(scene) -> None:
    parent = create_parent()
    for mode in ("XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"):
        obj = create_person()
        obj.rotation_mode = mode
        obj.delta_location = (0.5, -1, 2)
        obj.delta_rotation_euler = (0.1, 0.2, 0.3)
        obj.delta_rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
        obj.parent = parent
        place_armature(obj, location=(1, 0, 0), turn=0.7, scale=0.1)
        rests = get_rest_matrices(obj, names)
        for target in (RootTarget.OBJECT, RootTarget.HIPS):
            bake(take, obj, name="Take", root=target)
            np.testing.assert_allclose(
                evaluate_bones(obj, names, frames), compute_expected_bones(take, rests), atol=1e-4
            )


def test_bones_missing_from_the_take_keep_their_pose() -> None:
    # bones missing from the take keep their pose, above, between and below the others
    obj = create_person(root=True)
    with EditBones(obj) as bones:
        helper = bones.new("Helper")
        helper.head, helper.tail = (0.1, 0.0, 1.2), (0.3, 0.1, 1.3)
        helper.parent, bones["Chest"].parent = bones["Spine"], helper
        extra = bones.new("Extra")
        extra.head, extra.tail, extra.parent = (0.0, 0.0, 1.7), (0.0, 0.0, 1.9), bones["Head"]
    pose = obj.pose.bones
    pose["Root"].location, pose["Root"].rotation_quaternion = (0.5, 0.2, 1.0), (0.8, 0.1, 0.5, 0.2)
    pose["Helper"].rotation_mode = "YXZ"
    pose["Helper"].rotation_euler = (0.4, -0.3, 0.9)
    pose["Extra"].location = (1.0, 0.0, 0.0)
    place_armature(obj, y_up=True, scale=0.01, location=(1, 1, 0))
    rests = get_rest_matrices(obj, names)
    for target in (RootTarget.OBJECT, RootTarget.HIPS):
        action = bake(take, obj, name="Take", root=target)
        np.testing.assert_allclose(
            evaluate_bones(obj, names, frames), compute_expected_bones(take, rests), atol=1e-4
        )
        assert not any(
            bone in name
            for name in list_keyed_paths(action)
            for bone in ("Root", "Helper", "Extra")
        )
        assert abs(pose["Helper"].rotation_euler[2] - 0.9) < 1e-6
    pose["Root"].scale = (1.0, 2.0, 1.0)
    check_refused("'Root'", obj, root=RootTarget.HIPS)
    bake(
        take, obj, name="Take", root=RootTarget.BONE, root_bone="Root"
    )  # now keyed, scale included
    np.testing.assert_allclose(
        evaluate_bones(obj, names, frames), compute_expected_bones(take, rests), atol=1e-4
    )


def test_armatures_that_do_not_fit_are_refused() -> None:
    def create_armature_with_root(**where):
        obj = create_person(root=True)
        place_armature(obj, **where)
        return obj

    obj = create_armature_with_root()
    check_refused("is not an armature", bpy.data.objects.new("Empty", None))
    check_refused("name the root bone", obj, root=RootTarget.BONE)
    check_refused("'Tail' of armature", obj, root=RootTarget.BONE, root_bone="Tail")
    check_refused("part of the body", obj, root=RootTarget.BONE, root_bone="Spine")
    check_refused("no bone 'Pelvis'", obj, hips="Pelvis")

    uneven = create_armature_with_root()
    uneven.scale = (1.0, 1.0, 1.2)
    check_refused("unevenly", uneven)
    large = create_armature_with_root()
    large.scale = (100.0, 100.0, 100.0)
    check_refused("100 times as large", large)
    lying = create_armature_with_root()
    lying.rotation_euler = (1.0, 0.0, 0.0)
    check_refused("rests", lying)

    connected = create_armature_with_root()
    with EditBones(connected) as bones:
        bones["Root"].tail = bones["Hips"].head
        bones["Hips"].use_connect = True
    check_refused("'Hips' of armature", connected, root=RootTarget.HIPS)

    follower = create_armature_with_root()
    follower.pose.bones["LeftHand"].constraints.new("COPY_ROTATION").name = "Follow"
    check_refused("'Follow'", follower)
    follower.pose.bones["LeftHand"].constraints[0].mute = True
    bake(take, follower, name="Take")

    free = create_armature_with_root()
    free.data.bones["Head"].use_inherit_rotation = False
    check_refused("'Head'", free)

    lacking = create_armature_with_root()
    with EditBones(lacking) as bones:
        bones.remove(bones["LeftToe"])
    check_refused("no bone 'LeftToe'", lacking)
    other = create_person()
    with EditBones(other) as bones:
        bones["LeftToe"].head.z += 0.1
    check_refused("'LeftToe' of armature", other)

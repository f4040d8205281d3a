"""A live pose equals the baked one; afterwards the previous pose is restored exactly."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.engine.errors import RigError
from motion_matching.scene.blender.transforms.rotation_modes import from_mode, to_mode_near
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing.bake import bake
from motion_matching.scene.writing.pose_writer import PoseWriter
from tests.scene.bodies import EditBones, create_parent, create_person, make_walk, place_armature
from tests.scene.rigs import MODES, assert_same, read_state

take = make_walk()
names = take.skeleton.names[1:]


def get_bone_matrices(obj, bones=names):
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(
        [np.array(found.matrix_world @ found.pose.bones[name].matrix) for name in bones]
    )


def assert_shows_baked_pose(poses, scene, obj, frames=(0, 17, 40), **options):
    writer = PoseWriter(obj, take.skeleton, hips="Hips", **options)
    writer.take_over()
    found = []
    for frame in frames:
        writer.show(poses[frame])
        found.append(get_bone_matrices(obj))
    writer.restore()
    bake(take, obj, name="Take", hips="Hips", **options)
    for frame, ours in zip(frames, found, strict=False):
        scene.frame_set(1 + frame)
        np.testing.assert_allclose(
            ours, get_bone_matrices(obj), rtol=0, atol=1e-5, err_msg=f"{frame} {options}"
        )


@pytest.fixture
def scene_and_poses(scene):
    poses = (
        np.concatenate([take.positions, take.rotations], axis=-1)
        .transpose(0, 2, 1)
        .astype(np.float32)
    )
    return scene, poses


def test_every_root_target_shows_the_baked_pose(scene_and_poses) -> None:
    scene, poses = scene_and_poses

    stands = (
        {},
        {"y_up": True, "scale": 0.01, "turn": -2.0, "location": (4, 0, 0)},
        {"turn": 1.1, "location": (-3, 1, 0.5)},
    )
    for where in stands:
        for target in (None, *RootTarget):
            obj = create_person(root=True)
            place_armature(obj, **where)
            assert_shows_baked_pose(
                poses,
                scene,
                obj,
                root=target,
                root_bone="Root" if target is RootTarget.BONE else "",
            )
            bpy.data.objects.remove(obj)


def test_rotation_modes_parents_and_deltas_show_the_baked_pose(scene_and_poses) -> None:
    scene, poses = scene_and_poses

    parent = create_parent()
    for number, mode in enumerate(MODES):
        obj = create_person(root=True)
        for place, bone in enumerate(obj.pose.bones):
            bone.rotation_mode = MODES[(number + place) % len(MODES)]
        obj.rotation_mode = mode
        obj.delta_location, obj.delta_rotation_euler = (0.5, -1, 2), (0.1, 0.2, 0.3)
        obj.delta_rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
        obj.parent = parent
        place_armature(obj, location=(1, 0, 0), turn=0.7, scale=0.5)
        assert_shows_baked_pose(poses, scene, obj, root=RootTarget.OBJECT)


def test_single_rotations_stay_continuous_like_whole_curves() -> None:
    rng = np.random.default_rng(0)
    for mode in MODES:
        is_euler = mode not in ("QUATERNION", "AXIS_ANGLE")
        before = rng.uniform(-9.0, 9.0, (3 if is_euler else 4, 400))
        rotations = rng.standard_normal((4, 400))
        if is_euler:  # half of them at or near gimbal lock
            angles = rng.uniform(-9.0, 9.0, (3, 200))
            angles["XYZ".index(mode[1])] = np.pi * (rng.integers(-2, 2, 200) + 0.5) + rng.choice(
                [0.0, 1e-7, 1e-3], 200
            )
            rotations[:, :200] = from_mode(angles, mode).T
        many = to_mode_near(rotations, mode, before)
        one_by_one = [to_mode_near(rotations[:, [k]], mode, before[:, [k]]) for k in range(400)]
        np.testing.assert_allclose(
            np.concatenate(one_by_one, axis=1), many, rtol=0, atol=1e-9, err_msg=mode
        )


def test_dependents_of_an_armature_follow_the_shown_pose(scene_and_poses) -> None:
    scene, poses = scene_and_poses

    # inverse kinematics, a driver, a deformed mesh and a bone's child follow the pose as in a full
    # evaluation
    obj = create_person(root=True)
    with EditBones(obj) as bones:
        for name, above in (("Upper", "Chest"), ("Lower", "Upper")):
            bone = bones.new(name)
            bone.parent, bone.head = bones[above], bones[above].tail
            bone.tail = bone.head + bones["Chest"].vector
    constraint = obj.pose.bones["Lower"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = obj, "LeftHand", 2
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(0.0, 0.0, 0.1 * k) for k in range(len(names))], [], [])
    skin, child, driven = (
        bpy.data.objects.new(*of) for of in (("Skin", mesh), ("Child", None), ("Driven", None))
    )
    for other in (skin, child, driven):
        scene.collection.objects.link(other)
    for k, name in enumerate(names):
        skin.vertex_groups.new(name=name).add([k], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = obj
    child.parent, child.parent_type, child.parent_bone = obj, "BONE", "Spine"
    driver = driven.driver_add("location", 0).driver
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = obj, 'pose.bones["Spine"].rotation_quaternion[1]'
    bpy.context.view_layer.update()

    def read_dependents():
        found = [
            other.evaluated_get(bpy.context.evaluated_depsgraph_get())
            for other in (skin, child, driven)
        ]
        bones = get_bone_matrices(obj, [*names, "Upper", "Lower"]).ravel()
        points = [v.co[c] for v in found[0].data.vertices for c in range(3)]
        return np.array(
            [*bones, *points, *np.array(found[1].matrix_world).ravel(), found[2].location[0]]
        )

    for target in (RootTarget.OBJECT, RootTarget.HIPS):
        writer = PoseWriter(obj, take.skeleton, hips="Hips", root=target)
        writer.take_over()
        last = read_dependents()
        for frame in (0, 17, 40):
            writer.show(poses[frame])
            ours = read_dependents()
            assert np.abs(ours - last).max() > 1e-3
            obj.update_tag()
            obj.data.update_tag()
            bpy.context.view_layer.update()
            last = read_dependents()
            np.testing.assert_allclose(ours, last, rtol=0, atol=1e-6)
        writer.restore()


def test_bones_outside_the_motion_show_the_baked_pose(scene_and_poses) -> None:
    scene, poses = scene_and_poses

    # bones between and around those of the motion, posed by the user; a separate bone; a simulation
    # bone
    obj = create_person(root=True)
    with EditBones(obj) as bones:
        helper = bones.new("Helper")
        helper.head, helper.tail = (0.1, 0.0, 1.2), (0.3, 0.1, 1.3)
        helper.parent, bones["Chest"].parent = bones["Spine"], helper
        bones["LeftHand"].parent = bones["Chest"]
    obj.pose.bones["Root"].location = (0.5, 0.2, 1.0)
    obj.pose.bones["Helper"].rotation_quaternion = (0.8, 0.1, 0.5, 0.2)
    place_armature(obj, location=(1, 1, 0))
    for target in RootTarget:
        assert_shows_baked_pose(
            poses, scene, obj, root=target, root_bone="Root" if target is RootTarget.BONE else ""
        )
        obj.animation_data_clear()

    for target in (None, *RootTarget):
        obj = create_armature(take.skeleton, "All")
        assert_shows_baked_pose(poses, scene, obj, root=target)


def test_locked_channels_keep_their_values(scene_and_poses) -> None:
    scene, poses = scene_and_poses

    obj = create_person()
    locked = obj.pose.bones["LeftHand"]
    locked.rotation_mode = "XYZ"
    locked.rotation_euler = (0.1, 0.2, 0.3)
    locked.lock_rotation = (False, True, False)
    obj.pose.bones["Hips"].lock_location[2] = True
    obj.pose.bones["Hips"].location[2] = 0.25
    assert_shows_baked_pose(poses, scene, obj)
    assert abs(locked.rotation_euler[1] - 0.2) < 1e-6


def test_pose_and_action_are_restored_exactly(scene_and_poses) -> None:
    _, poses = scene_and_poses

    for kind in ("no action", "action", "unkeyed change", "nla", "pose mode", "at rest"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        scene = bpy.context.scene
        obj = create_person(root=True)
        obj.pose.bones["Head"].rotation_mode = "AXIS_ANGLE"
        obj.pose.bones["Head"].scale = (1.0, 1.5, 1.0)
        obj.pose.bones["Spine"].rotation_quaternion = (0.9, 0.3, 0.1, 0.2)
        obj.location = (1.0, 2.0, 0.0)
        if kind in ("action", "unkeyed change", "nla", "pose mode"):
            bake(take, obj, name="Mine", track="Track" if kind == "nla" else None)
            scene.frame_set(13)
        if kind == "unkeyed change":
            obj.pose.bones["Spine"].rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
            obj.location = (9.0, 8.0, 7.0)
        if kind == "at rest":
            obj.data.pose_position = "REST"
        bpy.context.view_layer.objects.active = obj
        if kind == "pose mode":
            bpy.ops.object.mode_set(mode="POSE")
        obj.update_tag()
        bpy.context.view_layer.update()
        before = read_state(obj)
        writer = PoseWriter(obj, take.skeleton, hips="Hips", root=RootTarget.OBJECT)
        assert_same(before, read_state(obj))
        writer.take_over()
        for pose in poses[:10]:
            writer.show(pose)
        assert read_state(obj)["pose"] != before["pose"]
        if kind == "action":
            bpy.data.actions["Mine"].name = "Renamed"  # still found
            obj.name = "Somebody"
            bpy.data.actions["Renamed"].name = "Mine"
        writer.restore()
        obj.name = "Person"
        assert_same(before, read_state(obj))
        writer.restore()
        assert_same(before, read_state(obj))
        bpy.ops.object.mode_set(mode="OBJECT")


def test_only_the_bone_collection_is_driven(scene_and_poses) -> None:
    scene, poses = scene_and_poses

    obj = create_person(root=True)
    mine = bake(take, obj, name="Mine", hips="Hips", root=RootTarget.HIPS)
    upper = obj.data.collections.new("Upper")
    for name in ("Chest", "Head", "LeftHand", "LeftUpperArm"):
        if name in obj.data.bones:
            upper.assign(obj.data.bones[name])
    chosen = {bone.name for bone in upper.bones}
    scene.frame_set(5)
    before = {bone.name: np.array(bone.matrix_basis) for bone in obj.pose.bones}
    writer = PoseWriter(obj, take.skeleton, hips="Hips", collection="Upper")
    writer.take_over()
    writer.show(poses[50])
    assert obj.animation_data.action == mine
    moved = {
        b.name
        for b in obj.pose.bones
        if not np.array_equal(np.array(b.matrix_basis), before[b.name])
    }
    assert "Chest" in moved, moved
    assert moved <= chosen, moved
    twin = create_person("Twin", root=True)
    whole = PoseWriter(twin, take.skeleton, hips="Hips", root=RootTarget.HIPS)
    whole.show(poses[50])
    for name in chosen:
        np.testing.assert_allclose(
            obj.pose.bones[name].matrix_basis, twin.pose.bones[name].matrix_basis, atol=1e-6
        )
    scene.frame_set(6)  # other bones continue to play; driven ones are shown again
    writer.show_again()
    for name in chosen:
        np.testing.assert_allclose(
            obj.pose.bones[name].matrix_basis, twin.pose.bones[name].matrix_basis, atol=1e-6
        )
    assert not np.array_equal(np.array(obj.pose.bones["Hips"].matrix_basis), before["Hips"])
    writer.restore()

    with pytest.raises(RigError) as caught:
        PoseWriter(obj, take.skeleton, hips="Hips", collection="Lower")
    assert "no bone collection 'Lower'" in str(caught.value)


def test_a_deleted_or_edited_armature_is_refused(scene_and_poses) -> None:
    _, poses = scene_and_poses

    def check_refused(word, change):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj = create_person(root=True)
        writer = PoseWriter(obj, take.skeleton, hips="Hips")
        writer.take_over()
        writer.show(poses[3])
        change(obj)
        with pytest.raises(RigError) as caught:
            writer.show(poses[4])
        assert word in str(caught.value), caught.value
        writer.restore()

    def edit_bones(obj):
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="EDIT")

    def replace_bones(obj):
        with EditBones(obj) as bones:
            bones.new("New").tail = (0, 0, 1)

    def replace_object(obj):
        bpy.data.objects.remove(obj)
        assert create_person(root=True).name == "Person"

    check_refused("no longer in the file", lambda obj: bpy.data.objects.remove(obj))
    check_refused("no longer in the file", replace_object)
    check_refused("no longer in the file", lambda obj: bpy.ops.wm.read_homefile(use_empty=True))
    check_refused("edit mode", edit_bones)
    check_refused("other bones", replace_bones)

    obj = create_person(root=True)
    with EditBones(obj) as bones:
        bones["Root"].tail = bones["Hips"].head
        bones["Hips"].use_connect = True
    writer = PoseWriter(obj, take.skeleton, hips="Hips", root=RootTarget.HIPS)
    with pytest.raises(RigError) as caught:
        writer.show(poses[0])
    assert "'Hips' of armature" in str(caught.value)

"""A skeleton read from an armature rests where the armature does in the world, whatever its object
and bone axes.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.body.rig import find_roles
from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.scene.rig.armature import create_armature, read_skeleton
from tests.scene.rigs import create_awkward_armature, create_mixamo_armature, create_rigify_armature


def assert_rests(obj, skeleton):
    # heads, directions, rolls and tails in Blender's rest pose
    obj.data.pose_position = "REST"
    bpy.context.view_layer.update()
    rotations, heads = skeleton.compute_rest_world()
    for bone, name in enumerate(skeleton.names):
        shown = obj.matrix_world @ obj.pose.bones[name].matrix
        np.testing.assert_allclose(heads[bone], shown.translation, atol=1e-5)
        np.testing.assert_allclose(
            quat.to_matrix(rotations[bone]), shown.to_3x3().normalized(), atol=1e-5
        )
    for bone, end in skeleton.end_sites:
        tail = obj.matrix_world @ obj.pose.bones[skeleton.names[bone]].tail
        np.testing.assert_allclose(
            heads[bone] + quat.mul_vec(rotations[bone], np.array(end)), tail, atol=1e-5
        )
    obj.data.pose_position = "POSE"


def check_refused(obj, *words, **options):
    with pytest.raises(RigError) as caught:
        read_skeleton(obj, **options)
    assert all(word in str(caught.value) for word in words), caught.value


def test_bones_of_any_roll_rest_in_the_world_as_blender_shows_them() -> None:
    rng = np.random.default_rng(3)

    for _ in range(4):
        obj = create_awkward_armature(rng)
        skeleton = read_skeleton(obj)
        assert list(skeleton.names) == [bone.name for bone in obj.data.bones]
        assert len(skeleton.end_sites) == sum(not bone.children for bone in obj.data.bones)
        assert_rests(obj, skeleton)
        obj.rotation_euler, obj.scale = (0.6, 0.8, 0), (0.01, 0.01, 0.01)
        scaled = read_skeleton(obj)
        assert np.allclose(
            np.linalg.norm(scaled.rest_positions, axis=1),
            0.01 * np.linalg.norm(skeleton.rest_positions, axis=1),
            atol=1e-6,
        )
        # location and heading are motion: only the turn about Z changes
        obj.location, obj.rotation_mode = (4, 5, 6), "QUATERNION"
        obj.rotation_quaternion = (
            Matrix.Rotation(2.0, 3, "Z").to_quaternion() @ obj.rotation_euler.to_quaternion()
        )
        again = read_skeleton(obj)
        np.testing.assert_allclose(
            again.compute_rest_world()[1], scaled.compute_rest_world()[1], atol=1e-6
        )
        np.testing.assert_allclose(again.rest_rotations, scaled.rest_rotations, atol=1e-5)
        # applied and unapplied scale give the same
        obj.location, obj.rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
        before = read_skeleton(obj)
        assert_rests(obj, before)
        obj.data.transform(obj.matrix_basis)
        obj.scale = (1, 1, 1)
        np.testing.assert_allclose(
            read_skeleton(obj).compute_rest_world()[1], before.compute_rest_world()[1], atol=1e-5
        )


def test_import_rotation_and_scale_are_undone_on_hidden_objects_too() -> None:
    scene = bpy.context.scene

    obj = create_mixamo_armature()
    assert max(bone.head_local.length for bone in obj.data.bones) > 100  # centimetres
    skeleton = read_skeleton(obj)
    assert_rests(obj, skeleton)
    assert 1.5 < np.ptp(skeleton.compute_rest_world()[1][:, 2]) < 1.8  # upright, in metres
    for hide in (
        "viewport",
        "collection",
        "scene",
    ):  # Blender does not update matrices of hidden objects
        hidden = obj.copy()
        hidden.scale = (0.02, 0.02, 0.02)
        if hide != "scene":
            collection = bpy.data.collections.new(hide)
            scene.collection.children.link(collection)
            collection.objects.link(hidden)
            hidden.hide_viewport = hide == "viewport"
            bpy.context.view_layer.layer_collection.children[hide].exclude = hide == "collection"
        np.testing.assert_allclose(
            read_skeleton(hidden).rest_positions, 2 * skeleton.rest_positions, atol=1e-5
        )
    assert len(bpy.data.scenes) == 1


def test_the_deform_bones_of_a_control_rig_are_one_skeleton() -> None:
    person = build_humanoid_skeleton()
    rig = create_rigify_armature()
    skeleton = read_skeleton(rig)
    assert set(skeleton.names) == {f"DEF-{name}" for name in person.names}
    assert list(skeleton.parents).count(-1) == 1
    assert skeleton.names[0] == "DEF-Hips"
    assert_rests(rig, skeleton)
    roles = find_roles(skeleton).to_names(skeleton)
    assert roles["hips"] == "DEF-Hips", roles
    assert roles["left_toe"] == "DEF-LeftToe", roles
    assert len(read_skeleton(rig, "all").names) == 3 * len(person.names) + 1
    assert_rests(rig, read_skeleton(rig, "all"))

    # bones that join separate deform bones are kept
    obj = create_armature(person, "Parts")
    for name in ("Hips", "Spine", "LeftArm"):
        obj.data.bones[name].use_deform = False
    assert set(read_skeleton(obj).names) == set(person.names)  # no constraints, no control rig
    parts = read_skeleton(obj, "deform")
    assert set(parts.names) == set(person.names) - {"Spine", "LeftArm"}
    above = {
        name: parts.names[parts.parents[i]]
        for i, name in enumerate(parts.names)
        if parts.parents[i] >= 0
    }
    assert above["Chest"] == "Hips"
    assert above["LeftForeArm"] == "LeftShoulder"
    assert "Hips" not in above
    assert_rests(obj, parts)


def test_armatures_without_a_skeleton_are_refused() -> None:
    rng = np.random.default_rng(3)
    scene = bpy.context.scene

    obj = create_awkward_armature(rng)
    obj.scale = (1, 1, 1.1)
    check_refused(obj, "Awkward", "apply the scale")
    obj.scale = (-1, 1, 1)
    check_refused(obj, "mirrored")
    obj.scale = (0, 0, 0)
    check_refused(obj, "Awkward", "apply the scale")
    obj.scale = (1, 1, 1)
    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    parent.scale = (1, 2, 1)
    obj.parent = parent
    obj.rotation_euler = (0.5, 0.5, 0.5)
    check_refused(obj, "sheared", "parents")
    parent.scale = (3, 3, 3)
    read_skeleton(obj)
    check_refused(parent, "Parent", "not an armature")
    empty = bpy.data.objects.new("Empty", bpy.data.armatures.new("Empty"))
    scene.collection.objects.link(empty)
    check_refused(empty, "no bones")
    for bone in obj.data.bones:
        bone.use_deform = False
    check_refused(obj, "no deform bones", bones="deform")

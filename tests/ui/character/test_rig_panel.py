"""The rig in the panel: detected roles, problems, and fixes that keep all motion in place."""

from __future__ import annotations

import json
import math
import pathlib
from functools import partial

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from motion_matching.app.character import rig_status
from motion_matching.app.character.characters import get_roles
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.app.settings import set_roles
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.reading import hand_path
from tests.ui.characters import create_character, expect_refusal


def get_labels(obj):
    bpy.context.view_layer.update()
    return [problem.label for problem in rig_status.refresh(obj).problems]


def get_fixes(obj):
    return [problem.fix for problem in rig_status.refresh(obj).problems]


def read_positions(obj):
    """Return the world positions of all bone heads and of the child meshes' vertices, as Blender
    shows them.
    """
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    posed = obj.evaluated_get(graph)
    return [tuple(posed.matrix_world @ bone.head) for bone in posed.pose.bones] + [
        tuple(child.matrix_world @ v.co)
        for child in obj.children
        if child.type == "MESH"
        for v in child.evaluated_get(graph).data.vertices
    ]


def read_all_positions(obj, frames=(1, 40, 200)):
    """Return these positions now and at frames of every action."""
    places = read_positions(obj)  # first, as assigning an action poses the bones
    for action in actions.find_actions(obj):
        actions.assign(obj, action)
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            places += read_positions(obj)
    bpy.context.scene.frame_set(1)
    obj.animation_data.action = None
    for bone in obj.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.update()
    return np.array(places)


@pytest.fixture
def obj():
    return create_character()


def test_roles_are_detected_assigned_and_saved_as_presets(obj):
    ops = bpy.ops.motion_matching
    settings = obj.motion_matching

    assert get_labels(obj) == []
    roles = rig_status.refresh(obj).roles
    assert (roles["hips"], roles["spine"], roles["left_thigh"]) == (
        "Hips",
        "UpperChest",
        "LeftUpLeg",
    )

    # without known names the shape decides; missing roles are reported
    for bone in obj.data.bones:
        bone.name = "b" + bone.name[::-1]
    assert get_labels(obj) == []
    assert rig_status.refresh(obj).roles["left_thigh"] == "bgeLpUtfeL"
    settings.roles.left_shin = "bsgniH"
    expect_refusal(ops.fix_rig, "no such problem", fix="scale")
    problem = rig_status.refresh(obj).problems[0]
    assert problem.label == "Roles Missing"
    assert problem.serious
    assert "'bsgniH'" in problem.sentence
    settings.roles.left_shin = "btooFtfeL"
    problem = rig_status.refresh(obj).problems[0]
    assert problem.label == "Roles Missing", problem
    assert problem.fix == "roles", problem
    assert ops.fix_rig(fix="roles") == {"FINISHED"}
    assert not settings.roles.left_shin
    assert get_labels(obj) == []
    for bone in obj.data.bones:
        bone.name = bone.name[:0:-1]

    # the panel notices changed names, parents and deform flags
    def check_noticed(change):
        rig_status.refresh(obj)
        before = rig_status.get_rig_state(obj)
        change()
        bpy.context.view_layer.update()
        rig_status._refresh_pending()
        assert rig_status.get_rig_state(obj) is not before, change
        return rig_status.get_rig_state(obj)

    thigh = obj.data.bones["LeftUpLeg"]
    for name in ("Thigh", "LeftUpLeg"):
        assert check_noticed(partial(setattr, thigh, "name", name)).roles["left_thigh"] == name

    def set_parent(name):
        bpy.ops.object.mode_set(mode="EDIT")
        obj.data.edit_bones["LeftShoulder"].parent = obj.data.edit_bones.get(name)
        bpy.ops.object.mode_set(mode="OBJECT")

    above = obj.data.bones["LeftShoulder"].parent.name
    assert [problem.label for problem in check_noticed(lambda: set_parent("")).problems] == [
        "Two Roots"
    ]
    assert not check_noticed(lambda: set_parent(above)).problems
    settings.bones = "DEFORM"

    def set_deform(names):
        for bone in obj.data.bones:
            bone.use_deform = bone.name in names

    names = {bone.name for bone in obj.data.bones}
    assert [problem.label for problem in check_noticed(lambda: set_deform(())).problems] == [
        "No Bones"
    ]
    assert not check_noticed(lambda: set_deform(names)).problems
    settings.bones = "AUTO"

    # presets of the same convention fit any namespace; others are refused and change nothing
    settings.roles.hips = "Spine"
    expect_refusal(ops.apply_preset, "DEF-spine", "rigify", kind="rigs", filepath="rigify")
    assert settings.roles.hips == "Spine"
    file = pathlib.Path(bpy.app.tempdir) / "mine.json"
    bones = {"hips": "some:Hips", "spine": "Chest", "left_thigh": "LeftUpLeg", "left_toe": "None"}
    file.write_text(json.dumps({"roles": bones}))
    ops.apply_preset(kind="rigs", filepath=str(file))
    given = get_roles(settings)
    assert given == {"hips": "Hips", "spine": "Chest", "left_thigh": "LeftUpLeg"}
    assert settings.roles.preset == "mine"
    assert rig_status.refresh(obj).roles["spine"] == "Chest"
    assert get_labels(obj) == []
    # namespaces as other file formats write them
    for before in ("some_", "some", "other:", "scene|some|", "some.", "other9:"):
        for bone in obj.data.bones:
            bone.name = before + bone.name
        ops.apply_preset(kind="rigs", filepath=str(file))
        assert get_roles(settings) == {role: before + bone for role, bone in given.items()}, before
        for bone in obj.data.bones:
            bone.name = bone.name.removeprefix(before)
    file.write_text(json.dumps({"roles": {"tail": "Hips"}}))
    expect_refusal(ops.apply_preset, "tail", kind="rigs", filepath=str(file))
    set_roles(settings.roles, {})
    assert ops.save_preset(kind="rigs", name="My Rig") == {"FINISHED"}
    ops.apply_preset(
        kind="rigs",
        filepath=str(next(pathlib.Path(bpy.utils.user_resource("SCRIPTS")).rglob("my_rig.json"))),
    )
    assert get_roles(settings) == roles
    assert ops.remove_preset(kind="rigs", name="my_rig") == {"FINISHED"}


@pytest.mark.slow
def test_applying_scale_scales_the_keys_of_all_actions(obj):
    ops = bpy.ops.motion_matching
    settings = obj.motion_matching

    bpy.context.preferences.edit.use_global_undo = True
    # as exported in centimetres: bones and keys a hundred times as large, the object scaled by 0.01
    obj.data.transform(Matrix.Scale(100.0, 4))
    for action in actions.find_actions(obj):
        for curve in actions.get_channelbag(action).fcurves:
            if curve.data_path.endswith("].location"):
                for point in curve.keyframe_points:
                    point.co.y *= 100.0
                    point.handle_left.y *= 100.0
                    point.handle_right.y *= 100.0
    obj.scale = (0.01, 0.01, 0.01)
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(10.0, 20.0, 90.0), (0.0, 0.0, 120.0)], [(0, 1)], [])
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.collection.objects.link(skin)
    skin.parent = obj
    skin.modifiers.new("Armature", "ARMATURE").object = obj
    skin.vertex_groups.new(name="LeftUpLeg").add([0], 1.0, "ADD")
    skin.vertex_groups.new(name="Head").add([1], 1.0, "ADD")
    hat = bpy.data.objects.new("Hat", None)
    bpy.context.collection.objects.link(hat)
    hat.parent, hat.parent_type, hat.parent_bone = obj, "BONE", "Head"
    obj.location = (1.0, 2.0, 0.0)
    assert get_labels(obj) == ["Scale Not Applied"]
    assert get_fixes(obj) == ["scale"]
    assert not rig_status.refresh(obj).problems[0].serious
    before, hat_before = read_all_positions(obj), np.array(hat.matrix_world)
    assert np.ptp(before[:, 2]) < 4.0, "a person of two metres"
    ops.add_actions(mirror=False)
    ops.build()
    built = get_library().load(compute_key(obj))
    settings.source_index, source = 0, settings.sources[0]
    ops.edit_path(fewer_keys=0.0)
    obj.location.x += 3.0
    bpy.context.view_layer.update()
    by_hand = hand_path.read_path(source.path, obj, 1, 50).positions
    before, hat_before = read_all_positions(obj), np.array(hat.matrix_world)
    bpy.ops.ed.undo_push(message="before")
    assert ops.fix_rig(fix="scale") == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    assert tuple(obj.scale) == (1.0, 1.0, 1.0)
    assert get_labels(obj) == []
    assert np.abs(hand_path.read_path(source.path, obj, 1, 50).positions - by_hand).max() < 1e-4
    assert abs(obj.data.bones["Hips"].head_local.z - 0.965) < 0.02
    assert np.abs(read_all_positions(obj) - before).max() < 1e-4, np.abs(
        read_all_positions(obj) - before
    ).max()
    assert np.abs(np.array(hat.matrix_world) - hat_before).max() < 1e-4
    ops.build()
    assert np.abs(get_library().load(compute_key(obj)).features - built.features).max() < 1e-3
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    settings = obj.motion_matching
    assert abs(obj.scale.x - 0.01) < 1e-6
    assert get_labels(obj) == ["Scale Not Applied"]
    assert np.abs(read_all_positions(obj) - before).max() < 1e-5

    # if the fix is not safe, there is no button, and the panel says why
    obj.scale = (0.01, 0.02, 0.01)
    (problem,) = (bpy.context.view_layer.update(), rig_status.refresh(obj))[1].problems
    assert problem.label == "Uneven Scale"
    assert problem.serious
    assert not problem.fix
    assert "no button" in problem.sentence
    obj.scale = (0.01, 0.01, 0.01)
    held = obj.pose.bones["Head"].constraints.new("LIMIT_DISTANCE")
    assert get_labels(obj) == ["Scale Not Applied"]
    assert get_fixes(obj) == [""]
    assert "Limit Distance" in rig_status.refresh(obj).problems[0].sentence
    expect_refusal(ops.fix_rig, "no such problem", fix="scale")
    obj.pose.bones["Head"].constraints.remove(held)
    twin = bpy.data.objects.new("Twin", obj.data.copy())
    assert get_fixes(obj) == [""]
    assert "may be one of 'Twin'" in rig_status.refresh(obj).problems[0].sentence
    twin.data = obj.data
    assert get_fixes(obj) == [""]
    assert "share its bones" in rig_status.refresh(obj).problems[0].sentence
    bpy.data.objects.remove(twin)
    obj.animation_data_create()
    actions.assign(obj, actions.find_actions(obj)[0])
    obj.keyframe_insert("scale", frame=1)
    obj.animation_data.action = None
    assert get_fixes(obj) == [""]
    assert "keys the object's scale" in rig_status.refresh(obj).problems[0].sentence
    # an uneven scale can be applied if there is no motion
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    obj.scale = (0.01, 0.01, 0.02)
    assert get_labels(obj) == ["Uneven Scale"]
    assert get_fixes(obj) == ["scale"]
    assert ops.fix_rig(fix="scale") == {"FINISHED"}
    assert get_labels(obj) == []


def test_armatures_that_are_no_characters_are_reported():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)

    def create_rig(*bones):
        data = bpy.data.armatures.new("Odd")
        obj = bpy.data.objects.new("Odd", data)
        bpy.context.collection.objects.link(obj)
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="EDIT")
        for name, parent, head, tail in bones:
            bone = data.edit_bones.new(name)
            bone.head, bone.tail, bone.parent = head, tail, data.edit_bones.get(parent)
        bpy.ops.object.mode_set(mode="OBJECT")
        return obj

    # every one is reported without an error
    for obj in (
        create_rig(),
        create_rig(("Bone", "", (0, 0, 0), (0, 0, 1))),
        create_rig(("A", "", (0, 0, 0), (0, 0, 1)), ("B", "A", (0, 0, 1), (0, 1, 1))),
        create_rig(
            ("A", "", (0, 0, 1), (0, 0, 2)),
            ("L", "A", (1, 0, 1), (1, 0, 0)),
            ("R", "A", (-1, 0, 1), (-1, 0, 0)),
        ),
        create_rig(("Hips", "", (0, 0, 1), (0, 0, 2)), ("Thigh.L", "Hips", (1, 0, 1), (1, 0, 0))),
    ):
        problem = rig_status.refresh(obj).problems[0]
        assert problem.serious, problem
        assert problem.label in ("No Bones", "Roles Missing"), problem
        print(problem)


def test_wrong_fronts_and_roots_are_reported_and_fixed(obj):
    # at rest the character faces +X of its object; its actions play as before
    for tilt in (0.0, math.pi / 2):
        ops, obj = bpy.ops.motion_matching, create_character()
        settings = obj.motion_matching
        moves = [a for a in actions.find_actions(obj) if actions.moves_object(a, obj)]
        assert not moves
        stand = Matrix.Rotation(tilt, 4, "X")
        obj.data.transform(stand.inverted() @ Matrix.Rotation(math.pi / 2, 4, "Z"))
        obj.matrix_basis = (
            Matrix.Translation((1.0, 0.0, 0.0)) @ Matrix.Rotation(-math.pi / 2, 4, "Z") @ stand
        )
        prop = bpy.data.objects.new("Prop", bpy.data.meshes.new("Prop"))
        prop.data.from_pydata([(1.0, 2.0, 3.0)], [], [])
        bpy.context.collection.objects.link(prop)
        prop.parent = obj
        assert get_labels(obj) == ["Other Front"], get_labels(obj)
        assert "faces +X" in rig_status.refresh(obj).problems[0].sentence, get_labels(obj)
        before = read_all_positions(obj)
        assert ops.fix_rig(fix="front") == {"FINISHED"}
        assert get_labels(obj) == []
        assert np.abs(read_all_positions(obj) - before).max() < 1e-4, np.abs(
            read_all_positions(obj) - before
        ).max()

    # it lies: reported without a button
    obj.rotation_euler = (0.0, 0.0, 0.0)
    obj.rotation_mode = "XYZ"
    assert get_labels(obj) == ["Lies at Rest"], get_labels(obj)
    assert "rotate the object until it stands" in rig_status.refresh(obj).problems[0].sentence
    assert get_fixes(obj) == [""], get_labels(obj)

    # in edit mode nothing is checked, as every redraw would check again
    bpy.ops.object.mode_set(mode="EDIT")
    obj.data.edit_bones[0].roll += 1.0
    known = rig_status.get_rig_state(obj)
    rig_status._refresh_pending()
    assert rig_status.get_rig_state(obj) is known
    bpy.ops.object.mode_set(mode="OBJECT")
    rig_status._refresh_pending()
    assert rig_status.get_rig_state(obj) is not known
    # nor without changes
    known = rig_status.get_rig_state(obj)
    rig_status._refresh_pending()
    assert rig_status.get_rig_state(obj) is known

    # two roots, of which only one deforms
    ops, obj = bpy.ops.motion_matching, create_character()
    settings = obj.motion_matching
    bpy.ops.object.mode_set(mode="EDIT")
    bone = obj.data.edit_bones.new("Target")
    bone.head, bone.tail = (1, 0, 0), (1, 0, 1)
    bone.use_deform = False
    bpy.ops.object.mode_set(mode="OBJECT")
    assert get_labels(obj) == ["Two Roots"]
    assert get_fixes(obj) == ["deform"]
    assert ops.fix_rig(fix="deform") == {"FINISHED"}
    assert settings.bones == "DEFORM"
    assert get_labels(obj) == []
    obj.data.bones["Target"].use_deform = True
    assert get_labels(obj) == ["Two Roots"]
    assert get_fixes(obj) == [""]

"""Common kinds of rigs are recognised, and fixed so that every action plays as before."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from motion_matching.engine.errors import RigError
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.reading.sampling import sample
from motion_matching.scene.rig import problems
from motion_matching.scene.rig.problems import check_rig
from tests.scene.rigs import (
    assert_alike,
    create_awkward_armature,
    create_mixamo_armature,
    create_rigify_armature,
    get_bone_path,
    get_curves,
    insert_random_keys,
)


def create_animated_rig(rng, obj):
    with actions.create_action("Random", obj) as action:
        insert_random_keys(rng, obj, action, np.arange(1, 41))
    return action


def test_roles_of_imported_and_of_control_rigs_are_found():
    for make, prefix, labels in (
        (create_mixamo_armature, "mixamorig:", ["Scale Not Applied"]),
        (create_rigify_armature, "DEF-", []),
    ):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj = make()
        bpy.context.view_layer.update()
        state = check_rig(obj, None, {})
        assert [problem.label for problem in state.problems] == labels
        assert not any(p.serious for p in state.problems)
        assert state.roles["spine"] == f"{prefix}UpperChest"
        assert state.roles["right_shin"] == f"{prefix}RightLeg"

    # among all bones of a control rig, those of its controls form one body
    assert check_rig(obj, "all", {}).problems == ()
    assert check_rig(obj, "all", {}).roles["right_shin"] == "RightLeg"


def test_fixing_a_rig_keeps_the_motion_of_every_action():
    rng = np.random.default_rng(3)

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obj = create_mixamo_armature()
    obj.location = (1.0, -2.0, 0.3)
    action = create_animated_rig(rng, obj)
    # channels that a uniform scale cannot scale are reported
    why = problems.find_scale_obstacle(obj)
    assert "modifiers" in why, why
    with pytest.raises(RigError) as caught:  # already applied
        problems.apply_scale(obj)
    assert obj.name in str(caught.value)
    assert "modifiers" in str(caught.value)
    for curve in get_curves(action):
        for modifier in list(curve.modifiers):
            curve.modifiers.remove(modifier)
    bpy.context.view_layer.update()
    assert problems.find_scale_obstacle(obj) == ""
    [before] = sample(obj, [action])
    muted = [
        curve
        for curve in get_curves(action)
        if curve.mute and curve.data_path.endswith(".location")
    ]
    for curve in muted:
        curve.mute = False
    [unmuted] = sample(obj, [action])
    for curve in muted:
        curve.mute = True
    problems.apply_scale(obj)
    bpy.context.view_layer.update()
    assert tuple(obj.scale) == (1.0, 1.0, 1.0)
    [after] = sample(obj, [action])
    assert_alike(before.clip, after.clip)
    for curve in muted:
        curve.mute = False
    assert_alike(unmuted.clip, sample(obj, [action])[0].clip)
    # evaluation and curves agree
    assert_alike(sample(obj, [action], evaluate=True)[0].clip, sample(obj, [action])[0].clip)
    assert check_rig(obj, None, {}).problems == ()

    # an armature that its object stands upright stays so when its front is turned
    obj.matrix_basis = obj.matrix_basis @ Matrix.Rotation(radians(90), 4, "Y")
    bpy.context.view_layer.update()
    [turned] = sample(obj, [action])
    problems.turn_front(obj, 3)
    bpy.context.view_layer.update()
    assert_alike(turned.clip, sample(obj, [action])[0].clip)


def test_other_influences_on_a_rig_are_reported():
    rng = np.random.default_rng(3)

    def create_rig():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj = create_mixamo_armature()
        bpy.context.view_layer.update()
        assert not problems.find_scale_obstacle(obj)
        assert not problems.find_turn_obstacle(obj)
        return obj

    def add_empty(name):
        other = bpy.data.objects.new(name, None)
        bpy.context.collection.objects.link(other)
        return other

    # an action that moves only the object, assigned or on the NLA
    obj = create_rig()
    for channel, obstacle in (
        ("scale", problems.find_scale_obstacle),
        ("rotation_euler", problems.find_turn_obstacle),
    ):
        obj.rotation_mode = "XYZ"
        obj.keyframe_insert(channel, frame=1)
        action = obj.animation_data.action
        assert action not in actions.find_actions(obj)
        assert f"'{action.name}' keys the object's" in obstacle(obj)
        strip = obj.animation_data.nla_tracks.new().strips.new("Own", 1, action)
        if hasattr(strip, "action_slot"):
            strip.action_slot = obj.animation_data.action_slot
        obj.animation_data.action = None
        assert f"'{action.name}' keys the object's" in obstacle(obj)
        obj.animation_data_clear()
        assert not obstacle(obj)

    # an object constrained to the armature would change its size
    obj, prop = create_rig(), add_empty("Prop")
    for kind in ("CHILD_OF", "COPY_TRANSFORMS", "COPY_SCALE", "ARMATURE"):
        held = prop.constraints.new(kind)
        (held.targets.new() if kind == "ARMATURE" else held).target = obj
        assert "'Prop' copies its scale" in problems.find_scale_obstacle(obj), kind
        prop.constraints.remove(held)
    other = create_awkward_armature(rng, 2)
    held = other.pose.bones[0].constraints.new("COPY_TRANSFORMS")
    held.target, held.subtarget = obj, obj.pose.bones[0].name
    assert "'Awkward' copies its scale" in problems.find_scale_obstacle(obj)
    bpy.data.objects.remove(other)
    held = prop.constraints.new("COPY_LOCATION")
    held.target, held.subtarget = obj, obj.pose.bones[-1].name
    bpy.context.view_layer.update()
    before = np.array(prop.matrix_world)
    problems.apply_scale(obj)
    bpy.context.view_layer.update()
    assert np.abs(np.array(prop.matrix_world) - before).max() < 1e-5

    # a constraint of the armature itself sets its rotation
    obj = create_rig()
    held = obj.constraints.new("COPY_ROTATION")
    held.target = add_empty("Prop")
    assert "'Copy Rotation' places it" in problems.find_turn_obstacle(obj)
    held.mute = True
    assert not problems.find_turn_obstacle(obj)


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="actions have slots since Blender 4.4")
def test_the_keys_of_every_slot_are_scaled():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obj = create_mixamo_armature()
    name = obj.pose.bones[0].name
    action = bpy.data.actions.new("Two")
    layer = action.layers.new("Layer").strips.new(type="KEYFRAME")
    slots = [action.slots.new("OBJECT", slot) for slot in (obj.name, "Other")]
    for number, slot in enumerate(slots):
        curve = layer.channelbag(slot, ensure=True).fcurves.new(
            get_bone_path(name, "location"), index=0
        )
        curve.keyframe_points.insert(1, 100.0 * (number + 1))
    obj.animation_data_create().action = action

    def get_heads():
        for slot in slots:
            obj.animation_data.action_slot = slot
            bpy.context.scene.frame_set(1)
            yield tuple(obj.matrix_world @ obj.pose.bones[name].head)

    before = np.array(list(get_heads()))
    assert np.abs(before[1] - before[0]).max() > 0.5
    problems.apply_scale(obj)
    assert np.abs(np.array(list(get_heads())) - before).max() < 1e-4

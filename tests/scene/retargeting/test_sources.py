"""Motion of any armature is read around its own origin, and its armature is found."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
import pytest

from motion_matching.engine.errors import RigError, SettingsError
from motion_matching.scene.retargeting import sources
from motion_matching.scene.rig.armature import create_armature, read_skeleton
from tests.scene.retargeting.armatures import add_mixamo, add_walker
from tests.scene.rigs import assert_alike, assert_same, read_state


@pytest.mark.parametrize("place", ["moved", "turned", "under a parent"])
def test_an_action_is_the_same_wherever_its_object_stands(place):
    obj, action = add_walker()
    [plain] = sources.read_actions(obj, [action])
    if place == "moved":
        obj.location = (3.0, -2.0, 1.0)
    elif place == "turned":
        obj.rotation_euler.z = radians(130)
    else:
        obj.parent = bpy.data.objects.new("Above", None)
        bpy.context.scene.collection.objects.link(obj.parent)
        obj.parent.location, obj.parent.rotation_euler.z = (1.0, 5.0, 2.0), radians(-70)
    bpy.context.view_layer.update()
    [moved] = sources.read_actions(obj, [action])
    assert_alike(plain.clip, moved.clip)
    assert moved.first_frame == 1


def test_scale_and_tilt_of_an_object_count_as_seen():
    obj, action = add_walker()
    [plain] = sources.read_actions(obj, [action])
    obj.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    [larger] = sources.read_actions(obj, [action])
    np.testing.assert_allclose(larger.clip.positions, 2.0 * plain.clip.positions, atol=1e-4)


def test_motion_of_the_object_itself_is_part_of_the_motion():
    obj, action = add_walker()
    obj.location = (4.0, 0.0, 0.0)
    obj.keyframe_insert("location", frame=1)
    obj.location = (4.0, -2.0, 0.0)
    obj.keyframe_insert("location", frame=60)
    [with_it] = sources.read_actions(obj, [obj.animation_data.action])
    for curve in ("location",):
        obj.keyframe_delete(curve, frame=1)
        obj.keyframe_delete(curve, frame=60)
    obj.location = (0.0, 0.0, 0.0)
    [without] = sources.read_actions(obj, [action])
    ours, theirs = (motion.clip.compute_world()[1][:, 0] for motion in (with_it, without))
    carried = (ours - theirs)[-1] - (ours - theirs)[0]
    np.testing.assert_allclose(carried, (0.0, -2.0, 0.0), atol=1e-3)


def test_reading_leaves_the_file_as_it_was():
    obj, action = add_walker()
    obj.location = (3.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    before = read_state(obj)
    sources.read_actions(obj, [action])
    assert_same(before, read_state(obj))


def test_a_cycle_stays_one():
    obj, action = add_walker()
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = 5, 20
    [motion] = sources.read_actions(obj, [action])
    assert (motion.is_cyclic, motion.first_frame, motion.clip.frame_count) == (True, 5, 16)


def test_a_mirrored_or_sheared_source_is_named():
    obj, action = add_walker()
    obj.scale = (-1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    with pytest.raises(RigError, match=r"'Walker' is scaled unevenly.*apply the scale"):
        sources.read_actions(obj, [action])


def test_the_armature_of_an_action_is_found():
    obj, action = add_walker()
    hero = add_mixamo()
    assert sources.find_source_armature(action, hero) == obj
    twin = create_armature(read_skeleton(obj), "Twin")
    assert sources.find_source_armature(action, hero) == obj, "it plays the action"
    obj.animation_data.action = None
    with pytest.raises(SettingsError, match=r"fits 2 armatures, 'Twin', 'Walker'; choose"):
        sources.find_source_armature(action, hero)
    twin.data = obj.data
    assert sources.find_source_armature(action, hero) in (obj, twin), "they share their bones"


def test_an_action_without_another_armature_says_what_to_do():
    obj, action = add_walker()
    with pytest.raises(SettingsError, match=r"moves the bones of 'Walker' itself.*assign it"):
        sources.find_source_armature(action, obj)
    bpy.data.objects.remove(obj)
    with pytest.raises(SettingsError, match=r"no armature for the action 'walk'"):
        sources.find_source_armature(action)

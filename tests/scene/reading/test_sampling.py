"""Actions become clips that move as in Blender, by curves or by evaluation, and the file does not
change.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from functools import partial

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.errors import MotionDataError, RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.scene.blender.animation import actions, curve_poses
from motion_matching.scene.reading import sampling
from motion_matching.scene.reading.sampling import sample, sample_steps
from motion_matching.scene.rig.armature import compute_standing_rest, create_armature, read_skeleton
from motion_matching.scene.writing.bake import bake as bake_bake
from tests.demo import generate_clips
from tests.scene.motions import fit_bones, to_basis
from tests.scene.rigs import (
    add_sway,
    as_skeleton,
    assert_alike,
    assert_same,
    create_awkward_armature,
    create_mixamo_armature,
    create_rigify_armature,
    get_bone_path,
    insert_keys,
    insert_random_keys,
    read_state,
)
from tests.steps import run_steps
from tests.ui.characters import create_character


def sample_both_ways(obj, action, because="", **options):
    [fast] = sample(obj, [action], **options)
    [slow] = sample(obj, [action], evaluate=True, **options)
    assert slow.evaluated_because == "that was asked for"
    assert because in fast.evaluated_because, fast.evaluated_because
    assert bool(because) == bool(fast.evaluated_because), fast.evaluated_because
    assert_alike(fast.clip, slow.clip)
    return fast.clip


def read_shown_bones(scene, obj, clip, first):
    # heads and directions of bones in the scene, per frame
    heads, along = [], []
    for frame in range(first, first + clip.frame_count):
        scene.frame_set(frame)
        bones = [obj.pose.bones[name] for name in clip.skeleton.names]
        heads.append([obj.matrix_world @ bone.head for bone in bones])
        along.append(
            [(obj.matrix_world.to_3x3() @ (bone.tail - bone.head)).normalized() for bone in bones]
        )
    return np.array(heads), np.array(along)


def assert_shown(scene, obj, clip, first, tolerance=1e-4):
    heads, along = read_shown_bones(scene, obj, clip, first)
    rotations, positions = clip.compute_world()
    np.testing.assert_allclose(positions, heads, rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        quat.mul_vec(rotations, np.array([0.0, 1.0, 0.0])), along, rtol=0, atol=tolerance
    )


@pytest.fixture
def scene():
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.0
    return scene


def test_curves_and_evaluation_give_the_pose_that_blender_shows(scene):
    rng = np.random.default_rng(5)
    frames = np.arange(-4, 30)
    for round in range(3):
        obj = create_awkward_armature(rng)
        obj.location, obj.rotation_mode, obj.rotation_axis_angle = (
            (1, 2, 3),
            "AXIS_ANGLE",
            (0.7, 1, 2, 3),
        )
        obj.scale = 3 * (0.4,)
        for _above, scale in ((obj, 2.0), (None, 0.3)):  # below two scaled and rotated parents
            parent = bpy.data.objects.new("Parent", None)
            scene.collection.objects.link(parent)
            parent.rotation_euler, parent.scale, parent.location = (
                rng.normal(size=3),
                3 * (scale,),
                rng.normal(size=3),
            )
            child = obj
            while child.parent:
                child = child.parent
            child.parent = parent
            child.matrix_parent_inverse = Matrix.Rotation(0.3, 4, "X")
        with actions.create_action("Any", obj) as action:
            insert_random_keys(rng, obj, action, frames, scales=round == 1)
        clip = sample_both_ways(obj, action)
        assert clip.fps == 30.0
        assert_shown(
            scene,
            obj,
            clip,
            actions.compute_frame_range(
                action, actions.get_active_curves(action, actions.find_slot(action, obj))
            )[0],
        )
        sample_both_ways(obj, action, frames=(-9, 34))  # beyond the keys as well


def test_curves_and_evaluation_agree_on_object_animation(scene) -> None:
    rng = np.random.default_rng(5)

    for mode, channel, count in (
        ("QUATERNION", "rotation_quaternion", 4),
        ("ZXY", "rotation_euler", 3),
        ("AXIS_ANGLE", "rotation_axis_angle", 4),
    ):
        obj = create_awkward_armature(rng)
        obj.rotation_mode = mode
        obj.location.z = 0.7
        frames = np.arange(1, 20)
        with actions.create_action("Whole", obj) as action:
            insert_random_keys(rng, obj, action, frames)
            actions.write_channel(
                action, channel, frames, rng.normal(size=(count, len(frames))), "Object"
            )
            actions.write_channel(
                action, "location", frames, rng.normal(size=(2, len(frames))), "Object"
            )  # not Z
            actions.write_channel(
                action, "scale", frames, np.tile(np.linspace(0.5, 2, len(frames)), (3, 1)), "Object"
            )
        clip = sample_both_ways(obj, action)
        assert_shown(scene, obj, clip, 1)


def test_curves_and_evaluation_agree_beside_nla(scene) -> None:
    rng = np.random.default_rng(5)

    obj = create_awkward_armature(rng)
    with actions.create_action("Below", obj) as below:
        insert_random_keys(rng, obj, below, np.arange(1, 30))
    alone = sample_both_ways(obj, below)
    track = obj.animation_data.nla_tracks.new()
    track.strips.new("Strip", 1, below)
    with actions.create_action("Above", obj) as above:
        insert_random_keys(rng, obj, above, np.arange(1, 30))
    obj.animation_data.action_influence = 0.5
    assert_alike(alone, sample_both_ways(obj, below))  # an action alone gives the same as before
    assert_alike(sample_both_ways(obj, above), sample(obj, [below, above])[1].clip)


def test_actions_that_need_evaluation_are_evaluated_and_say_why(scene) -> None:
    rng = np.random.default_rng(5)

    def check_evaluated(change, because):
        obj = create_awkward_armature(rng, 12, connected=0.0)
        with actions.create_action("Any", obj) as action:
            insert_random_keys(rng, obj, action, np.arange(1, 15), scales="scale" in because)
        target = bpy.data.objects.new("Target", None)
        scene.collection.objects.link(target)
        change(obj, target, obj.pose.bones[5])
        [found] = sample(obj, [action])
        assert because in found.evaluated_because, (because, found.evaluated_because)
        assert_shown(scene, obj, found.clip, 1, 2e-4)

    def add_constraint(obj, target, bone):
        target.animation_data_create()
        target.keyframe_insert("location", frame=1)
        target.location = (3, 2, 1)
        target.keyframe_insert("location", frame=14)
        target.hide_viewport = True
        bone.constraints.new("DAMPED_TRACK").target = target

    def add_driver(obj, target, bone):
        curve = bone.driver_add("location", 0)
        curve.driver.type = "SCRIPTED"
        curve.driver.expression = "frame * 0.1"

    def animate_parent(obj, target, bone):
        target.keyframe_insert("rotation_euler", frame=1)
        target.rotation_euler = (1, 1, 1)
        target.keyframe_insert("rotation_euler", frame=14)
        obj.parent = target

    def parent_to_path(obj, target, bone):
        # it moves along the path of a still object
        curve = bpy.data.curves.new("Path", "CURVE")
        curve.dimensions, curve.use_path = "3D", True
        curve.splines.new("BEZIER").bezier_points.add(1)
        curve.splines[0].bezier_points[1].co = (0, 0, 4)
        for frame, time in ((1, 0.0), (14, 90.0)):
            curve.eval_time = time
            curve.keyframe_insert("eval_time", frame=frame)
        obj.parent = bpy.data.objects.new("Path", curve)
        scene.collection.objects.link(obj.parent)

    def make_setter(name, value):
        def change(obj, target, bone):
            for bone in obj.data.bones:
                setattr(bone, name, value)

        return change

    def set_deltas(obj, target, bone):
        obj.delta_location = (1, 2, 3)
        obj.delta_rotation_euler = (1, 2, 3)

    def key_rotation_mode(obj, target, bone):
        actions.write_channel(
            obj.animation_data.action,
            get_bone_path(bone.name, "rotation_mode"),
            np.array([1, 8]),
            np.array([[1, 3]]),
            "Modes",
        )

    check_evaluated(key_rotation_mode, "rotation modes")
    check_evaluated(add_constraint, "has constraints")
    check_evaluated(add_driver, "has drivers")
    check_evaluated(animate_parent, "is animated")
    check_evaluated(parent_to_path, "a part of 'Path'")
    check_evaluated(make_setter("use_inherit_rotation", False), "inherit rotation")
    check_evaluated(make_setter("use_local_location", False), "local location")
    check_evaluated(make_setter("inherit_scale", "NONE"), "inherit scale")
    check_evaluated(make_setter("inherit_scale", "ALIGNED"), "inherit scale")
    check_evaluated(set_deltas, "delta transforms")
    check_evaluated(
        lambda obj, target, bone: setattr(obj, "parent", target) or obj.constraints.new("CHILD_OF"),
        "constraints",
    )

    # if the object hides, its curves can be read, but Blender does not evaluate it
    obj = create_awkward_armature(rng)
    with actions.create_action("Hides", obj) as action:
        insert_random_keys(rng, obj, action, np.arange(1, 15))
        actions.write_channel(
            action, "hide_viewport", np.array([5, 10]), np.array([[0, 1]]), "Object"
        )
    assert not sample(obj, [action])[0].evaluated_because
    with pytest.raises(RigError) as caught:  # a hidden pose stands still
        sample(obj, [action], evaluate=True)
    assert "hidden in frame 10" in str(caught.value), caught.value

    # if no bone is scaled, the inheritance of scale does not matter
    obj = create_awkward_armature(rng)
    make_setter("inherit_scale", "NONE")(obj, None, None)
    with actions.create_action("Any", obj) as action:
        insert_random_keys(rng, obj, action, np.arange(1, 15))
        actions.write_channel(
            action,
            get_bone_path(obj.data.bones[3].name, "scale"),
            np.arange(5),
            np.ones((3, 5)),
            "Scale",
        )
    sample_both_ways(obj, action)


@pytest.mark.usefixtures("scene")
def test_unkeyed_channels_rest() -> None:
    rng = np.random.default_rng(5)

    # unkeyed channels rest, whatever pose or action came before
    obj = create_awkward_armature(rng)
    with actions.create_action("All", obj) as everything:
        insert_random_keys(rng, obj, everything, np.arange(1, 20))
    with actions.create_action("One", obj) as one:
        insert_keys(
            one, obj.data.bones[2].name, "location", np.arange(1, 5), rng.normal(size=(3, 4))
        )
    for bone in obj.pose.bones:
        bone.location = (1, 2, 3)
        bone.scale = (2, 2, 2)
    for evaluate in (False, True):
        clip = sample(obj, [everything, one], evaluate=evaluate)[1].clip
        skeleton = clip.skeleton
        still = [
            i for i in range(skeleton.bone_count) if skeleton.names[i] != obj.data.bones[2].name
        ]
        assert np.abs(clip.positions - skeleton.rest_positions)[:, still].max() < 1e-5


def test_frame_ranges(scene) -> None:
    rng = np.random.default_rng(5)

    obj = create_awkward_armature(rng)
    with actions.create_action("Range", obj) as action:
        insert_keys(
            action,
            obj.data.bones[0].name,
            "location",
            np.array([2.5, 7.0, 12.25]),
            rng.normal(size=(3, 3)),
        )

    def count_frames(**options):
        return sample(obj, [action], **options)[0].clip.frame_count

    assert count_frames() == 10  # 3 to 12
    assert count_frames(frames=(5, 5)) == 1
    action.use_frame_range = True
    action.frame_start, action.frame_end = 4, 8
    [found] = sample(obj, [action])
    assert found.clip.frame_count == 5
    assert not found.cyclic
    action.use_cyclic = True
    assert sample(obj, [action])[0].cyclic
    scene.render.fps, scene.render.fps_base = 24, 1.001
    assert abs(sample(obj, [action])[0].clip.fps - 24 / 1.001) < 1e-5


@pytest.mark.usefixtures("scene")
def test_the_slot_of_the_armature_is_sampled() -> None:
    rng = np.random.default_rng(5)

    obj, other = create_awkward_armature(rng), create_awkward_armature(rng)
    with actions.create_action("Shared", obj) as action:
        insert_keys(
            action, obj.data.bones[0].name, "location", np.arange(1, 10), rng.normal(size=(3, 9))
        )
    mine = sample_both_ways(obj, action)
    if hasattr(action, "slots"):
        action.slots[0].name_display = other.name  # now named after the other, and assigned to none
        obj.animation_data.action = None
        assert_alike(mine, sample_both_ways(obj, action))
        slot = action.slots.new("OBJECT", obj.name)
        bag = action.layers[0].strips[0].channelbag(slot, ensure=True)
        curve = bag.fcurves.new(get_bone_path(obj.data.bones[0].name, "location"), index=0)
        curve.keyframe_points.insert(1, 5.0)
        curve.keyframe_points.insert(20, 7.0)
        assert sample_both_ways(obj, action).frame_count == 20  # the slot with its name
        obj.animation_data.action = action
        obj.animation_data.action_slot = action.slots[0]
        assert_alike(mine, sample_both_ways(obj, action))  # the assigned slot
        # a never assigned action stays unassigned
        fresh = bpy.data.actions.new("Fresh")
        slot = fresh.slots.new("OBJECT", "Any")
    bpy.data.actions.new("Empty")
    prop = bpy.data.objects.new("Prop", None)
    with actions.create_action("Prop", prop) as moves:
        actions.write_channel(moves, "location", np.arange(3), np.zeros((3, 3)), "Object")
    assert [a.name for a in actions.find_actions(obj)] == ["Shared"], actions.find_actions(obj)
    with pytest.raises(MotionDataError) as caught:  # moves no bone
        sample(obj, [moves])
    assert "'Prop'" in str(caught.value)
    assert obj.name in str(caught.value)


def test_sampling_leaves_the_file_unchanged(scene) -> None:
    clip = next(c for c in generate_clips() if c.name.startswith("walk"))
    clip = clip.crop(0, 40)
    obj = create_armature(clip.skeleton, "Person")
    walk = bake_bake(clip, obj, name="Walk")
    turned = bake_bake(clip, obj, name="Turned")
    stretched = bake_bake(clip, obj, name="Stretched")
    obj.animation_data.action = walk
    actions.write_channel(
        stretched, "scale", np.arange(2, 4), np.array([[1, 1], [1, 1], [1, 2]]), "Object"
    )
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    scene.collection.objects.link(mesh)
    unassigned = bpy.data.actions.new("Unassigned")
    if hasattr(unassigned, "slots"):
        unassigned.slots.new("OBJECT", "Slot")

    def check_unchanged(what, prepare, actions_chosen=(walk, turned)):
        prepare()
        bpy.context.view_layer.update()
        before = read_state(obj)
        for evaluate in (False, True):
            sample(obj, actions_chosen, evaluate=evaluate)
            assert_same(before, read_state(obj))
            bpy.context.view_layer.update()
            assert_same(before, read_state(obj))
        with pytest.raises(RigError) as caught:  # the object is stretched
            sample(obj, [turned, stretched], evaluate=True)
        assert "apply the scale" in str(caught.value)
        assert_same(before, read_state(obj))
        print(what)

    def enter_pose_mode():
        mesh.select_set(True)
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="POSE")
        scene.frame_set(17, subframe=0.25)

    def pose_without_keys():
        bpy.ops.object.mode_set(mode="OBJECT")
        obj.animation_data.action = None
        for bone in obj.pose.bones:
            bone.location, bone.rotation_quaternion = (0.1, 0.2, 0.3), (0.5, 0.5, 0.5, 0.5)

    def hide():
        obj.hide_viewport = True
        mesh.hide_set(True)
        obj.data.pose_position = "REST"

    def remove_animation():
        obj.hide_viewport = False
        obj.data.pose_position = "POSE"
        obj.animation_data_clear()

    def add_strips():
        data = obj.animation_data_create()
        for action, mute in ((walk, False), (turned, True)):
            track = data.nla_tracks.new()
            track.strips.new(action.name, 5, action)
            track.mute = mute
        data.action = walk

    def enter_tweak_mode():
        obj.animation_data.action = None
        track = obj.animation_data.nla_tracks[0]
        obj.animation_data.nla_tracks.active = track
        track.select = True
        track.strips[0].select = True
        obj.animation_data.use_tweak_mode = True
        assert obj.animation_data.use_tweak_mode
        assert obj.animation_data.action == walk

    check_unchanged("pose mode", enter_pose_mode)
    check_unchanged("unkeyed pose", pose_without_keys)
    check_unchanged("hidden", hide)
    check_unchanged("no animation data", remove_animation)
    check_unchanged("nla", add_strips)
    check_unchanged("tweaked", enter_tweak_mode)
    assert obj.animation_data.use_tweak_mode

    obj.animation_data.use_tweak_mode = False
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RigError) as caught:  # in edit mode
        sample(obj, [walk])
    assert "Edit Mode" in str(caught.value)
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.usefixtures("scene")
def test_sampling_makes_no_undo_step() -> None:
    rng = np.random.default_rng(5)

    bpy.context.preferences.edit.use_global_undo = True
    obj = create_awkward_armature(rng)
    with actions.create_action("Any", obj) as action:
        insert_random_keys(rng, obj, action, np.arange(1, 15))
    bpy.ops.ed.undo_push(message="before")
    obj.location = (1, 2, 3)
    bpy.ops.ed.undo_push(message="moved")
    for evaluate in (False, True):
        sample(obj, [action], evaluate=evaluate)
    bpy.ops.ed.undo()  # the last step is before the move, sampling added none
    obj = bpy.data.objects["Awkward"]
    assert tuple(obj.location) == (0, 0, 0)
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Awkward"]
    assert tuple(obj.location) == (1, 2, 3)
    assert obj.animation_data.action.name == "Any"
    assert len(bpy.data.scenes) == 1
    sample_both_ways(obj, bpy.data.actions["Any"])


@pytest.mark.usefixtures("scene")
def test_round_trips_of_mocap_mixamo_and_rigify_rigs() -> None:
    rng = np.random.default_rng(5)

    walks = [
        c.crop(0, 60) for c in generate_clips() if c.name.startswith(("walk_curves", "turns"))
    ][:2]

    # motion capture, below a rotated object that stands elsewhere
    standing = replace(walks[0], skeleton=compute_standing_rest(walks[0]))
    mocap = create_armature(standing.skeleton, "Mocap")
    first = sample_both_ways(mocap, bake_bake(standing, mocap, name="First"))
    assert_alike(first, as_skeleton(standing, first.skeleton))
    again = sample_both_ways(mocap, bake_bake(first, mocap, name="Again"))
    assert_alike(first, again)

    # centimetres, and a quarter turn in the object
    mixamo = create_mixamo_armature()
    skeleton = read_skeleton(mixamo)
    assert skeleton.names[0] == "mixamorig:Hips"
    person = build_humanoid_skeleton()
    order = [person.index(name.split(":")[1]) for name in skeleton.names]
    np.testing.assert_allclose(
        skeleton.compute_rest_world()[1], person.compute_rest_world()[1][order], atol=1e-5
    )
    clip = add_sway(as_skeleton(walks[0], skeleton), rng)
    for mode in ("QUATERNION", "YZX"):
        for bone in mixamo.pose.bones:
            bone.rotation_mode = mode
        action = bake_bake(clip, mixamo, name="Mixamo")
        assert_alike(sample_both_ways(mixamo, action), clip)

    # constraints drive the deform bones
    rig = create_rigify_armature()
    with actions.create_action("Controls", rig) as action:
        plain = create_armature(person, "Plain")
        fitted = fit_bones(plain, person)
        rotations, locations = to_basis(
            fitted, walks[0].rotations.astype(float), walks[0].positions.astype(float)
        )
        frames = np.arange(1, 61)
        for number, name in enumerate(person.names):
            insert_keys(action, name, "rotation_quaternion", frames, rotations[:, number].T)
            insert_keys(action, name, "location", frames, locations[:, number].T)
    [deformed] = sample(rig, [action])
    assert "constraints" in deformed.evaluated_because
    skeleton = deformed.clip.skeleton
    above = {
        name.removeprefix("DEF-"): skeleton.names[skeleton.parents[i]].removeprefix("DEF-")
        for i, name in enumerate(skeleton.names)
        if skeleton.parents[i] >= 0
    }
    assert above == {
        name: person.names[person.parents[i]] for i, name in enumerate(person.names) if i
    }
    assert_alike(deformed.clip, as_skeleton(walks[0], skeleton))
    bare = create_armature(deformed.clip.skeleton, "Bare")
    assert_alike(
        as_skeleton(deformed.clip, read_skeleton(bare)),
        sample_both_ways(bare, bake_bake(deformed.clip, bare, name="Bare")),
    )
    assert (
        len(sample(rig, [action], bones="all")[0].clip.skeleton.names) == 3 * person.bone_count + 1
    )


def read_looks():
    # what the user sees, and what would be saved in the file
    bpy.context.view_layer.update()
    hero, context = bpy.data.objects["Hero"], bpy.context
    data, kinds = hero.animation_data, ("scenes", "objects", "armatures", "actions")
    return {
        "frame": (context.scene.name, context.scene.frame_current),
        "pose": [list(map(list, bone.matrix)) for bone in hero.pose.bones],
        "plays": data and (data.action and data.action.name, data.use_nla),
        "there": [obj.name for obj in context.view_layer.objects],
        "file": [
            block.name
            for kind in kinds
            for block in getattr(bpy.data, kind)
            if not block.is_runtime_data
        ],
    }


def list_blocks():
    return [
        (kind.identifier, block.name)
        for kind in bpy.data.bl_rna.properties
        if kind.type == "COLLECTION"
        for block in getattr(bpy.data, kind.identifier)
    ]


def sample_in_pieces(obj, action, between=lambda: None, **options):
    work, pauses, before, there = (
        sample_steps(obj, action, **options),
        0,
        read_looks(),
        list_blocks(),
    )
    while True:
        try:
            next(work)
        except StopIteration as done:
            assert list_blocks() == there, "temporary data-blocks are left"
            return done.value(), pauses
        now = read_looks()
        # the object's place changes the last bits of its bones
        assert np.abs(np.subtract(now.pop("pose"), before["pose"])).max() < 1e-5, (
            "the user sees a change during a pause"
        )
        assert now == {part: value for part, value in before.items() if part != "pose"}, now
        between()
        pauses += 1


def check_equals_one_go(obj, action, between=lambda: None, **options):
    [whole] = sample(obj, [action], **options)
    read, pauses = sample_in_pieces(obj, action, between, **options)
    assert (read.first, read.cyclic, read.evaluated_because) == (
        whole.first,
        whole.cyclic,
        whole.evaluated_because,
    )
    assert np.array_equal(read.clip.positions, whole.clip.positions)
    assert np.array_equal(read.clip.rotations, whole.clip.rotations)
    return pauses


@pytest.fixture
def obj():
    obj = create_character(clips=("walk_curves",))
    bpy.context.scene.name = "Shown"
    return obj


def test_evaluation_in_pieces_equals_evaluation_in_one_go(monkeypatch, obj):
    walk = bpy.data.actions["walk_curves"]
    asked, values = [], curve_poses.evaluate_curve
    monkeypatch.setattr(
        curve_poses,
        "evaluate_curve",
        lambda curve, frames: asked.append(curve.data_path) or values(curve, frames),
    )
    monkeypatch.setattr(actions, "_MAX_KEYS", 4000)
    assert check_equals_one_go(obj, walk) >= 5, "curves are read in several pieces"
    # undo between the pieces invalidates every reference from before
    bpy.ops.ed.undo_push(message="one")

    def undo():
        bpy.ops.ed.undo_push(message="more")
        bpy.ops.ed.undo()

    def undo_at_times(pauses):
        if next(pauses) % 20 == 3:
            undo()

    check_equals_one_go(obj, walk, undo)
    walk, obj = bpy.data.actions["walk_curves"], bpy.context.object

    # no curve is read at the end, which runs in a thread
    work = sample_steps(obj, walk)
    while True:
        try:
            next(work)
        except StopIteration as done:
            asked.clear()
            done.value()
            assert not asked
            break

    # a deleted action is reported
    work = sample_steps(obj, walk)
    next(work)
    kept = walk.copy()
    bpy.data.actions.remove(walk)
    with pytest.raises(sampling.MotionDataError) as caught:  # the action is gone
        for _ in work:
            pass
    assert "walk_curves" in str(caught.value)

    obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")
    bpy.ops.ed.undo_push(message="kept")
    for few in (10**6, 0):  # number of keys up to which the action itself is played
        monkeypatch.setattr(sampling, "_MAX_KEYS", few)
        assert check_equals_one_go(obj, kept, frames=(10, 150)) >= 2, (
            "frames are evaluated in several pieces"
        )
        name, pauses = kept.name, iter(range(100))
        check_equals_one_go(obj, kept, partial(undo_at_times, pauses), frames=(10, 150))
        kept, obj = bpy.data.actions[name], bpy.context.object


def test_changes_during_reading_are_reported(monkeypatch, obj):
    walk = bpy.data.actions["walk_curves"]

    def check_refused(change, *words, kind=MotionDataError, after=3):
        work = sample_steps(obj, walk)
        for _ in range(after):
            next(work)
        change()
        with pytest.raises(kind) as caught:  # the source has changed
            for _ in work:
                pass
        assert all(word in str(caught.value) for word in words), caught.value

    def rename_bone(before, now):
        obj.data.bones[before].name = now

    def swap_curve():
        # the same number of curves, but another one
        curves = actions.get_channelbag(walk).fcurves
        last = max(curves, key=lambda curve: (curve.data_path, curve.array_index))
        curves.remove(last)
        curves.new("rotation_euler", index=0).keyframe_points.insert(1, 0.0)

    actions.assign(obj, walk)  # otherwise Blender does not rename its channels
    monkeypatch.setattr(actions, "_MAX_KEYS", 4000)
    check_refused(lambda: rename_bone("Head", "Kopf"), "walk_curves", "changed")
    rename_bone("Kopf", "Head")

    # during evaluation the armature must not change
    monkeypatch.setattr(sampling, "_MAX_KEYS", 10**6)
    obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION")
    check_refused(lambda: rename_bone("Head", "Kopf"), "Hero", "changed", kind=RigError)
    rename_bone("Kopf", "Head")
    check_refused(lambda: bpy.ops.object.mode_set(mode="EDIT"), "Hero", "Edit Mode", kind=RigError)
    bpy.ops.object.mode_set(mode="OBJECT")

    def move():
        obj.location.x += 1.0

    check_refused(move, "Hero", "changed", kind=RigError)

    # except for channels of the action itself: the user may look at other frames
    for index in range(3):
        actions.get_channelbag(walk).fcurves.new("location", index=index).keyframe_points.insert(
            1, 0.5
        )
    sample_in_pieces(obj, walk, move)

    limit = obj.pose.bones["Head"].constraints[0]
    obj.pose.bones["Head"].constraints.remove(limit)
    check_refused(swap_curve, "walk_curves", "changed")


def test_integer_properties_step_alike_in_pieces(monkeypatch, obj):
    def drive_by(name, value, other):
        # a bone's distance depends on an integer property with linear keys
        obj = create_character(clips=("walk_curves",))
        walk = bpy.data.actions["walk_curves"]
        actions.assign(obj, walk)
        obj[name] = value
        obj.keyframe_insert(f'["{name}"]', frame=1)
        obj[name] = other
        obj.keyframe_insert(f'["{name}"]', frame=50)
        driver = obj.pose.bones["Head"].driver_add("location", 2).driver
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = obj, f'["{name}"]'
        driver.type = "SUM"
        return obj, walk

    def key_rotation_mode():
        obj = create_character(clips=("walk_curves",))
        walk = bpy.data.actions["walk_curves"]
        actions.assign(obj, walk)
        head = obj.pose.bones["Head"]
        for frame, mode in ((1, "XYZ"), (50, "ZYX")):
            head.rotation_mode = mode
            head.rotation_euler = (1.0, 2.0, 0.5)
            head.keyframe_insert("rotation_mode", frame=frame)
            head.keyframe_insert("rotation_euler", frame=frame)
        return obj, walk

    for make in (
        lambda: drive_by("place", 0, 3),
        lambda: drive_by("on", False, True),
        key_rotation_mode,
    ):
        obj, walk = make()
        bpy.context.scene.name = "Shown"
        for curve in actions.get_channelbag(walk).fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
        for few in (10**6, 0):
            monkeypatch.setattr(sampling, "_MAX_KEYS", few)
            check_equals_one_go(obj, walk, frames=(1, 60))


def test_evaluation_keeps_unkeyed_poses(monkeypatch, obj):
    # an unkeyed pose stays, although the assigned action has other keys
    walk, head = bpy.data.actions["walk_curves"], obj.pose.bones["Head"]
    limit = head.constraints.new("LIMIT_ROTATION")
    head["ik"], obj["switch"], head.rotation_mode = 0.0, 1, "QUATERNION"
    obj["two"] = [1.0, 2.0]
    actions.assign(obj, walk)
    scene = bpy.context.scene
    head.keyframe_insert('["ik"]', frame=1)
    limit.keyframe_insert("influence", frame=1)
    for path in ('["switch"]', '["two"]', "location", "hide_render"):
        obj.keyframe_insert(path, frame=1)
    scene.frame_set(20)

    def set_pose():
        head.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
        head["ik"], limit.influence, obj["switch"], obj.location.x, obj.hide_render = (
            0.5,
            0.25,
            7,
            3.0,
            True,
        )
        obj["two"][:] = 3.0, 4.0

    def read_pose():
        return [
            round(value, 4)
            for value in (
                *head.rotation_quaternion,
                head["ik"],
                limit.influence,
                obj["switch"],
                obj.location.x,
                obj.hide_render,
                *obj["two"],
            )
        ]

    def check(read):
        scene.frame_set(20)
        bpy.context.view_layer.update()
        keyed = read_pose()
        set_pose()
        bpy.context.view_layer.update()
        before = read_pose()
        assert len(before) == len(keyed), (
            before,
            keyed,
        )
        assert sum(a != b for a, b in zip(before, keyed, strict=False)) >= 9, (
            before,
            keyed,
        )
        read()
        bpy.context.view_layer.update()
        assert read_pose() == before, (read_pose(), before)

    def update():
        bpy.context.view_layer.update()

    check(lambda: sample(obj, [walk], frames=(1, 30)))
    for few in (10**6, 0):
        monkeypatch.setattr(sampling, "_MAX_KEYS", few)
        check(lambda: sample_in_pieces(obj, walk, update, frames=(1, 60)))
    scene.frame_set(21)
    assert read_pose()[4] == 0.0, "another frame plays the keys again"


def run_in_pieces(obj, action):
    return run_steps(sample_steps(obj, action))()


def test_objects_that_depend_on_the_armature_are_evaluated_with_it(scene):
    rng = np.random.default_rng(5)

    def create_empty(name, **hangs):
        made = bpy.data.objects.new(name, None)
        scene.collection.objects.link(made)
        for part, value in hangs.items():
            setattr(made, part, value)
        return made

    def check_rig(change):
        obj = create_awkward_armature(rng, 12, connected=0.0)
        obj.location, obj.rotation_euler = (1, 2, 3), (0.3, 0.2, 1)
        bpy.context.view_layer.update()
        with actions.create_action("Any", obj) as action:
            insert_random_keys(rng, obj, action, np.arange(1, 15))
        change(obj)
        obj.animation_data.action = None  # its assigned action does not matter
        bpy.context.view_layer.update()
        before = read_state(obj)
        read = [*sample(obj, [action]), run_in_pieces(obj, action)]
        assert_same(before, read_state(obj))
        actions.assign(obj, action)
        for found in read:
            assert found.evaluated_because
            assert_shown(scene, obj, found.clip, 1, 2e-4)

    def hang_target_on_bone(obj):
        # a constraint's target is a child of a bone, by way of another object
        first = obj.pose.bones[0].name
        handle = create_empty(
            "Handle", parent=obj, parent_type="BONE", parent_bone=first, location=(1, 1, 0.5)
        )
        pole = create_empty(
            "Pole",
            parent=handle,
            matrix_parent_inverse=Matrix.Rotation(0.4, 4, "X"),
            location=(0, 2, 1),
        )
        ik = obj.pose.bones[7].constraints.new("IK")
        ik.target, ik.pole_target, ik.chain_count = handle, pole, 2
        child = obj.pose.bones[2].constraints.new("CHILD_OF")
        child.target, child.inverse_matrix = pole, Matrix.Rotation(0.7, 4, "Z")
        held = obj.pose.bones[9].constraints.new("ARMATURE").targets.new()
        held.target, held.subtarget = obj, first

    def hook_curve(obj):
        # a curve with points hooked to bones, followed by other bones
        curve = bpy.data.curves.new("Spine", "CURVE")
        curve.dimensions = "3D"
        spline = curve.splines.new("BEZIER")
        spline.bezier_points.add(1)
        spline.bezier_points[1].co = (0, 0, 4)
        along = bpy.data.objects.new("Spine", curve)
        scene.collection.objects.link(along)
        hook = along.modifiers.new("Hook", "HOOK")
        hook.object, hook.subtarget = obj, obj.pose.bones[0].name
        hook.vertex_indices_set([3, 4, 5])
        spine = obj.pose.bones[6].constraints.new("SPLINE_IK")
        spine.target, spine.chain_count = along, 1

    def drive_by_own_bones(obj):
        # drive a bone by another's rotation, the data by a bone, and a bone by the data's property
        for owner, path, of, data_path in (
            (
                obj.pose.bones[3],
                "location",
                obj,
                f"{get_bone_path(obj.pose.bones[1].name, 'rotation_euler')}[0]",
            ),
            (obj.data, '["place"]', obj, f"{get_bone_path(obj.pose.bones[4].name, 'location')}[1]"),
            (obj.pose.bones[8], "location", obj.data, '["place"]'),
        ):
            if owner is obj.data:
                obj.data["place"] = 0.5
                curve = owner.driver_add(path)
            else:
                curve = owner.driver_add(path, 0)
            variable = curve.driver.variables.new()
            variable.targets[0].id_type = of.id_type
            variable.targets[0].id, variable.targets[0].data_path = of, data_path
            curve.driver.type = "SUM"

    def drive_by_scene_frame(obj):
        # drive a bone by the scene's current frame
        curve = obj.pose.bones[3].driver_add("location", 0)
        target = curve.driver.variables.new().targets[0]
        target.id_type, target.id, target.data_path = "SCENE", scene, "frame_current"
        curve.driver.type = "SUM"

    def follow_each_other(obj):
        # another armature follows this one and is followed by it
        other = create_awkward_armature(rng, 3, connected=0.0)
        copying = other.pose.bones[1].constraints.new("COPY_TRANSFORMS")
        copying.target, copying.subtarget = obj, obj.pose.bones[0].name
        back = obj.pose.bones[5].constraints.new("COPY_ROTATION")
        back.target, back.subtarget = other, other.pose.bones[1].name

    for change in (
        hang_target_on_bone,
        hook_curve,
        drive_by_own_bones,
        drive_by_scene_frame,
        follow_each_other,
    ):
        check_rig(change)
        print(change.__name__)


def test_pauses_may_save_undo_and_load(monkeypatch, obj):
    walk = bpy.data.actions["walk_curves"]
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (0.0, -3.0, 1.0)
    obj.pose.bones["Head"].constraints.new("DAMPED_TRACK").target = target
    bpy.context.preferences.edit.use_global_undo = True
    folder = tempfile.mkdtemp()

    def list_names():
        return sorted(
            block.name
            for kind in ("scenes", "objects", "armatures", "actions")
            for block in getattr(bpy.data, kind)
        )

    for few in (10**6, 0):  # number of keys up to which the action itself is played
        monkeypatch.setattr(sampling, "_MAX_KEYS", few)
        obj, walk = bpy.data.objects["Hero"], bpy.data.actions["walk_curves"]
        bpy.ops.ed.undo_push(message="before")
        before = list_names()
        [whole] = sample(obj, [walk])
        work = sample_steps(obj, walk)
        while len(list_names()) == len(before):
            next(work)
        next(work)

        # a file saved in a pause contains none of the copies
        file = os.path.join(folder, f"in a pause {few}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)
        with bpy.data.libraries.load(file) as (saved, _):
            held = sorted([*saved.scenes, *saved.objects, *saved.armatures, *saved.actions])
        assert held == before, held

        # the objects it follows may move meanwhile
        target.location = (3.0, 0.0, 1.0)
        bpy.context.view_layer.update()
        next(work)
        target.location = (0.0, -3.0, 1.0)
        bpy.ops.ed.undo_push(message="in a pause")
        while True:
            try:
                next(work)
            except StopIteration as done:
                clip = done.value().clip
                break
        assert np.array_equal(clip.positions, whole.clip.positions)
        assert np.array_equal(clip.rotations, whole.clip.rotations)
        assert list_names() == before

        # undo to a step made in a pause does not bring the copies back
        bpy.data.objects["Hero"].location.x = 5.0
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        assert bpy.data.objects["Hero"].location.x == 0.0, list_names()
        assert list_names() == before, list_names()
        bpy.ops.ed.redo()
        assert bpy.data.objects["Hero"].location.x == 5.0, list_names()
        assert list_names() == before, list_names()
        bpy.data.objects["Hero"].location.x = 0.0
        target = bpy.data.objects["Target"]

        # loading a file in a pause ends it with a sentence, and leaves nothing there
        work = sample_steps(bpy.data.objects["Hero"], bpy.data.actions["walk_curves"])
        while len(list_names()) == len(before):
            next(work)
        bpy.ops.wm.open_mainfile(filepath=file)
        with pytest.raises(RigError) as caught:  # the armature is in another file
            for _ in work:
                pass
        assert "Hero" in str(caught.value), caught.value
        assert "deleted" in str(caught.value), caught.value
        assert list_names() == before, list_names()
        target = bpy.data.objects["Target"]


def test_linked_and_overridden_armatures_evaluate_alike(scene):
    rng = np.random.default_rng(5)

    file = os.path.join(tempfile.mkdtemp(), "rig.blend")
    obj = create_awkward_armature(rng, 12, connected=0.0)
    target = bpy.data.objects.new("Target", None)
    scene.collection.objects.link(target)
    target.parent, target.location = obj, (1, 2, 3)
    track = obj.pose.bones[4].constraints.new("DAMPED_TRACK")
    track.target = target
    with actions.create_action("Any", obj) as action:
        insert_random_keys(rng, obj, action, np.arange(1, 15))
    action.use_fake_user = True
    [there] = sample(obj, [action])
    bpy.data.libraries.write(file, {obj, action})
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.0
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.objects, wanted.actions = ["Awkward"], ["Any"]
    linked, action = wanted.objects[0], wanted.actions[0]
    scene.collection.objects.link(linked)

    def check(obj):
        assert obj.library or obj.override_library
        bpy.context.view_layer.objects.active = obj
        bpy.context.view_layer.update()
        before = read_state(obj)
        for clip in (sample(obj, [action])[0].clip, run_in_pieces(obj, action).clip):
            assert_alike(clip, there.clip)
            assert_same(before, read_state(obj))

    check(linked)
    check(linked.override_create(remap_local_usages=True))

"""Characters whose object is moved, in any way: the world counts, not the frame that is shown."""

from __future__ import annotations

import math
from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from motion_matching import api
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.blender.evaluation.object_motion import sample_world
from motion_matching.scene.reading.sampling import sample
from motion_matching.scene.retargeting import sources
from motion_matching.scene.rig.armature import read_skeleton
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing.bake import bake
from tests.command_line import run_with_errors
from tests.scene.retargeting.armatures import add_mixamo, add_walker, make_walk
from tests.scene.rigify import create_rigify_rig
from tests.scene.rigs import assert_alike, assert_same, read_state

FIRST, LAST = 1, 40
SHOWN = (1, 23, 400)  # frames that a file may be saved on
MOVERS = (
    "parent",
    "grandparent",
    "tilting parent",
    "bone of a parent",
    "Child Of",
    "Copy Location",
    "Follow Path",
    "driver",
)


def add_empty(name: str, parent: bpy.types.Object | None = None) -> bpy.types.Object:
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    empty.parent = parent
    return empty


def drive(obj: bpy.types.Object, *, tilts: bool = False) -> None:
    """Key an object that goes 18 m to the side and turns, from the first frame to the last."""
    for frame, share in ((FIRST, 0.0), (LAST, 1.0)):
        obj.location = (2.0 + 18.0 * share, -1.0, 0.3 * share)
        obj.rotation_euler = (radians(50.0) * share * tilts, 0.0, radians(70.0) * share)
        for path in ("location", "rotation_euler"):
            obj.keyframe_insert(path, frame=frame)


def move(obj: bpy.types.Object, how: str) -> None:
    """Have something else move an object."""
    leader = add_empty("Leader")
    if how in ("parent", "tilting parent"):
        drive(leader, tilts="tilting" in how)
        obj.parent = leader
    elif how == "grandparent":
        drive(leader)
        obj.parent = add_empty("Between", leader)
    elif how == "bone of a parent":
        carrier, _ = add_walker("Carrier", LAST)
        bpy.context.scene.frame_set(FIRST)
        kept = obj.matrix_world.copy()
        obj.parent, obj.parent_type = carrier, "BONE"
        obj.parent_bone = carrier.data.bones[0].name
        bpy.context.view_layer.update()
        obj.matrix_world = kept
    elif how == "Child Of":
        drive(leader)
        obj.constraints.new("CHILD_OF").target = leader
    elif how == "Copy Location":
        drive(leader)
        obj.constraints.new("COPY_LOCATION").target = leader
    elif how == "Follow Path":
        curve = bpy.data.curves.new("Path", "CURVE")
        curve.dimensions, curve.use_path, curve.path_duration = "3D", True, LAST
        spline = curve.splines.new("POLY")
        spline.points.add(1)
        spline.points[1].co = (15.0, 5.0, 0.0, 1.0)
        path = bpy.data.objects.new("Path", curve)
        bpy.context.scene.collection.objects.link(path)
        constraint = obj.constraints.new("FOLLOW_PATH")
        constraint.target, constraint.use_curve_follow = path, True
        curve.eval_time = 0.0
        curve.keyframe_insert("eval_time", frame=FIRST)
        curve.eval_time = LAST
        curve.keyframe_insert("eval_time", frame=LAST)
    else:
        obj.driver_add("location", 0).driver.expression = "0.3 * frame"
    bpy.context.view_layer.update()


def show(obj: bpy.types.Object, names, first: int = FIRST, last: int = LAST) -> np.ndarray:
    """Return where Blender shows the heads of bones (F, B, 3) in the world."""
    heads = []
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        heads.append([shown.matrix_world @ shown.pose.bones[name].head for name in names])
    return np.array(heads)


@pytest.mark.parametrize("how", MOVERS)
def test_motion_is_read_as_it_is_seen_in_the_world_on_any_frame(how):
    obj, action = add_walker(frames=LAST)
    move(obj, how)
    seen = show(obj, read_skeleton(obj).names)
    places = np.array([sample_world(obj, [frame])[0, :3, 3] for frame in (FIRST, LAST)])
    assert np.linalg.norm(places[1] - places[0]) > 0.3
    skeletons = []
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.objects.active = obj
        before = read_state(obj)
        [motion] = sources.read_actions(obj, [action])
        [sampled] = sample(obj, [action])
        assert_same(before, read_state(obj))
        for clip in (motion.clip, sampled.clip):
            np.testing.assert_allclose(clip.compute_world()[1], seen, atol=2e-4)
            skeletons.append(clip.skeleton)
    for skeleton in skeletons:
        for part in ("rest_rotations", "rest_positions"):
            values = getattr(skeleton, part), getattr(skeletons[0], part)
            np.testing.assert_allclose(*values, rtol=0.0, atol=1e-6)


def test_a_parent_that_is_keyed_but_stays_is_where_the_motion_starts_from():
    obj, action = add_walker(frames=LAST)
    [plain] = sources.read_actions(obj, [action])
    leader = add_empty("Leader")
    leader.location, leader.rotation_euler.z = (5.0, 3.0, 0.0), radians(40)
    for frame in (FIRST, LAST):
        leader.keyframe_insert("location", frame=frame)
    leader.location.x = 9.0
    leader.keyframe_insert("location", frame=LAST + 100)
    obj.parent = leader
    for frame in (FIRST, LAST + 90):
        bpy.context.scene.frame_set(frame)
        [motion] = sources.read_actions(obj, [action])
        assert_alike(motion.clip, plain.clip)


def put_motion_on_the_object(obj: bpy.types.Object) -> None:
    """Have an object do what its hips do, whose keys are removed, as some exporters write it."""
    scene, hips = bpy.context.scene, obj.pose.bones[0]
    places = []
    for frame in range(FIRST, LAST + 1):
        scene.frame_set(frame)
        places.append((obj.matrix_world @ hips.matrix).copy())
    rest = obj.data.bones[0].matrix_local.copy()
    bag = actions.get_channelbag(obj.animation_data.action)
    for curve in [curve for curve in bag.fcurves if f'"{hips.name}"' in curve.data_path]:
        bag.fcurves.remove(curve)
    hips.matrix_basis = Matrix()
    obj.rotation_mode = "QUATERNION"
    for frame, place in enumerate(places, FIRST):
        obj.matrix_world = place @ rest.inverted()
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_quaternion", frame=frame)


def test_motion_on_the_object_is_that_of_the_hips_on_any_frame():
    obj, action = add_walker(frames=LAST)
    hero = add_mixamo()
    names = [bone.name for bone in hero.data.bones]
    api.retarget_action(action, hero, source=obj)
    wanted = show(hero, names)
    put_motion_on_the_object(obj)
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        api.retarget_action(action, hero, source=obj)
        np.testing.assert_allclose(show(hero, names), wanted, atol=0.01)


@pytest.mark.parametrize("how", ["own keys", *MOVERS])
def test_a_character_that_is_moved_does_in_the_world_what_it_is_given(how):
    walker, action = add_walker(frames=LAST)
    hero = add_mixamo()
    names = [bone.name for bone in hero.data.bones]
    api.retarget_action(action, hero, source=walker)
    plain = show(hero, names)
    hero.animation_data_clear()
    for bone in hero.pose.bones:
        bone.matrix_basis.identity()
    upright = hero.matrix_world.to_3x3().to_4x4()
    if how == "own keys":
        hero.rotation_mode = "QUATERNION"
        for frame, x in ((FIRST, 2.0), (LAST, 9.0)):
            hero.location.x = x
            hero.keyframe_insert("location", frame=frame)
    else:
        move(hero, how)
    bpy.context.scene.frame_set(FIRST)
    stands = hero.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    turn = stands.to_quaternion() @ upright.to_quaternion().inverted()
    turn = Matrix.Rotation(2.0 * math.atan2(turn.z, turn.w), 4, "Z")
    wanted = plain @ np.array(turn.to_3x3()).T + np.array(stands.translation)
    moves = hero.animation_data.action if hero.animation_data else None
    for frame in SHOWN:
        if moves:
            actions.assign(hero, moves)
        bpy.context.scene.frame_set(frame)
        api.retarget_action(action, hero, source=walker)
        np.testing.assert_allclose(show(hero, names), wanted, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["parent", "tilting parent", "Child Of"])
def test_a_control_rig_that_is_moved_does_in_the_world_what_it_is_given(how):
    walker, action = add_walker(frames=LAST)
    rig = create_rigify_rig("basic_human")
    names = [bone.name for bone in rig.data.bones if bone.name.startswith(("DEF-spine", "DEF-thi"))]
    api.retarget_action(action, rig, source=walker, legs="fk")
    plain = show(rig, names)
    rig.animation_data.action = None
    move(rig, how)
    bpy.context.scene.frame_set(FIRST)
    stands = np.array(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    wanted = plain @ stands[:3, :3].T + stands[:3, 3]
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        api.retarget_action(action, rig, source=walker, legs="fk")
        np.testing.assert_allclose(show(rig, names), wanted, atol=5e-3)


@pytest.mark.parametrize(
    ("how", "root"),
    [
        ("parent", "HIPS"),
        ("parent", "OBJECT"),
        ("tilting parent", "HIPS"),
        ("tilting parent", "OBJECT"),
        ("driver", "HIPS"),  # whose object takes no keys
    ],
)
def test_a_take_goes_its_way_while_the_character_is_moved(how, root):
    clip = make_walk(LAST)
    obj, _ = add_walker(frames=LAST)
    obj.animation_data_clear()
    move(obj, how)
    wanted = clip.compute_world()[1]
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        bake(clip, obj, name="take", root=RootTarget[root])
        np.testing.assert_allclose(show(obj, clip.skeleton.names), wanted, atol=2e-3)


def test_a_file_is_read_alike_on_whichever_frame_it_was_saved(tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    walker, _ = add_walker(frames=LAST)
    move(walker, "parent")
    hero = tmp_path / "hero.blend"
    source = tmp_path / "source.blend"
    found = []
    for frame in SHOWN:
        bpy.context.scene.frame_set(frame)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{frame}.blend"), copy=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    add_mixamo()
    bpy.ops.wm.save_as_mainfile(filepath=str(hero), copy=True)
    for frame in SHOWN:
        given = tmp_path / f"{frame}.blend", "--onto", hero, "-o", source, "--quiet"
        assert run_with_errors("retarget", *given) == (0, "")
        bpy.ops.wm.open_mainfile(filepath=str(source))
        obj = bpy.data.objects["Hero"]
        found.append(show(obj, [bone.name for bone in obj.data.bones]))
    assert np.ptp(found[0][:, 0], axis=0).max() > 15.0
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-5)

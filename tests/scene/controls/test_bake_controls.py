"""Takes on an animator's controls: the deform bones do what the take does, as Blender evaluates."""

from __future__ import annotations

import time
from dataclasses import replace

import bpy
import numpy as np
import pytest

from motion_matching.engine.errors import RigChangedError, RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.blender.animation.curves import parse_bone_name
from motion_matching.scene.controls.bake_controls import (
    ControlSettings,
    solve_bake_steps,
)
from motion_matching.scene.controls.check_baked import check_baked, measure_deviations
from motion_matching.scene.controls.control_rig import ControlRig
from motion_matching.scene.controls.finding.find_controls import (
    match_control_rig,
    read_deform_skeleton,
    set_ik_stretch_off,
)
from motion_matching.scene.reading.sampling import sample
from tests.scene.controls.control_rigs import bake_controls, create_rigify_human, retarget_walk
from tests.scene.rigs import get_curves, read_state
from tests.steps import run_steps

CM, DEGREES = 1.0, 2.0


def create_character() -> tuple[bpy.types.Object, ControlRig, Clip]:
    obj = create_rigify_human()
    rig = match_control_rig(obj)
    assert rig is not None
    return obj, rig, retarget_walk(read_deform_skeleton(obj))


def assert_follows(obj: bpy.types.Object, clip: Clip, start: int = 1) -> None:
    frames = range(start, start + clip.frame_count)
    cm, degrees = measure_deviations(obj, clip, frames, start)
    assert cm.max() < CM
    assert degrees.max() < DEGREES


def list_keyed_frames(action: bpy.types.Action, path: str) -> list[int]:
    curve = next(c for c in get_curves(action) if c.data_path == path)
    return [int(point.co[0]) for point in curve.keyframe_points]


@pytest.mark.parametrize(
    ("legs", "arms"), [("IK", "FK"), pytest.param("FK", "IK", marks=pytest.mark.slow)]
)
def test_deform_bones_do_what_the_take_does(legs: str, arms: str) -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    settings = ControlSettings(legs=legs, arms=arms)
    action = bake_controls(obj, rig, clip, settings, start_frame=11, action_name="Walk")
    assert obj.animation_data.action == action
    assert action.name == "Walk"
    assert action.frame_range[0] == 11
    cm, degrees = measure_deviations(obj, clip, range(11, 11 + clip.frame_count))
    assert cm.max() < 0.2
    assert degrees.max() < 0.5


def test_a_foot_may_point_straight_down_and_on() -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    rotations, foot = clip.rotations.copy(), clip.skeleton.index("DEF-foot.R")
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, clip.frame_count))
    turns = np.radians(share[:, None] * [-150.0, 25.0, 35.0])
    rotations[:, foot] = quat.mul(rotations[:, foot], quat.from_scaled_angle_axis(turns))
    clip = replace(clip, rotations=rotations)
    bake_controls(obj, rig, clip)
    off = check_baked(obj, clip, range(1, clip.frame_count + 1))
    for bone in ("DEF-foot.R", "DEF-toe.R"):
        assert off[bone].cm < CM
        assert off[bone].degrees < DEGREES


def test_no_deform_bone_is_keyed_and_switches_are() -> None:
    obj, rig, clip = create_character()
    action = bake_controls(obj, rig, clip)
    paths = {curve.data_path for curve in get_curves(action)}
    bones = {parse_bone_name(path) for path in paths}
    assert not {bone for bone in bones if bone is None or obj.data.bones[bone].use_deform}
    assert 'pose.bones["thigh_parent.L"]["IK_FK"]' in paths
    assert obj.pose.bones["thigh_parent.L"]["IK_FK"] == 0.0
    assert obj.pose.bones["upper_arm_parent.R"]["IK_FK"] == 1.0
    assert obj.pose.bones["thigh_parent.L"]["pole_vector"]


def test_knees_miss_their_place_while_the_rig_may_shorten_legs() -> None:
    obj, rig, clip = create_character()
    bake_controls(obj, rig, clip)
    frames = range(1, clip.frame_count + 1, 5)
    before = check_baked(obj, clip, frames)
    assert before["DEF-shin.L"].cm > CM
    assert before["DEF-foot.L"].cm < 0.1
    assert "MCH-shin_ik.L" in set_ik_stretch_off(obj)
    after = check_baked(obj, clip, frames)
    assert max(deviation.cm for deviation in after.values()) < CM


@pytest.mark.parametrize("fewer_keys", [pytest.param(False, marks=pytest.mark.slow), True])
def test_switching_limbs_between_fk_and_ik_keeps_the_pose(fewer_keys: bool) -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    clip = clip.crop(20, 60)
    action = bake_controls(obj, rig, clip, ControlSettings(fewer_keys=fewer_keys))
    shown = sample(obj, [action], bones="deform", evaluate=True)[0].clip
    for curve in get_curves(action):
        if curve.data_path.endswith('["IK_FK"]'):
            curve.keyframe_points[0].co[1] = 1.0 - curve.keyframe_points[0].co[1]
            curve.update()
    bpy.context.view_layer.update()
    assert_follows(obj, shown)


def test_fewer_keys_stay_near_and_a_planted_foot_has_two() -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    count = {
        fewer: sum(
            len(curve.keyframe_points)
            for curve in get_curves(
                bake_controls(obj, rig, clip, ControlSettings(fewer_keys=fewer, match_both=False))
            )
        )
        for fewer in (False, True)
    }
    assert count[True] < 0.5 * count[False]
    assert_follows(obj, clip)
    # between two keys of the same place, the foot is planted: at least a third of a walk
    action = obj.animation_data.action
    path = 'pose.bones["foot_ik.L"].location'
    keys = np.array(list_keyed_frames(action, path))
    values = np.array(
        [[c.evaluate(key) for key in keys] for c in get_curves(action) if c.data_path == path]
    )
    still = np.abs(np.diff(values, axis=1)).max(axis=0) < 1e-5
    assert np.diff(keys)[still].max() >= 8
    assert np.diff(keys)[still].sum() > clip.frame_count / 3


@pytest.mark.slow
def test_a_smaller_distance_has_more_keys_and_is_kept() -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    clip = clip.crop(30, 60)
    counts = []
    for distance in (0.02, 0.005):
        settings = ControlSettings(fewer_keys=True, distance=distance, match_both=False)
        action = bake_controls(obj, rig, clip, settings)
        cm, _ = measure_deviations(obj, clip, range(1, 31))
        assert cm.max() < 100.0 * distance
        counts.append(sum(len(curve.keyframe_points) for curve in get_curves(action)))
    assert counts[0] < counts[1]


def test_an_armature_may_stand_anywhere_turned_and_scaled() -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    obj.location, obj.rotation_euler, obj.scale = (1.0, -2.0, 0.3), (0.1, 0.0, 2.0), (0.5,) * 3
    bpy.context.view_layer.update()
    clip = retarget_walk(read_deform_skeleton(obj)).crop(0, 20)
    bake_controls(obj, rig, clip)
    assert_follows(obj, clip)


def test_posed_helpers_are_put_to_rest() -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    for name in ("hips", "chest", "shin_tweak.L", "foot_spin_ik.R", "root"):
        obj.pose.bones[name].location = (0.1, 0.05, 0.1)
    obj.pose.bones["torso"].scale = (1.2,) * 3
    bake_controls(obj, rig, clip.crop(0, 20))
    assert_follows(obj, clip.crop(0, 20))


def test_nothing_else_in_the_file_changes() -> None:
    obj, rig, clip = create_character()
    bake_controls(obj, rig, clip.crop(0, 10), action_name="Before")
    bpy.context.scene.frame_set(7)
    before = read_state(obj)
    bake_controls(obj, rig, clip.crop(0, 10), ControlSettings(legs="FK"), action_name="After")
    after = read_state(obj)
    for name in (
        "frame",
        "mode",
        "active",
        "selected",
        "bones selected",
        "visible",
        "placed",
        "data",
    ):
        assert after[name] == before[name], name
    kept = {name: entry for name, entry in after["actions"].items() if name != "After"}
    assert {n: e[2:] for n, e in kept.items()} == {n: e[2:] for n, e in before["actions"].items()}


def test_what_cannot_be_baked_is_refused_and_nothing_changes() -> None:
    obj, rig, clip = create_character()
    obj.pose.bones["torso"].lock_location[2] = True
    before = read_state(obj)
    with pytest.raises(RigError, match="'torso' of 'rig' is locked"):
        bake_controls(obj, rig, clip)
    assert read_state(obj) == before
    obj.pose.bones["torso"].lock_location[2] = False
    names = tuple("other" if name == "DEF-shin.L" else name for name in clip.skeleton.names)
    with pytest.raises(RigError, match=r"the motion has no 'DEF-shin\.L'"):
        bake_controls(obj, rig, replace(clip, skeleton=clip.skeleton.with_names(names)))
    limbs = tuple(replace(limb, ik=limb.ik.replace("foot", "paw")) for limb in rig.limbs)
    with pytest.raises(RigError, match=r"has no 'paw_ik\.L'"):
        bake_controls(obj, replace(rig, limbs=limbs), clip)
    assert read_state(obj)["actions"] == before["actions"]


def test_a_linked_armature_is_refused_and_its_override_works(tmp_path) -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "rig.blend"), link=True) as (_, linked):
        linked.objects = ["rig"]
    bpy.context.scene.render.fps = 30
    obj = linked.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    clip = clip.crop(0, 20)
    with pytest.raises(RigError, match="make a library override"):
        bake_controls(obj, rig, clip)
    own = obj.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    bake_controls(own, rig, clip)
    assert_follows(own, clip)


def test_a_take_on_controls_may_be_put_at_another_rate(scene) -> None:
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    scene.render.fps = 24
    action = bake_controls(obj, rig, clip)
    last = action.frame_range[1]
    assert last == pytest.approx(1 + (clip.frame_count - 1) * 24 / 30, abs=1.0)
    cm, _ = measure_deviations(obj, clip, range(1, int(last) + 1))
    assert cm.max() < 0.2


@pytest.mark.slow
def test_rigifys_human_follows_a_walk_fingers_included() -> None:
    obj = create_rigify_human("human")
    rig = match_control_rig(obj)
    assert rig is not None
    assert rig.preset == "rigify_human"
    set_ik_stretch_off(obj)
    clip = retarget_walk(read_deform_skeleton(obj)).crop(20, 60)
    action = bake_controls(obj, rig, clip, ControlSettings(fewer_keys=True))
    assert_follows(obj, clip)
    assert actions.get_channelbag(action).fcurves.find(
        'pose.bones["f_index.01.L"].rotation_quaternion', index=0
    )


@pytest.mark.slow
def test_finding_fewer_keys_goes_on_in_short_steps() -> None:
    """Blender redraws between two of them, however long the take is."""
    obj, rig, clip = create_character()
    set_ik_stretch_off(obj)
    work = solve_bake_steps(obj, rig, clip, ControlSettings(fewer_keys=True), 11)
    taken, parts, write = [], [], None
    while write is None:
        began = time.process_time()
        try:
            parts.append(next(work))
        except StopIteration as done:
            write = done.value
        taken.append(time.process_time() - began)
    assert max(taken) < 0.2 * sum(taken)
    known = [part for part in parts if part is not None]
    assert known == sorted(known)
    assert 0.5 < known[-1] <= 1.0
    before = [action.name for action in bpy.data.actions]
    assert "Controls" not in before, "nothing is written until the end"
    assert_follows(obj, clip, int(write("Controls", None).frame_range[0]))


def test_a_bake_that_an_undo_takes_the_armature_from_says_so() -> None:
    obj, rig, clip = create_character()
    work = solve_bake_steps(obj, rig, clip, ControlSettings(fewer_keys=True))
    next(work)
    bpy.data.objects.remove(obj)
    with pytest.raises(RigChangedError, match="start again"):
        run_steps(work)
    assert not [scene.name for scene in bpy.data.scenes if scene.name != bpy.context.scene.name]

"""A control rig that is driven live shows the poses, and is afterwards what it was."""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.scene.controls.bake_controls import bake_controls
from motion_matching.scene.controls.control_driver import ControlDriver, measure_live_rate
from motion_matching.scene.controls.ik_stretch import set_ik_stretch_off
from motion_matching.scene.controls.match import match_control_rig, read_deform_skeleton
from tests.scene.controls.control_rigs import create_rigify_human, retarget_walk
from tests.scene.rigs import assert_same, read_state


def test_poses_are_shown_live_and_all_is_restored() -> None:
    obj = create_rigify_human()
    set_ik_stretch_off(obj)
    rig = match_control_rig(obj)
    assert rig is not None
    clip = retarget_walk(read_deform_skeleton(obj))
    bake_controls(obj, rig, clip.crop(0, 5))
    obj.pose.bones["chest"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    bpy.context.scene.frame_set(3)
    before = read_state(obj)
    driver = ControlDriver(obj, rig)
    driver.take_over()
    heads = clip.compute_world()[1]
    for frame in range(0, 90, 6):
        driver.write(clip.rotations[frame], clip.positions[frame])
        bpy.context.view_layer.update()
        shown = [obj.matrix_world @ obj.pose.bones[name].head for name in clip.skeleton.names]
        away = np.linalg.norm(np.array(shown) - heads[frame], axis=-1)
        assert away.max() < 0.005
    driver.restore()
    bpy.context.view_layer.update()
    assert_same(before, read_state(obj))


def test_the_rate_is_measured_without_a_trace() -> None:
    obj = create_rigify_human()
    rig = match_control_rig(obj)
    assert rig is not None
    before = read_state(obj)
    rate = measure_live_rate(obj, rig)
    assert 1.0 < rate < 10_000.0
    assert_same(before, read_state(obj))

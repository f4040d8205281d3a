"""Poses of helper bones are those that Blender evaluates."""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.scene.blender.id_properties import set_switches
from motion_matching.scene.controls.bake_controls import open_graph
from motion_matching.scene.controls.control_rig import KeyedControls
from motion_matching.scene.controls.finding.find_controls import match_control_rig
from tests.scene.controls.control_rigs import create_rigify_human

HELPERS = (
    *("MCH-thigh_ik_target.L", "MCH-heel.02_roll1.L", "MCH-heel.02_rock1.R", "toe_ik.L"),
    *("MCH-ROT-head", "MCH-pivot", "MCH-spine.001", "MCH-foot_ik.parent.L", "MCH-thigh_parent.R"),
    *("MCH-STR-neck", "MCH-spine.005", "ORG-thigh.L", "DEF-shoulder.R", "MCH-thigh_ik_swing.L"),
)


def test_helpers_of_rigify_are_where_blender_puts_them() -> None:
    rng = np.random.default_rng(4)
    obj = create_rigify_human()
    rig = match_control_rig(obj)
    assert rig is not None
    switches = KeyedControls.choose(rig, "FK", "FK", False).switches
    set_switches(obj, switches)
    obj.pose.bones["torso"]["neck_follow"] = 0.4
    obj.pose.bones["thigh_parent.L"]["IK_Stretch"] = 1.0  # else the leg limits where the foot is
    controls = [*rig.controls, "hips", "chest", "foot_spin_ik.R", "root"]
    for _ in range(3):
        for name in controls:
            bone = obj.pose.bones[name]
            bone.rotation_mode = "QUATERNION" if "heel" not in name else "ZXY"
            turn = quat.from_scaled_angle_axis(0.4 * rng.normal(size=3))
            if "heel" in name:
                bone.rotation_euler = 0.4 * rng.normal(size=3)
            else:
                bone.rotation_quaternion = turn
            if (
                not any(bone.lock_location)
                and not bone.bone.use_connect
                and name in ("torso", "root", "foot_ik.L", "foot_ik.R")
            ):
                bone.location = 0.1 * rng.normal(size=3)
        obj.update_tag()
        bpy.context.view_layer.update()
        graph_switches = [s for s in switches if s.name not in ("neck_follow", "IK_Stretch")]
        with open_graph(obj, graph_switches, frozenset()) as graph:
            for name in HELPERS:
                matrix = np.array(obj.pose.bones[name].matrix, np.float64)
                axes = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
                rotation, position = graph.compute_pose(name)
                np.testing.assert_allclose(position[0], matrix[:3, 3], atol=2e-3, err_msg=name)
                angle = quat.angle_between(rotation[0], quat.from_matrix(axes))
                assert angle < 0.02, name

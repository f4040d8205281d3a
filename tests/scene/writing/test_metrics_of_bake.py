"""A take has the same metrics from its BVH and from its action evaluated on an armature."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.simulation_bone import detach
from motion_matching.engine.takes import takes
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.rig.root_target import RootTarget
from motion_matching.scene.writing.bake import bake
from tests.scene.bodies import evaluate_bones, get_rest_matrices, place_armature


@pytest.mark.slow
@pytest.mark.parametrize("target", ["object", "hips"])
def test_an_action_and_its_bvh_have_the_same_metrics(
    demo_database: Database,
    tmp_path: Path,
    target: str,
) -> None:
    databases.save(demo_database, tmp_path / "walk.npz")
    folder, target = str(tmp_path), RootTarget(target)
    database = databases.load(folder + "/walk.npz")
    settings = takes.make_default_settings(database)
    wanted = takes.prepare_performance(
        database, settings, "flips", gait="walk", seconds=10.0, seed=0
    )
    take = takes.perform(database, settings, wanted)
    scene = bpy.context.scene
    scene.render.fps = round(take.fps)
    skeleton = detach(take.to_clip()).skeleton
    obj = create_armature(skeleton, "Person")
    for bone, mode in zip(
        obj.pose.bones, 20 * ("XYZ", "QUATERNION", "AXIS_ANGLE", "ZXY"), strict=False
    ):
        bone.rotation_mode = mode
    place_armature(obj, location=(2, 1, 0), turn=0.4, y_up=True, scale=0.01)
    rests = get_rest_matrices(obj, skeleton.names)
    bake(take.to_clip(), obj, name="Take", root=target)

    found = evaluate_bones(obj, skeleton.names, 1 + np.arange(take.frame_count)) @ np.linalg.inv(
        rests
    )
    own, heads = skeleton.compute_rest_world()
    rotations = quat.mul(quat.from_matrix(found[..., :3, :3]), own)
    positions = np.einsum("fbij,bj->fbi", found[..., :3, :3], heads) + found[..., :3, 3]
    rotations, positions = quat.ik(rotations, positions, skeleton.parents)
    rotations, positions = quat.unroll(rotations).astype(np.float32), positions.astype(np.float32)
    clip = replace(detach(take.to_clip()), rotations=rotations, positions=positions)
    bvh.save(clip, folder + "/action.bvh")
    reports = takes.report(take, database), takes.report(take, database, folder + "/action.bvh")
    with open(folder + "/reports.json", "w") as file:
        json.dump(reports, file)
    of_bvh, of_action = json.loads((tmp_path / "reports.json").read_text())
    assert of_bvh["sources"] == of_action["sources"]
    assert of_bvh["take"].keys() == of_action["take"].keys()
    assert of_bvh["take"]["response_times"]
    assert of_bvh["take"]["foot_slide_contacts"] > 0
    for name, value in of_bvh["take"].items():
        # accelerations are second differences, so Blender's rounding grows with the square of the
        # rate
        tolerance = 0.05 if "acceleration" in name else 1e-3
        if isinstance(value, float):
            value = pytest.approx(value, abs=tolerance, rel=1e-3)
        assert of_action["take"][name] == value, name

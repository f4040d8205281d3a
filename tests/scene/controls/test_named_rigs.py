"""Presets of rigs that are not shipped: tried on rigs made here, with their published bone names."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import bpy
import numpy as np
import pytest

from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.retargeting.bodies import RetargetBody
from motion_matching.scene.controls.bake_controls import ControlSettings
from motion_matching.scene.controls.check_baked import measure_deviations
from motion_matching.scene.controls.finding.find_controls import (
    match_control_rig,
    read_deform_skeleton,
)
from motion_matching.scene.controls.solve_controls import find_planted
from tests.scene.controls.control_rigs import (
    bake_controls,
    make_walk,
    name_auto_rig_pro,
    name_unreal,
    retarget_walk,
)
from tests.scene.rigs import get_curves


@pytest.mark.parametrize("make", [name_auto_rig_pro, name_unreal])
@pytest.mark.parametrize(("legs", "arms"), [("IK", "FK"), ("FK", "IK")])
def test_a_rig_with_published_names_follows_a_walk(
    make: Callable[[], bpy.types.Object], legs: str, arms: str
) -> None:
    obj = make()
    rig = match_control_rig(obj)
    assert rig is not None
    clip = retarget_walk(read_deform_skeleton(obj)).crop(0, 40)
    bake_controls(obj, rig, clip, ControlSettings(legs=legs, arms=arms))
    cm, degrees = measure_deviations(obj, clip, range(1, 41))
    assert cm.max() < 1.0
    assert degrees.max() < 2.0


def test_feet_without_a_roll_control_have_few_keys_a_step(scene) -> None:
    scene.render.fps = 60
    obj = name_unreal()
    rig = match_control_rig(obj)
    assert rig is not None
    walk = make_walk(60.0, 115)
    onto = RetargetBody(read_deform_skeleton(obj))
    clip = RetargetBody(walk.skeleton, [walk]).make_retargeter(onto).retarget(walk)
    settings = ControlSettings(fewer_keys=True, match_both=False)
    action = bake_controls(obj, rig, clip, settings, start_frame=0)
    cm, degrees = measure_deviations(obj, clip, range(clip.frame_count), 0)
    assert cm.max() < 1.0
    assert degrees.max() < 2.0
    planted = find_planted(rig, clip, 0.005)
    steps = []
    for side in "lr":
        path = f'pose.bones["foot_{side}_ik_ctrl"].location'
        curve = next(c for c in get_curves(action) if c.data_path == path)
        keys = np.array([point.co[0] for point in curve.keyframe_points])
        starts = find_runs(planted[f"leg_{side}"])[:, 0]
        steps += [int(((keys >= a) & (keys < b)).sum()) for a, b in pairwise(starts)]
    assert len(steps) >= 3
    assert np.mean(steps) <= 13  # of about 70 frames each

"""Presets of rigs that are not shipped: tried on rigs made here, with their published bone names."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest

from motion_matching.scene.controls.bake_controls import ControlSettings, bake_controls
from motion_matching.scene.controls.check_baked import measure_deviations
from motion_matching.scene.controls.match import match_control_rig, read_deform_skeleton
from tests.scene.controls.control_rigs import name_auto_rig_pro, name_unreal, retarget_walk


@pytest.mark.parametrize("make", [name_auto_rig_pro, name_unreal])
@pytest.mark.parametrize(("legs", "arms"), [("IK", "FK"), ("FK", "IK")])
def test_a_rig_with_published_names_follows_a_walk(
    make: Callable[[], bpy.types.Object], legs: str, arms: str
) -> None:
    obj = make()
    rig = match_control_rig(obj)
    assert rig is not None
    clip = retarget_walk(read_deform_skeleton(obj)).crop(0, 60)
    bake_controls(obj, rig, clip, ControlSettings(legs=legs, arms=arms))
    cm, degrees = measure_deviations(obj, clip, range(1, 61))
    assert cm.max() < 1.0
    assert degrees.max() < 2.0


def test_feet_without_a_roll_control_have_at_most_ten_keys_a_step() -> None:
    obj = name_unreal()
    rig = match_control_rig(obj)
    assert rig is not None
    clip = retarget_walk(read_deform_skeleton(obj))
    action = bake_controls(obj, rig, clip, ControlSettings(fewer_keys=True, match_both=False))
    cm, _ = measure_deviations(obj, clip, range(1, clip.frame_count + 1))
    assert cm.max() < 1.0
    print(action.name)

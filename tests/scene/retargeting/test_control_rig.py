"""Motion onto a control rig: its controls get the keys, and its deform bones do what is wanted."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
import pytest

from motion_matching.engine.errors import RigError
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.controls.bake_controls import ControlSettings
from motion_matching.scene.retargeting import onto, sources
from motion_matching.scene.retargeting.transfer import RetargetRequest
from motion_matching.scene.retargeting.writing import WriteOptions
from tests.scene.retargeting.armatures import add_walker
from tests.scene.rigify import create_rigify_rig
from tests.scene.rigs import read_state


@pytest.mark.parametrize(("legs", "most"), [("FK", 0.002), ("IK", 0.03)])
def test_deform_bones_of_rigify_follow_the_controls(legs, most):
    obj, action = add_walker(frames=30)
    rig = create_rigify_rig("basic_human")
    rig.location, rig.rotation_euler.z = (3.0, 1.0, 0.5), radians(40)
    bpy.context.view_layer.update()
    motions = sources.read_actions(obj, [action])
    options = WriteOptions(controls=ControlSettings(legs=legs))
    [made], done = onto.retarget_onto(rig, motions, RetargetRequest(), options)
    assert (made.name, made.use_fake_user) == ("walk rig", True)
    curves = actions.get_active_curves(made, actions.find_slot(made, rig))
    keyed = actions.find_moved_bones(curves)
    assert "torso" in keyed
    assert not [name for name in keyed if name.startswith(("DEF-", "MCH-", "ORG-"))]
    [(_, wanted)] = done.pairs
    [shown] = sources.read_actions(rig, [made], bones="deform")
    names = sorted(done.mapped_bones)
    heads = [
        clip.compute_world()[1][:, [clip.skeleton.index(name) for name in names]]
        for clip in (wanted, shown.clip)
    ]
    away = np.linalg.norm(heads[0] - heads[1], axis=-1)
    worst = names[int(away.max(axis=0).argmax())]
    assert away.max() < most, (worst, away.max())


def test_all_bones_of_a_control_rig_are_refused_for_their_constraints():
    obj, action = add_walker(frames=5)
    rig = create_rigify_rig("basic_human")
    motions = sources.read_actions(obj, [action])
    before = read_state(rig)["actions"]
    with pytest.raises(RigError, match=r"'rig'"):
        onto.retarget_onto(rig, motions, RetargetRequest(), bones="all")
    assert read_state(rig)["actions"] == before

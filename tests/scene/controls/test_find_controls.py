"""Controls of rigs that no preset knows, found by trying them."""

from __future__ import annotations

import pytest

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.errors import RigError
from motion_matching.scene.controls.check_baked import measure_deviations
from motion_matching.scene.controls.finding.find_controls import (
    find_controls,
    match_control_rig,
    read_deform_skeleton,
)
from motion_matching.scene.rig.armature import create_armature
from tests.scene.controls.control_rigs import (
    bake_controls,
    create_rigify_human,
    name_studio,
    retarget_walk,
)
from tests.scene.rigs import create_rigify_armature, read_state


def test_controls_of_rigify_are_found_without_its_preset() -> None:
    obj = create_rigify_human()
    before = read_state(obj)
    found, known = find_controls(obj), match_control_rig(obj)
    assert read_state(obj) == before
    assert known is not None
    pairs = {**known.follow}
    for limb in known.limbs:
        pairs |= dict(zip(limb.fk, limb.bones, strict=True))
    own = {**found.place, **found.follow}
    assert sum(own.get(control) == bone for control, bone in pairs.items()) >= len(pairs) - 2
    assert {s.name for s in found.switches} == {"IK_FK"}
    assert any("IK_FK" in sentence for sentence in found.found)
    assert any("No IK is certain" in sentence for sentence in found.found)
    clip = retarget_walk(read_deform_skeleton(obj)).crop(0, 40)
    bake_controls(obj, found, clip)
    cm, degrees = measure_deviations(obj, clip, range(1, 41))
    assert cm.max() < 1.0
    limbs = [i for i, name in enumerate(clip.skeleton.names) if "spine" not in name]
    assert degrees[:, limbs].max() < 0.5


def test_ik_is_taken_where_its_constraint_and_a_trial_agree() -> None:
    obj = name_studio()
    assert match_control_rig(obj) is None
    rig = find_controls(obj)
    assert {limb.ik: limb.pole for limb in rig.limbs} == {
        "LeftStep": "LeftKnee",
        "RightStep": "RightKnee",
    }
    assert {limb.kind for limb in rig.limbs} == {"leg"}
    assert [s.name for limb in rig.limbs for s in limb.switches["ik"]] == ["follow_floor"] * 2
    clip = retarget_walk(read_deform_skeleton(obj)).crop(0, 40)
    bake_controls(obj, rig, clip)
    assert obj.pose.bones["LeftStep"]["follow_floor"] == 1.0
    cm, _ = measure_deviations(obj, clip, range(1, 41))
    assert cm.max() < 1.0


def test_plain_fk_controls_are_found_by_what_follows_them() -> None:
    obj = create_rigify_armature()
    rig = find_controls(obj)
    own = {**rig.place, **rig.follow}
    names = build_humanoid_skeleton().names
    assert sum(own.get(name) == f"DEF-{name}" for name in names) >= len(names) - 1
    clip = retarget_walk(read_deform_skeleton(obj)).crop(0, 20)
    bake_controls(obj, rig, clip)
    cm, _ = measure_deviations(obj, clip, range(1, 21))
    assert cm.max() < 1.0


def test_an_armature_whose_bones_nothing_moves_is_refused() -> None:
    obj = create_armature(build_humanoid_skeleton(), "Fixed")
    for bone in obj.pose.bones:
        bone.lock_rotation = (True, True, True)
    with pytest.raises(RigError, match="no control of armature 'Fixed'"):
        find_controls(obj)

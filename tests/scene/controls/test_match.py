"""Which preset describes a rig, and what a preset may hold."""

from __future__ import annotations

import json

import pytest

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.errors import RigError, SettingsError
from motion_matching.engine.files import presets
from motion_matching.scene.controls.control_rig import ControlRig
from motion_matching.scene.controls.finding.find_controls import (
    match_control_rig,
    read_deform_skeleton,
)
from motion_matching.scene.rig.armature import create_armature
from tests.scene.controls.control_rigs import create_rigify_human, name_auto_rig_pro, name_unreal
from tests.scene.rigs import edit_bones


def test_every_preset_can_be_read_and_names_limbs_of_both_sides() -> None:
    for name in presets.list_names("controls"):
        rig = ControlRig.from_preset(name)
        assert [limb.kind for limb in rig.limbs] == ["leg", "leg", "arm", "arm"]
        assert all(limb.has_ik for limb in rig.limbs)
        assert len(set(rig.controls)) == len(rig.controls)


def test_rigs_are_known_by_their_controls() -> None:
    matched = [
        match_control_rig(make()) for make in (create_rigify_human, name_auto_rig_pro, name_unreal)
    ]
    assert [rig and rig.preset for rig in matched] == [
        "rigify_basic_human",
        "auto_rig_pro",
        "unreal_mannequin",
    ]
    assert match_control_rig(create_armature(build_humanoid_skeleton(), "Plain")) is None


def test_a_known_rig_without_a_control_that_it_needs_says_which() -> None:
    obj = create_rigify_human()
    edit_bones(obj, lambda bones: bones.remove(bones["shin_fk.L"]))
    with pytest.raises(RigError, match=r"has no 'shin_fk\.L'"):
        match_control_rig(obj)


def test_what_is_optional_may_be_missing() -> None:
    obj = create_rigify_human()
    edit_bones(obj, lambda bones: bones.remove(bones["breast.L"]))
    rig = match_control_rig(obj)
    assert rig is not None
    assert "breast.L" not in rig.controls
    assert "breast.R" in rig.controls


def test_deform_bones_that_hang_on_none_get_the_parents_that_a_preset_names() -> None:
    skeleton = read_deform_skeleton(name_auto_rig_pro())
    above = dict(skeleton.get_hierarchy())
    assert above["leg_stretch.l"] == "thigh_stretch.l"
    assert above["neck.x"] == "spine_03.x"
    assert above["root.x"] in ("", "root")
    assert min(skeleton.compute_rest_world()[1][:, 2]) >= -1e-6


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"limbs": [{"name": "leg", "kind": "wing", "fk": ["a"], "bones": ["b"]}]}, "kind"),
        ({"switches": [["torso", "follow"]]}, "a list of 3"),
        ({"handles": []}, "unknown entry 'handles'"),
        ({"place": {}}, "at least one control"),
    ],
)
def test_a_preset_that_makes_no_sense_is_refused(tmp_path, change, sentence) -> None:
    preset = {"label": "Mine", "sides": ["L"], "needs": ["torso"], "place": {"torso": "hips"}}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(preset | change))
    with pytest.raises(SettingsError, match=sentence):
        ControlRig.from_preset(str(path))


def test_an_own_preset_extends_a_shipped_one(tmp_path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(
        json.dumps(
            {"extends": "rigify_basic_human", "label": "Mine", "follow": {"tail": "DEF-tail"}}
        )
    )
    rig = ControlRig.from_preset(str(path))
    assert rig.label == "Mine"
    assert rig.follow["tail"] == "DEF-tail"
    assert rig.follow["neck"] == "DEF-spine.004"

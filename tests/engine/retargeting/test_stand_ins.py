"""The same motion on skeletons that exporters build otherwise comes out the same, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from motion_matching.engine.body.rig import find_roles
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.bodies import RetargetBody
from motion_matching.engine.retargeting.pairs.bone_mapping import BoneMapping
from motion_matching.engine.sources.sources import Source
from tests.demo import generate_clips
from tests.engine import stand_ins
from tests.engine.stand_ins import SIDES

SEGMENTS = (("UpLeg", "Leg"), ("Leg", "Foot"), ("Arm", "ForeArm"), ("ForeArm", "Hand"))
EXACT, SWINGING = 0.1, 3.0  # degrees; a centre that swings moves the spine by two centimetres
CENTRES = {
    "COG": ("COG", "Pelvis", "Spine"),
    "Root": ("Root", "Hips", "Spine"),
    "3ds Max": ("Bip01", "Bip01 Pelvis", "Bip01 Spine"),
    "Maya": ("cog_jnt", "pelvis_jnt", "spine_01_jnt"),
    "Daz": ("hip", "pelvis", "abdomenLower"),
    "MMD": ("center", "lower_body", "upper_body"),
    "hips twice": ("Hips", "Pelvis", "Spine"),
    "no words": ("main", "carrier", "bend"),
}
Names = dict[str, str]


@cache
def make_base() -> Clip:
    """Ten seconds of standing, walking and running."""
    return next(c for c in generate_clips() if c.name == "gait_changes").crop(0, 300)


def measure_ways(clip: Clip, names: Mapping[str, str]) -> np.ndarray:
    """Return the unit ways (F, N, 3) along limbs and spine; `names` are by the base's."""
    places = clip.compute_world()[1].astype(np.float64)
    pairs = [(side + upper, side + lower) for side in SIDES for upper, lower in SEGMENTS]
    ways = [
        places[:, clip.skeleton.index(names.get(lower, lower))]
        - places[:, clip.skeleton.index(names.get(upper, upper))]
        for upper, lower in [*pairs, ("Spine", "Neck")]
    ]
    return quat.normalize_vectors(np.stack(ways, axis=1))


def measure_tears(clip: Clip, names: Mapping[str, str]) -> float:
    """Return by how many metres the way from the hip joints to the spine changes its length."""
    places = clip.compute_world()[1].astype(np.float64)
    thighs = [clip.skeleton.index(names.get(n, n)) for n in ("LeftUpLeg", "RightUpLeg")]
    spine = clip.skeleton.index(names.get("Spine", "Spine"))
    ways = places[:, spine] - places[:, thighs].mean(axis=1)
    return float(np.ptp(np.linalg.norm(ways, axis=-1)))


def retarget_both_ways(
    clip: Clip, names: Mapping[str, str]
) -> tuple[tuple[float, float], tuple[BoneMapping, BoneMapping]]:
    """Return how many degrees a stand-in is off the base at most as target and as source."""
    base = make_base()
    off, mappings = [], []
    for ours, theirs, our_names, their_names in ((base, clip, {}, names), (clip, base, names, {})):
        source = RetargetBody(ours.skeleton, [ours])
        target = RetargetBody(theirs.skeleton)
        moved = source.make_retargeter(target).retarget(ours)
        ways = measure_ways(ours, our_names), measure_ways(moved, their_names)
        chords = np.linalg.norm(ways[0] - ways[1], axis=-1)
        off.append(float(np.degrees(2.0 * np.arcsin(0.5 * chords)).max()))
        mappings.append(source.pair_bones(target))
        assert measure_tears(moved, their_names) < 0.04
    return (off[0], off[1]), (mappings[0], mappings[1])


def assert_same(clip: Clip, names: Mapping[str, str], most: float = EXACT) -> None:
    """Assert that motion is the same on and from a stand-in, and that all parts are mapped."""
    off, mappings = retarget_both_ways(clip, names)
    assert max(off) < most
    for mapping in mappings:
        assert not mapping.needs_help
        lacking = {pair.role for pair in mapping.pairs if not (pair.source and pair.target)}
        assert lacking <= {"root"}
        assert mapping.mapped_count >= 20


def test_the_stand_ins_move_as_the_base_does() -> None:
    base = make_base()
    others = (
        stand_ins.insert_hip_joints(base, ("LHipJoint", "RHipJoint")),
        stand_ins.put_on_ground_root(base, "Reference"),
        stand_ins.add_fingers(base),
        stand_ins.lay_rest_along_x(base),
        stand_ins.put_centre_above(base, "COG", "Hips"),
    )
    places = base.compute_world()[1]
    for other in others:
        bones = [other.skeleton.index(name) for name in base.skeleton.names]
        assert np.allclose(other.compute_world()[1][:, bones], places, atol=1e-4)


@pytest.mark.parametrize("name", CENTRES)
@pytest.mark.parametrize("swing", [0.0, 20.0])
def test_a_centre_carries_legs_and_trunk(name: str, swing: float) -> None:
    centre, pelvis, spine = CENTRES[name]
    clip = stand_ins.put_centre_above(make_base(), centre, pelvis, spine, swing=swing)
    assert_same(clip, {"Spine": spine}, SWINGING if swing else EXACT)
    roles = RetargetBody(clip.skeleton, [clip]).roles.to_names(clip.skeleton)
    assert roles["hips"] == [centre, pelvis]


def test_a_centre_below_roots_on_the_ground_carries_legs_and_trunk() -> None:
    clip = stand_ins.put_centre_above(make_base(), "COG", "Hips", swing=20.0)
    clip = stand_ins.put_on_ground_root(stand_ins.put_on_ground_root(clip, "Reference"), "World")
    assert_same(clip, {}, SWINGING)
    assert find_roles(clip.skeleton, [clip]).to_names(clip.skeleton)["hips"] == "COG"


def test_a_root_that_stays_behind_is_no_part_of_a_database_s_body() -> None:
    """Pelvis and spine move on it side by side; motion still stays together on other bodies."""
    clip = stand_ins.put_on_ground_root(make_base(), "Root")
    joints = stand_ins.list_joints(clip)
    joints["Spine"] = stand_ins.replace(joints["Spine"], parent="Root", moves=True)
    paths = {name: stand_ins.find_path(clip, name) for name in ("Root", "Hips", "Spine")}
    clip = stand_ins.build_clip(clip, joints, paths)
    assert_same(clip, {}, 0.5)
    assert find_roles(clip.skeleton, [clip]).to_names(clip.skeleton)["hips"] == "Hips"


def test_a_database_of_a_skeleton_with_a_centre_keeps_pelvis_and_spine_together() -> None:
    cut = stand_ins.put_centre_above(make_base(), "COG", "Pelvis")
    sources = [Source(clip=cut), Source(clip=cut.crop(0, 200)), Source(clip=make_base())]
    database = build(sources, BuildSettings())[0]
    skeleton = database.skeleton
    bones = [skeleton.index("Pelvis"), skeleton.index("Spine")]
    places = skeleton.compute_bone_positions(bones, database.poses)
    apart = np.linalg.norm(places[:, 0] - places[:, 1], axis=-1)
    assert database.frame_count > 700
    assert np.allclose(apart, 0.1, atol=1e-3)


def test_legs_that_hang_on_a_spine_below_the_pelvis_stay_on_it() -> None:
    """The pelvis is above the fork of legs and trunk, as Biped's is with its triangle."""
    clip = stand_ins.insert_joint(make_base(), "Spine", "Bip01 Spine")
    joints = stand_ins.list_joints(clip)
    for side in SIDES:
        joints[f"{side}UpLeg"] = stand_ins.replace(joints[f"{side}UpLeg"], parent="Bip01 Spine")
    paths = {"Hips": stand_ins.find_path(clip, "Hips")}
    clip = stand_ins.rename(stand_ins.build_clip(clip, joints, paths), {"Hips": "Bip01 Pelvis"})
    assert_same(clip, {})
    roles = RetargetBody(clip.skeleton, [clip]).roles.to_names(clip.skeleton)
    assert roles["hips"] == ["Bip01 Pelvis", "Bip01 Spine"]


HELPERS = {
    "HipJoint before Hip": (
        ("LHipJoint", "RHipJoint"),
        {"UpLeg": "{}Hip", "Leg": "{}Knee", "Foot": "{}Ankle"},
        SIDES,
    ),
    "prefix": (
        ("__UpLeg_L", "__UpLeg_R"),
        {"UpLeg": "UpLeg_{}", "Leg": "LoLeg_{}", "Foot": "Foot_{}"},
        "LR",
    ),
    "virtual": (("LeftUpLeg_virtual", "RightUpLeg_virtual"), {}, SIDES),
    "HipJoint before UpLeg": (("LHipJoint", "RHipJoint"), {}, SIDES),
    "Hip before Leg": (("LeftHip", "RightHip"), {"UpLeg": "{}Leg", "Leg": "{}Shin"}, SIDES),
    "two hips": (
        ("hip_l", "hip_r"),
        {"UpLeg": "hip2_{}", "Leg": "knee_{}", "Foot": "ankle_{}"},
        "lr",
    ),
    "buttock": (("lButtock", "rButtock"), {"UpLeg": "{}Thigh", "Leg": "{}Shin"}, "lr"),
}


@pytest.mark.parametrize("name", HELPERS)
@pytest.mark.parametrize("at_thigh", [False, True])
def test_the_thigh_is_the_joint_that_a_thigh_starts_with(name: str, at_thigh: bool) -> None:
    joints, words, sides = HELPERS[name]
    clip = stand_ins.insert_hip_joints(make_base(), joints, at_thigh=at_thigh)
    clip = stand_ins.rename_sides(clip, words, sides)
    names = {
        side + old: new.format(word)
        for side, word in zip(SIDES, sides, strict=True)
        for old, new in words.items()
    }
    assert_same(clip, names)
    found = find_roles(clip.skeleton, [clip]).to_names(clip.skeleton)
    assert found["left_thigh"] == names.get("LeftUpLeg", "LeftUpLeg")


@pytest.mark.parametrize("at_child", [False, True])
def test_limbs_whose_joints_all_have_a_copy_before_them_move_the_same(at_child: bool) -> None:
    clip = make_base()
    for side in SIDES:
        for part in ("Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot"):
            name = f"{side}{part}"
            clip = stand_ins.insert_joint(clip, name, f"__{name}", at_child=at_child)
    assert_same(clip, {})


def test_split_thighs_start_at_the_hip_whatever_the_rest_pose() -> None:
    """Two bones of one name on the way to the knee are pieces, not a helper and a thigh."""
    clip = make_base()
    joints = stand_ins.list_joints(clip)
    for side in SIDES:
        thigh, shin = joints[f"{side}UpLeg"], joints[f"{side}Leg"]
        middle = 0.5 * (thigh.place + shin.place)
        joints[f"{side}UpLeg2"] = stand_ins.replace(thigh, parent=f"{side}UpLeg", place=middle)
        joints[f"{side}Leg"] = stand_ins.replace(shin, parent=f"{side}UpLeg2")
    clip = stand_ins.build_clip(clip, joints, {"Hips": stand_ins.find_path(clip, "Hips")})
    for each in (clip, stand_ins.lay_rest_along_x(clip)):
        roles = RetargetBody(each.skeleton, [each]).roles.to_names(each.skeleton)
        assert roles["left_thigh"] == ["LeftUpLeg", "LeftUpLeg2"]

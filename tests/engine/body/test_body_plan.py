"""Bones that make no body are told by part and name, and missing parts are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.body.body_plan import BodyPlan, check_body_plan
from motion_matching.engine.body.body_roles import BodyRoles, find_body_roles
from motion_matching.engine.body.mirror import mirror
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.bodies import RetargetBody
from motion_matching.engine.retargeting.pairs.bone_mapping import map_bones
from motion_matching.engine.skeleton.bone_names import swap_sides
from tests.demo import generate_clips
from tests.engine import animals, characters, creatures, named_rigs, rigs, stand_ins
from tests.engine.stand_in_poses import POSES, hold_pose


@pytest.fixture(scope="module")
def walk() -> Clip:
    return next(c for c in generate_clips() if c.name == "gait_changes").crop(0, 120)


def check(clip: Clip, changes: Mapping[str, str | list[str]]) -> BodyPlan:
    """Check a clip's body whose roles are found, but for some that are changed by name."""
    skeleton = clip.skeleton
    names = find_body_roles(skeleton, [clip]).to_names(skeleton) | dict(changes)
    return check_body_plan(skeleton, BodyRoles.from_names(skeleton, names), [clip])


def list_whole_bodies() -> list[Clip]:
    clips = [rigs.make_walk(name) for name in rigs.NAMINGS]
    clips += [motion.clip for motion in animals.make_dog_motions()[:1]]
    clips += [creatures.make_creature(bones) for bones in (creatures.CRAB, creatures.NO_PAWS)]
    return clips


@pytest.mark.slow
def test_whole_bodies_have_no_faults_and_lack_nothing() -> None:
    for clip in list_whole_bodies():
        roles = find_body_roles(clip.skeleton, [clip])
        assert check_body_plan(clip.skeleton, roles, [clip]) == BodyPlan()
    made = [named_rigs.make_named(name) for name in named_rigs.NAMES]
    made += [make() for make in (*characters.TARGETS.values(), characters.make_quadruped)]
    for character in made:
        roles = find_body_roles(character.skeleton)
        assert check_body_plan(character.skeleton, roles) == BodyPlan()


def test_hips_that_carry_the_legs_alone_are_told(walk: Clip) -> None:
    clip = stand_ins.put_centre_above(walk, "COG", "Pelvis")
    plan = check(clip, {"hips": "Pelvis"})
    assert {fault.role for fault in plan.faults} >= {"hips", "spine", "left_upper_arm"}
    fork = next(fault for fault in plan.faults if fault.role == "hips")
    assert fork.bones == ("Pelvis", "COG")


@pytest.mark.parametrize("at_thigh", [False, True])
def test_a_thigh_in_the_middle_of_the_hips_is_told(walk: Clip, at_thigh: bool) -> None:
    joints = ("LHipJoint", "RHipJoint")
    clip = stand_ins.insert_hip_joints(walk, joints, at_thigh=at_thigh)
    plan = check(clip, {"left_thigh": "LHipJoint", "right_thigh": "RHipJoint"})
    assert bool(plan.faults) != at_thigh  # there it lies where a thigh does
    if plan.faults:
        assert plan.faults[0].bones == joints
    one = check(clip, {"left_thigh": "LHipJoint"})
    assert any("LHipJoint" in fault.bones for fault in one.faults) != at_thigh


def test_a_head_on_a_limb_is_told(walk: Clip) -> None:
    clip = creatures.make_creature(creatures.CRAB)
    plan = check(clip, {"spine": ["Claw_R_1", "Claw_R_2"], "head": "Claw_R_3"})
    assert [fault.role for fault in plan.faults] == ["spine", "head"]
    # where names tell no side, its place does
    plan = check(rigs.rename_bones(walk), {"head": "b9", "left_hand": ""})
    assert any(fault.role == "head" for fault in plan.faults)


def turn_about(clip: Clip, degrees: float) -> Clip:
    turn = quat.from_angle_axis(np.radians(degrees), np.array([0.0, 0.0, 1.0]))
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0] = quat.mul_vec(turn, positions[:, 0])
    rotations[:, 0] = quat.mul(turn, rotations[:, 0])
    return replace(clip, positions=positions, rotations=rotations)


def swap_names(clip: Clip) -> Clip:
    """Swap the names of left and right."""
    names = tuple(map(swap_sides, clip.skeleton.names))
    return replace(clip, skeleton=clip.skeleton.with_names(names))


@pytest.mark.parametrize("degrees", [0.0, 90.0, 180.0])
def test_names_of_the_wrong_side_are_told_wherever_the_body_faces(
    walk: Clip, degrees: float
) -> None:
    turned = turn_about(walk, degrees)
    assert not check(turned, {}).faults
    for clips in ([turned], []):
        swapped = swap_names(turned)
        roles = find_body_roles(swapped.skeleton, clips)
        plan = check_body_plan(swapped.skeleton, roles, clips)
        assert [fault.bones for fault in plan.faults] == [
            ("LeftUpLeg", "RightUpLeg"),
            ("LeftArm", "RightArm"),
        ]
        assert "'LeftUpLeg' is on the right of the body" in plan.describe("The source 'walk'")[0]


def test_mirror_images_and_bodies_that_kneel_or_walk_back_are_on_their_sides(walk: Clip) -> None:
    clips = [mirror(walk), *(hold_pose(walk, pose) for pose in POSES)]
    names = "backwards_and_diagonals", "strafes", "walk_pivots"
    clips += [clip for clip in generate_clips() if clip.name in names]
    for clip in clips:
        assert not check(clip, {}).faults, clip.name


def test_segments_of_impossible_lengths_are_told_unless_they_were_given(walk: Clip) -> None:
    shin = walk.skeleton.index("LeftLeg")
    positions, rest = walk.positions.copy(), walk.skeleton.rest_positions.copy()
    positions[:, shin] *= 0.2
    rest[shin] *= 0.2
    short = replace(walk, positions=positions, skeleton=replace(walk.skeleton, rest_positions=rest))
    plan = check(short, {})
    assert {fault.role for fault in plan.faults} == {"left_thigh"}
    assert plan.faults[0].bones == ("LeftUpLeg", "RightUpLeg")
    given = {"left_thigh": "LeftUpLeg", "left_shin": "LeftLeg"}
    assert not RetargetBody(short.skeleton, [short], given).plan.faults
    point = replace(walk, positions=np.zeros_like(walk.positions))
    assert "left_thigh" in {fault.role for fault in check(point, {}).faults}


def test_a_body_is_judged_alike_at_any_size_and_wherever_it_stands(walk: Clip) -> None:
    clip = stand_ins.insert_hip_joints(walk, ("LHipJoint", "RHipJoint"))
    wrong = {"left_thigh": "LHipJoint", "right_thigh": "RHipJoint"}
    first = [fault.role for fault in check(clip, wrong).faults]
    for factor in (0.01, 100.0):
        skeleton = clip.skeleton
        scaled = replace(
            clip,
            positions=factor * clip.positions + np.float32(0.0),
            skeleton=replace(skeleton, rest_positions=factor * skeleton.rest_positions),
        )
        assert [fault.role for fault in check(scaled, wrong).faults] == first


def test_faults_need_help_and_say_whose_part_and_bones(walk: Clip) -> None:
    clip = stand_ins.insert_hip_joints(walk, ("LHipJoint", "RHipJoint"))
    given = {"left_thigh": "LHipJoint", "right_thigh": "RHipJoint"}
    good = RetargetBody(walk.skeleton, [walk], who="'Hero'")
    bad = RetargetBody(clip.skeleton, [clip], given, who="The source 'walk'")
    for mapping, who in ((bad.pair_bones(good), "walk"), (good.pair_bones(bad), "walk")):
        assert mapping.needs_help
        (problem,) = mapping.problems
        assert problem.endswith(".")
        assert "\n" not in problem
        for word in (who, "left thigh", "LHipJoint", "RHipJoint"):
            assert word in problem
    mapping = map_bones(clip.skeleton, walk.skeleton, [clip], (), given)
    assert mapping.needs_help
    assert not good.pair_bones(good).needs_help


def test_parts_that_a_source_should_have_are_counted(walk: Clip) -> None:
    """Arms that were not found are missing from the source, and are no reason to count less."""
    skeleton = walk.skeleton
    found = find_body_roles(skeleton, [walk])
    for lost in (("left_",), ("left_", "right_")):
        chains = {
            role: chain
            for role, chain in found.chains.items()
            if not (role.startswith(lost) and role.endswith(("arm", "hand", "collar")))
        }
        roles = BodyRoles(chains, dict.fromkeys(chains, 1.0))
        missing = check_body_plan(skeleton, roles, [walk]).missing
        assert set(missing) == set(found.chains) - set(chains)
    body = RetargetBody(skeleton, [walk])
    body.__dict__["roles"] = roles
    mapping = body.pair_bones(RetargetBody(skeleton, [walk]))
    assert (mapping.mapped_count, mapping.total) == (len(chains), len(found.chains))
    lacking = [pair for pair in mapping.pairs if not pair.source]
    assert {pair.role for pair in lacking} == set(missing)
    assert all(pair.target for pair in lacking)


def test_parts_that_were_given_as_none_are_not_missing(walk: Clip) -> None:
    body = RetargetBody(walk.skeleton, [walk], {"left_hand": "", "neck": ""})
    assert body.plan.missing == ()
    assert "left_hand" not in body.roles.chains
    mapping = map_bones(
        walk.skeleton, walk.skeleton, [walk], source_overrides={"left_thigh": "", "left_shin": ""}
    )
    assert mapping.doubtful == ("left_thigh", "left_shin")

"""Motion that is right passes the check of results however its skeleton is written; faults do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import BodyRoles, find_body_roles
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.bodies import RetargetBody
from motion_matching.engine.retargeting.result.result_check import (
    ResultCheck,
    check_result,
    find_tear,
)
from motion_matching.engine.retargeting.result.result_measure import SeenBody
from motion_matching.engine.retargeting.retarget import Retargeter
from motion_matching.engine.retargeting.settings import RetargetSettings
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips
from tests.engine.animals import make_dog_motions
from tests.engine.characters import DOG_ROLES, FINGERS, HUMANOID_ROLES, SIDES, make_mixamo
from tests.engine.creatures import NO_PAWS, make_creature
from tests.engine.stand_in_poses import POSES, hold_pose, stand_on_tiptoe
from tests.engine.stand_ins import (
    add_fingers,
    lay_rest_along_x,
    put_centre_above,
    put_on_ground_root,
)

FINGER_ROLES = {
    f"{side}_{finger}": tuple(f"{side.title()}Hand{finger.title()}{bone}" for bone in (1, 2, 3))
    for side in SIDES
    for finger in FINGERS
}


@pytest.fixture(scope="module")
def walk() -> Clip:
    return generate_clips()[3].crop(0, 240)


def see(skeleton: Skeleton, *clips: Clip, **roles: tuple[str, ...]) -> SeenBody:
    """Return a body with its true parts."""
    named = {**HUMANOID_ROLES, **FINGER_ROLES, **roles}
    chains = {
        role: tuple(skeleton.index(name) for name in names)
        for role, names in named.items()
        if set(names) <= set(skeleton.names)
    }
    return SeenBody.from_clips(skeleton, BodyRoles(chains, dict.fromkeys(chains, 1.0)), clips)


def check(source: Clip, result: Clip) -> ResultCheck:
    bodies = see(source.skeleton, source), see(result.skeleton)
    return check_result(*bodies, source, result, RetargetSettings())


def turn(clip: Clip, name: str, degrees: float, axis: tuple[float, float, float]) -> Clip:
    """Return a clip in which a bone, and what hangs on it, is turned about an axis of its own."""
    rotations, bone = clip.rotations.copy(), clip.skeleton.index(name)
    added = quat.from_angle_axis(np.radians(degrees), np.array(axis))
    rotations[:, bone] = quat.mul(rotations[:, bone].astype(np.float64), added)
    return replace(clip, rotations=rotations)


def find_worst(found: ResultCheck) -> float:
    """Return the largest share of a limit that is used."""
    return max(figure.excess for figure in found.figures)


def test_a_rest_pose_that_says_nothing_is_no_fault(walk: Clip):
    assert find_worst(check(lay_rest_along_x(walk), walk)) < 0.1


def test_units_are_no_fault(walk: Clip):
    rest = replace(walk.skeleton, rest_positions=100.0 * walk.skeleton.rest_positions)
    large = replace(walk, skeleton=rest, positions=100.0 * walk.positions)
    assert find_worst(check(walk, large)) < 0.01


@pytest.mark.parametrize("pose", POSES)
def test_soles_are_judged_of_a_body_that_never_stands(walk: Clip, pose: str):
    held = hold_pose(walk, pose)
    laid = lay_rest_along_x(held)
    right = check(laid, held)
    assert not right.is_wrong, right.describe()
    over = turn(turn(held, "LeftFoot", 165, (0, 1, 0)), "RightFoot", -165, (0, 1, 0))
    wrong = check(laid, over)
    assert wrong.role.endswith("foot"), wrong.describe()


def test_a_heel_that_never_comes_down_is_judged_by_the_other_foot(walk: Clip):
    raised = stand_on_tiptoe(walk, 34.0)
    laid = lay_rest_along_x(raised)
    assert not check(laid, raised).is_wrong
    wrong = check(laid, turn(raised, "RightFoot", -34, (1, 0, 0)))
    assert (wrong.role, wrong.wrong[0].kind) == ("right_foot", "pitch")


@pytest.mark.parametrize(
    ("name", "axis", "degrees", "role", "kind"),
    [
        ("LeftFoot", (0, 1, 0), 10, "left_foot", "roll"),
        ("RightFoot", (0, 0, 1), 10, "right_foot", "yaw"),
        ("LeftToe", (1, 0, 0), 10, "left_toe", "pitch"),
        ("LeftLeg", (1, 0, 0), 7, "left_shin", "direction"),
        ("RightArm", (0, 1, 0), 7, "right_upper_arm", "direction"),
        ("LeftHandIndex2", (0, 1, 0), 15, "left_index", "direction"),
        ("RightHand", (1, 0, 0), 10, "right_hand", "roll"),
        ("LeftHand", (0, 1, 0), -10, "left_hand", "pitch"),
        ("Spine", (1, 0, 0), 20, "spine", "lean"),
    ],
)
def test_a_part_beyond_its_limit_is_named(walk: Clip, name, axis, degrees, role, kind):
    source = add_fingers(walk)
    assert find_worst(check(source, source)) < 0.01
    found = check(source, turn(source, name, degrees, axis))
    assert (found.role, found.wrong[0].kind) == (role, kind)
    assert f"the {kind} of the {role.replace('_', ' ')} is off by" in found.describe()


@pytest.mark.parametrize("degrees", [4, -4])
def test_what_is_off_by_less_than_all_limits_passes(walk: Clip, degrees: float):
    source = add_fingers(walk)
    for name in ("LeftLeg", "RightForeArm", "LeftFoot", "RightToe", "LeftHandRing1", "Spine"):
        assert not check(source, turn(source, name, degrees, (1, 0, 0))).is_wrong, name


@pytest.mark.parametrize("bend", [(0.0, 15.0, 0.0), (0.0, 0.0, -15.0), (10.0, -12.0, 5.0)])
def test_an_elbow_that_rests_bent_turns_no_palm(walk: Clip, bend: tuple[float, float, float]):
    skeleton, character = walk.skeleton, make_mixamo()
    turns = skeleton.rest_rotations.copy()
    for name, mirror in (("LeftForeArm", (1, 1, 1)), ("RightForeArm", (1, -1, -1))):
        angles = np.radians(np.array(bend) * mirror)
        turns[skeleton.index(name)] = quat.from_scaled_angle_axis(angles)
    bent = replace(skeleton, rest_rotations=turns.astype(np.float32))
    roles = find_body_roles(character.skeleton)
    target = Anatomy.from_clips(character.skeleton, roles)
    clip = replace(walk, skeleton=bent)
    moved = Retargeter(Anatomy.from_clips(bent, find_body_roles(bent), [clip]), target).retarget(
        clip
    )
    bodies = see(bent), SeenBody.from_clips(character.skeleton, roles)
    found = check_result(*bodies, clip, moved, RetargetSettings())
    assert max(f.p95 for f in found.figures if f.role.endswith("hand")) < 1.0


def test_a_leg_that_is_shorter_than_the_other_may_bend_less(walk: Clip):
    raised, character = stand_on_tiptoe(walk, 30.0), make_mixamo()
    roles = find_body_roles(character.skeleton)
    source = Anatomy.from_clips(raised.skeleton, find_body_roles(raised.skeleton), [raised])
    target = Anatomy.from_clips(character.skeleton, roles)
    moved = Retargeter(source, target).retarget(raised)
    bodies = see(raised.skeleton), SeenBody.from_clips(character.skeleton, roles)
    found = check_result(*bodies, raised, moved, RetargetSettings())
    assert not found.is_wrong, found.describe()
    # and no leg may that is as long
    assert check(walk, turn(walk, "RightUpLeg", 7.0, (1, 0, 0))).is_wrong


def test_trunks_of_animals_are_judged_but_for_how_steep_they_are():
    clip = make_dog_motions()[0].clip
    roles = find_body_roles(clip.skeleton, [clip], DOG_ROLES)
    assert roles.four_legged
    body = SeenBody.from_clips(clip.skeleton, roles, [clip])
    spine = roles.chains["spine"][0]
    leans = {}
    for name, axis in (("aside", (0, 0, 1)), ("up", (1, 0, 0))):
        rotations = clip.rotations.copy()
        aside = quat.from_angle_axis(np.radians(20.0), np.array(axis, float))
        rotations[:, spine] = quat.mul(aside, rotations[:, spine])
        moved = replace(clip, rotations=rotations)
        found = check_result(body, body, clip, moved, RetargetSettings())
        leans[name] = next(f.median for f in found.figures if f.role == "spine")
    assert leans["aside"] > 10.0
    assert leans["up"] < 5.0


def test_forelegs_that_end_at_the_wrist_come_out_as_they_are():
    clip = make_creature(NO_PAWS)
    skeleton = clip.skeleton
    hands = [skeleton.index(f"{side}_Hand") for side in "LR"]
    turns, turn = skeleton.rest_rotations.copy(), quat.from_euler(np.radians([30, 50, 20]), "xyz")
    turns[hands] = turn
    sites = tuple(
        (bone, tuple(quat.inv_mul_vec(turn, np.array(site)).tolist()) if bone in hands else site)
        for bone, site in skeleton.end_sites
    )
    character = replace(skeleton, rest_rotations=turns, end_sites=sites)
    bodies = [RetargetBody(skeleton, [clip]), RetargetBody(character)]
    moved = bodies[0].make_retargeter(bodies[1]).retarget(clip)
    worlds = [one.compute_world()[0][:, hands].astype(np.float64) for one in (clip, moved)]
    off = quat.angle_between(quat.mul(worlds[0], turn), worlds[1])
    assert np.degrees(off).max() < 1.0


# torn bones


def move(clip: Clip, name: str, way: float) -> Clip:
    positions = clip.positions.copy()
    positions[:, clip.skeleton.index(name), 0] += way
    return replace(clip, positions=positions)


def test_what_carries_the_body_may_go_where_it_likes(walk: Clip):
    rooted = put_on_ground_root(walk, "Root")
    body = see(rooted.skeleton, root=("Root",))
    assert find_tear(body, move(rooted, "Hips", 3.0)) is None


def test_legs_that_leave_the_trunk_are_torn_whatever_the_parts_are_taken_for(walk: Clip):
    centred = put_centre_above(walk, "Centre", "Pelvis")
    for roles in ({"hips": ("Pelvis",)}, {"hips": ("Pelvis",), "spine": (), "head": ()}):
        arms = {f"{side}_{part}": () for side in SIDES for part in ("collar", "upper_arm", "hand")}
        body = see(centred.skeleton, root=("Centre",), **roles, **arms)
        tear = find_tear(body, move(centred, "Pelvis", 2.8))
        assert tear is not None
        assert (tear.bone, tear.parent, round(tear.distance, 2)) == ("Pelvis", "Centre", 2.8)


def test_a_hundredth_of_a_bones_length_is_the_limit(walk: Clip):
    body = see(walk.skeleton)
    length = float(np.linalg.norm(walk.skeleton.rest_positions[walk.skeleton.index("LeftLeg")]))
    assert find_tear(body, move(walk, "LeftLeg", 0.008 * length)) is None
    tear = find_tear(body, move(walk, "LeftLeg", 0.012 * length))
    assert tear is not None
    assert tear.bone == "LeftLeg"

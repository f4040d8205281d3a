"""Animals on many legs: their roles, the ends that they stand on, and when these stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import find_body_roles
from motion_matching.engine.body.rig import Roles, find_roles
from motion_matching.engine.body.stance import find_stance
from motion_matching.engine.body.toe_ends import (
    add_toe_ends,
    find_toe_ends,
    measure_leg_lengths,
    remove_toe_ends,
    use_toe_ends,
)
from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.motion.contacts import ContactSettings, find_contacts
from tests.engine import animals, creatures, rigs, sensors, stand_ins

# a mouse, a dog and a giant, and how many frames are taken of them in a second
SIZES = [(0.08, 200.0, True), (0.08, 60.0, False), (1.0, 60.0, True), (1.0, 30.0, True)]
SIZES += [(10.0, 60.0, True), (10.0, 60.0, False)]

DOG = {"hips": "Hips", "spine": "Spine1", "head": "Head"}
for _word in ("left", "right"):
    _side = _word.capitalize()
    DOG |= {f"{_word}_thigh": f"{_side}UpLeg", f"{_word}_shin": f"{_side}Leg"}
    DOG |= {f"{_word}_foot": f"{_side}Foot", f"{_word}_toe": f"{_side}Foot"}
    DOG |= {f"{_word}2_thigh": f"{_side}Arm", f"{_word}2_shin": f"{_side}ForeArm"}
    DOG |= {f"{_word}2_foot": f"{_side}Hand", f"{_word}2_toe": f"{_side}Hand"}


def measure_contacts(motion: animals.Motion, roles: Roles, fps: float) -> np.ndarray:
    """Return the contacts (F, L) that are found on the ends of a motion's legs."""
    clip = add_toe_ends(motion.clip, find_toe_ends(motion.clip.skeleton, [motion.clip], roles))
    roles = use_toe_ends(roles, clip.skeleton)
    positions = clip.compute_world()[1]
    lengths = measure_leg_lengths(positions, roles)
    toes = positions[:, [leg.toe for leg in roles.legs]]
    return find_contacts(toes, fps, ContactSettings(), lengths)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "fps", "slowly"), SIZES)
def test_a_dog_with_arms_by_name_has_four_legs_that_stand_where_they_do(
    size: float, fps: float, slowly: bool
) -> None:
    motions = animals.make_dog_motions(size, fps, slowly)
    clips = [motion.clip for motion in motions]
    roles = find_roles(clips[0].skeleton, clips)
    assert roles.to_names(clips[0].skeleton) == DOG
    right = [measure_contacts(each, roles, fps) == each.contacts for each in motions]
    assert min(part.mean() for part in right) > 0.95
    assert (np.concatenate(right).mean(axis=0) > 0.96).all()


def shake(clip: Clip, degrees: float, seed: int) -> Clip:
    """Turn every bone by noise of some degrees, as markers tremble."""
    noise = np.random.default_rng(seed).normal(size=(*clip.rotations.shape[:2], 3))
    noise = np.apply_along_axis(lambda x: np.convolve(x, np.ones(5), "same"), 0, noise)
    turns = quat.from_scaled_angle_axis(noise * (np.radians(degrees) / noise.std()))
    rotations = quat.normalize(quat.mul(clip.rotations.astype(np.float64), turns))
    return replace(clip, rotations=rotations.astype(np.float32))


def test_trembling_paws_stand_as_well() -> None:
    motions = animals.make_dog_motions()
    motions = [
        motion._replace(clip=shake(motion.clip, 0.4, seed)) for seed, motion in enumerate(motions)
    ]
    roles = find_roles(motions[0].clip.skeleton, [motion.clip for motion in motions])
    right = [measure_contacts(each, roles, 60.0) == each.contacts for each in motions]
    assert np.concatenate(right).mean() > 0.95


def test_a_dog_at_rest_on_four_legs_needs_no_motion() -> None:
    clip = animals.make_motion("dog", [(animals.WALK, 1.0, 0.0)]).clip
    standing = replace(
        clip.skeleton, rest_positions=clip.positions[0], rest_rotations=clip.rotations[0]
    )
    assert find_roles(standing).to_names(standing) == DOG


NAMES = {
    "Rigify": ("DEF-thigh DEF-shin DEF-foot", "shoulder thigh shin foot", "DEF-front_"),
    "plain": ("BackUpperLeg BackLowerLeg BackFoot", "Shoulder UpperLeg LowerLeg Foot", "Front"),
    "forelegs as legs": ("HindA HindB HindC", "Blade UpLeg Leg Foot", ""),
}


@pytest.mark.parametrize("naming", NAMES)
@pytest.mark.parametrize("moves", [True, False])
def test_other_names_of_animals_give_four_legs(naming: str, moves: bool) -> None:
    hind, fore, before = NAMES[naming]
    old = ["UpLeg", "Leg", "Foot", "Shoulder", "Arm", "ForeArm", "Hand"]
    new = dict(zip(old, [*hind.split(), *(before + part for part in fore.split())], strict=True))
    sides = {"Left": ".L", "Right": ".R"}
    clips = [motion.clip for motion in animals.make_dog_motions()]
    names = []
    for name in clips[0].skeleton.names:
        side = next((side for side in sides if name.startswith(side)), "")
        names.append(new[name.removeprefix(side)] + sides[side] if side else name)
    clips = [replace(clip, skeleton=clip.skeleton.with_names(tuple(names))) for clip in clips]
    skeleton = clips[0].skeleton
    if not moves:
        pose = {"rest_positions": clips[0].positions[0], "rest_rotations": clips[0].rotations[0]}
        skeleton, clips = replace(skeleton, **pose), []
    legs = find_roles(skeleton, clips).legs
    assert {skeleton.names[leg.thigh] for leg in legs} == {
        new[part] + side for part in ("UpLeg", "Arm") for side in sides.values()
    }
    assert [leg.side for leg in legs] == ["L", "R", "L", "R"]


def test_forelegs_are_found_without_any_names() -> None:
    motions = animals.make_dog_motions()
    anonymous = [rigs.rename_bones(motion.clip) for motion in motions]
    known = motions[0].clip.skeleton
    found = find_roles(anonymous[0].skeleton, anonymous).to_names(known)
    legs = {role for role in DOG if role[-1].isalpha() and "_" in role}
    assert {role: found[role] for role in legs} == {role: DOG[role] for role in legs}


@pytest.mark.parametrize("pairs", [1, 2, 3, 4])
def test_any_even_number_of_legs_on_one_bone_is_found(pairs: int) -> None:
    limbs = animals.list_insect_limbs(pairs)
    motion = animals.make_motion("insect", [(animals.TROT, 4.0, 0.3)], limbs=limbs)
    clip = motion.clip
    roles = find_roles(clip.skeleton, [clip])
    names = [clip.skeleton.names[leg.thigh] for leg in roles.legs]
    expected = [f"seg{pair}a_{side}" for pair in range(pairs) for side in "LR"]
    assert names == expected
    # those of two legs are found as people's, which miss the ends of a stance
    least = 0.95 if pairs > 1 else 0.94
    assert (measure_contacts(motion, roles, 60.0) == motion.contacts).mean() > least


def bend_over(clip: Clip) -> Clip:
    """Return a walking person on hands and feet: the trunk level, the arms down."""
    names, rotations = clip.skeleton.names, clip.rotations.astype(np.float64)
    lateral = np.array([1.0, 0.0, 0.0])
    hips = names.index("Hips")
    for bone, angle in (("Hips", 1.9), ("LeftUpLeg", -1.9), ("RightUpLeg", -1.9)):
        turn = quat.from_angle_axis(np.array(angle), lateral)
        rotations[:, names.index(bone)] = quat.mul(turn, rotations[:, names.index(bone)])
    for bone, sign in (("LeftArm", 1.0), ("RightArm", -1.0)):
        turn = quat.from_angle_axis(np.array(sign * np.pi / 2), np.array([0.0, 1.0, 0.0]))
        forward = quat.from_angle_axis(np.array(-np.pi / 2), lateral)
        rotations[:, names.index(bone)] = quat.mul(forward, turn)
    positions = clip.positions.copy()
    positions[:, hips, 2] -= 0.1
    return replace(clip, rotations=rotations.astype(np.float32), positions=positions)


@pytest.mark.parametrize("keep_rest", [True, False])
@pytest.mark.parametrize("anonymous", [True, False])
def test_a_person_on_hands_and_feet_keeps_two_legs(keep_rest: bool, anonymous: bool) -> None:
    clip = bend_over(rigs.make_walk())
    positions = clip.compute_world()[1]
    hands = positions[:, [clip.skeleton.index(f"{side}Hand") for side in ("Left", "Right")], 2]
    toes = positions[:, [clip.skeleton.index(f"{side}Toe") for side in ("Left", "Right")], 2]
    assert abs(np.median(hands) - np.median(toes)) < 0.25  # they are on the ground
    rolls = rigs.make_random_rolls(clip.skeleton.bone_count, np.random.default_rng(0))
    clip = rigs.roll_axes(clip, rolls, keep_rest)
    clip = rigs.rename_bones(clip) if anonymous else clip
    assert len(find_roles(clip.skeleton, [clip]).legs) == 2


def test_toes_stay_where_people_have_them_and_ends_serve_where_they_lack_toes() -> None:
    clip = rigs.make_walk()
    roles = find_roles(clip.skeleton, [clip])
    assert find_toe_ends(clip.skeleton, [clip], roles) == {}
    dog = animals.make_motion("dog", [(animals.WALK, 2.0, 0.0)]).clip
    roles = find_roles(dog.skeleton, [dog])
    ends = find_toe_ends(dog.skeleton, [dog], roles)
    assert {dog.skeleton.names[bone] for bone in ends} == {
        "LeftFoot",
        "RightFoot",
        "LeftHand",
        "RightHand",
    }
    longer = add_toe_ends(dog, ends)
    assert longer.skeleton.names[-4:] == tuple(dog.skeleton.names[b] + "_end" for b in ends)
    back = remove_toe_ends(longer)
    assert back.skeleton.names == dog.skeleton.names
    np.testing.assert_array_equal(back.rotations, dog.rotations)


@pytest.mark.parametrize("size", [0.08, 1.0, 10.0])
def test_an_animal_rests_on_its_paws(size: float) -> None:
    stance = find_stance([motion.clip for motion in animals.make_dog_motions(size)])
    assert stance is not None
    skeleton = stance.skeleton
    assert not any(name.endswith("_end") for name in skeleton.names)
    rotations, positions = skeleton.compute_rest_world()
    for bone, site in skeleton.end_sites:
        if "Foot" in skeleton.names[bone] or "Hand" in skeleton.names[bone]:
            paw = positions[bone] + quat.mul_vec(rotations[bone], np.array(site))
            assert abs(paw[2]) < 0.02 * size
    assert len(find_roles(skeleton).legs) == 4


@pytest.mark.parametrize("first", [False, True])
def test_further_end_sites_of_paws_change_no_legs(first: bool) -> None:
    """Whichever is written last, a leg ends where it is lowest."""
    motions = animals.make_dog_motions()
    skeleton = motions[0].clip.skeleton
    more = tuple((bone, (-0.08, 0.05, 0.0)) for bone, _ in skeleton.end_sites)
    sites = (*more, *skeleton.end_sites) if first else (*skeleton.end_sites, *more)
    clips = [replace(each.clip, skeleton=replace(skeleton, end_sites=sites)) for each in motions]
    roles = find_roles(skeleton, clips)
    assert find_roles(clips[0].skeleton, clips) == roles
    anonymous = [rigs.rename_bones(clip) for clip in clips]
    assert find_roles(anonymous[0].skeleton, anonymous).leg_bones == roles.leg_bones


def test_both_legs_of_a_pair_stand_on_their_ends_or_neither() -> None:
    """Left and right are never quite alike, and what tells them apart is no reason to limp."""
    dog = animals.make_motion("walk", [(animals.WALK, 4.0, 0.0)]).clip
    skeleton = dog.skeleton
    roles = find_roles(skeleton, [dog])
    left, right = (leg.foot for leg in roles.legs[:2])
    counts = set()
    for share in np.linspace(0.05, 0.6, 23):
        own = {left: share, right: share + 0.04}
        sites = tuple(
            (bone, tuple(own.get(bone, 1.0) * np.array(site))) for bone, site in skeleton.end_sites
        )
        ends = find_toe_ends(replace(skeleton, end_sites=sites), [dog], roles)
        assert (left in ends) == (right in ends)
        counts.add(left in ends)
    assert counts == {False, True}


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_the_noise_of_a_sensor_hides_no_ends_that_rest_at_any_frame_rate(fps: float) -> None:
    clips = [sensors.record(motion.clip, fps) for motion in animals.make_dog_motions()]
    roles = find_roles(clips[0].skeleton, clips)
    assert len(find_toe_ends(clips[0].skeleton, clips, roles)) == 4


LIMBS = [f"{side}{bone}" for side in ("Left", "Right") for bone in ("UpLeg", "Leg", "Foot")]


@pytest.mark.parametrize("droop", [0.0, 18.0, 30.0, 45.0, 70.0])
@pytest.mark.parametrize("named", [True, False])
def test_a_dog_whose_rest_lies_along_one_axis_has_four_legs(droop: float, named: bool) -> None:
    """Hind legs that lead down a little at rest do not make a rest pose that stands."""
    down = (np.cos(np.radians(droop)), 0.0, -np.sin(np.radians(droop)))
    clips = [motion.clip for motion in animals.make_dog_motions()]
    clips = [stand_ins.lay_rest_along_x(clip, dict.fromkeys(LIMBS, down)) for clip in clips]
    if named:
        assert find_roles(clips[0].skeleton, clips).to_names(clips[0].skeleton) == DOG
    clips = clips if named else [rigs.rename_bones(clip) for clip in clips]
    assert len(find_roles(clips[0].skeleton, clips).legs) == 4
    assert find_body_roles(clips[0].skeleton, clips).four_legged


def test_people_who_crawl_have_two_legs_whatever_their_rest_pose_shows() -> None:
    """A rest pose that stands upright decides against hands on the ground."""
    clip = rigs.make_walk("LAFAN1")
    turn = quat.from_angle_axis(np.radians(np.array(-85.0)), np.array([1.0, 0.0, 0.0]))
    hips = clip.skeleton.index("Hips")
    rotations = clip.rotations.astype(np.float64)
    rotations[:, hips] = quat.mul(rotations[:, hips], turn)
    for name, angle in (("LeftArm", 80.0), ("RightArm", 80.0)):
        bone = clip.skeleton.index(name)
        lift = quat.from_angle_axis(np.radians(np.array(angle)), np.array([1.0, 0.0, 0.0]))
        rotations[:, bone] = quat.mul(lift, rotations[:, bone])
    crawling = replace(clip, rotations=rotations.astype(np.float32))
    assert len(find_roles(clip.skeleton, [crawling]).legs) == 2
    assert not find_body_roles(clip.skeleton, [crawling]).four_legged


@pytest.mark.parametrize("rest", ["standing", "along x"])
def test_forelegs_that_end_at_the_wrist_are_legs(rest: str) -> None:
    clip = creatures.make_creature(creatures.NO_PAWS)
    if rest == "along x":
        clip = stand_ins.lay_rest_along_x(clip)
    roles = find_roles(clip.skeleton, [clip])
    assert [leg.side for leg in roles.legs] == ["L", "R", "L", "R"]
    assert [clip.skeleton.names[leg.foot] for leg in roles.legs[2:]] == ["L_Hand", "R_Hand"]
    assert find_body_roles(clip.skeleton, [clip]).four_legged


def test_claws_and_raised_arms_are_neither_spine_nor_head() -> None:
    clip = creatures.make_creature(creatures.CRAB)
    for each in (clip, rigs.rename_bones(clip)):
        roles = find_roles(each.skeleton, [each])
        assert len(roles.legs) == 6
        assert roles.head is None
        assert roles.spine == roles.hips
    walk = rigs.make_walk("LAFAN1")
    rotations = walk.rotations.astype(np.float64)
    for name, sign in (("LeftArm", -1.0), ("RightArm", 1.0)):
        bone = walk.skeleton.index(name)
        lift = quat.from_angle_axis(np.radians(np.array(sign * 85.0)), np.array([0.0, 1.0, 0.0]))
        rotations[:, bone] = quat.mul(lift, rotations[:, bone])
    raised = rigs.rename_bones(replace(walk, rotations=rotations.astype(np.float32)))
    hands = raised.compute_world()[1][:, walk.skeleton.index("LeftHand"), 2]
    assert hands.mean() > 1.75
    roles = find_roles(raised.skeleton, [raised])
    assert walk.skeleton.names[roles.head or 0] == "Head"


@pytest.mark.parametrize("window", [(2475, 2625), (2525, 2585), (2550, 2650)])
def test_who_crawls_on_hands_and_feet_has_two_legs(window: tuple[int, int], mocap: Path) -> None:
    """The recorded rest pose is no stand, so that the frames have to tell arms from forelegs."""
    clip = bvh.load(mocap / "lafan1" / "push1_subject2.bvh").crop(*window)
    assert not find_body_roles(clip.skeleton, [clip]).four_legged
    assert len(find_roles(clip.skeleton, [clip]).legs) == 2

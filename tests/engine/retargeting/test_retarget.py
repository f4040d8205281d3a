"""Motion of one body on another: where feet stand, how limbs point, and what changes nothing."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import BodyRoles, find_body_roles
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import RigError, SettingsError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.bodies import RetargetBody, group_by_skeleton
from motion_matching.engine.retargeting.result.report import measure_retargeted
from motion_matching.engine.retargeting.retarget import Retargeter
from motion_matching.engine.retargeting.settings import RetargetSettings
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips
from tests.engine import animals, characters, rigs
from tests.engine.characters import Character

ADULTS = ("mixamo", "unreal", "mpfb", "no toes")
UNITS = {"mixamo": 100.0}  # lengths of a metre
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")


def get_roles(character: Character) -> BodyRoles:
    chains = character.list_chains()
    return BodyRoles(chains, dict.fromkeys(chains, 1.0), character.four_legged)


def measure_body(character: Character, clips: list[Clip] | None = None) -> Anatomy:
    return Anatomy.from_clips(character.skeleton, get_roles(character), clips or [])


def find_joints(clip: Clip, anatomy: Anatomy) -> np.ndarray:
    """Return the world positions (F, N, 3) of the first bones of all roles."""
    bones = [chain[0] for chain in anatomy.roles.chains.values()]
    return clip.compute_world()[1][:, bones]


def get_ways(clip: Clip, character: Character, upper: str, lower: str) -> np.ndarray:
    """Return the unit ways (F, 3) between the first bones of two roles."""
    places = clip.compute_world()[1].astype(np.float64)
    a, b = (character.skeleton.index(character.roles[role][0]) for role in (upper, lower))
    return quat.normalize_vectors(places[:, b] - places[:, a])


def measure_angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.degrees(np.arccos(np.clip(np.sum(a * b, axis=-1), -1.0, 1.0)))


@pytest.fixture(scope="module")
def walk() -> Clip:
    """Twelve seconds of walking in all directions."""
    return generate_clips()[3].crop(0, 360)


@pytest.fixture(scope="module")
def humanoid(walk: Clip) -> Character:
    return Character(walk.skeleton, characters.HUMANOID_ROLES)


@pytest.fixture(scope="module")
def source(humanoid: Character, walk: Clip) -> Anatomy:
    return measure_body(humanoid, [walk])


@pytest.fixture(scope="module")
def targets() -> dict[str, Character]:
    return {name: make() for name, make in characters.TARGETS.items()}


def assert_good(measures: dict[str, float], unit: float, legs: float) -> None:
    """Assert the limits of a cell of the matrix."""
    assert measures["slide"] / unit <= measures["source_slide"] / unit + 0.1
    assert measures["height"] / unit <= 1.0
    assert 0.98 <= measures["hips"] <= 1.02
    assert measures["legs"] <= legs
    assert measures["torso"] <= 3.0
    assert measures["against"] == 0
    assert measures["jump"] <= 15.0


def measure_all(
    clips: list[Clip], moved: list[Clip], source: Anatomy, target: Anatomy
) -> dict[str, float]:
    """Return the means over all frames, and of what must not be the sums or the most."""
    pairs = zip(clips, moved, strict=True)
    rows = [measure_retargeted(*pair, source, target) for pair in pairs]
    shares = np.array([clip.frame_count for clip in clips]) / sum(c.frame_count for c in clips)
    result = {key: float(np.dot([row[key] for row in rows], shares)) for key in rows[0]}
    return result | {key: max(row[key] for row in rows) for key in ("against", "jump")}


@pytest.mark.parametrize("name", characters.TARGETS)
def test_walks_keep_their_feet_legs_and_torso(
    name: str, source: Anatomy, walk: Clip, targets: dict[str, Character]
):
    target = measure_body(targets[name])
    moved = Retargeter(source, target).retarget(walk)
    measures = measure_retargeted(walk, moved, source, target)
    assert_good(measures, UNITS.get(name, 1.0), 3.0 if name in ADULTS else 6.0)
    ratio = target.leg / source.leg
    assert measures["source_slide"] < 20.0 * ratio
    for side in characters.SIDES:
        for upper, lower in (("upper_arm", "forearm"), ("forearm", "hand")):
            pair = (f"{side}_{upper}", f"{side}_{lower}")
            humanoid = Character(source.skeleton, characters.HUMANOID_ROLES)
            arms = get_ways(walk, humanoid, *pair), get_ways(moved, targets[name], *pair)
            assert measure_angles(*arms).max() < 0.1


@pytest.mark.parametrize("make", [characters.make_cmu_like, characters.make_many_joints])
@pytest.mark.parametrize("name", ["mpfb", "child"])
def test_other_skeletons_serve_as_sources(make, name: str, walk: Clip, targets):
    clip, character = make(walk)
    source, target = measure_body(character, [clip]), measure_body(targets[name])
    moved = Retargeter(source, target).retarget(clip)
    measures = measure_retargeted(clip, moved, source, target)
    assert_good(measures, 1.0, 3.0 if name in ADULTS else 6.0)


def test_motion_comes_back_as_it_was(source: Anatomy, walk: Clip, targets):
    bones = [bone for limb in source.limbs.values() for bone in limb.bones.joints]
    before, places = walk.compute_world()
    for name in ("mixamo", "unreal", "mpfb", "giant", "child"):
        target = measure_body(targets[name])
        there = Retargeter(source, target).retarget(walk)
        after, returned = Retargeter(target, source).retarget(there).compute_world()
        away = np.linalg.norm(places - returned, axis=-1)[:, bones]
        turned = np.degrees(quat.angle_between(before[:, bones], after[:, bones]))
        assert away.mean() < 0.005
        assert turned.mean() < 2.0


def test_a_t_pose_onto_a_t_pose_is_a_copy(source: Anatomy, walk: Clip, targets):
    """Bones of both rest alike, so that a copy of all turns in the world is nearly right."""
    target = measure_body(targets["mixamo"])
    moved = Retargeter(source, target).retarget(walk)
    ours, theirs = walk.compute_world()[0], moved.compute_world()[0]
    rests = [body.skeleton.compute_rest_world()[0] for body in (source, target)]
    for side in characters.SIDES:
        for part in LIMBS:
            a, b = (body.roles.chains[f"{side}_{part}"][0] for body in (source, target))
            copied = quat.mul(quat.mul_inv(ours[:, a], rests[0][a]), rests[1][b])
            assert np.degrees(quat.angle_between(copied, theirs[:, b])).mean() < 8.0


def test_a_body_keeps_its_own_motion(source: Anatomy, walk: Clip):
    same = Retargeter(source, source).retarget(walk)
    away = np.linalg.norm(find_joints(same, source) - find_joints(walk, source), axis=-1)
    # feet that just miss the floor are put on it, to which straight knees are sensitive
    assert away.mean() < 0.001
    assert away.max() < 0.03


def test_clips_stay_what_they_were(source: Anatomy, walk: Clip, targets):
    target = measure_body(targets["unreal"])
    clip = replace(walk, warnings=("truncated",))
    moved = Retargeter(source, target).retarget(clip)
    assert (moved.name, moved.fps, moved.warnings) == (clip.name, clip.fps, clip.warnings)
    assert moved.frame_count == clip.frame_count
    assert moved.skeleton is target.skeleton
    assert moved.positions.dtype == moved.rotations.dtype == np.float32
    assert np.all(np.sum(moved.rotations[1:] * moved.rotations[:-1], axis=-1) > 0.0)
    assert np.allclose(np.linalg.norm(moved.rotations, axis=-1), 1.0, atol=1e-5)


@pytest.mark.parametrize("frames", [0, 1, 2])
def test_clips_of_few_frames_are_retargeted(frames: int, source: Anatomy, walk: Clip, targets):
    moved = Retargeter(source, measure_body(targets["mpfb"])).retarget(walk.crop(0, frames))
    assert moved.frame_count == frames
    assert np.isfinite(moved.rotations).all()


@pytest.mark.parametrize("fit_root", ["source", "ground"])
def test_clips_do_not_change_one_another(fit_root: str, walk: Clip, targets):
    """Many clips are retargeted at once, though each would be the same alone."""
    clip, many = characters.make_many_joints(walk)
    still = replace(
        clip,
        positions=np.repeat(clip.positions[:1], 50, axis=0),
        rotations=np.repeat(clip.rotations[:1], 50, axis=0),
    )
    clips = [still, clip.crop(100, 180), clip.crop(40, 41), clip.crop(0, 0), clip.crop(30, 90)]
    clips = [replace(each, name=str(number)) for number, each in enumerate(clips)]
    clips.append(replace(clips[1], fps=60.0))
    settings = RetargetSettings(fit_root=fit_root)
    retargeter = Retargeter(measure_body(many, [clip]), measure_body(targets["unreal"]), settings)
    for result, each in zip(retargeter.retarget_all(clips), clips, strict=True):
        alone = retargeter.retarget(each)
        assert (result.name, result.fps) == (alone.name, alone.fps)
        assert np.allclose(result.positions, alone.positions, atol=1e-6)
        same = np.abs(np.sum(result.rotations * alone.rotations, axis=-1))
        assert np.allclose(same, 1.0, atol=1e-5)


def test_helpers_and_twist_bones_rest_in_their_parents(source: Anatomy, walk: Clip, targets):
    character = targets["unreal"]
    moved = Retargeter(source, measure_body(character)).retarget(walk)
    skeleton = character.skeleton
    for name in (
        "upperarm_twist_01_l",
        "calf_twist_01_r",
        "ik_foot_root",
        "ik_foot_l",
        "index_02_l",
    ):
        bone = skeleton.index(name)
        assert np.allclose(moved.rotations[:, bone], skeleton.rest_rotations[bone])
        assert np.allclose(moved.positions[:, bone], skeleton.rest_positions[bone])


# what changes nothing


def turn_all(clip: Clip, turn: np.ndarray, size: float = 1.0) -> Clip:
    """Turn the rest pose about the origin and scale everything; the motion stays where it was."""
    skeleton = clip.skeleton
    roots = skeleton.parents < 0
    rotations, positions = skeleton.rest_rotations.copy(), size * skeleton.rest_positions
    rotations[roots] = quat.mul(turn, rotations[roots])
    positions[roots] = quat.mul_vec(np.broadcast_to(turn, rotations[roots].shape), positions[roots])
    sites = tuple((bone, tuple(size * np.array(site))) for bone, site in skeleton.end_sites)
    other = replace(
        skeleton,
        rest_rotations=rotations.astype(np.float32),
        rest_positions=positions.astype(np.float32),
        end_sites=sites,
    )
    return replace(clip, skeleton=other, positions=np.float32(size) * clip.positions)


def rest_in(clip: Clip, frame: int) -> Clip:
    """Let a frame of the motion serve as rest pose."""
    skeleton = clip.skeleton
    at = clip.positions[frame].copy()
    at[0, :2] = 0.0
    return replace(
        clip, skeleton=replace(skeleton, rest_rotations=clip.rotations[frame], rest_positions=at)
    )


def lower_arms(clip: Clip) -> Clip:
    """Let the body rest with arms that hang by 50 degrees."""
    skeleton = clip.skeleton
    rest = skeleton.rest_rotations.copy()
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        angle = sign * np.radians(50.0)
        bone = skeleton.index(f"{side}Arm")
        rest[bone] = quat.from_angle_axis(np.array(angle), np.array([0.0, 1.0, 0.0]))
    return replace(clip, skeleton=replace(skeleton, rest_rotations=rest))


def roll(clip: Clip, keep_rest: bool) -> Clip:
    rolls = rigs.make_random_rolls(clip.skeleton.bone_count, np.random.default_rng(3))
    return rigs.roll_axes(clip, rolls, keep_rest)


def rest_smaller(clip: Clip) -> Clip:
    """Let the body rest with offsets that its position channels replace."""
    rest = clip.skeleton.rest_positions * np.float32(0.5)
    return replace(clip, skeleton=replace(clip.skeleton, rest_positions=rest))


SAME = {
    "other names": lambda clip: rigs.rename_bones(clip),
    "rolled bones": lambda clip: roll(clip, True),
    "centimetres": lambda clip: turn_all(clip, quat.IDENTITY, 100.0),
    "a turned rest": lambda clip: turn_all(clip, quat.from_yaw(np.array(2.3))),
    "a rest on its back": lambda clip: turn_all(
        clip, quat.from_angle_axis(np.array(-np.pi / 2), np.array([1.0, 0.0, 0.0]))
    ),
    "hanging arms": lower_arms,
    "offsets that do not count": rest_smaller,
}


@pytest.mark.parametrize("change", SAME)
def test_how_a_source_is_described_changes_nothing(change: str, source, walk: Clip, targets):
    target = measure_body(targets["mpfb"])
    expected = find_joints(Retargeter(source, target).retarget(walk), target)
    clip = SAME[change](walk)
    other = Anatomy.from_clips(clip.skeleton, source.roles, [clip])
    moved = find_joints(Retargeter(other, target).retarget(clip), target)
    assert np.abs(moved - expected).max() < 0.002


@pytest.mark.parametrize("change", ["a zero pose", "its 60th frame"])
def test_a_rest_pose_that_does_not_stand_changes_little(change: str, source, walk: Clip, targets):
    target = measure_body(targets["mpfb"])
    expected = Retargeter(source, target).retarget(walk)
    clip = roll(walk, False) if change == "a zero pose" else rest_in(walk, 60)
    other = Anatomy.from_clips(clip.skeleton, source.roles, [clip])
    moved = Retargeter(other, target).retarget(clip)
    away = np.linalg.norm(find_joints(moved, target) - find_joints(expected, target), axis=-1)
    assert away.mean() < 0.02


@pytest.mark.parametrize("change", ["rolled bones", "centimetres", "a turned rest"])
def test_how_a_target_is_described_changes_nothing(change: str, source, walk: Clip, targets):
    character = targets["mpfb"]
    skeleton = character.skeleton
    still = Clip("", skeleton, skeleton.rest_positions[None], skeleton.rest_rotations[None], 30.0)
    target = measure_body(character)
    other = Anatomy.from_clips(SAME[change](still).skeleton, target.roles)
    size = 100.0 if change == "centimetres" else 1.0
    expected = find_joints(Retargeter(source, target).retarget(walk), target)
    moved = find_joints(Retargeter(source, other).retarget(walk), other) / size
    # root bones that rest elsewhere stay there
    assert np.abs(moved - expected)[:, 1:].max() < 0.002


# parts


@pytest.mark.parametrize("name", ["mixamo", "unreal", "mpfb"])
def test_fingers_curl_as_the_sources(name: str, walk: Clip, targets):
    clip, character = characters.make_many_joints(walk)
    source, target = measure_body(character, [clip]), measure_body(targets[name])
    moved = Retargeter(source, target).retarget(clip)
    worlds = [one.compute_world()[0].astype(np.float64) for one in (clip, moved)]
    for role in ("left_index", "right_pinky"):
        hand = role.split("_")[0] + "_hand"
        # the source has a fourth bone beyond the target's three
        for number in range(3):
            curls = []
            for body, world in zip((source, target), worlds, strict=True):
                bones = body.roles.chains[hand][0], body.roles.chains[role][number]
                turns = quat.inv_mul(world[:, bones[0]], world[:, bones[1]])
                curls.append(np.degrees(quat.angle_between(turns, turns[:1])))
            assert curls[0].max() > 20.0
            assert np.abs(curls[0] - curls[1]).max() < 1.0


def test_hands_without_fingers_leave_fingers_at_rest(source: Anatomy, walk: Clip, targets):
    character = targets["mixamo"]
    moved = Retargeter(source, measure_body(character)).retarget(walk)
    bones = [
        bone for role, chain in character.list_chains().items() for bone in chain if "index" in role
    ]
    assert np.allclose(moved.rotations[:, bones], character.skeleton.rest_rotations[bones])


@pytest.mark.parametrize("choice", ["source", "rest", "ground"])
def test_motion_on_a_root_bone_stays_right_in_the_world(choice: str, walk: Clip, targets):
    clip, character = characters.make_many_joints(walk)
    source, target = measure_body(character, [clip]), measure_body(targets["unreal"])
    moved = Retargeter(source, target, RetargetSettings(fit_root=choice)).retarget(clip)
    expected = Retargeter(source, target).retarget(clip)
    joints = [find_joints(one, target)[:, 1:] for one in (moved, expected)]
    assert np.abs(joints[0] - joints[1]).max() < 1e-4
    root, hips = (moved.compute_world()[1][:, target.roles.chains[r][0]] for r in ("root", "hips"))
    gone = np.ptp(root, axis=0).max()
    assert gone == 0.0 if choice == "rest" else gone > 1.0
    if choice != "rest":
        assert np.abs(root - hips)[:, :2].max() < 0.15
        assert np.abs(root[:, 2]).max() < 1e-4


def make_jump(skeleton: Skeleton, height: float) -> Clip:
    """Stand, jump half a metre ahead onto a box of some height, and stand there."""
    share = np.clip((np.arange(120) - 45) / 12.0, 0.0, 1.0)
    positions = np.repeat(skeleton.rest_positions[None], 120, axis=0)
    positions[:, 0, 1] -= 0.5 * share
    positions[:, 0, 2] += height * share + 0.2 * np.sin(np.pi * share)
    rotations = np.repeat(skeleton.rest_rotations[None], 120, axis=0)
    return Clip("jump", skeleton, positions, rotations, 30.0)


@pytest.mark.parametrize("name", ["mpfb", "child", "giant"])
def test_a_box_is_as_high_as_the_character_is_large(name: str, humanoid: Character, targets):
    clip = make_jump(humanoid.skeleton, 0.4)
    source, target = measure_body(humanoid, [clip]), measure_body(targets[name])
    moved = Retargeter(source, target).retarget(clip)
    toes = [target.limbs[leg].bones.toe for leg in ("left_leg", "right_leg")]
    heights = moved.compute_world()[1][:, toes, 2]
    rest = target.skeleton.compute_rest_world()[1][toes, 2]
    assert np.abs(heights[:40] - rest).max() < 0.002
    assert np.abs(heights[-40:] - rest - 0.4 * target.leg / source.leg).max() < 0.002


def test_a_floor_below_zero_lets_nothing_float(source: Anatomy, humanoid, walk: Clip, targets):
    positions = walk.positions.copy()
    positions[:, 0, 2] -= 0.3
    clip = replace(walk, positions=positions)
    lower, target = measure_body(humanoid, [clip]), measure_body(targets["mpfb"])
    moved = find_joints(Retargeter(lower, target).retarget(clip), target)
    expected = find_joints(Retargeter(source, target).retarget(walk), target)
    assert np.abs(moved - expected).max() < 0.005


def test_swimmers_are_measured_at_rest(humanoid: Character, source: Anatomy):
    still = humanoid.skeleton
    positions = np.repeat(still.rest_positions[None], 60, axis=0)
    positions[:, 0] += np.arange(60)[:, None] * np.array([0.0, -0.03, 0.01]) + [0.0, 0.0, 2.0]
    rotations = np.repeat(still.rest_rotations[None], 60, axis=0)
    swims = measure_body(
        humanoid, [Clip("swim", still, positions.astype(np.float32), rotations, 30.0)]
    )
    assert swims.ankle == pytest.approx(source.ankle, abs=0.005)


def test_flat_feet_of_a_child_stay_flat(source: Anatomy, walk: Clip, targets):
    target = measure_body(targets["child"])
    moved = Retargeter(source, target).retarget(walk)
    rotations = moved.compute_world()[0][:15]  # it stands at first
    for leg in ("left_leg", "right_leg"):
        foot = target.limbs[leg].bones.end
        soles = quat.mul(rotations[:, foot], target.frames[foot].astype(np.float32))
        up = quat.mul_vec(soles, np.tile([0.0, 0.0, 1.0], (15, 1)))
        assert up[:, 2].min() > np.cos(np.radians(2.0))


def test_toes_that_the_source_lacks_stay_above_the_ground(humanoid, walk: Clip, targets):
    clip = rigs.remove_bones(walk, {"LeftToe", "RightToe"})
    skeleton = clip.skeleton
    sites = tuple(
        (skeleton.index(f"{side}Foot"), (0.0, -0.13, -0.06)) for side in ("Left", "Right")
    )
    clip = replace(clip, skeleton=replace(skeleton, end_sites=(*skeleton.end_sites, *sites)))
    roles = {role: names for role, names in humanoid.roles.items() if "toe" not in role}
    source = measure_body(Character(clip.skeleton, roles), [clip])
    target = measure_body(targets["giant"])
    moved = Retargeter(source, target).retarget(clip)
    rotations, places = moved.compute_world()
    for bone, tip in target.skeleton.end_sites:
        if bone in (target.limbs["left_leg"].bones.toe, target.limbs["right_leg"].bones.toe):
            end = places[:, bone] + quat.mul_vec(rotations[:, bone], np.array([tip]))
            assert end[:, 2].min() > -0.02


@pytest.mark.parametrize("forelegs", [0.75, 1.0, 1.3])
def test_animals_bring_their_gaits_to_others(forelegs: float):
    clips = [motion.clip for motion in animals.make_dog_motions()[::4]]
    dog = Character(clips[0].skeleton, characters.DOG_ROLES, True)
    source = measure_body(dog, clips)
    target = measure_body(characters.make_quadruped(forelegs))
    there = Retargeter(source, target)
    moved = [there.retarget(clip) for clip in clips]
    assert_good(measure_all(clips, moved, source, target), 1.0, 10.0)
    returned = find_joints(Retargeter(target, source).retarget(moved[0]), source)
    away = np.linalg.norm(returned - find_joints(clips[0], source), axis=-1)
    # short forelegs do not reach all that long ones do, and that is lost
    assert away.mean() < (0.005 if forelegs >= 1.0 else 0.02)


# settings


def test_hands_meet_where_the_sources_do(source: Anatomy, walk: Clip, targets):
    target = measure_body(targets["child"])
    gaps = []
    for share in (0.0, 1.0):
        settings = RetargetSettings(hand_ik=share)
        moved = Retargeter(source, target, settings).retarget(walk)
        for body, clip in ((source, walk), (target, moved)):
            places = clip.compute_world()[1]
            left, right = (body.limbs[f"{side}_arm"].bones.end for side in characters.SIDES)
            gaps.append(np.linalg.norm(places[:, left] - places[:, right], axis=-1) / body.leg)
    free, pinned = np.abs(gaps[1] - gaps[0]), np.abs(gaps[3] - gaps[2])
    assert pinned.mean() < 0.3 * free.mean()


def test_translations_are_kept_if_asked_for(source: Anatomy, humanoid, walk: Clip, targets):
    bone = humanoid.skeleton.index("UpperChest")
    positions = walk.positions.copy()
    positions[:, bone, 2] += 0.05 * np.sin(np.arange(walk.frame_count))
    clip = replace(walk, positions=positions)
    target = measure_body(targets["giant"])
    chest = target.skeleton.index("chest")
    for keep in (False, True):
        retargeter = Retargeter(source, target, RetargetSettings(keep_translations=keep))
        moved = retargeter.retarget(clip).positions[:, chest]
        away = np.linalg.norm(moved - target.skeleton.rest_positions[chest], axis=-1)
        scale = retargeter.plan.scale
        assert away.max() == pytest.approx(0.05 * scale if keep else 0.0, abs=0.01 * scale)


def test_offsets_turn_a_part_and_leave_feet_in_place(source: Anatomy, walk: Clip, targets):
    target = measure_body(targets["mpfb"])
    plain = Retargeter(source, target).retarget(walk)
    offsets = {"head": (20.0, 0.0, 0.0), "left_foot": (0.0, 0.0, 10.0), "hips": (5.0, 0.0, 0.0)}
    turned = Retargeter(source, target, RetargetSettings(offsets=offsets)).retarget(walk)
    before, after = plain.compute_world(), turned.compute_world()
    for role, degrees in (("head", 20.0), ("left_foot", 10.0), ("hips", 5.0), ("right_foot", 0.0)):
        bone = target.roles.chains[role][0]
        angles = quat.angle_between(before[0][:, bone], after[0][:, bone])
        assert np.degrees(angles) == pytest.approx(degrees, abs=0.1)
    toes = [target.limbs[leg].bones.toe for leg in ("left_leg", "right_leg")]
    assert np.abs(before[1] - after[1])[:, toes].max() < 0.03


def test_settings_can_be_stored():
    settings = RetargetSettings(hand_ik=0.5, offsets={"head": (1.0, 2.0, 3.0)})
    assert RetargetSettings(**json.loads(json.dumps(asdict(settings)))) == replace(
        settings, offsets={"head": [1.0, 2.0, 3.0]}
    )


def test_a_scale_can_be_given(source: Anatomy, walk: Clip, targets):
    target = measure_body(targets["giant"])
    moved = Retargeter(source, target, RetargetSettings(scale=1.0)).retarget(walk)
    gone = [
        np.ptp(clip.compute_world()[1][:, body.hips, :2], axis=0)
        for clip, body in ((walk, source), (moved, target))
    ]
    assert gone[1] == pytest.approx(gone[0], abs=0.05)


# bad input


def test_bodies_without_legs_name_what_is_missing(humanoid: Character, walk: Clip):
    chains = humanoid.list_chains()
    for missing in ("left_shin", "hips"):
        roles = BodyRoles({r: c for r, c in chains.items() if r != missing}, {})
        with pytest.raises(RigError, match=missing.replace("_", " ")):
            Anatomy.from_clips(humanoid.skeleton, roles, [walk])


def test_a_zero_pose_without_motion_is_refused(source: Anatomy, walk: Clip):
    skeleton = roll(walk, False).skeleton
    with pytest.raises(RigError, match="does not stand"):
        Anatomy.from_clips(skeleton, source.roles)


def test_clips_of_other_skeletons_are_refused(source: Anatomy, walk: Clip, targets):
    retargeter = Retargeter(source, measure_body(targets["mpfb"]))
    with pytest.raises(RigError, match="other bones"):
        retargeter.retarget(rigs.rename_bones(walk))


@pytest.mark.parametrize("changes", [{"offsets": {"tail fin": (0, 0, 0)}}, {"hand_ik": 2.0}])
def test_settings_without_sense_are_refused(changes, source: Anatomy, targets):
    with pytest.raises(SettingsError):
        Retargeter(source, measure_body(targets["mpfb"]), RetargetSettings(**changes))


def test_a_lopsided_rest_pose_serves_if_there_is_no_motion(source: Anatomy, walk: Clip, targets):
    skeleton = targets["giant"].skeleton
    rest = skeleton.rest_rotations.copy()
    bone = skeleton.index("upper_arm.L")
    lift = quat.from_angle_axis(np.array(0.8), np.array([0.0, 0.0, 1.0]))
    rest[bone] = quat.mul(rest[bone], lift.astype(np.float32))
    character = replace(targets["giant"], skeleton=replace(skeleton, rest_rotations=rest))
    lopsided, target = measure_body(character), measure_body(targets["giant"])
    moved = find_joints(Retargeter(source, lopsided).retarget(walk), lopsided)
    expected = find_joints(Retargeter(source, target).retarget(walk), target)
    assert np.abs(moved - expected).max() < 0.01


# everything together


def test_clips_of_several_skeletons_come_onto_one(walk: Clip, targets):
    short = walk.crop(0, 120)
    cmu, _ = characters.make_cmu_like(short)
    target = targets["mixamo"].skeleton
    clips, moved = [short, cmu, short.crop(30, 90)], {}
    for group in group_by_skeleton(clips, lambda clip: clip.skeleton):
        retargeter = RetargetBody(group[0].skeleton, group).make_retargeter(RetargetBody(target))
        moved |= {id(clip): retargeter.retarget(clip) for clip in group}
    first, second, third = (moved[id(clip)] for clip in clips)
    assert {clip.skeleton.names for clip in (first, second, third)} == {target.names}
    names = [target.index(f"mixamorig:{bone}") for bone in ("LeftFoot", "RightHand", "Head")]
    places = [clip.compute_world()[1][:, names] for clip in (first, second)]
    assert np.abs(places[0] - places[1]).max() < 3.0  # centimetres


@pytest.mark.slow
@pytest.mark.parametrize("name", characters.TARGETS)
@pytest.mark.parametrize("folder", ["bandai-namco", "lafan1", "cmu"])
def test_real_motion_keeps_its_feet_legs_and_torso(folder: str, name: str, mocap: Path, targets):
    files = sorted((mocap / folder).glob("*.bvh"))
    clips = [bvh.load(file).crop(0, 1500) for file in files[:: max(1, len(files) // 6)]]
    if folder == "cmu":
        clips = clips[:1]
    source = Anatomy.from_clips(clips[0].skeleton, find_body_roles(clips[0].skeleton, clips), clips)
    target = measure_body(targets[name])
    retargeter = Retargeter(source, target)
    moved = [retargeter.retarget(clip) for clip in clips]
    measures = measure_all(clips, moved, source, target)
    assert_good(measures, UNITS.get(name, 1.0), 3.0 if name in ADULTS else 6.0)

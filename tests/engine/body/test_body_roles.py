"""Every part of a body is found without help, by names or by shape, and can be set by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import BodyRoles, find_body_roles
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips
from tests.engine import animals, characters, named_rigs, stand_ins
from tests.engine.characters import Chain, Character, Proportions
from tests.engine.sentences import check_sentence

TARGETS = list(characters.TARGETS)
NAMES = list(named_rigs.NAMES)
LEAST_SHARE = 0.95


def measure_share(character: Character, roles: BodyRoles) -> float:
    """Return the share of a character's parts of which exactly the right bones were found."""
    wanted = character.list_chains()
    return sum(roles.chains.get(role) == chain for role, chain in wanted.items()) / len(wanted)


def list_wrong(character: Character, roles: BodyRoles) -> list[str]:
    """Return the parts of a character for which other bones were found."""
    return [r for r, chain in character.list_chains().items() if roles.chains.get(r) != chain]


@pytest.mark.parametrize("name", NAMES)
def test_parts_are_found_by_the_names_that_programs_give(name: str) -> None:
    character = named_rigs.make_named(name)
    roles = find_body_roles(character.skeleton)
    assert list_wrong(character, roles) == []
    assert not roles.four_legged
    assert min(roles.confidence.values()) >= 0.6
    assert np.mean(list(roles.confidence.values())) > 0.9


@pytest.mark.parametrize("name", TARGETS)
def test_parts_are_found_on_characters_named_or_not(name: str) -> None:
    character = characters.TARGETS[name]()
    for named in (character, named_rigs.rename(character, "Bone.{:03d}")):
        assert list_wrong(named, find_body_roles(named.skeleton)) == []


@pytest.mark.slow
def test_shape_alone_finds_the_parts_of_people_of_any_proportions() -> None:
    rng = np.random.default_rng(5)
    least = np.array([0.4, 0.55, 0.8, 0.8, 0.8, 0.7, 0.7])
    most = np.array([2.5, 1.3, 1.25, 1.25, 1.25, 1.3, 1.4])
    # whether a chest ends at a neck and a head at a tip is seen in names alone
    names = ["VRM", "Auto-Rig Pro", "Daz", "Valve", "HumanIK", "Unity", "MakeHuman", "Biovision"]
    shares = []
    for number in range(24):
        body = Proportions(*(float(value) for value in rng.uniform(least, most)))
        made = named_rigs.make_named(names[number % len(names)], body, float(rng.uniform(0, 80)))
        character = named_rigs.rename(made, "j{}")
        roles = find_body_roles(character.skeleton)
        shares.append(measure_share(character, roles))
        # what is guessed is less sure than what is named
        assert max(roles.confidence.values()) < 0.7
    assert min(shares) >= LEAST_SHARE


def test_names_cut_at_the_length_that_blender_allows_still_find_all_parts() -> None:
    for length in (40, 48, 52, 55):
        made = named_rigs.make_named("HumanIK")
        prefix = "export_of_the_hero_of_the_second_film_final_version_of_may"[:length]
        cut = {name: (prefix + ":" + name)[:63] for name in made.skeleton.names}
        assert len(set(cut.values())) < len(cut) or length < 52
        character = _rename_each(made, list(cut.values()))
        assert list_wrong(character, find_body_roles(character.skeleton)) == []


def _rename_each(character: Character, names: Sequence[str]) -> Character:
    """Rename bones; repeated names get numbers, as in Blender."""
    unique: list[str] = []
    for name in names:
        count = sum(other.split(".")[0] == name for other in unique)
        unique.append(f"{name}.{count:03d}" if count else name)
    new = dict(zip(character.skeleton.names, unique, strict=True))
    roles = {role: tuple(new[bone] for bone in chain) for role, chain in character.roles.items()}
    return replace(character, skeleton=character.skeleton.with_names(tuple(unique)), roles=roles)


def _turn(skeleton: Skeleton) -> Skeleton:
    """Turn a body about the vertical."""
    turn = quat.from_yaw(np.array(2.3))
    positions, rotations = skeleton.rest_positions.copy(), skeleton.rest_rotations.copy()
    for bone in np.flatnonzero(skeleton.parents < 0):
        positions[bone] = quat.mul_vec(turn, positions[bone].astype(np.float64))
        rotations[bone] = quat.mul(turn, rotations[bone].astype(np.float64))
    return replace(skeleton, rest_positions=positions, rest_rotations=rotations)


def _roll(skeleton: Skeleton) -> Skeleton:
    """Turn the frames of bones at random, and leave the joints where they are."""
    rng = np.random.default_rng(2)
    rolls = quat.normalize(rng.normal(size=(skeleton.bone_count, 4)))
    turns, places = (part.astype(np.float64) for part in skeleton.compute_rest_world())
    rotations, positions = quat.ik(quat.mul(turns, rolls), places, skeleton.parents)
    sites = [(b, quat.inv_mul_vec(rolls[b], np.array(end))) for b, end in skeleton.end_sites]
    return replace(
        skeleton,
        rest_rotations=rotations.astype(np.float32),
        rest_positions=positions.astype(np.float32),
        end_sites=tuple((b, tuple(map(float, end))) for b, end in sites),
    )


def _scale(skeleton: Skeleton) -> Skeleton:
    """Give lengths in centimetres."""
    sites = tuple((b, (100 * x, 100 * y, 100 * z)) for b, (x, y, z) in skeleton.end_sites)
    return replace(skeleton, rest_positions=100 * skeleton.rest_positions, end_sites=sites)


@pytest.mark.parametrize("change", [_turn, _roll, _scale])
def test_parts_do_not_depend_on_turns_rolls_and_units(
    change: Callable[[Skeleton], Skeleton],
) -> None:
    for make in (characters.make_mpfb, characters.make_quadruped):
        for character in (make(), named_rigs.rename(make(), "j{}")):
            roles = find_body_roles(change(character.skeleton))
            assert list_wrong(character, roles) == []


def test_clips_tell_the_parts_of_bodies_without_names() -> None:
    clips = [generate_clips()[number].crop(0, 400) for number in (0, 2, 4)]
    made = [Character(clips[0].skeleton, characters.HUMANOID_ROLES)]
    sources = [clips]
    for make in (characters.make_cmu_like, characters.make_many_joints):
        moved, character = make(clips[1])
        made.append(character)
        sources.append([moved])
    for character, moves in zip(made, sources, strict=True):
        blank = named_rigs.rename(character, "j{}")
        for known in (character, blank):
            moved = [replace(clip, skeleton=known.skeleton) for clip in moves]
            assert list_wrong(known, find_body_roles(known.skeleton, moved)) == []


def _hide_rest(clip: Clip) -> Clip:
    """Replace the rest pose by one without rotations, all bones along one axis, as files have."""
    skeleton = clip.skeleton
    lengths = np.linalg.norm(skeleton.rest_positions, axis=1)
    offsets = np.zeros((skeleton.bone_count, 3), np.float32)
    offsets[:, 0] = lengths
    still = np.tile(quat.IDENTITY, (skeleton.bone_count, 1)).astype(np.float32)
    hidden = replace(skeleton, rest_positions=offsets, rest_rotations=still)
    return replace(clip, skeleton=hidden)


def test_a_rest_pose_that_shows_nothing_does_not_matter() -> None:
    clip = _hide_rest(generate_clips()[4])
    character = Character(clip.skeleton, characters.HUMANOID_ROLES)
    blank = named_rigs.rename(character, "j{}")
    assert list_wrong(character, find_body_roles(clip.skeleton)) == []
    moved = replace(clip, skeleton=blank.skeleton)
    assert list_wrong(blank, find_body_roles(blank.skeleton, [moved])) == []


def test_forelegs_that_are_named_as_arms_are_forelegs() -> None:
    motions = [motion.clip for motion in animals.make_dog_motions()[:3]]
    roles = find_body_roles(motions[0].skeleton, motions)
    assert roles.four_legged
    assert list_wrong(Character(motions[0].skeleton, characters.DOG_ROLES, True), roles) == []
    assert [motions[0].skeleton.names[bone] for bone in roles.chains["tail"]] == ["Tail", "Tail1"]


FINGERS = {
    "numbers from two": stand_ins.NUMBERED_FINGERS,
    "numbers from one": {"Thumb": "{side}Thumb{bone}"}
    | {f: f"{{side}}Finger{n}_{{bone}}" for n, f in enumerate(stand_ins.FINGERS) if n},
    "numbers from zero": {"Thumb": "{side}Thumb{bone}"}
    | {f: f"{{side}}Finger{n - 1}{{bone}}" for n, f in enumerate(stand_ins.FINGERS) if n},
    "numbers for all": {f: f"{{side}}Finger{n}_{{bone}}" for n, f in enumerate(stand_ins.FINGERS)},
    "other words": {
        "Thumb": "thumb{bone}_{letter}",
        "Index": "fore{bone}_{letter}",
        "Middle": "middle{bone}_{letter}",
        "Ring": "third{bone}_{letter}",
        "Pinky": "little{bone}_{letter}",
    },
}


@pytest.mark.parametrize("name", FINGERS)
def test_fingers_are_told_apart_by_names_and_numbers(name: str) -> None:
    clip = stand_ins.add_fingers(generate_clips()[0].crop(0, 30), fingers=FINGERS[name])
    roles = find_body_roles(clip.skeleton, [clip]).to_names(clip.skeleton)
    for side in stand_ins.SIDES:
        for finger in stand_ins.FINGERS:
            pattern = FINGERS[name][finger]
            wanted = [
                pattern.format(side=side, letter=side[0].lower(), bone=bone) for bone in (1, 2, 3)
            ]
            assert roles[f"{side.lower()}_{finger.lower()}"] == wanted


def test_an_animal_is_found_by_names_and_by_shape() -> None:
    for character in (
        characters.make_quadruped(),
        named_rigs.rename(characters.make_quadruped(), "j{}"),
    ):
        roles = find_body_roles(character.skeleton)
        assert roles.four_legged
        assert list_wrong(character, roles) == []


def _lie_down(skeleton: Skeleton) -> Clip:
    """Make a clip of a body that lies on its side."""
    turn = quat.from_angle_axis(np.array(0.5 * np.pi), np.array([0.0, 1.0, 0.0]))
    rotations = skeleton.rest_rotations.astype(np.float64)
    roots = skeleton.parents < 0
    rotations[roots] = quat.mul(turn, rotations[roots])
    positions = skeleton.rest_positions.astype(np.float64)
    positions[roots] = quat.mul_vec(turn, positions[roots])
    frames = [np.repeat(part[None].astype(np.float32), 30, 0) for part in (positions, rotations)]
    return Clip("lies", skeleton, frames[0], frames[1], 30.0)


def test_an_animal_that_lies_in_its_clip_still_has_forelegs() -> None:
    made = characters.make_quadruped()
    words = {"thigh": "Arm", "shin": "ForeArm", "foot": "Hand", "toe": "Paw"}
    names = [
        f"{words[name.split('.')[0][6:]]}.{name[-1]}" if name.startswith("front_") else name
        for name in made.skeleton.names
    ]
    for character in (_rename_each(made, names), named_rigs.rename(made, "j{}")):
        roles = find_body_roles(character.skeleton, [_lie_down(character.skeleton)])
        assert roles.four_legged
        assert list_wrong(character, roles) == []


EXTRAS = {
    "tail": [Chain("", "x1 x2 x3 x4", "tail", "tail_tip", "hips")],
    "long coat": [Chain("", "x1{} x2{} x3{}", "back", "calf", "chest")],
    "skirt": [Chain("", "x1{} x2{} x3{}", "side", "hem", "hips")],
    "wings": [Chain("", "x1{} x2{} x3{}", "back", "wing", "chest")],
    "hair": [Chain("", "x1{} x2{} x3{}", "top", "lock", "head")],
    "heel": [Chain("", "x1{}", "heel", "heel_tip", "foot.{}")],
    "breast": [Chain("", "x1{}", "breast", "breast_tip", "chest")],
}
PLACES = {
    "tail": (0.0, 0.1, 0.95),
    "tail_tip": (0.0, 0.6, 0.02),
    "back": (0.1, 0.1, 1.4),
    "calf": (0.2, 0.2, 0.4),
    "side": (0.15, 0.0, 0.95),
    "hem": (0.3, 0.0, 0.05),
    "wing": (0.5, 0.4, 1.6),
    "lock": (0.2, 0.1, 1.2),
    "heel": (0.09, 0.07, 0.02),
    "heel_tip": (0.09, 0.08, 0.0),
    "breast": (0.08, -0.05, 1.3),
    "breast_tip": (0.1, -0.15, 1.28),
}


@pytest.mark.parametrize("extra", list(EXTRAS))
def test_what_hangs_on_a_body_has_no_part(extra: str) -> None:
    points = characters.place_joints(Proportions(), 45.0)
    points |= {name: np.array(place) for name, place in PLACES.items()}
    plain = characters.make_plain(Proportions())
    chains = [
        Chain("hips", "hips", "hips", "waist", ""),
        Chain("spine", "spine chest", "waist", "neck", "hips"),
        Chain("neck", "neck", "neck", "head", "chest"),
        Chain("head", "head", "head", "top", "neck"),
        *characters._list_limbs("", characters._PLAIN, "chest", "hips"),
        *EXTRAS[extra],
    ]
    made = characters.build_character(chains, points, sides=("L", "R"))
    assert made.roles == plain.roles
    for character in (made, named_rigs.rename(made, "j{}")):
        roles = find_body_roles(character.skeleton)
        assert list_wrong(character, roles) == []
        assert set(roles.chains) == set(made.roles)


def test_names_of_roles_lead_back_to_the_same_roles() -> None:
    for make in (characters.make_unreal, characters.make_no_toes, characters.make_quadruped):
        skeleton = make().skeleton
        roles = find_body_roles(skeleton)
        names = roles.to_names(skeleton)
        again = BodyRoles.from_names(skeleton, names)
        assert again.chains == roles.chains
        assert again.four_legged == roles.four_legged
        given = find_body_roles(skeleton, overrides=names)
        assert given.chains == roles.chains
        assert set(given.confidence.values()) == {1.0}


def test_what_is_given_by_hand_rules_what_is_around_it() -> None:
    skeleton = characters.make_no_toes().skeleton

    def find(**given: str | list[str]) -> dict[str, str | list[str]]:
        return find_body_roles(skeleton, overrides=given).to_names(skeleton)

    plain = find()
    assert find(spine="b04") == plain | {
        "spine": ["b01", "b02", "b03", "b04"],
        "neck": ["b05", "b06", "b07"],
    }
    assert find(neck=["b07"], head="b08") == plain
    assert find(left_forearm=["c3a", "e1a"]) == plain | {"left_forearm": ["c3a", "e1a"]}
    without = {role: bones for role, bones in plain.items() if role != "left_collar"}
    assert find(left_collar="") == without
    assert find(left_upper_arm="c1a") == without | {"left_upper_arm": ["c1a", "c2a"]}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"left_hand": "c4"}, ("c4", "left hand", "'c4a'")),
        ({"hand": "c4a"}, ("hand", "left_hand", "right_hand")),
        ({"left_hand": "c4a", "right_hand": "c4a"}, ("c4a", "left hand", "right hand")),
        ({"left_shin": "d1b"}, ("d1b", "left shin")),
    ],
)
def test_a_wrong_bone_given_by_hand_is_named(given: dict[str, str], named: tuple[str, ...]) -> None:
    with pytest.raises(RigError) as error:
        find_body_roles(characters.make_no_toes().skeleton, overrides=given)
    check_sentence(error, *named)


def test_a_body_without_legs_is_refused_with_the_part_that_is_missing() -> None:
    thighs = ["mixamorig:LeftUpLeg", "mixamorig:RightUpLeg"]
    with pytest.raises(RigError) as error:
        find_body_roles(named_rigs.leave_out(characters.make_mixamo(), thighs).skeleton)
    check_sentence(error, "leg")
    shin = ["mixamorig:LeftLeg"]
    with pytest.raises(RigError) as error:
        find_body_roles(named_rigs.leave_out(characters.make_mixamo(), shin).skeleton)
    check_sentence(error, "left shin")


def test_two_characters_in_one_skeleton_are_refused() -> None:
    one, two = characters.make_mixamo().skeleton, characters.make_unreal().skeleton
    for first, second in ((one, two), (one, one)):
        names = (*first.names, *(f"B:{name}" for name in second.names))
        below = np.where(second.parents < 0, -1, second.parents + first.bone_count)
        both = Skeleton(
            names,
            np.append(first.parents, below),
            np.concatenate([first.rest_positions, second.rest_positions]),
            np.concatenate([first.rest_rotations, second.rest_rotations]),
        )
        with pytest.raises(RigError) as error:
            find_body_roles(both)
        check_sentence(error, "more than one character", "mixamorig:Hips")


def test_parts_of_real_recordings_are_found(mocap: Path) -> None:
    lafan = bvh.load(next((mocap / "lafan1").glob("*.bvh")))
    bandai = [bvh.load(path) for path in sorted((mocap / "bandai-namco").glob("*.bvh"))[::12]]
    parts = ("collar", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
    lafan_names = ("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "Toe")
    bandai_names = (
        *("Shoulder", "UpperArm", "LowerArm", "Hand"),
        *("UpperLeg", "LowerLeg", "Foot", "Toes"),
    )
    trunk = {"hips": ("Hips",), "neck": ("Neck",), "head": ("Head",)}
    of_lafan = trunk | {"spine": ("Spine", "Spine1", "Spine2")}
    of_bandai = trunk | {"root": ("joint_Root",), "spine": ("Spine", "Chest")}
    for side in ("left", "right"):
        for part, name, other in zip(parts, lafan_names, bandai_names, strict=True):
            of_lafan[f"{side}_{part}"] = (side.title() + name,)
            of_bandai[f"{side}_{part}"] = (f"{other}_{side[0].upper()}",)
    for clips, wanted in (
        ([lafan], of_lafan),
        (bandai, of_bandai),
        *(([c], of_bandai) for c in bandai),
    ):
        character = Character(clips[0].skeleton, wanted)
        for known in (character, named_rigs.rename(character, "j{}")):
            moved = [replace(clip, skeleton=known.skeleton) for clip in clips]
            assert list_wrong(known, find_body_roles(known.skeleton, moved)) == []

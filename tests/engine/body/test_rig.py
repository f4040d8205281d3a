"""Roles of bones: the same by name and by shape, and the hips' forward axis from the motion."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from motion_matching.engine.body.rig import Roles, find_hips_forward, find_roles
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips
from tests.engine import rigs

REAL = (
    "lafan1/push1_subject2.bvh",
    "bandai-namco/dataset-1_walk_normal_001.bvh",
    "bandai-namco/dataset-2_run_normal_003.bvh",
    "bandai-namco/dataset-2_walk-turn-left_normal_001.bvh",
    "bandai-namco/dataset-1_walk-back_normal_001.bvh",
)


def name_original_bones(roles: Roles, original: Clip, order: np.ndarray) -> dict[str, str]:
    """Return roles found on a shuffled and renamed rig, by the bones' original names."""
    names = tuple(original.skeleton.names[i] for i in order)
    return roles.to_names(original.skeleton.with_names(names))


def compute_world_forward(clip: Clip, roles: Roles, axis: np.ndarray) -> np.ndarray:
    return quat.mul_vec(clip.compute_world()[0][:, roles.hips].astype(np.float64), axis[None])


@pytest.mark.parametrize("name", rigs.NAMINGS)
def test_known_names_are_recognised_without_motion(name: str) -> None:
    clip = rigs.make_walk(name, frames=2)
    assert find_roles(clip.skeleton).to_names(clip.skeleton) == rigs.list_roles(name)


@pytest.mark.parametrize("name", rigs.NAMINGS)
def test_names_decide_for_any_axes_and_order_of_siblings(name: str) -> None:
    clip = rigs.make_walk(name, frames=30)
    other, _ = rigs.shuffle_siblings(clip, np.random.default_rng(3))
    other = rigs.roll_axes(
        other,
        rigs.make_random_rolls(other.skeleton.bone_count, np.random.default_rng(4)),
        keep_rest=False,
    )
    assert find_roles(other.skeleton, [other]).to_names(other.skeleton) == rigs.list_roles(name)


@pytest.mark.parametrize("name", rigs.NAMINGS)
@pytest.mark.parametrize("seed", range(3))
def test_shape_finds_the_same_roles_without_names_order_and_axes(name: str, seed: int) -> None:
    clip = rigs.make_walk(name)
    other, order = rigs.anonymize(clip, seed)
    found = find_roles(other.skeleton, [other])
    assert name_original_bones(found, clip, order) == rigs.list_roles(name)


@pytest.mark.parametrize("name", rigs.NAMINGS)
def test_the_shape_of_a_standing_rest_pose_suffices(name: str) -> None:
    clip = rigs.make_walk(name, frames=2)
    other, order = rigs.anonymize(clip, keep_rest=True)
    found = name_original_bones(find_roles(other.skeleton), clip, order)
    expected = rigs.list_roles(name)
    if name == "Mixamo":
        # only motion tells a head from the end bone on top of it
        assert found.pop("head") in ("mixamorig:Head", "mixamorig:HeadTop_End")
        del expected["head"]
    assert found == expected


@pytest.mark.parametrize("file", REAL)
def test_real_rigs_have_the_same_roles_by_name_and_by_shape(mocap, file: str) -> None:
    clip = bvh.load(mocap / file)
    named = find_roles(clip.skeleton, [clip])
    assert (
        "Spine2" in clip.skeleton.names[named.spine] or "Chest" in clip.skeleton.names[named.spine]
    )
    for seed in range(2):
        other, order = rigs.anonymize(clip, seed)
        assert name_original_bones(
            find_roles(other.skeleton, [other]), clip, order
        ) == named.to_names(clip.skeleton)


def test_sides_by_shape_are_right_for_walking_backwards() -> None:
    clip = rigs.make_walk(speed=-1.0)
    other, order = rigs.anonymize(clip)
    assert name_original_bones(find_roles(other.skeleton, [other]), clip, order) == rigs.list_roles(
        "LAFAN1"
    )


def test_without_toes_travel_gives_the_sides_and_feet_serve_as_toes() -> None:
    clip = rigs.remove_bones(rigs.make_walk(), {"LeftToe", "RightToe"}, end_sites=False)
    other, order = rigs.anonymize(clip)
    roles = find_roles(other.skeleton, [other])
    expected = rigs.list_roles("LAFAN1") | {"left_toe": "LeftFoot", "right_toe": "RightFoot"}
    assert name_original_bones(roles, clip, order) == expected
    assert find_roles(clip.skeleton).to_names(clip.skeleton) == expected


def test_a_heel_is_no_toe_of_a_rig_without_toes() -> None:
    """It points backward, so that the body would face the way that it comes from."""
    clip = rigs.remove_bones(rigs.make_walk(), {"LeftToe", "RightToe"}, end_sites=False)
    plain = find_roles(clip.skeleton, [clip])
    forward = find_hips_forward([clip], plain)
    skeleton, feet = clip.skeleton, [leg.foot for leg in plain.legs]
    world = clip.compute_world()[0]
    offsets = [quat.inv_mul_vec(world[0, foot], np.array([0.0, 0.06, -0.05])) for foot in feet]
    heels = Skeleton(
        (*skeleton.names, "LeftHeel", "RightHeel"),
        np.append(skeleton.parents, feet),
        np.concatenate([skeleton.rest_positions, offsets]).astype(np.float32),
        np.concatenate([skeleton.rest_rotations, np.tile(quat.IDENTITY, (2, 1))]).astype(
            np.float32
        ),
        skeleton.end_sites,
    )
    count = clip.frame_count
    heeled = replace(
        clip,
        skeleton=heels,
        positions=np.concatenate(
            [clip.positions, np.broadcast_to(offsets, (count, 2, 3))], axis=1
        ).astype(np.float32),
        rotations=np.concatenate([clip.rotations, np.tile(quat.IDENTITY, (count, 2, 1))], axis=1),
    )
    roles = find_roles(heels, [heeled])
    assert roles.legs == plain.legs
    np.testing.assert_allclose(find_hips_forward([heeled], roles), forward, atol=1e-6)


@pytest.mark.parametrize("tail", [0.4, 0.01])
def test_an_animal_has_four_legs_and_its_dragged_tail_is_no_leg(tail: float) -> None:
    clip = rigs.make_dog(tail=tail)
    other, order = rigs.anonymize(clip)
    found = name_original_bones(find_roles(other.skeleton, [other]), clip, order)
    expected = {"hips": "pelvis", "spine": "withers", "head": "skull"}
    for number, end in (("", "hind"), ("2", "fore")):
        for word in ("left", "right"):
            expected |= {f"{word}{number}_{part}": f"{end}_{part}_{word[0]}" for part in rigs.LEG}
    assert found == expected


@pytest.mark.parametrize("bones", [1, 2, 3])
@pytest.mark.parametrize("parent", ["Hips", "Root"])
def test_a_tail_on_the_ground_is_no_leg_although_nobody_goes_anywhere(
    bones: int, parent: str
) -> None:
    """On a treadmill, or while a body stands, a tail rests as feet do, but legs come in pairs."""
    clip = rigs.make_walk()
    positions = clip.positions.copy()
    positions[:, 0, :2] = positions[0, 0, :2]
    clip = add_root(replace(clip, positions=positions), "Root")
    # from the hips back and down to the floor
    count, start = clip.skeleton.bone_count, clip.skeleton.index("Hips")
    below = clip.skeleton.index(parent)
    world, places = clip.compute_world()
    joints = np.linspace([0.0, 0.1, 0.0], [0.0, 0.75, -0.93], bones + 1)[:, None] + places[:, start]
    names = tuple(f"Tail{k}" for k in range(bones))
    local = [quat.inv_mul_vec(world[:, below], joints[0] - places[:, below])]
    local += [quat.inv_mul_vec(world[:, below], b - a) for a, b in pairwise(joints[:-1])]
    moved = np.concatenate([clip.positions, np.stack(local, axis=1)], axis=1).astype(np.float32)
    still = np.tile(quat.IDENTITY, (bones, 1)).astype(np.float32)
    tip = quat.inv_mul_vec(world[0, below], (joints[-1] - joints[-2])[0])
    skeleton = clip.skeleton
    longer = Skeleton(
        (*skeleton.names, *names),
        np.append(skeleton.parents, [below, *range(count, count + bones - 1)]),
        np.concatenate([skeleton.rest_positions, moved[0, count:]]),
        np.concatenate([skeleton.rest_rotations, still]),
        (*skeleton.end_sites, (count + bones - 1, tuple(tip.tolist()))),
    )
    turns = np.concatenate([clip.rotations, np.tile(still, (clip.frame_count, 1, 1))], axis=1)
    tailed = replace(clip, skeleton=longer, positions=moved, rotations=turns)
    other, order = rigs.anonymize(tailed)
    found = name_original_bones(find_roles(other.skeleton, [other]), tailed, order)
    expected = rigs.list_roles("LAFAN1")
    assert {role: found.get(role) for role in expected} == expected
    assert not any("Tail" in bone for bone in found.values())


def add_root(clip: Clip, name: str) -> Clip:
    """Add a bone at the origin above all others."""
    skeleton = clip.skeleton
    rooted = Skeleton(
        (name, *skeleton.names),
        np.append(-1, skeleton.parents + 1),
        np.insert(skeleton.rest_positions, 0, 0.0, axis=0),
        np.insert(skeleton.rest_rotations, 0, [1, 0, 0, 0], axis=0),
        tuple((bone + 1, site) for bone, site in skeleton.end_sites),
    )
    positions = np.insert(clip.positions, 0, 0.0, axis=1)
    rotations = np.insert(clip.rotations, 0, [1, 0, 0, 0], axis=1)
    return replace(clip, skeleton=rooted, positions=positions, rotations=rotations)


def add_bone(clip: Clip, name: str, parent: str, share: float, child: str = "") -> Clip:
    """Add a bone on a `share` of the way from a parent to its child, above that child if named."""
    skeleton, above = clip.skeleton, clip.skeleton.index(parent)
    below = skeleton.index(child) if child else skeleton.get_children(above)[0]
    names = [*skeleton.names[: above + 1], name, *skeleton.names[above + 1 :]]
    parents = [p + (p > above) for p in skeleton.parents.tolist()]
    parents.insert(above + 1, above)
    offset = share * skeleton.rest_positions[below]
    rest = np.insert(skeleton.rest_positions, above + 1, offset, axis=0)
    positions = np.insert(clip.positions, above + 1, offset, axis=1)
    if child:
        parents[below + 1] = above + 1
        rest[below + 1] -= offset
        positions[:, below + 1] -= offset
    longer = Skeleton(
        tuple(names),
        np.array(parents),
        rest,
        np.insert(skeleton.rest_rotations, above + 1, [1, 0, 0, 0], axis=0),
        tuple((bone + (bone > above), site) for bone, site in skeleton.end_sites),
    )
    rotations = np.insert(clip.rotations, above + 1, [1, 0, 0, 0], axis=1)
    return replace(clip, skeleton=longer, positions=positions, rotations=rotations)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_bones_without_a_length_are_no_parts_of_a_leg(share: float) -> None:
    clip = rigs.make_walk()
    for side in ("Left", "Right"):
        clip = add_bone(clip, f"{side}Null", f"{side}UpLeg", share, f"{side}Leg")
    other, order = rigs.anonymize(clip)
    found = name_original_bones(find_roles(other.skeleton, [other]), clip, order)
    expected = rigs.list_roles("LAFAN1")
    if not share:  # of two bones in one place, the lower one is the thigh
        expected |= {"left_thigh": "LeftNull", "right_thigh": "RightNull"}
    assert found == expected


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_twist_bones_of_a_body_that_crouches_are_no_feet(share: float) -> None:
    clip = rigs.make_walk(frames=240)
    names = clip.skeleton.names
    for side in ("Left", "Right"):
        clip = add_bone(clip, f"{side}Twist", f"{side}Leg", share)
    crouched = clip.rotations.copy()
    for side in ("Left", "Right"):
        for part, angle in (("UpLeg", -1.9), ("Leg", 2.4), ("Foot", -0.5)):
            turn = quat.from_angle_axis(np.array(angle), np.array([1.0, 0.0, 0.0]))
            bone = clip.skeleton.index(side + part)
            crouched[120:, bone] = quat.mul(turn, crouched[120:, bone])
    positions = clip.positions.copy()
    posed = replace(clip, rotations=crouched.astype(np.float32))
    sunk = posed.compute_world()[1][120:, :, 2].min(axis=1)
    positions[120:, names.index("Hips"), 2] -= sunk
    posed = replace(posed, positions=positions)
    other, order = rigs.anonymize(posed)
    found = name_original_bones(find_roles(other.skeleton, [other]), posed, order)
    assert found == rigs.list_roles("LAFAN1")


@pytest.mark.parametrize("share", [0.9, 0.99])
def test_twist_bones_beside_an_ankle_near_the_floor_are_no_feet(share: float) -> None:
    """Ankles of flat feet are about as low as toes, and so is a bone that twists a shin there."""
    clip = rigs.make_walk(frames=240)
    rest, positions = clip.skeleton.rest_positions.copy(), clip.positions.copy()
    for side in ("Left", "Right"):
        toe = clip.skeleton.index(f"{side}Toe")
        rest[toe, 2] = positions[:, toe, 2] = -0.01
    positions[:, clip.skeleton.index("Hips"), 2] -= 0.05
    sites = tuple((bone, (x, y, 0.0)) for bone, (x, y, _) in clip.skeleton.end_sites)
    flat = replace(clip.skeleton, rest_positions=rest, end_sites=sites)
    clip = replace(clip, skeleton=flat, positions=positions)
    for side in ("Left", "Right"):
        clip = add_bone(clip, f"{side}Twist", f"{side}Leg", share)
    other, order = rigs.anonymize(clip)
    found = name_original_bones(find_roles(other.skeleton, [other]), clip, order)
    assert found == rigs.list_roles("LAFAN1")


@pytest.mark.parametrize("part", ["UpLeg", "Leg", "Foot"])
def test_a_leg_with_one_name_that_no_table_knows_is_found_beside_the_other(part: str) -> None:
    clip = next(clip for clip in generate_clips() if clip.name == "walk_speeds")
    names = tuple("Other" if name == f"Left{part}" else name for name in clip.skeleton.names)
    roles = find_roles(clip.skeleton.with_names(names), [clip])
    assert roles == find_roles(clip.skeleton, [clip])


def test_a_pair_of_legs_needs_no_upper_body() -> None:
    clip = rigs.remove_bones(rigs.make_walk(), {"Spine"})
    roles = find_roles(clip.skeleton, [clip])
    assert roles.spine == roles.hips
    assert roles.head is None


def test_roles_survive_json() -> None:
    for clip in (rigs.make_walk("Unreal", frames=2), rigs.make_dog(frames=60)):
        anonymous, _ = rigs.anonymize(clip, keep_rest=True)
        roles = find_roles(anonymous.skeleton)
        text = json.dumps(roles.to_names(anonymous.skeleton))
        assert Roles.from_names(anonymous.skeleton, json.loads(text)) == roles


def test_overrides_win_over_names_and_shape() -> None:
    clip = rigs.make_walk("LAFAN1")
    roles = find_roles(clip.skeleton, [clip], {"spine": "Spine1", "left_toe": "LeftFoot"})
    assert clip.skeleton.names[roles.spine] == "Spine1"
    assert roles.legs[0].toe == roles.legs[0].foot
    other, order = rigs.anonymize(clip)
    wanted = other.skeleton.names[list(order).index(clip.skeleton.index("Spine1"))]
    assert (
        other.skeleton.names[find_roles(other.skeleton, [other], {"spine": wanted}).spine] == wanted
    )


@pytest.mark.parametrize(
    ("overrides", "culprits"),
    [
        ({"hips": "LeftLeg"}, ("'LeftLeg'", "hips", "left shin")),
        ({"hips": "Spine2"}, ("'Spine2'", "hips")),
        (
            {"left_thigh": "LeftFoot", "left_shin": "LeftLeg"},
            ("'LeftFoot'", "left thigh", "left foot"),
        ),
        (
            {"left_shin": "LeftFoot", "left_foot": "LeftLeg"},
            ("'LeftFoot'", "left shin", "'LeftLeg'"),
        ),
        ({"left_foot": "LeftLeg"}, ("'LeftLeg'", "left shin", "left foot")),
        ({"left_toe": "RightToe"}, ("'RightToe'", "left toe")),
        ({"left_foot": "RightFoot"}, ("'RightFoot'", "left foot")),
        ({"root": "Spine"}, ("'Spine'", "root", "'Hips'")),
        ({"root": "Hips"}, ("'Hips'", "root", "hips")),
        ({"hips": "LeftUpLeg"}, ("'LeftUpLeg'", "hips")),
    ],
)
def test_roles_that_contradict_the_hierarchy_are_refused_by_name(
    overrides: dict[str, str], culprits: tuple[str, ...]
) -> None:
    clip = rigs.make_walk("LAFAN1")
    with pytest.raises(RigError) as error:
        find_roles(clip.skeleton, [clip], overrides)
    for culprit in culprits:
        assert culprit in str(error.value)


@pytest.mark.parametrize("parts", [("thigh",), ("thigh", "shin", "foot", "toe")])
def test_swapped_sides_are_reported(parts: tuple[str, ...]) -> None:
    clip = rigs.make_walk("LAFAN1")
    right = rigs.list_roles("LAFAN1")
    swap = {"left": "right", "right": "left"}
    overrides = {f"{side}_{part}": right[f"{swap[side]}_{part}"] for side in swap for part in parts}
    with pytest.raises(RigError, match=r"left and right .*swapped"):
        find_roles(clip.skeleton, [clip], overrides)
    other, order = rigs.anonymize(clip)
    names = {clip.skeleton.names[old]: other.skeleton.names[new] for new, old in enumerate(order)}
    given = {
        f"{side}_{part}": names[right[f"{swap[side]}_{part}"]] for side in swap for part in rigs.LEG
    }
    with pytest.raises(RigError, match=r"left and right .*swapped"):
        find_roles(other.skeleton, [other], given)


def test_an_unknown_override_is_reported_with_similar_bones() -> None:
    skeleton = rigs.make_walk("LAFAN1", frames=2).skeleton
    with pytest.raises(
        RigError, match="'LeftTow' given for left toe does not exist; did you mean 'LeftToe'"
    ):
        find_roles(skeleton, overrides={"left_toe": "LeftTow"})
    with pytest.raises(RigError, match=r"'left_paw' is not a role.*middle_"):
        find_roles(skeleton, overrides={"left_paw": "LeftToe"})


def test_a_rig_without_feet_names_the_missing_role_and_likely_bones() -> None:
    clip = rigs.remove_bones(
        rigs.make_walk("Mixamo"), {"mixamorig:LeftFoot", "mixamorig:RightFoot"}, end_sites=False
    )
    with pytest.raises(RigError, match=r"no left foot.*left_foot"):
        find_roles(clip.skeleton, [clip])
    twisted = rigs.make_walk("Mixamo")
    names = tuple(n.replace("Foot", "Paw").replace("Toe", "Claw") for n in twisted.skeleton.names)
    lying = replace(
        twisted.skeleton.with_names(names),
        rest_positions=np.zeros_like(twisted.skeleton.rest_positions),
    )
    with pytest.raises(RigError, match=r"no left foot.*'mixamorig:LeftPaw'"):
        find_roles(lying)
    with pytest.raises(RigError, match=r"legs|foot|feet"):
        find_roles(rigs.rename_bones(clip).skeleton, [rigs.rename_bones(clip)])


@pytest.mark.parametrize("lean", [0.0, 0.7, -0.7])
@pytest.mark.parametrize("speed", [1.2, -1.2])
def test_hips_face_forward_even_with_a_tilted_pelvis(lean: float, speed: float) -> None:
    clip = rigs.make_walk(lean=lean, speed=speed)
    other, _ = rigs.anonymize(clip)
    roles = find_roles(other.skeleton, [other])
    axis = find_hips_forward([other], roles)
    forward = compute_world_forward(other, roles, axis)
    assert np.linalg.norm(axis) == pytest.approx(1.0)
    np.testing.assert_allclose(forward.mean(axis=0), [0.0, -1.0, 0.0], atol=0.02)


def test_hips_forward_ignores_swapped_names_of_left_and_right() -> None:
    clip = rigs.make_walk("LAFAN1")
    swapped = {"Left": "Right", "Right": "Left"}
    names = tuple(
        next((n.replace(a, b) for a, b in swapped.items() if a in n), n)
        for n in clip.skeleton.names
    )
    wrong = replace(clip, skeleton=clip.skeleton.with_names(names))
    roles = find_roles(wrong.skeleton, [wrong])
    expected = find_hips_forward([clip], find_roles(clip.skeleton))
    np.testing.assert_allclose(find_hips_forward([wrong], roles), expected, atol=1e-6)


def test_leg_names_decide_the_front_of_a_toeless_rig_walking_backwards() -> None:
    clip = rigs.remove_bones(rigs.make_walk(speed=-1.2), {"LeftToe", "RightToe"}, end_sites=False)
    np.testing.assert_allclose(
        find_hips_forward([clip], find_roles(clip.skeleton)), [0.0, -1.0, 0.0], atol=0.02
    )


def test_a_rig_without_sides_faces_where_its_feet_point() -> None:
    clip = rigs.make_walk()
    roles = find_roles(clip.skeleton)
    unsided = replace(roles, legs=tuple(replace(leg, side="") for leg in roles.legs))
    np.testing.assert_allclose(find_hips_forward([clip], unsided), [0.0, -1.0, 0.0], atol=0.05)


def test_hips_forward_is_one_axis_for_many_clips() -> None:
    clips = [
        rigs.make_walk(speed=speed, frames=frames)
        for speed, frames in ((1.2, 90), (-0.8, 40), (0.0, 30))
    ]
    roles = find_roles(clips[0].skeleton, clips)
    axis = find_hips_forward(clips, roles)
    for clip in clips:
        assert compute_world_forward(clip, roles, axis)[:, 1].max() < -0.9


@pytest.mark.parametrize("file", REAL)
def test_real_hips_face_where_the_toes_point(mocap, file: str) -> None:
    clip = bvh.load(mocap / file)
    roles = find_roles(clip.skeleton, [clip])
    forward = compute_world_forward(clip, roles, find_hips_forward([clip], roles))
    positions = clip.compute_world()[1]
    for leg in roles.legs:
        toe = positions[:, leg.toe] - positions[:, leg.foot]
        down = positions[:, leg.toe, 2] < positions[:, leg.toe, 2].min() + 0.015
        cosine = np.sum(forward[:, :2] * toe[:, :2], axis=1) / np.linalg.norm(toe[:, :2], axis=1)
        assert np.median(cosine[down]) > 0.7
    assert abs(forward[:, 2].mean()) < 0.05


def test_arms_do_not_become_legs_when_legs_are_missing() -> None:
    """Refuse a recording of the upper body, although its arms look like a pair of legs."""
    clip = generate_clips()[0]
    gone = [
        i for i, name in enumerate(clip.skeleton.names) if re.search("UpLeg|Leg|Foot|Toe", name)
    ]
    kept = [i for i in range(clip.skeleton.bone_count) if i not in gone]
    place = {old: new for new, old in enumerate(kept)}
    skeleton = Skeleton(
        tuple(clip.skeleton.names[i] for i in kept),
        np.array([place.get(int(clip.skeleton.parents[i]), -1) for i in kept]),
        clip.skeleton.rest_positions[kept],
        clip.skeleton.rest_rotations[kept],
    )
    upper = Clip(clip.name, skeleton, clip.positions[:, kept], clip.rotations[:, kept], clip.fps)
    with pytest.raises(RigError, match=r"thigh|leg"):
        find_roles(skeleton, [upper])

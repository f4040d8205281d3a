"""The parts of Rigify's generated rigs are found without help, from their deform bones."""

from __future__ import annotations

import pytest

from motion_matching.engine.motion.body_roles import BodyRoles, find_body_roles
from motion_matching.engine.motion.skeleton import Skeleton
from motion_matching.scene.rig.armature import read_skeleton
from tests.engine import characters, named_rigs
from tests.scene.rigify import create_rigify_rig

SIDES = (("left", "L"), ("right", "R"))

HUMAN_TRUNK = {
    "hips": ["spine"],
    "spine": ["spine.001", "spine.002", "spine.003"],
    "neck": ["spine.004", "spine.005"],
    "head": ["spine.006"],
}
WOLF_TRUNK = {
    "hips": ["spine.004", "spine.005"],
    "spine": ["spine.006", "spine.007", "spine.008"],
    "neck": ["spine.009", "spine.010"],
    "head": ["spine.011"],
}
HORSE_TRUNK = {
    "hips": ["spine.001", "spine.002"],
    "spine": ["spine.003", "spine.004", "spine.005"],
    "neck": ["spine.006", "neck.001", "neck.002", "neck.003", "neck.004"],
    "head": ["head"],
}
HUMAN_LIMBS = {
    "collar": "shoulder",
    "upper_arm": "upper_arm upper_arm.001",
    "forearm": "forearm forearm.001",
    "hand": "hand",
    "thigh": "thigh thigh.001",
    "shin": "shin shin.001",
    "foot": "foot",
    "toe": "toe",
}
FINGERS = {
    finger: " ".join(f"{prefix}{finger}.{number:02d}" for number in (1, 2, 3))
    for finger, prefix in (("thumb", ""), *((f, "f_") for f in characters.FINGERS[1:]))
}
WOLF_LIMBS = {
    "collar": "shoulder",
    "upper_arm": "front_thigh front_thigh.001",
    "forearm": "front_shin front_shin.001",
    "hand": "front_foot front_foot.001",
    "fore_toe": "front_toe",
    "thigh": "thigh thigh.001",
    "shin": "shin shin.001",
    "foot": "foot foot.001",
    "toe": "toe",
}
CAT_LIMBS = HUMAN_LIMBS | {
    "hand": "hand hand.001",
    "fore_toe": "f_toe",
    "foot": "foot foot.001",
    "toe": "r_toe",
}
HORSE_LIMBS = {
    "collar": "shoulder",
    "upper_arm": "upper_arm upper_arm.001",
    "forearm": "forearm forearm.001",
    "hand": "forefoot forefoot.001",
    "fore_toe": "f_toe",
    "thigh": "thigh thigh.001",
    "shin": "lower_leg lower_leg.001",
    "foot": "hind_foot hind_foot.001",
    "toe": "r_toe r_hoof",
}


def list_bones(trunk: dict[str, list[str]], limbs: dict[str, str]) -> dict[str, list[str]]:
    """Return the names of Rigify's deform bones by role."""
    bones = {role: [f"DEF-{name}" for name in names] for role, names in trunk.items()}
    for side, letter in SIDES:
        for part, names in limbs.items():
            bones[f"{side}_{part}"] = [f"DEF-{_add_side(n, letter)}" for n in names.split()]
    return bones


def _add_side(name: str, letter: str) -> str:
    """Return 'thigh.L.001' for 'thigh.001', and 'f_index.01.L' for 'f_index.01'."""
    core, _, number = name.rpartition(".")
    return f"{core}.{letter}.{number}" if len(number) == 3 and core else f"{name}.{letter}"


def list_found(skeleton: Skeleton, roles: BodyRoles) -> dict[str, list[str]]:
    names = roles.to_names(skeleton)
    return {role: [name] if isinstance(name, str) else name for role, name in names.items()}


def test_the_basic_human_is_known_by_names_and_by_shape() -> None:
    wanted = list_bones(HUMAN_TRUNK, HUMAN_LIMBS)
    rig = create_rigify_rig("basic_human")
    for bones in ("deform", "all"):
        skeleton = read_skeleton(rig, bones)
        roles = find_body_roles(skeleton)
        found = list_found(skeleton, roles)
        assert found | {"root": []} == wanted | {"root": []}
        assert min(roles.confidence.values()) >= 0.9
    skeleton = read_skeleton(rig, "deform")
    roles = {role: tuple(names) for role, names in wanted.items()}
    blank = named_rigs.rename(characters.Character(skeleton, roles), "j{}")
    assert find_body_roles(blank.skeleton).chains == blank.list_chains()


def test_the_basic_quadruped_stands_on_four_legs() -> None:
    skeleton = read_skeleton(create_rigify_rig("basic_quadruped"), "deform")
    roles = find_body_roles(skeleton)
    assert roles.four_legged
    assert list_found(skeleton, roles) == list_bones(WOLF_TRUNK, WOLF_LIMBS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "trunk", "limbs"),
    [
        ("human", HUMAN_TRUNK, HUMAN_LIMBS | FINGERS),
        ("wolf", WOLF_TRUNK, WOLF_LIMBS),
        ("horse", HORSE_TRUNK, HORSE_LIMBS),
        ("cat", HUMAN_TRUNK, CAT_LIMBS),
    ],
)
def test_large_rigs_are_known(
    kind: str, trunk: dict[str, list[str]], limbs: dict[str, str]
) -> None:
    skeleton = read_skeleton(create_rigify_rig(kind), "deform")
    roles = find_body_roles(skeleton)
    found = list_found(skeleton, roles)
    assert roles.four_legged == (kind != "human")
    assert {role: found.get(role) for role in found if role != "tail"} == list_bones(trunk, limbs)

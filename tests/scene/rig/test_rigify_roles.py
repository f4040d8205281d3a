"""The parts of Rigify's generated rigs are found without help, from their deform bones."""

from __future__ import annotations

import pytest

from motion_matching.engine.body.body_roles import BodyRoles, find_body_roles
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.scene.rig.armature import read_skeleton
from tests.engine import characters, named_rigs
from tests.scene.rigify import create_rigify_rig
from tests.scene.rigify_bones import list_bones


def list_found(skeleton: Skeleton, roles: BodyRoles) -> dict[str, list[str]]:
    names = roles.to_names(skeleton)
    return {role: [name] if isinstance(name, str) else name for role, name in names.items()}


def test_the_basic_human_is_known_by_names_and_by_shape() -> None:
    wanted = list_bones("basic_human")
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
    assert list_found(skeleton, roles) == list_bones("basic_quadruped")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["human", "wolf", "horse", "cat"])
def test_large_rigs_are_known(kind: str) -> None:
    skeleton = read_skeleton(create_rigify_rig(kind), "deform")
    roles = find_body_roles(skeleton)
    found = list_found(skeleton, roles)
    assert roles.four_legged == (kind != "human")
    assert {role: found.get(role) for role in found if role != "tail"} == list_bones(kind)

"""Bones of two skeletons are paired by what they are, and what is missing or unsure is counted."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.errors import RigError
from motion_matching.engine.retargeting.pairs.bone_mapping import map_bones
from tests.engine import characters, named_rigs
from tests.engine.characters import Character


@pytest.mark.parametrize("make", [characters.make_mixamo, characters.make_mpfb])
def test_bones_of_the_same_part_are_paired(make: Callable[[], Character]) -> None:
    target = make()
    mapping = map_bones(build_humanoid_skeleton(), target.skeleton)
    pairs = {pair.role: pair for pair in mapping.pairs}
    assert {role: pair.source for role, pair in pairs.items()} == characters.HUMANOID_ROLES
    assert {role: pair.target for role, pair in pairs.items()} == {
        role: target.roles[role] for role in characters.HUMANOID_ROLES
    }
    assert mapping.mapped_count == mapping.total == len(characters.HUMANOID_ROLES)
    assert not mapping.needs_help
    assert min(pair.confidence for pair in mapping.pairs) >= 0.9


def test_parts_that_the_target_lacks_are_counted_but_need_no_help() -> None:
    source, target = characters.make_unreal(), characters.make_child()
    mapping = map_bones(source.skeleton, target.skeleton)
    lacking = {pair.role for pair in mapping.pairs if not pair.target}
    assert lacking == set(source.roles) - set(target.roles)
    assert "left_thumb" in lacking
    assert (mapping.mapped_count, mapping.total) == (len(target.roles), len(source.roles))
    assert not mapping.needs_help


def test_a_pair_is_as_sure_as_the_less_sure_of_its_bones() -> None:
    source = characters.make_child()
    blank = named_rigs.rename(source, "j{}")
    sure = map_bones(source.skeleton, source.skeleton)
    guessed = map_bones(source.skeleton, blank.skeleton)
    assert {pair.confidence for pair in sure.pairs} == {1.0}
    for pair in guessed.pairs:
        assert pair.confidence == guessed.target.confidence[pair.role] < 0.7


def test_a_body_that_hardly_looks_like_one_needs_help_until_it_is_set_by_hand() -> None:
    source = characters.make_child()
    arms = [name for name in source.skeleton.names if "arm" in name or "hand" in name]
    armless = named_rigs.rename(named_rigs.leave_out(source, arms), "j{}")
    guessed = map_bones(source.skeleton, armless.skeleton)
    assert guessed.needs_help
    assert "hips" in guessed.doubtful
    given = {
        role: list(bones)
        for role, bones in armless.roles.items()
        if role.endswith(("hips", "thigh", "shin", "foot"))
    }
    mapping = map_bones(source.skeleton, armless.skeleton, target_overrides=given)
    assert not mapping.needs_help


def test_a_mapping_is_the_same_text_whenever_it_is_made() -> None:
    source, target = characters.make_mixamo().skeleton, characters.make_unreal().skeleton
    texts = {map_bones(source, target).to_json() for _ in range(2)}
    assert len(texts) == 1
    pairs = {pair["role"]: pair for pair in json.loads(texts.pop())["pairs"]}
    assert pairs["left_shin"]["source"] == ["mixamorig:LeftLeg"]
    assert pairs["left_shin"]["target"] == ["calf_l"]
    other = map_bones(source, target, target_overrides={"left_toe": ""})
    assert other.to_json() != map_bones(source, target).to_json()


def test_a_body_without_hips_is_refused_in_a_sentence() -> None:
    skeleton = build_humanoid_skeleton()
    for given in ({"source_overrides": {"hips": ""}}, {"target_overrides": {"hips": []}}):
        with pytest.raises(RigError, match="without hips"):
            map_bones(skeleton, skeleton, **given)

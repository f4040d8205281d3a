"""A mapping that was set by hand is a file that another user can load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from motion_matching.engine.errors import SettingsError
from motion_matching.engine.retargeting.pairs.bone_mapping import map_bones
from motion_matching.engine.retargeting.pairs.mapping_preset import load_mapping
from tests.engine import characters
from tests.engine.sentences import check_sentence


def test_a_saved_mapping_gives_the_same_pairs(tmp_path: Path) -> None:
    source, target = characters.make_mpfb().skeleton, characters.make_no_toes().skeleton
    found = map_bones(source, target, target_overrides={"spine": "b04", "left_collar": ""})
    missing = dict.fromkeys({*found.source.chains, *found.target.chains}, "")
    sides = {
        "source": missing | found.source.to_names(source),
        "target": missing | found.target.to_names(target),
    }
    path = tmp_path / "hero.json"
    path.write_text(json.dumps({"version": 1, **sides}), encoding="utf-8")
    loaded = load_mapping(path)
    assert {"source": loaded.source, "target": loaded.target} == sides
    again = map_bones(
        source, target, source_overrides=loaded.source, target_overrides=loaded.target
    )
    assert [(p.role, p.source, p.target) for p in again.pairs] == [
        (p.role, p.source, p.target) for p in found.pairs
    ]


def test_one_bone_several_bones_and_none_can_be_loaded(tmp_path: Path) -> None:
    source = {"left_toe": "", "head": "Köpfchen"}
    target = {"spine": ["b01", "b02"], "neck": "b07"}
    path = tmp_path / "hero.json"
    text = json.dumps({"source": source, "target": target}, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    loaded = load_mapping(path)
    assert (loaded.source, loaded.target) == (source, target)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", ()),
        ("[]", ()),
        ('{"sources": {}}', ("sources",)),
        ('{"source": []}', ("source",)),
        ('{"source": {"elbow": "b01"}}', ("elbow", "left_forearm")),
        ('{"target": {"neck": 3}}', ("neck", "target")),
        ('{"target": {"neck": []}}', ("neck", "target")),
        ('{"target": {"neck": ["b07", ""]}}', ("neck", "target")),
        ('{"version": 2}', ("version",)),
        ('{"version": "new"}', ("version",)),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(
    tmp_path: Path, text: str, named: tuple[str, ...]
) -> None:
    path = tmp_path / "hero.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        load_mapping(path)
    check_sentence(error, path, *named)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load_mapping(tmp_path / "none.json")
    check_sentence(error, tmp_path / "none.json")


def test_bones_of_another_rig_are_named(tmp_path: Path) -> None:
    path = tmp_path / "hero.json"
    path.write_text(json.dumps({"target": {"neck": "Hals"}}), encoding="utf-8")
    skeleton = characters.make_child().skeleton
    with pytest.raises(Exception, match="Hals"):
        map_bones(skeleton, skeleton, target_overrides=load_mapping(path).target)

"""The content key of a cached database covers every setting that affects it, and keeps its format."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace

import pytest

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.building.build import BuildSettings
from motion_matching.engine.database.features.features import Feature, Schema, load_schema
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.motion.contacts import ContactSettings
from motion_matching.engine.motion.simulation_bone import SimulationBoneSettings
from motion_matching.engine.retargeting.settings import RetargetSettings
from motion_matching.engine.sources.skeletons import Character
from tests.engine import characters

CHANGED = BuildSettings(
    fps=60.0,
    speed=1.1,
    schema=Schema((Feature("bone_position", "left_foot", (), 2.5, "xy"),), "dimension", "hold"),
    simulation_bone=SimulationBoneSettings(1.0, heading="angle", standing=0.35),
    contacts=ContactSettings(speed=0.2),
    roles={"hips": "Pelvis"},
    auto_tags=AutoTagSettings(run_speed=2.4),
    up="Z",
    forward="-Y",
    scale=0.01,
)


# the default features before contacts were among them
EARLIER = BuildSettings(fps=24.0, schema=replace(load_schema("holden"), beyond_range="extrapolate"))


def compute_digest(content: dict) -> str:
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=8).hexdigest()


@pytest.mark.parametrize(
    ("settings", "with_files", "expected"),
    [
        (EARLIER, True, "821dd164249f40d3"),
        (EARLIER, False, "650ab5d9015af585"),
        (CHANGED, True, "251af8bec5817e30"),
    ],
)
def test_content_of_earlier_databases_stays_the_same(
    settings: BuildSettings, with_files: bool, expected: str
):
    assert compute_digest(settings.get_content(with_files=with_files)) == expected


HERO = Character(build_humanoid_skeleton())
OTHERS = {
    "character": [
        HERO,
        replace(HERO, skeleton=characters.make_child().skeleton),
        replace(HERO, roles={"neck": ""}),
        replace(HERO, settings=RetargetSettings(hand_ik=1.0)),
    ],
    "fps": [25.0],
    "speed": [1.2],
    "mirror": [True],
    "keep_frames": [True],
    "keep_floor": [True],
    "compact": [True],
    "tempo": [True],
    "up": ["X"],
    "forward": ["X"],
    "scale": [0.02],
    "roles": [{"hips": "Hip"}],
    "auto_tags": [
        None,
        *(
            replace(CHANGED.auto_tags, **{f.name: f.default + 0.01})
            for f in fields(AutoTagSettings)
        ),
    ],
    "contacts": [
        replace(CHANGED.contacts, **{name: value})
        for name, value in {
            "method": "displacement",
            "speed": 0.3,
            "displacement": 0.5,
            "median": 0.2,
            "max_height": 0.1,
        }.items()
    ],
    "simulation_bone": [
        replace(CHANGED.simulation_bone, **{name: value})
        for name, value in {
            "position_window": 0.4,
            "position_order": 2,
            "direction_window": 0.9,
            "direction_order": 2,
            "heading": "direction",
            "source": "root",
            "standing": 0.5,
        }.items()
    ],
    "schema": [
        replace(CHANGED.schema, **{name: value})
        for name, value in {
            "features": (Feature("bone_position", "left_foot", (), 2.5, "xyz"),),
            "normalization": "feature",
            "beyond_range": "extrapolate",
            "difference": "absolute",
        }.items()
    ],
}


@pytest.mark.parametrize("name", [f.name for f in fields(BuildSettings)])
def test_every_setting_changes_the_content(name: str):
    for value in OTHERS[name]:
        assert replace(CHANGED, **{name: value}).get_content() != CHANGED.get_content(), value


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("contacts", ContactSettings),
        ("simulation_bone", SimulationBoneSettings),
        ("schema", Schema),
    ],
)
def test_every_setting_of_a_group_is_covered(name: str, group: type):
    assert len(OTHERS[name]) == len(fields(group))


def test_weights_do_not_change_the_content():
    heavier = replace(CHANGED, schema=CHANGED.schema.with_weights([9.0]))
    assert heavier.get_content() == CHANGED.get_content()

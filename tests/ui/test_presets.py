"""Presets are JSON files in Blender's menus; user presets survive a round trip, shipped ones are
valid.
"""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

from motion_matching.app.controller import features as feature_list
from motion_matching.app.runtime import runtime
from motion_matching.app.settings import get_controller_data
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.files import presets
from motion_matching.engine.performance.settings import ROOMS, PerformerSettings
from motion_matching.ui import presets as ui_presets
from motion_matching.ui.controller.properties import MotionMatchingController
from tests.ui.characters import create_character, expect_refusal


@pytest.mark.parametrize("name", presets.list_names("controllers"))
def test_shipped_controllers_are_settings_of_a_performer(name):
    data = presets.load("controllers", name)
    assert set(data) == {"description", "settings"}
    changed = PerformerSettings().with_changes(data["settings"])
    assert (changed == PerformerSettings()) == (name == "balanced")


def test_every_performer_setting_can_be_set():
    shown = set(MotionMatchingController.bl_rna.properties.keys())
    missing = ROOMS.keys() - {"weights"} - shown
    assert not missing, f"settings without a property in MotionMatchingController: {missing}"


def test_presets_survive_a_round_trip(tmp_path):
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching

    def list_presets(kind):
        folders = bpy.utils.preset_paths(f"motion_matching/{kind}")
        return sorted(file.stem for folder in folders for file in Path(folder).iterdir())

    assert list_presets("controllers") == [
        "as_published",
        "balanced",
        "notebook",
        "responsive",
        "weighty",
    ]
    assert "default" in list_presets("features")
    assert "holden" in list_presets("features")
    file = next(Path(f) / "holden.json" for f in bpy.utils.preset_paths("motion_matching/features"))

    assert ops.apply_preset(kind="features", filepath=str(file)) == {"FINISHED"}
    assert settings.features.preset == "holden"
    assert feature_list.build_schema(settings.features) == load_schema("holden")
    settings.features.items[0].weight = 2.5
    assert settings.features.preset == "", "it is no longer the preset's"
    settings.features.items[5].times = "0.25, 0.5"
    mine = feature_list.build_schema(settings.features)
    assert ops.save_preset(kind="features", name="My Feet!") == {"FINISHED"}
    assert "my_feet" in list_presets("features")
    assert settings.features.preset == "my_feet"
    ops.apply_preset(kind="features", filepath="default")
    assert feature_list.build_schema(settings.features) == load_schema("default")
    file = ui_presets.get_user_folder("features") / "my_feet.json"
    ops.apply_preset(kind="features", filepath=str(file))
    assert feature_list.build_schema(settings.features) == mine

    ops.apply_preset(kind="controllers", filepath="responsive")
    assert settings.controller.preset == "responsive"
    assert abs(settings.controller.velocity_halflife - 0.1) < 1e-6
    ops.apply_preset(kind="controllers", filepath="weighty")
    assert abs(settings.controller.stop_factor - 1.0) < 1e-6, (
        "settings missing from a preset get their defaults"
    )
    settings.controller.clamp, settings.controller.displacement = True, "adjust"
    kept = get_controller_data(settings.controller)
    ops.save_preset(kind="controllers", name="mine")
    ops.apply_preset(kind="controllers", filepath="balanced")
    assert get_controller_data(settings.controller) != kept
    ops.apply_preset(
        kind="controllers",
        filepath=str(ui_presets.get_user_folder("controllers") / "mine.json"),
    )
    assert get_controller_data(settings.controller) == kept

    # an invalid preset changes nothing
    wrong = tmp_path / "wrong.json"
    for kind, data in (
        ("controllers", {"settings": {"velocity_halflife": -1}}),
        ("controllers", {"settings": {"x": 1}}),
        ("controllers", {}),
        ("features", {"features": []}),
        ("features", {"features": [{"kind": "smell"}]}),
    ):
        wrong.write_text(json.dumps(data))
        expect_refusal(ops.apply_preset, kind=kind, filepath=str(wrong))
        assert get_controller_data(settings.controller) == kept
        assert feature_list.build_schema(settings.features) == mine
    expect_refusal(ops.save_preset, "letters", kind="controllers", name="?!")
    expect_refusal(ops.remove_preset, "holden", kind="features", name="holden")
    assert file.exists()
    assert ops.remove_preset(kind="features", name="my_feet") == {"FINISHED"}
    assert not file.exists()


def write_preset(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"settings": {}}')
    return path


def test_a_removed_preset_can_be_brought_back():
    create_character()
    ops, folder = bpy.ops.motion_matching, ui_presets.get_user_folder("controllers", create=True)
    preset = folder / "mine.json"
    for _ in range(3):
        write_preset(preset)
        assert ops.remove_preset(kind="controllers", name="mine") == {"FINISHED"}
        assert not preset.exists()
    removed = sorted((folder.parent / "removed" / "controllers").iterdir())
    assert [path.name for path in removed] == ["mine 2.json", "mine 3.json", "mine.json"]
    assert all(path.read_text() == '{"settings": {}}' for path in removed)
    for path in bpy.utils.preset_paths("motion_matching/controllers"):
        assert not list(Path(path).glob("mine*")), "removed ones are in no menu"


def test_a_preset_that_is_saved_over_another_keeps_the_other():
    create_character()
    folder = ui_presets.get_user_folder("controllers", create=True)
    write_preset(folder / "mine.json")
    assert bpy.ops.motion_matching.save_preset(kind="controllers", name="Mine") == {"FINISHED"}
    assert "velocity_halflife" in (folder / "mine.json").read_text()
    assert (folder.parent / "removed" / "controllers" / "mine.json").exists()


@pytest.mark.parametrize("where", ["absolute", "above", "drive", "deep", "kind"])
def test_no_name_from_a_file_leads_out_of_the_folder_of_presets(where, tmp_path):
    ops, folder = bpy.ops.motion_matching, ui_presets.get_user_folder("features", create=True)
    paths = {
        "absolute": tmp_path / "victim.json",
        "above": folder.parent / "victim.json",
        "drive": folder / "C:victim.json",
        "deep": folder / "sub" / "victim.json",
        "kind": write_preset(folder.parent / "controllers" / "victim.json"),
    }
    victim = write_preset(paths[where])
    name = {
        "absolute": str(victim)[: -len(".json")],
        "above": "../victim",
        "drive": "C:victim",
        "deep": "sub/victim",
        "kind": "..\\controllers\\victim",
    }[where]
    # as a button does it, in a file of somebody else
    obj = create_character()
    obj.motion_matching.features.preset = name
    path = str(tmp_path / "crafted.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    shown = bpy.context.object.motion_matching.features.preset
    assert shown == name
    expect_refusal(ops.remove_preset, "plain name", kind="features", name=shown)
    assert victim.exists()


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a" * 300, "a\nb", "é" * 130])
def test_a_name_that_no_preset_can_have_is_refused(name):
    create_character()
    expect_refusal(bpy.ops.motion_matching.remove_preset, kind="features", name=name)
    expect_refusal(bpy.ops.motion_matching.apply_preset, kind="features", filepath=name)


HALF = "\ud800"  # of a character, as JSON may hold


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("rigs", {"roles": {"hips": HALF}}),
        ("rigs", {"roles": {"hips": "Hips", "left_foot": f"Foot{HALF}"}}),
        ("rigs", {"roles": {HALF: "Hips"}}),
        ("features", {"features": [{"kind": "bone_position", "bone": HALF}]}),
        (
            "features",
            {
                "features": [
                    {"kind": "bone_position", "bone": "left_foot"},
                    {"kind": "bone_velocity", "bone": f"x{HALF}"},
                ]
            },
        ),
        ("mappings", {"version": 1, "source": {"hips": HALF}, "target": {"hips": HALF}}),
        ("controllers", {"settings": {HALF: 1}}),
    ],
)
def test_half_characters_in_a_preset_are_refused_and_nothing_changes(kind, data, tmp_path):
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.apply_preset(kind="features", filepath="holden")
    before = list_values(settings)
    file = tmp_path / "half.json"
    file.write_text(json.dumps(data))
    expect_refusal(ops.apply_preset, "half", kind=kind, filepath=str(file))
    assert list_values(settings) == before


def list_values(settings):
    """Return what presets set of a character."""
    features, roles = settings.features, settings.roles
    listed = [(item.name, item.kind, item.bone, item.weight) for item in features.items]
    chosen = {name: getattr(roles, name) for name in roles.bl_rna.properties.keys()}  # noqa: SIM118
    pairs = [(pair.name, pair.target) for pair in settings.retarget.pairs]
    state = str(chosen), features.preset, roles.preset, settings.controller.preset
    return listed, pairs, state, get_controller_data(settings.controller)


def test_bones_that_were_not_looked_at_make_no_preset():
    """Before anything asks how the database stands, as in a script."""
    create_character(clips=("walk_curves",))
    bpy.ops.motion_matching.add_actions()
    runtime.statuses.by_uid.clear()
    save = bpy.ops.motion_matching.save_preset
    expect_refusal(save, "are not mapped", kind="mappings", for_source=True, name="Mine")

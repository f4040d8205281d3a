"""Presets are JSON that Blender's menus list; the user's own survive a round trip, and shipped ones say what they say."""

from __future__ import annotations

import pytest

from motion_matching.engine import presets
from motion_matching.engine.control.settings import PerformerSettings


@pytest.mark.parametrize("name", presets.names("controllers"))
def test_shipped_controllers_are_settings_of_a_performer(name):
    data = presets.load("controllers", name)
    assert set(data) == {"description", "settings"}
    changed = PerformerSettings().changed(data["settings"])
    assert (changed == PerformerSettings()) == (name == "balanced")


EVERY_SETTING = """
import motion_matching
motion_matching.register()
from dataclasses import fields
from motion_matching.engine.control.settings import PerformerSettings
from motion_matching.ui.properties_controller import MotionMatchingController
shown = set(MotionMatchingController.bl_rna.properties.keys())
missing = {f.name for f in fields(PerformerSettings)} - {"weights"} - shown
assert not missing, f"settings without a property in MotionMatchingController: {missing}"
"""


def test_every_setting_of_a_performer_can_be_set(run_in_blender):
    run_in_blender(EVERY_SETTING)


ROUND_TRIP = """
import json
import sys
from pathlib import Path
import motion_matching
motion_matching.register()
from tests.ui.characters import *
from motion_matching.engine.matching.features import load_schema
from motion_matching.ui import feature_list, operators_presets, request
obj = character()
ops, settings = bpy.ops.motion_matching, obj.motion_matching

def listed(kind):
    folders = bpy.utils.preset_paths(f"motion_matching/{kind}")
    return sorted(file.stem for folder in folders for file in Path(folder).iterdir())

assert listed("controllers") == ["balanced", "responsive", "weighty"]
assert "default" in listed("features") and "holden" in listed("features")
file = next(Path(f) / "holden.json" for f in bpy.utils.preset_paths("motion_matching/features"))

assert ops.apply_preset(kind="features", filepath=str(file)) == {"FINISHED"}
assert settings.features.preset == "holden" and feature_list.schema_of(settings.features) == load_schema("holden")
settings.features.items[0].weight = 2.5
assert settings.features.preset == "", "it is no longer the preset's"
settings.features.items[5].times = "0.25, 0.5"
mine = feature_list.schema_of(settings.features)
assert ops.save_preset(kind="features", name="My Feet!") == {"FINISHED"}
assert "my_feet" in listed("features") and settings.features.preset == "my_feet"
ops.apply_preset(kind="features", filepath="default")
assert feature_list.schema_of(settings.features) == load_schema("default")
file = operators_presets.user_folder("features") / "my_feet.json"
ops.apply_preset(kind="features", filepath=str(file))
assert feature_list.schema_of(settings.features) == mine

ops.apply_preset(kind="controllers", filepath="responsive")
assert settings.controller.preset == "responsive" and abs(settings.controller.velocity_halflife - 0.1) < 1e-6
ops.apply_preset(kind="controllers", filepath="weighty")
assert abs(settings.controller.stop_factor - 1.0) < 1e-6, "what a preset does not name gets its default"
settings.controller.clamp, settings.controller.displacement = True, "adjust"
kept = request.controller_data(settings.controller)
ops.save_preset(kind="controllers", name="mine")
ops.apply_preset(kind="controllers", filepath="balanced")
assert request.controller_data(settings.controller) != kept
ops.apply_preset(kind="controllers", filepath=str(operators_presets.user_folder("controllers") / "mine.json"))
assert request.controller_data(settings.controller) == kept

# a preset that is wrong changes nothing
wrong = Path(sys.argv[1]) / "wrong.json"
for kind, data in (("controllers", {"settings": {"velocity_halflife": -1}}), ("controllers", {"settings": {"x": 1}}),
                   ("controllers", {}), ("features", {"features": []}), ("features", {"features": [{"kind": "smell"}]})):
    wrong.write_text(json.dumps(data))
    refused(ops.apply_preset, kind=kind, filepath=str(wrong))
    assert request.controller_data(settings.controller) == kept and feature_list.schema_of(settings.features) == mine
refused(ops.save_preset, "letters", kind="controllers", name="?!")
refused(ops.remove_preset, "holden", kind="features", name="holden")
assert file.exists() and ops.remove_preset(kind="features", name="my_feet") == {"FINISHED"} and not file.exists()
"""


def test_presets_survive_a_round_trip(run_in_blender, tmp_path):
    run_in_blender(ROUND_TRIP, tmp_path)

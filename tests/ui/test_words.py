"""Every property has a description, and every operator says why it cannot run."""

from __future__ import annotations

import re
from pathlib import Path

import bpy

# after bpy, which brings it
import blf  # isort: skip

from motion_matching.app.runtime import runtime
from motion_matching.engine.performance import scripts
from motion_matching.ui import classes
from motion_matching.ui.takes import properties as takes_properties
from tests.ui.characters import create_character, expect_refusal

UI = Path(classes.__file__).parent
# In pixels: two fifths of the sidebar as wide as it opens, which labels beside fields have, and the
# size of Blender's texts
LABEL_WIDTH, LABEL_SIZE = 94, 11
UNITLESS = {
    "speed",
    "weight",
    "responsiveness",
    "continuity",
    "past",
    "stop_factor",
    "turning_speed",
    "blend_stretch",
    "continuing_bias",
    "posture_weight",
    "price_weight",
    "support_weight",
    "bias",
    "file_scale",
    "limit",
}


def test_every_class_and_property_has_a_description():
    def check_description(what, text):
        assert text, f"{what} has no description"
        assert text[0].isupper() or text[0].isdigit(), f"{what}: {text}"
        assert not text.endswith("."), f"{what}: {text}"
        assert "olour" not in text, f"{what}: {text}"  # Blender writes Color

    def check_title(what, text):
        assert "olour" not in text, f"{what}: {text}"
        small = {"and", "to", "of", "the", "a", "in", "on", "at", "by", "for", "from", "or"}
        assert all(
            word[0].isupper() or not word[0].isalpha() or word in small for word in text.split()
        ), f"{what}: {text}"

    checked = 0
    for cls in classes.ALL:
        name = cls.__name__
        rna = getattr(bpy.types, getattr(cls, "bl_idname", name), None) or cls
        if issubclass(cls, bpy.types.Operator):
            category, _, function = cls.bl_idname.partition(".")
            rna = getattr(getattr(bpy.ops, category), function).get_rna_type()
            check_description(name, rna.description)
            check_title(name, cls.bl_label)
            properties_of = rna.properties
        else:
            check_description(name, cls.__doc__)
            if hasattr(cls, "bl_label"):
                check_title(name, cls.bl_label)
            holds = issubclass(cls, (bpy.types.PropertyGroup, bpy.types.AddonPreferences))
            properties_of = cls.bl_rna.properties if holds else ()
        for prop in properties_of:
            blenders = {"rna_type", "check_existing", "filter_glob"}
            if not issubclass(cls, bpy.types.Operator):
                blenders |= {"name", "bl_idname"}
            if prop.identifier in blenders or prop.is_hidden:
                continue
            where = f"{name}.{prop.identifier}"
            check_description(where, prop.description)
            check_title(where, prop.name)
            checked += 1
            if prop.type == "ENUM":
                for item in prop.enum_items:
                    check_title(where, item.name)
                    check_description(f"{where} {item.identifier}", item.description)
            if prop.type == "FLOAT":
                assert (
                    prop.unit != "NONE" or prop.subtype != "NONE" or prop.identifier in UNITLESS
                ), f"{where} has no unit"
                assert prop.soft_max <= 36_000, where
                assert prop.soft_min >= -1000, where
    assert checked > 80
    assert [name for name, _, _ in takes_properties.GAITS] == list(scripts.GAITS)


def test_labels_beside_fields_are_not_cut_off():
    blf.size(0, LABEL_SIZE)
    widths = {
        prop.name: blf.dimensions(0, prop.name)[0]
        for cls in classes.ALL
        if issubclass(cls, bpy.types.PropertyGroup)
        for prop in cls.bl_rna.properties
        if prop.type in ("FLOAT", "INT", "ENUM")
    }
    assert min(widths.values()) > 0
    assert {name: width for name, width in widths.items() if width > LABEL_WIDTH} == {}


def test_the_button_of_the_file_browser_shows_the_whole_label():
    for cls in classes.ALL:
        if "filter_glob" in getattr(cls, "__annotations__", {}):
            assert len(cls.bl_label) <= 16, cls.bl_label


def test_buttons_menus_and_lists_refer_to_existing_classes():
    code = "".join(file.read_text(encoding="utf-8") for file in UI.rglob("*.py"))
    operators = {cls.bl_idname for cls in classes.ALL if issubclass(cls, bpy.types.Operator)}
    named = set(re.findall(r'"(motion_matching\.\w+)"', code))
    assert len(named) > 60
    assert not named - operators
    types = set(re.findall(r'"([A-Z]\w*_(?:MT|PT|UL)_\w+)"', code))
    assert len(types) > 10
    assert not {name for name in types if not hasattr(bpy.types, name)}


def test_every_operator_says_why_it_cannot_run(monkeypatch):
    ops = bpy.ops.motion_matching

    def check_reason(name, *words):
        operator = getattr(ops, name)
        assert not operator.poll(), f"{name} could run"
        return expect_refusal(operator, "poll()", *words)

    everyone = [
        cls.bl_idname.partition(".")[2]
        for cls in classes.ALL
        if issubclass(cls, bpy.types.Operator)
    ]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    while_live = {
        "stop": "Start a live session first",
        "record": "Start a live session first",
        "push": "Start a live session first",
        "steer": "Start a live session first",
        "recover_take": "no interrupted recording",
        "discard_recording": "no interrupted recording",
        "cancel": "Nothing is running",
    }
    for name, words in while_live.items():
        check_reason(name, words)
    everyone = [name for name in everyone if name not in while_live]
    free = {"move_databases", "move_databases_back", "add_key", "restore_keys"}
    free |= {"add_demo_performer", "add_files", "add_folder", "import_motion", "clear_cache"}
    for name in set(everyone) - free:
        check_reason(name, "Select an armature first")
    monkeypatch.setattr(runtime, "progress", ("Building", 0.5))
    for name in everyone:
        check_reason(name, "Wait", "Esc")
    monkeypatch.setattr(runtime, "progress", None)

    obj = create_character()
    for name in ("build", "bake_script", "start"):
        check_reason(name, "Add actions or files")
    check_reason("remove_source", "empty")
    check_reason("play_take", "Bake a take first")
    check_reason("remove_take", "Bake a take first")
    ops.add_actions()
    for source in obj.motion_matching.sources:
        source.enabled = False
    check_reason("build", "Switch on")
    bpy.ops.object.mode_set(mode="EDIT")
    for name in set(everyone) - {
        "clear_cache",
        "move_databases",
        "move_databases_back",
        "add_demo_performer",
        "add_key",
        "restore_keys",
    }:
        check_reason(name, "Edit Mode")
    check_reason("add_demo_performer", "Object Mode")
    bpy.ops.object.mode_set(mode="OBJECT")
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    check_reason("add_actions", "no action")
    obj.motion_matching.takes.add()
    check_reason("play_take", "deleted")

"""The strip above the panels: how things stand, and the buttons that lead from step to step."""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app.character import rig_status
from motion_matching.app.character.characters import get_active_armature
from motion_matching.app.database import status
from motion_matching.app.strip import state
from motion_matching.ui import classes
from motion_matching.ui.base.panel_base import draw_warnings
from motion_matching.ui.strip import panel
from tests.ui.characters import create_character
from tests.ui.drawn import RecordingLayout, override_region


def get_standing():
    obj = get_active_armature(bpy.context)
    if obj:
        status.refresh(obj)
        rig_status.refresh(obj)
    found = state.get_standing(bpy.context, obj)
    return found.text, [button.label for button in found.buttons]


def press(label):
    """Run the operator of a button of the strip, which must be able to."""
    obj = get_active_armature(bpy.context)
    buttons = state.get_standing(bpy.context, obj).buttons
    button = next(one for one in buttons if one.label == label)
    operator = getattr(bpy.ops.motion_matching, button.operator.partition(".")[2])
    assert operator.poll(), button
    assert operator(**dict(button.properties)) == {"FINISHED"}


@pytest.mark.slow
def test_the_buttons_of_the_strip_lead_from_an_empty_file_to_a_take():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert get_standing() == ("No Character", ["Import Motion Capture", "Add Demo Performer"])
    press("Add Demo Performer")
    assert get_standing() == ("Not Built", ["Build", "Bake"])
    press("Build")
    assert get_standing() == ("Ready", ["Start", "Bake"])
    press("Bake")
    settings = bpy.context.object.motion_matching
    assert len(settings.takes) == 1
    settings.sources[0].enabled = False
    assert get_standing() == ("Stale", ["Build", "Bake"])

    bpy.context.view_layer.objects.active = None
    assert get_standing()[0] == "Select an Armature"


def test_the_strip_says_what_keeps_a_character_from_its_next_step():
    obj = create_character()
    assert get_standing() == ("No Motion", ["Add Motion"])
    bpy.ops.motion_matching.add_actions()
    assert get_standing() == ("Not Built", ["Build", "Bake"])
    obj.motion_matching.roles.hips = "LeftToe"
    assert get_standing() == ("Roles Missing", ["Find Roles"])
    press("Find Roles")
    assert get_standing() == ("Not Built", ["Build", "Bake"])


def test_the_strip_comes_first_and_has_no_header():
    panels = [cls for cls in classes.ALL if issubclass(cls, bpy.types.Panel)]
    strip = panel.MOTION_MATCHING_PT_strip
    assert strip.bl_options == {"HIDE_HEADER"}
    assert panels[0] is strip
    assert all(getattr(cls, "bl_order", 0) >= strip.bl_order for cls in panels)


def test_a_warning_is_listed_once_though_strip_and_panel_are_open():
    obj = create_character()
    bpy.ops.motion_matching.add_actions()
    settings = obj.motion_matching
    settings.sources.add().kind = "FILE"
    settings.sources[-1].filepath = "/nowhere/lost.bvh"
    status.refresh(obj)
    [warning] = state.get_warnings(obj, "database")

    def draw_panel():
        told = RecordingLayout()
        with override_region():
            draw_warnings(told, obj, "database")
        return " ".join(filter(None, told.texts))

    assert "1 Warning" in draw_panel()
    assert "missing file" not in draw_panel()
    bpy.ops.motion_matching.unfold_warnings(place="database")
    assert "missing file" in draw_panel(), warning.text
    bpy.ops.motion_matching.unfold_warnings(place="all")
    assert draw_panel() == "", "the strip lists it"
    bpy.ops.motion_matching.unfold_warnings(place="all")
    assert "missing file" in draw_panel()

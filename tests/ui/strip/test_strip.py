"""The strip above the panels: how things stand, and the buttons that lead from step to step."""

from __future__ import annotations

import bpy

from motion_matching.app import rig_status, standing, status
from motion_matching.app.characters import get_active_armature
from motion_matching.ui import classes
from motion_matching.ui.strip import panel
from tests.ui.characters import create_character


def get_standing():
    obj = get_active_armature(bpy.context)
    if obj:
        status.refresh(obj)
        rig_status.refresh(obj)
    found = standing.get_standing(bpy.context, obj)
    return found.text, [button.label for button in found.buttons]


def press(label):
    """Run the operator of a button of the strip, which must be able to."""
    obj = get_active_armature(bpy.context)
    buttons = standing.get_standing(bpy.context, obj).buttons
    button = next(one for one in buttons if one.label == label)
    operator = getattr(bpy.ops.motion_matching, button.operator.partition(".")[2])
    assert operator.poll(), button
    assert operator(**dict(button.properties)) == {"FINISHED"}


def test_the_buttons_of_the_strip_lead_from_an_empty_file_to_a_take():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert get_standing() == ("No Character", ["Import Motion Capture", "Add Demo Performer"])
    press("Add Demo Performer")
    assert get_standing() == ("Not Built", ["Build"])
    press("Build")
    assert get_standing() == ("Ready", ["Start", "Bake"])
    press("Bake")
    settings = bpy.context.object.motion_matching
    assert len(settings.takes) == 1
    settings.sources[0].enabled = False
    assert get_standing() == ("Stale", ["Build"])

    bpy.context.view_layer.objects.active = None
    assert get_standing()[0] == "Select an Armature"


def test_the_strip_says_what_keeps_a_character_from_its_next_step():
    obj = create_character()
    assert get_standing() == ("No Motion", ["Add Motion"])
    bpy.ops.motion_matching.add_actions()
    assert get_standing() == ("Not Built", ["Build"])
    obj.motion_matching.roles.hips = "LeftToe"
    assert get_standing() == ("Roles Missing", ["Find Roles"])
    press("Find Roles")
    assert get_standing() == ("Not Built", ["Build"])


def test_the_strip_comes_first_and_has_no_header():
    panels = [cls for cls in classes.ALL if issubclass(cls, bpy.types.Panel)]
    strip = panel.MOTION_MATCHING_PT_strip
    assert strip.bl_options == {"HIDE_HEADER"}
    assert panels[0] is strip
    assert all(getattr(cls, "bl_order", 0) >= strip.bl_order for cls in panels)

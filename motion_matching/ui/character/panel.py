"""The panel of the character: what performs, what carries it, and its bones by role."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ... import app
from ...app.characters import get_active_armature
from ...app.typed import armature_of, settings_of
from ...engine.motion.bone_names import ROLES
from ..panel_base import (
    ArmaturePanel,
    Panel,
    State,
    StateHeader,
    add_tall_row,
    draw_preset_row,
    draw_progress,
    draw_right,
    draw_wrapped_text,
    set_options,
    split_layout,
)
from ..properties import MotionMatchingSettings
from .operators import FIXES


class MOTION_MATCHING_PT_start(Panel, bpy.types.Panel):
    """What an empty file offers"""

    bl_label = "Motion Matching"
    bl_order = 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return get_active_armature(context) is None

    def draw(self, context: bpy.types.Context) -> None:
        column = self.layout.column()
        if any(obj.type == "ARMATURE" for obj in context.view_layer.objects):
            hint = "Select an armature to work with, or add another performer"
            draw_wrapped_text(column, hint, "INFO")
        column.operator_context = "INVOKE_DEFAULT"
        row = add_tall_row(column)
        row.operator("motion_matching.add_demo_performer", icon="OUTLINER_OB_ARMATURE")
        draw_progress(column)


class MOTION_MATCHING_PT_character(StateHeader, ArmaturePanel, bpy.types.Panel):
    """The armature that performs, and what carries it over the ground"""

    bl_label = "Character"
    bl_order = 0

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> State:
        rig = app.rig_status.get_rig_state(obj)
        problem = rig.problems[0] if rig and rig.problems else None
        if problem and problem.serious:
            return "ERROR", problem.label
        if app.status.get_status(obj).kind == "broken":
            return "ERROR", "Needs Help"
        return ("INFO", problem.label) if problem else ("CHECKMARK", "Ready")

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        self.layout.label(text=obj.name, icon="OUTLINER_OB_ARMATURE")
        if problem := app.status.get_status(obj).problem:
            draw_wrapped_text(self.layout, problem, "ERROR")
        rig = app.rig_status.get_rig_state(obj)
        for fault in rig.problems if rig else ():
            box = self.layout.box()
            draw_wrapped_text(box, fault.sentence, "ERROR" if fault.serious else "INFO")
            if fault.fix:
                name = FIXES[fault.fix][0]
                fix = box.operator("motion_matching.fix_rig", text=name, icon="TOOL_SETTINGS")
                set_options(fix, fix=fault.fix)
        column = split_layout(self.layout)
        column.prop(settings, "root")
        if settings.root == "BONE":
            column.prop_search(settings, "root_bone", armature_of(obj), "bones", text=" ")
        column.prop(settings, "bones")


class MOTION_MATCHING_PT_roles(StateHeader, ArmaturePanel, bpy.types.Panel):
    """Bones by role; those left empty are found by names, shape and motion"""

    bl_label = "Roles"
    bl_parent_id = "MOTION_MATCHING_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> State:
        given = sum(bool(getattr(settings.roles, role)) for role in ROLES)
        rig = app.rig_status.get_rig_state(obj)
        if rig and any(problem.label == "Roles Missing" for problem in rig.problems):
            return "ERROR", "Missing"
        return "BONE_DATA", f"{given} Given" if given else "Found"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        draw_preset_row(self.layout, "rigs", settings.roles.preset)
        draw_roles(split_layout(self.layout), obj, ROLES)


def draw_roles(layout: bpy.types.UILayout, obj: bpy.types.Object, roles: Iterable[str]) -> None:
    """Draw a picker of a bone for each role, and the bone that was found below an empty one."""
    rig, given = app.rig_status.get_rig_state(obj), settings_of(obj).roles
    # in a fresh database, otherwise by names and rest pose
    found = app.status.get_status(obj).roles or (rig.roles if rig else {})
    for role in roles:
        layout.prop_search(given, role, armature_of(obj), "bones")
        if role in found and not getattr(given, role):
            row = layout.row()
            row.active = False
            row.scale_y = 0.6
            draw_right(row, found[role])

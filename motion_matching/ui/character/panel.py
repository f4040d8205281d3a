"""The panel of the character: what performs, what carries it over the ground, and its bones by
role.
"""

from __future__ import annotations

import bpy

from ... import app
from ...app.characters import get_active_armature
from ...app.typed import armature_of
from ...engine.motion.bone_names import ROLES
from ..database.properties import MotionMatchingRoles
from ..panel_base import (
    ArmaturePanel,
    Panel,
    State,
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
from .operators import MOTION_MATCHING_OT_add_demo_performer as AddDemoPerformer
from .operators import MOTION_MATCHING_OT_fix_rig as FixRig


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
            draw_wrapped_text(
                column, "Select an armature to work with, or add another performer", "INFO"
            )
        column.operator_context = "INVOKE_DEFAULT"
        add_tall_row(column).operator(AddDemoPerformer.bl_idname, icon="OUTLINER_OB_ARMATURE")
        draw_progress(column)


class MOTION_MATCHING_PT_character(ArmaturePanel, bpy.types.Panel):
    """The armature that performs, and what carries it over the ground"""

    bl_label = "Character"
    bl_order = 0

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> State:
        is_broken, rig = (
            app.status.get_status(obj).kind == "broken",
            app.rig_status.get_rig_state(obj),
        )
        problem = rig.problems[0] if rig and rig.problems else None
        if problem and problem.serious:
            return "ERROR", problem.label
        if is_broken:
            return "ERROR", "Needs Help"
        return ("INFO", problem.label) if problem else ("CHECKMARK", "Ready")

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        self.layout.label(text=obj.name, icon="OUTLINER_OB_ARMATURE")
        if problem := app.status.get_status(obj).problem:
            draw_wrapped_text(self.layout, problem, "ERROR")
        for fault in rig.problems if (rig := app.rig_status.get_rig_state(obj)) else ():
            box = self.layout.box()
            draw_wrapped_text(box, fault.sentence, "ERROR" if fault.serious else "INFO")
            if fault.fix:
                set_options(
                    box.operator(FixRig.bl_idname, text=FIXES[fault.fix][0], icon="TOOL_SETTINGS"),
                    fix=fault.fix,
                )
        column = split_layout(self.layout)
        column.prop(settings, "root")
        if settings.root == "BONE":
            column.prop_search(settings, "root_bone", armature_of(obj), "bones", text=" ")
        column.prop(settings, "bones")


class MOTION_MATCHING_PT_roles(ArmaturePanel, bpy.types.Panel):
    """Bones by role; those left empty are found by names, shape and motion"""

    bl_label = "Roles"
    bl_parent_id = "MOTION_MATCHING_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> State:
        given, rig = (
            sum(bool(getattr(settings.roles, role)) for role in ROLES),
            app.rig_status.get_rig_state(obj),
        )
        if rig and any(problem.label == "Roles Missing" for problem in rig.problems):
            return "ERROR", "Missing"
        return "BONE_DATA", f"{given} Given" if given else "Found"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        known = get_known_roles(obj)
        draw_preset_row(self.layout, "rigs", settings.roles.preset)
        column = split_layout(self.layout)
        for role in ROLES:
            draw_role_row(column, obj, settings.roles, role, known)


def get_known_roles(obj: bpy.types.Object) -> dict[str, str]:
    """Return bones by role: those of a fresh database, otherwise those that names and rest pose
    suggest.
    """
    rig = app.rig_status.get_rig_state(obj)
    return app.status.get_status(obj).roles or (rig.roles if rig else {})


def draw_role_row(
    column: bpy.types.UILayout,
    obj: bpy.types.Object,
    roles: MotionMatchingRoles,
    role: str,
    known: dict[str, str],
) -> None:
    """Draw a picker of a role's bone, and below it the bone that was found if none is given."""
    column.prop_search(roles, role, armature_of(obj), "bones")
    if role in known and not getattr(roles, role):
        row = column.row()
        row.active = False
        row.scale_y = 0.6
        draw_right(row, known[role])


CLASSES: tuple[type, ...] = (
    MOTION_MATCHING_PT_start,
    MOTION_MATCHING_PT_character,
    MOTION_MATCHING_PT_roles,
)

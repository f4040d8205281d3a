"""Draw the panel of the character: the performing armature, its root motion, and bones by role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import bpy

from ... import app
from ...app.property_access import armature_of, settings_of
from ...engine.skeleton.bone_names import ROLES
from ..base import panel_base as base
from ..properties import MotionMatchingSettings

_STRETCHES = (
    "The IK of this rig may shorten limbs (IK Stretch), so knees are up to 3 cm off. Feet are exact"
)


class MOTION_MATCHING_PT_character(base.StateHeader, base.ArmaturePanel, bpy.types.Panel):
    """The performing armature, and what moves it over the ground"""

    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 0

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> base.State:
        return app.strip.state.get_character_state(obj)

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        self.layout.label(text=obj.name, icon="OUTLINER_OB_ARMATURE")
        base.draw_warnings(self.layout, obj, "character")
        column = base.split_layout(self.layout)
        column.prop(settings, "root")
        if settings.root == "BONE":
            column.prop_search(settings, "root_bone", armature_of(obj), "bones", text=" ")
        column.prop(settings, "bones")
        for offer in app.strip.state.list_offers(obj):
            base.draw_button(self.layout, offer)


class MOTION_MATCHING_PT_controls(base.StateHeader, base.ArmaturePanel, bpy.types.Panel):
    """The controls of a rig: takes and retargeted motion are written to them"""

    bl_parent_id = "MOTION_MATCHING_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def is_shown(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return app.character.controls.get_state(obj) is not None

    def get_state(
        self, obj: bpy.types.Object, settings: MotionMatchingSettings
    ) -> base.State | None:
        state = app.character.controls.get_state(obj)
        return ("POSE_HLT", state.label) if state else None

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        state = app.character.controls.get_state(obj)
        layout = self.layout
        column = base.split_layout(layout)
        column.row().prop(settings.retarget, "legs", expand=True)
        column.row().prop(settings.retarget, "arms", expand=True)
        column.prop(settings.play, "drive")
        for line in state.found if state else ():
            base.draw_wrapped_text(layout, line, "INFO")
        if state and state.stretching:
            base.draw_wrapped_text(layout, _STRETCHES, "INFO")
            layout.operator("motion_matching.switch_off_ik_stretch", icon="CON_KINEMATIC")


class MOTION_MATCHING_PT_roles(base.StateHeader, base.ArmaturePanel, bpy.types.Panel):
    """Bones by role. Leave a role empty to find its bone by name, shape and motion"""

    bl_parent_id = "MOTION_MATCHING_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> base.State:
        given = sum(bool(getattr(settings.roles, role)) for role in ROLES)
        rig = app.character.rig_status.get_rig_state(obj)
        if rig and any(problem.label == "Roles Missing" for problem in rig.problems):
            return "ERROR", "Missing"
        return "BONE_DATA", f"{given} Given" if given else "Found"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        base.draw_preset_row(self.layout, "rigs", settings.roles.preset)
        draw_roles(base.split_layout(self.layout), obj, ROLES)
        base.draw_small_lines(self.layout, list_further_legs(obj))


def list_further_legs(obj: bpy.types.Object) -> list[str]:
    """Return a line for each leg beyond the two whose bones can be chosen."""
    found = _find_roles(obj)
    legs = [role.removesuffix("_thigh") for role in found if role.endswith("_thigh")]
    further = (leg for leg in legs if f"{leg}_thigh" not in ROLES)
    parts = ("thigh", "shin", "foot")
    return [
        f"{leg[:-1].title()} {leg[-1]}: {', '.join(found[f'{leg}_{part}'] for part in parts)}"
        for leg in further
    ]


def _find_roles(obj: bpy.types.Object) -> Mapping[str, str]:
    """Return bones by role in a fresh database, otherwise by names and rest pose."""
    rig = app.character.rig_status.get_rig_state(obj)
    return app.database.status.get_status(obj).roles or (rig.roles if rig else {})


def draw_roles(layout: bpy.types.UILayout, obj: bpy.types.Object, roles: Iterable[str]) -> None:
    """Draw a picker of a bone for each role, and the bone that was found below an empty one."""
    given = settings_of(obj).roles
    found = _find_roles(obj)
    for role in roles:
        layout.prop_search(given, role, armature_of(obj), "bones")
        if role in found and not getattr(given, role):
            row = layout.row()
            row.active = False
            row.scale_y = 0.6
            base.draw_aligned(row, found[role])

"""The panel of the controller: how the character answers."""

from __future__ import annotations

from typing import Any

import bpy

from .panels import ArmaturePanel, header, preset_row, split
from .request import armature_of


class MOTION_MATCHING_PT_controller(ArmaturePanel, bpy.types.Panel):
    """How the character answers"""

    bl_label = "Controller"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 2

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        header(self, "CON_FOLLOWPATH", "Motion Matching")

    def draw(self, context: bpy.types.Context) -> None:
        controller = armature_of(context).motion_matching.controller
        preset_row(self.layout, "controllers", controller.preset)
        column = split(self.layout)
        column.prop(controller, "velocity_halflife")
        column.prop(controller, "rotation_halflife")
        column.prop(controller, "inertialization_halflife")
        column.prop(controller, "displacement")
        column.prop(controller, "foot_lock")


class _Part(ArmaturePanel):
    """A closed part of the controller's panel that shows settings one below the other."""

    bl_parent_id = "MOTION_MATCHING_PT_controller"
    bl_options = {"DEFAULT_CLOSED"}
    names: tuple[str, ...] = ()

    def draw(self: Any, context: bpy.types.Context) -> None:
        controller = armature_of(context).motion_matching.controller
        column = split(self.layout)
        for name in self.names:
            row = column.row()
            row.active = _matters(controller, name)
            if name in ("walk", "run"):
                _speeds(row, controller, name)
            else:
                row.prop(controller, name)


def _speeds(layout: bpy.types.UILayout, controller: Any, gait: str) -> None:
    """The three speeds of a gait, each with its direction."""
    column = layout.column(align=True)
    for index, text in enumerate((f"{gait.title()} Forward", "Side", "Back")):
        column.prop(controller, gait, index=index, text=text)


_OF_LOCKED_FEET = ("lock_halflife", "foot_halflife", "unlock_radius", "swing_clearance", "stretch_buffer")


def _matters(controller: Any, name: str) -> bool:
    """Whether a setting makes a difference with the others as they are."""
    if name in ("walk", "run", "turn_limit"):
        return not controller.speeds_from_data
    if name in ("clamp_distance", "clamp_angle"):
        return controller.clamp
    if name in _OF_LOCKED_FEET:
        return controller.foot_lock
    if name == "synchronization":
        return controller.displacement == "synchronize"
    if name.startswith("adjust_"):
        ratio = name.endswith("_ratio")
        return controller.displacement == "adjust" and (controller.adjust_by_velocity or not ratio)
    return True


class MOTION_MATCHING_PT_speeds(_Part, bpy.types.Panel):
    """How fast the character goes and turns"""

    bl_label = "Speeds"
    names = ("speeds_from_data", "walk", "run", "turn_limit", "stop_factor", "gait_halflife")


class MOTION_MATCHING_PT_search(_Part, bpy.types.Panel):
    """When another frame is looked for, and which may be taken"""

    bl_label = "Search"
    names = ("search_interval", "continuing_bias", "sharp_velocity", "sharp_angle", "end_guard", "surroundings")


class MOTION_MATCHING_PT_displacement(_Part, bpy.types.Panel):
    """How the character and what is steered keep together"""

    bl_label = "Displacement"
    names = (
        "displacement", "synchronization", "adjust_position_halflife", "adjust_rotation_halflife", "adjust_by_velocity",
        "adjust_position_ratio", "adjust_rotation_ratio", "clamp", "clamp_distance", "clamp_angle", "collision_radius")


class MOTION_MATCHING_PT_feet(_Part, bpy.types.Panel):
    """How planted feet are held"""

    bl_label = "Feet"
    names = ("foot_lock", *_OF_LOCKED_FEET, "hips_halflife")


CLASSES = (
    MOTION_MATCHING_PT_controller,
    MOTION_MATCHING_PT_speeds,
    MOTION_MATCHING_PT_search,
    MOTION_MATCHING_PT_displacement,
    MOTION_MATCHING_PT_feet,
)

"""Draw the panel of takes: baking, and the list of takes with their buttons."""

from __future__ import annotations

from typing import Any

import bpy

from ...app.character.characters import get_selected_armatures
from ...app.live.leaders import LEADERS
from ...app.runtime import runtime
from ...engine.performance.scripts import SCRIPTS
from ..base import panel_base as base
from ..properties import MotionMatchingSettings
from .properties import MotionMatchingScript, MotionMatchingTake, Script


class MOTION_MATCHING_UL_takes(base.List, bpy.types.UIList):
    """Takes of the character"""

    def draw_row(self, layout: bpy.types.UILayout, item: MotionMatchingTake) -> None:
        row = layout.row(align=True)
        _draw_name(row, item)
        if item.action:
            tail = row.row()
            tail.alignment = "RIGHT"
            tail.label(text=f"{item.seconds:.{0 if item.seconds >= 10.0 else 1}f} s")
            shield: Any = "FAKE_USER_ON" if item.is_kept else "FAKE_USER_OFF"
            tail.prop(item, "is_kept", text="", icon=shield, emboss=False)


def _draw_name(row: bpy.types.UILayout, item: MotionMatchingTake) -> None:
    if item.action is None:
        row.label(text=f"{item.name} (deleted)", icon="ERROR")
        return
    armature: Any = item.id_data
    data = armature.animation_data
    icon: Any = "PLAY" if data and data.action == item.action else "ACTION"
    row.prop(item, "whole_name", text="", emboss=False, icon=icon)


class MOTION_MATCHING_PT_takes(base.StateHeader, base.ArmaturePanel, bpy.types.Panel):
    """Performances baked into ordinary actions"""

    bl_order = 4

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> base.State:
        count = len(settings.takes)
        return ("ACTION", base.format_count(count, "Take")) if count else ("LAYER_USED", "No Takes")

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        script = settings.script
        column = base.split_layout(layout)
        column.prop(script, "along")
        if script.along == "script":
            column.prop(script, "script")
        else:
            column.prop(settings.play, script.along, text=" ")
        if script.along == "script" or LEADERS[script.along].has_gait:
            column.row().prop(script, "gait", expand=True)
        _draw_start(column, script)
        column.prop(script, "seconds")
        if script.along == "script" and SCRIPTS[script.script].draw:
            column.prop(script, "seed")
        column.prop(script, "tags")
        if settings.takes:
            names = "MOTION_MATCHING_UL_takes", settings, "takes", "take_index"
            side = base.draw_list(layout, *names, tip="tip")
            side.operator("motion_matching.play_take", text="", icon="PLAY")
            side.operator("motion_matching.bake_again", text="", icon="FILE_REFRESH")
            side.operator("motion_matching.remove_take", text="", icon="TRASH")
            side.separator()
            side.operator("motion_matching.discard_takes", text="", icon="BRUSH_DATA")


def _draw_start(column: bpy.types.UILayout, script: MotionMatchingScript) -> None:
    """Draw the frame that a take will begin at: the scene's, unless the user has an own one."""
    row = column.row(heading="Start")
    row.prop(script, "use_frame_start", text="")
    field = row.row()
    field.enabled = script.use_frame_start
    owner: Any = script if script.use_frame_start else bpy.context.scene
    field.prop(owner, "frame_start", text="")


def draw_bake_button(layout: bpy.types.UILayout, script: MotionMatchingScript) -> None:
    """Draw the button that bakes what is set, for all selected characters; the strip holds it."""
    count = len(get_selected_armatures(bpy.context))
    options = list(Script.__annotations__)
    kind = "script"
    if script.along != "script":
        kind = "along"
        options = [*options, "along"]
    name = f"Bake {count}" if count > 1 else "Bake"
    button = layout.operator(f"motion_matching.bake_{kind}", text=name, icon="ACTION_TWEAK")
    base.set_options(button, **{option: getattr(script, option) for option in options})
    start = script if script.use_frame_start else bpy.context.scene
    base.set_options(button, frame_start=start.frame_start, all_selected=count > 1)


class MOTION_MATCHING_PT_bake_options(base.ArmaturePanel, bpy.types.Panel):
    """What to bake, and where to put it"""

    bl_parent_id = "MOTION_MATCHING_PT_takes"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        column = base.split_layout(self.layout)
        for name in ("obstacles", "fewer_keys", "use_nla", "set_frame_range"):
            column.prop(settings, name)


class MOTION_MATCHING_PT_compare(base.ArmaturePanel, bpy.types.Panel):
    """Two takes side by side, or one and a variant of it"""

    bl_parent_id = "MOTION_MATCHING_PT_takes"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def is_shown(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return len(settings.takes) > 0

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        comparison = runtime.comparisons.get(obj.session_uid)
        column = base.split_layout(layout)
        column.prop(settings, "compare_by", text="With")
        if settings.compare_by == "TAKE":
            column.prop(settings, "compare_with", text="Take")
        elif settings.compare_by in ("DATABASE", "PRESET"):
            column.prop(settings, f"compare_{settings.compare_by.lower()}")
        column.prop(settings, "compare_apart")
        base.draw_work_button(layout, "motion_matching.compare_takes", icon="MOD_LENGTH")
        shown = runtime.beside
        if shown and shown.armature.uid == obj.session_uid:
            layout.operator("motion_matching.hide_beside", icon="HIDE_ON")
        else:
            base.draw_work_button(layout, "motion_matching.play_beside", icon="HIDE_OFF")
        if comparison:
            column = layout.column(align=True)
            for letter, name in zip("AB", comparison.names, strict=True):
                column.label(text=f"{letter}  {name}", icon="ACTION")
            base.draw_table(layout, (("", "A", "B", "Clips"), *comparison.rows), factor=0.46)
            base.draw_warnings(layout, obj, "takes")

"""The panel of takes: bake one, and what can be done with those that there are."""

from __future__ import annotations

import bpy

from . import comparing
from .operators_bake import MOTION_MATCHING_OT_bake_again as BakeAgain
from .operators_bake import MOTION_MATCHING_OT_bake_script as BakeScript
from .operators_takes import MOTION_MATCHING_OT_compare_takes as CompareTakes
from .operators_takes import MOTION_MATCHING_OT_discard_takes as DiscardTakes
from .operators_takes import MOTION_MATCHING_OT_play_take as PlayTake
from .operators_takes import MOTION_MATCHING_OT_remove_take as RemoveTake
from .panels import ArmaturePanel, header, progress, split, told
from .request import armature_of


class MOTION_MATCHING_PT_takes(ArmaturePanel, bpy.types.Panel):
    """Performances, baked into ordinary actions"""

    bl_label = "Takes"
    bl_order = 4

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        count = len(armature_of(context).motion_matching.takes)
        text = f"{count} Take{'' if count == 1 else 's'}" if count else "No Takes"
        header(self, "ACTION" if count else "LAYER_USED", text)

    def draw(self, context: bpy.types.Context) -> None:
        settings, layout = armature_of(context).motion_matching, self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        script = settings.script
        column = split(layout)
        column.prop(script, "script")
        column.row().prop(script, "gait", expand=True)
        column.prop(script, "seconds")
        if script.script == "random":
            column.prop(script, "seed")
        column.prop(script, "tags")
        button = layout.row()
        button.scale_y = 1.4
        bake = button.operator(BakeScript.bl_idname, icon="ACTION_TWEAK")
        for name in ("script", "gait", "seconds", "seed", "tags"):
            setattr(bake, name, getattr(script, name))
        progress(layout)
        if settings.takes:
            row = layout.row()
            row.template_list(
                "MOTION_MATCHING_UL_takes", "", settings, "takes", settings, "take_index", rows=5
            )
            side = row.column(align=True)
            side.operator(PlayTake.bl_idname, text="", icon="PLAY")
            side.operator(BakeAgain.bl_idname, text="", icon="FILE_REFRESH")
            side.operator(RemoveTake.bl_idname, text="", icon="TRASH")
            side.separator()
            side.operator(DiscardTakes.bl_idname, text="", icon="BRUSH_DATA")


class MOTION_MATCHING_PT_bake_options(ArmaturePanel, bpy.types.Panel):
    """What is written, and where to"""

    bl_label = "Bake Options"
    bl_parent_id = "MOTION_MATCHING_PT_takes"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        settings = armature_of(context).motion_matching
        column = split(self.layout)
        column.prop(settings, "obstacles")
        column.prop(settings, "fewer_keys")
        column.prop(settings, "use_nla")
        column.prop(settings, "set_frame_range")


class MOTION_MATCHING_PT_compare(ArmaturePanel, bpy.types.Panel):
    """Two takes side by side"""

    bl_label = "Compare"
    bl_parent_id = "MOTION_MATCHING_PT_takes"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = armature_of(context)
        return obj is not None and len(obj.motion_matching.takes) > 1

    def draw(self, context: bpy.types.Context) -> None:
        obj, layout = armature_of(context), self.layout
        split(layout).prop(obj.motion_matching, "compare_with")
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator(CompareTakes.bl_idname, icon="MOD_LENGTH")
        found = comparing.shown.get(obj.session_uid)
        if found:
            _table(layout, found)
            for note in found.notes:
                told(layout, context, note, "INFO")


def _table(layout: bpy.types.UILayout, found: comparing.Comparison) -> None:
    column = layout.column(align=True)
    for letter, name in zip("AB", found.names, strict=True):
        column.label(text=f"{letter}  {name}", icon="ACTION")
    table = layout.column(align=True)
    table.scale_y = 0.8
    for label, *values in (comparing.Row("", "A", "B", "Clips"), *found.rows):
        row = table.split(factor=0.46)
        row.label(text=label)
        cells = row.grid_flow(columns=3, row_major=True, even_columns=True)
        for value in values:
            cell = cells.row()
            cell.alignment = "RIGHT"
            cell.label(text=value)


CLASSES = (MOTION_MATCHING_PT_takes, MOTION_MATCHING_PT_bake_options, MOTION_MATCHING_PT_compare)

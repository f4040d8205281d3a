"""The panel of features: what frames are compared by, and how much each counts."""

from __future__ import annotations

from typing import Any

import bpy

from . import performing, polls, status
from .operators_features import MOTION_MATCHING_MT_add_feature as AddMenu
from .operators_features import MOTION_MATCHING_OT_move_feature as MoveFeature
from .operators_features import MOTION_MATCHING_OT_remove_feature as RemoveFeature
from .operators_presets import MOTION_MATCHING_OT_apply_preset as ApplyPreset
from .panels import ArmaturePanel, header, preset_row, split, told
from .properties_features import ICONS, is_trajectory, title_of
from .request import armature_of


class MOTION_MATCHING_UL_features(bpy.types.UIList):
    """What frames are compared by, each with its weight"""

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        split = layout.split(factor=0.68)
        split.label(text=title_of(item), icon=ICONS[item.kind])
        split.prop(item, "weight", text="", slider=True)


class MOTION_MATCHING_PT_features(ArmaturePanel, bpy.types.Panel):
    """What frames are compared by, and how much each counts"""

    bl_label = "Features"
    bl_parent_id = "MOTION_MATCHING_PT_database"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        dimensions = status.shown(armature_of(context)).dimensions
        if dimensions:
            header(self, "NONE", f"{dimensions} Numbers")

    def draw(self, context: bpy.types.Context) -> None:
        features = armature_of(context).motion_matching.features
        layout = self.layout
        preset_row(layout, "features", features.preset)
        column = split(layout)
        column.prop(features, "responsiveness", slider=True)
        column.prop(features, "continuity", slider=True)
        if not features.items:
            button = layout.operator(
                ApplyPreset.bl_idname, text="Adjust Default Features", icon="OPTIONS"
            )
            button.kind, button.filepath = "features", "default"
            return
        if performing.current and not performing.current.plays_features:
            told(
                layout,
                context,
                "Other features than those that are played: start again to use them",
                "INFO",
            )
        row = layout.row()
        row.template_list(
            "MOTION_MATCHING_UL_features", "", features, "items", features, "index", rows=5
        )
        side = row.column(align=True)
        side.menu(AddMenu.__name__, text="", icon="ADD")
        side.operator(RemoveFeature.bl_idname, text="", icon="REMOVE")
        side.separator()
        side.operator(MoveFeature.bl_idname, text="", icon="TRIA_UP").direction = "UP"
        side.operator(MoveFeature.bl_idname, text="", icon="TRIA_DOWN").direction = "DOWN"
        item = polls.active(features, "items", "index")
        column = split(layout)
        if item is not None:
            column.prop(item, "kind")
            column.prop(item, "times" if is_trajectory(item) else "bone")
            column.prop(item, "axes")
        column.prop(features, "normalization")
        column.prop(features, "beyond_range")


CLASSES = (MOTION_MATCHING_UL_features, MOTION_MATCHING_PT_features)
